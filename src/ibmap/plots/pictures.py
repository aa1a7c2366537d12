"""Pictures: a network, a network beside the truth, the score over the ascents (needs matplotlib)."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from ibmap.drawing.layouts import Layout, Place, places_of
from ibmap.errors import RequestError
from ibmap.exchange.network import Numbers, as_network
from ibmap.graph import Graph
from ibmap.metrics import compare_edges
from ibmap.plots.labels import GAP, sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edge = tuple[str, str]

LONGEST = 24  #: characters of a name that are shown
ROOMY = 15  #: variables whose names fit into a figure of the usual size
CROWDED = 80  #: with more variables names would cover the picture
ACCENT, WRONG, FAINT, INK = "#2563a8", "#c8322b", "#8a8a8a", "#222222"
UNSIGNED = "#555555"


def plot(source: Any, ax: "Axes | None" = None, *, layout: Layout = "packed", seed: int = 0) -> "Axes":
    """Draw a network; the wider an edge, the stronger it is, or the higher its posterior.

    Where the effects of edges are known, their width is their strength, and their colour its sign: blue if
    the variables rise together, red if one falls, grey where there is no sign (more than two levels).

    Parameters
    ----------
    source : Graph, Learned or estimator
        What to draw; a bare Graph has no posteriors, and all its edges look alike.
    ax : Axes, optional
        Where to draw; by default in a new figure.
    layout : str, mapping or callable
        "packed" (connected parts side by side), a layout of networkx ("spring", "circular", "shell", ...),
        places by name, or a function from a networkx graph to places.
    seed : int
        Of layouts that draw lots.

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
    axes = _canvas(ax, network.graph.n_variables)
    places = places_of(network.graph, layout, seed)
    numbers = [numbers for _, _, numbers in network.edges()]
    widths = [0.6 + 2.4 * _share(one) for one in numbers]
    _lines(axes, places, network.graph.edges, widths=widths, color=[_colour(one) for one in numbers])
    _names(axes, network.graph, places)
    axes.set_title(repr(network.graph)[6:-1], fontsize=10, color=INK)
    return axes


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
        Two networks of the same variables; all edges have a say in the places.
    labels : sequence of three str
        What edges of both, of the first only and of the second only are called. Where neither network is the
        truth, say whose they are: ("both", "only GSMN", "only IBMAP-HC").
    ax, layout, seed
        As in :func:`plot`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> axes = plot_comparison(Graph("abc", [("a", "b")]), Graph("abc", [("b", "c")]))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['0 right', '1 false', '1 missing']
    """
    if isinstance(labels, str) or len(labels) != 3:
        raise RequestError(f"labels must be three: of both, of the first, of the second; not {labels!r}")
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
    """Draw the score over the ascents.

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
    strength = numbers.get("partial_correlation", numbers.get("strength"))
    return numbers.get("posterior", 0.5) if strength is None else min(1.5 * abs(strength), 1.0)


def _colour(numbers: Numbers) -> str:
    """Return the colour of an edge: by the sign of its effect if that is known."""
    signed = ("partial_correlation", "score_correlation", "log_odds_ratio")
    effect = next((numbers[name] for name in signed if name in numbers), None)
    if effect is None:
        return UNSIGNED if "strength" in numbers else ACCENT
    return ACCENT if effect >= 0 else WRONG


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


def _canvas(ax: "Axes | None", n_variables: int | None = None) -> "Axes":
    """Return the axes to draw in; a new figure has space for the names of all variables."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise RequestError("pictures need matplotlib: pip install matplotlib") from None
        wider = sqrt(min(max(n_variables or 0, ROOMY), CROWDED) / ROOMY)
        size = (6, 3.5) if n_variables is None else (7 * wider, 6 * wider)
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
    color: str | list[str],
    style: Any = "solid",
    label: str = "",
) -> None:
    from matplotlib.collections import LineCollection

    segments = [[tuple(places[x]), tuple(places[y])] for x, y in edges]
    lines = LineCollection(
        segments, linewidths=widths, colors=color, linestyles=style, label=label, alpha=0.85, zorder=1
    )
    axes.add_collection(lines)


def _names(axes: "Axes", graph: Graph, places: Place) -> None:
    """Draw the variables; their names are text, never formulas."""
    from matplotlib.patheffects import withStroke

    points = [places[name] for name in graph.names]
    shown = graph.n_variables <= CROWDED
    axes.scatter([p[0] for p in points], [p[1] for p in points], s=22 if shown else 8, color=INK, zorder=2)
    size = 9 if graph.n_variables <= 40 else 7
    if not shown or not points:
        return
    axes.autoscale_view()
    where, texts = axes.transData.transform(points) * 72 / axes.figure.dpi, [_short(n) for n in graph.names]
    for text, point, above in zip(texts, points, sides(graph, where, texts, size), strict=True):
        axes.annotate(
            text,
            (point[0], point[1]),
            xytext=(0, GAP if above else -GAP),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=size,
            color=INK,
            parse_math=False,
            zorder=3,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _short(name: str) -> str:
    text = " ".join(name.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
