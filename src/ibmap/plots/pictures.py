"""Pictures: a network, a network beside the truth, the score over the ascents (needs matplotlib)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ibmap._checks import is_number
from ibmap._text import in_short
from ibmap.drawing.layouts import Layout, Place, places_of
from ibmap.errors import RequestError
from ibmap.exchange.groups import as_groups, strengths
from ibmap.exchange.network import Network, Numbers, as_network, copies_as_one, network_of
from ibmap.graph import Graph
from ibmap.metrics import compare_edges
from ibmap.plots.colours import ACCENT, FAINT, GROUPS, INK, SHADES, WRONG, group_colours, legend, looks_of
from ibmap.plots.fonts import legible
from ibmap.plots.labels import GAP, fitting, sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]

LONGEST = 24  #: characters of a name that are shown
ROOMY = 15  #: variables whose names fit into a figure of the usual size
CROWDED = 80  #: with more variables only those names are shown that cover no other one
NAMED = 600  #: variables beyond which nobody reads a name
LARGEST = 160  #: variables beyond which a figure does not grow
RING = 6.0  #: points that a ring is wider than what it surrounds
STRENGTHS = (
    "partial_correlation",
    "score_correlation",
    "strength",
)  #: what widths come from


def plot(
    source: Any,
    ax: "Axes | None" = None,
    *,
    layout: Layout = "packed",
    seed: int = 0,
    groups: Any = None,
    about: str | None = None,
    strength: float = 0.0,
    predictability: bool = False,
    grey: bool = False,
    width_mm: float | None = None,
) -> "Axes":
    """Draw a network; wider edges are stronger, or have a higher posterior if strengths are not known.

    Where the effects of edges are known, their width is their strength, and their colour its sign: blue if
    the variables rise together, red if one falls, grey where there is no sign (levels without an order). With
    more than 80 variables, names that would cover others are left out. Copies of a variable are drawn as one
    ("a = b").

    Parameters
    ----------
    source : Graph, Learned or estimator
        What to draw; a bare Graph has no posteriors, and all its edges look alike.
    ax : Axes, optional
        Where to draw; by default in a new figure.
    layout : str, path, mapping or callable
        "packed" (connected parts side by side, each by least stress), "circle", a layout of networkx
        ("spring", "shell", ...), a CSV file with the columns variable, x and y, places by name, or a function
        from a networkx graph to places.
    seed : int
        Seed of layouts that are random.
    groups : "found", path or mapping, optional
        Groups of variables, shown by colours: communities that are found
        (:func:`ibmap.exchange.communities`), a CSV with the columns variable and group, or a dict. The larger
        a variable, the stronger its edges.
    about : str, optional
        A variable: only it, its neighbours and the edges among them are drawn.
    strength : float
        Only edges of at least this strength are drawn; 0 draws all.
    predictability : bool
        Draw a ring around each variable; the filled part is the share that its neighbours predict.
    grey : bool
        No colours: dashed edges instead of red ones. The colours are those that colour-blind people tell
        apart, too.
    width_mm : float, optional
        The width of a new figure in millimetres, for print; its letters stay as large as they are.

    Returns
    -------
    Axes
        The picture.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> axes = plot(Graph("abc", [("a", "b")]))
    >>> axes.get_title()
    '3 variables, 1 edge'
    """
    network = as_network(source)
    grouped = {} if groups is None else as_groups(network, groups)
    network, shown_as = copies_as_one(network)
    grouped = {shown_as[name]: group for name, group in grouped.items()}
    central = strengths(network) if grouped else {}
    if about is not None:
        about = shown_as.get(about, about) if isinstance(about, str) else about
        network = around(network, about)
    network = at_least(network, strength)
    if predictability and not network.predictability:
        raise RequestError("the predictability of variables is not known: plot a result, or a fitted learner")
    axes = _canvas(ax, network.graph.n_variables, width_mm)
    places = places_of(network.graph, layout, seed)
    numbers = [numbers for _, _, numbers in network.edges()]
    widths, looks = [0.6 + 2.4 * _share(one) for one in numbers], [looks_of(one, grey) for one in numbers]
    styles: dict[str, Any] = {
        "color": [colour for colour, _ in looks],
        "style": [style for _, style in looks],
    }
    _lines(axes, places, network.graph.edges, widths=widths, **styles)
    shown = {name: grouped.get(name, "") for name in network.graph.names}
    colours = group_colours(shown, SHADES if grey else GROUPS)
    rings = network.predictability if predictability else {}
    _names(axes, network.graph, places, _looks(shown, colours, central, about), rings)
    legend(axes, numbers, shown, grey, bool(rings))
    title = repr(network.graph)[6:-1] + (f" around {_short(about)}" if about is not None else "")
    fonts, (title,), _ = legible([title])
    axes.set_title(title, fontsize=10, fontfamily=fonts, color=INK, parse_math=False)
    return axes


def around(network: Network, name: str) -> Network:
    """Return a variable with its neighbours, and the edges among them."""
    graph = network.graph
    i = graph.index(name)
    kept = sorted([i, *graph.neighbours(i).tolist()])
    names = [graph.names[k] for k in kept]
    inside = [(x, y, numbers) for x, y, numbers in network.edges() if x in names and y in names]
    return replace(network_of(names, inside), predictability=network.predictability)


def at_least(network: Network, strength: float) -> Network:
    """Return a network without its weaker edges.

    Examples
    --------
    >>> some = network_of("abc", [("a", "b", {"strength": -0.5}), ("b", "c", {"strength": 0.1})])
    >>> at_least(some, 0.3).graph.edges
    (('a', 'b'),)
    """
    if not is_number(strength) or not 0 <= strength <= 1:
        raise RequestError(f"strength must lie between 0 and 1, not {in_short(strength)}")
    if not strength or not network.graph.n_edges:
        return network
    if not any(name in numbers for numbers in network.numbers for name in STRENGTHS):
        raise RequestError("no strengths of edges are known: plot a result, or a fitted learner")
    kept = [edge for edge in network.edges() if (strength_of(edge[2]) or 0.0) >= strength]
    return replace(network_of(network.graph.names, kept), predictability=network.predictability)


def _looks(
    groups: Mapping[str, str], colours: Mapping[str, str], central: Mapping[str, float], about: str | None
) -> dict[str, tuple[str, float]]:
    """Return colour and size of the variables that do not look as usual."""
    most = max(central.values(), default=0.0) or 1.0
    found = {
        name: (colours.get(group, FAINT), 25 + 150 * central.get(name, 0.0) / most)
        for name, group in groups.items()
        if colours
    }
    if about is not None:
        found[about] = (found.get(about, (WRONG, 0.0))[0] if colours else WRONG, 90.0)
    return found


def plot_comparison(
    learned: Any,
    truth: Any,
    ax: "Axes | None" = None,
    *,
    labels: Sequence[str] = ("right", "false", "missing"),
    layout: Layout = "packed",
    seed: int = 0,
) -> "Axes":
    """Draw a learned network over the truth, or over another one: what both have, and what one has.

    Parameters
    ----------
    learned, truth : Graph, Learned or estimator
        Two networks of the same variables; the layout uses the edges of both.
    labels : sequence of three str
        Names for edges of both, of the first only and of the second only. If neither network is the truth,
        say whose they are: ("both", "only GSMN", "only IBMAP-HC").
    ax, layout, seed
        As in :func:`plot`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> axes = plot_comparison(Graph("abc", [("a", "b")]), Graph("abc", [("b", "c")]))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['0 right', '1 false', '1 missing']
    """
    if isinstance(labels, str | bytes) or not np.iterable(labels) or len(list(labels)) != 3:
        raise RequestError(
            f"labels must be three: of both, of the first, of the second; not {in_short(labels)}"
        )
    mine, true = as_network(learned).graph, as_network(truth).graph
    if set(mine.names) != set(true.names):
        odd = min(set(mine.names) ^ set(true.names))
        raise RequestError(f"the two networks must have the same variables: only one of them has {odd!r}")
    axes = _canvas(ax, true.n_variables)
    found = mine.permute(true.names)
    both = Graph(true.names, [*true.edges, *found.edges])
    places = places_of(both, layout, seed)
    right, false, missing = compare_edges(found, true)
    words = [f"{len(edges)} {word}" for edges, word in zip((right, false, missing), labels, strict=True)]
    _lines(axes, places, right, widths=1.8, color=ACCENT, label=words[0])
    _lines(axes, places, false, widths=1.8, color=WRONG, label=words[1])
    _lines(axes, places, missing, widths=1.4, color=FAINT, style=(0, (4, 3)), label=words[2])
    _names(axes, both, places)
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3)
    return axes


def plot_scores(history: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the score over the steps of the search.

    Parameters
    ----------
    history : estimator, Learned, frame or sequence of Step
        A fitted IBMAP, what ``ibmap_hc`` returned, or its history.
    ax : Axes, optional
        Where to draw; by default in a new figure.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ibmap.learners import Step
    >>> axes = plot_scores([Step(1, "a", "b", True, 2.0, -7.0), Step(2, "b", "c", True, 1.0, -6.0)])
    >>> axes.lines[0].get_ydata().tolist()
    [-9.0, -7.0, -6.0]
    """
    steps = _steps(history)
    axes = _canvas(ax)
    from matplotlib.ticker import MaxNLocator

    if steps:
        scores = [steps[0][2] - steps[0][1], *(score for _, _, score in steps)]
        axes.plot(range(len(scores)), scores, color=ACCENT, linewidth=1.5)
        removed = [k for k, (added, _, _) in enumerate(steps, start=1) if not added]
        if removed:
            axes.plot(removed, [scores[k] for k in removed], "v", color=WRONG, label="edge removed")
            axes.legend(frameon=False, fontsize=9)
    else:
        axes.text(0.5, 0.5, "no ascents", transform=axes.transAxes, ha="center", color=FAINT)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("ascent")
    axes.set_ylabel("IB-score (log)")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _share(numbers: Numbers) -> float:
    """Return how wide an edge is drawn, from 0 to 1: by its strength if that is known."""
    strength = strength_of(numbers)
    return numbers.get("posterior", 0.5) if strength is None else min(1.5 * strength, 1.0)


def strength_of(numbers: Numbers) -> float | None:
    """Return how strong an edge is, from 0 to 1; None if that is not known."""
    return next((abs(numbers[name]) for name in STRENGTHS if name in numbers), None)


def _steps(history: Any) -> list[tuple[bool, float, float]]:
    """Return whether an edge was added, the gain and the score of every ascent."""
    history = getattr(history, "learned_", history)
    history = getattr(history, "history", history)
    if hasattr(history, "columns") or hasattr(history, "column_names"):
        import narwhals as nw

        return list(nw.from_native(history, eager_only=True).select("added", "gain", "score").iter_rows())
    try:
        return [(bool(step.added), float(step.gain), float(step.score)) for step in history]
    except (AttributeError, TypeError):
        raise RequestError("expected a fitted IBMAP, what ibmap_hc returned, or its history") from None


def _canvas(ax: "Axes | None", n_variables: int | None = None, width_mm: float | None = None) -> "Axes":
    """Return the axes to draw in; a new figure has space for the names of all variables."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise RequestError("pictures need matplotlib: pip install matplotlib") from None
        wider = sqrt(min(max(n_variables or 0, ROOMY), LARGEST) / ROOMY)
        size = (6, 3.5) if n_variables is None else (7 * wider, 6 * wider)
        if width_mm is not None:
            if not is_number(width_mm) or not 10 <= width_mm <= 2000:
                raise RequestError(f"width_mm must lie between 10 and 2000, not {in_short(width_mm)}")
            size = (width_mm / 25.4, width_mm / 25.4 * size[1] / size[0])
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    if n_variables is not None:
        ax.set_axis_off()
        ax.margins(0.1)
    return ax


def _lines(
    axes: "Axes",
    places: Place,
    edges: Iterable[Edge],
    *,
    widths: Any,
    color: Any,
    style: Any = "solid",
    label: str = "",
) -> None:
    from matplotlib.collections import LineCollection

    segments = [[tuple(places[x]), tuple(places[y])] for x, y in edges]
    lines = LineCollection(
        segments, linewidths=widths, colors=color, linestyles=style, label=label, alpha=0.85, zorder=1
    )
    axes.add_collection(lines)


def _names(
    axes: "Axes",
    graph: Graph,
    places: Place,
    looks: Mapping[str, tuple[str, float]] | None = None,
    rings: Mapping[str, float] | None = None,
) -> None:
    """Draw the variables; their names are text, never formulas."""
    from matplotlib.patheffects import withStroke

    points = [places[name] for name in graph.names]
    crowded = graph.n_variables > CROWDED
    usual = INK, 8.0 if crowded else 22.0
    how = [(looks or {}).get(name, usual) for name in graph.names]
    colours, sizes = [colour for colour, _ in how], [area for _, area in how]
    axes.scatter([p[0] for p in points], [p[1] for p in points], s=sizes, c=colours, zorder=2)
    if rings:
        sizes = [(sqrt(area) + RING) ** 2 for area in sizes]
        _rings(axes, points, [rings.get(name, 0.0) for name in graph.names], sizes)
    size = 9 if graph.n_variables <= 40 else 7 if not crowded else 6
    if not points or graph.n_variables > NAMED:
        return
    axes.autoscale_view()
    where, texts = axes.transData.transform(points) * 72 / axes.figure.dpi, [_short(n) for n in graph.names]
    place = fitting(graph, where, texts, size) if crowded else sides(graph, where, texts, size)
    fonts, texts, _ = legible(texts)
    for text, point, area, above in zip(texts, points, sizes, place, strict=True):
        if above is None:
            continue
        gap = GAP + max(0.0, sqrt(area) / 2 - 2.4)  # beyond the rim of a large one
        axes.annotate(
            text,
            (point[0], point[1]),
            xytext=(0, gap if above else -gap),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=size,
            fontfamily=fonts,
            color=INK,
            parse_math=False,
            zorder=3,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _rings(axes: "Axes", points: Sequence[Any], shares: Sequence[float], areas: Sequence[float]) -> None:
    """Draw a ring around each variable, from the top clockwise as far as its share."""
    from matplotlib.path import Path

    for (x, y), share, area in zip(points, shares, areas, strict=True):
        for part, colour, width in ((1.0, FAINT, 0.5), (share, INK, 2.0)):
            angle = np.linspace(0.0, 2 * np.pi * part, 90)
            arc = Path(np.column_stack([np.sin(angle), np.cos(angle)]))
            about: Any = {"marker": arc, "facecolors": "none", "edgecolors": colour}
            axes.scatter([x], [y], s=area, linewidths=width, zorder=2, **about)


def _short(name: str) -> str:
    text = " ".join(name.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
