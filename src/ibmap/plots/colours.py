"""Colours of edges by their sign, of variables by their groups, and the legend that tells them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ibmap.exchange.network import Numbers
from ibmap.plots.fonts import legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCENT, WRONG, FAINT, INK = "#2563a8", "#c8322b", "#8a8a8a", "#222222"
UNSIGNED = "#555555"
#: of groups, told apart by those who see few colours too (Okabe and Ito); more groups begin again
GROUPS = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d8c820", "#0072b2", "#d55e00", "#999999")
SIGNS = {ACCENT: "rise together", WRONG: "one falls", UNSIGNED: "no sign"}
#: the same without colours: a shade and a style
GREY: dict[str, tuple[str, Any]] = {
    ACCENT: ("#111111", "solid"),
    WRONG: ("#111111", "dashed"),
    UNSIGNED: ("#888888", "solid"),
}
SHADES = ("#222222", "#777777", "#bbbbbb", "#4d4d4d", "#999999", "#dddddd")  #: of groups
COLUMN = 1.6  #: inches that a column of the legend takes, about
LISTED = 12  #: groups that a legend lists
SIGNED = ("partial_correlation", "score_correlation", "log_odds_ratio", "direction")


def edge_colour(numbers: Numbers) -> str:
    """Return the colour of an edge: by the sign of its effect if that is known."""
    effect = next((numbers[name] for name in SIGNED if name in numbers), None)
    if effect is None:
        return UNSIGNED if "strength" in numbers else ACCENT
    return ACCENT if effect >= 0 else WRONG


def looks_of(numbers: Numbers, grey: bool) -> tuple[str, Any]:
    """Return colour and style of an edge."""
    colour = edge_colour(numbers)
    return GREY[colour] if grey else (colour, "solid")


def group_colours(groups: Mapping[str, str], colours: Sequence[str] = GROUPS) -> dict[str, str]:
    """Return the colour of each group, in the order of their names; "group 10" comes after "group 9".

    Examples
    --------
    >>> group_colours({"a": "tea", "b": "", "c": "coffee"})
    {'coffee': '#e69f00', 'tea': '#56b4e9'}
    """
    named = sorted(set(filter(None, groups.values())), key=lambda name: (len(name), name))
    if not all(name.startswith("group ") for name in named):
        named.sort()
    return {name: colours[k % len(colours)] for k, name in enumerate(named)}


def legend(
    axes: "Axes", edges: Sequence[Numbers], groups: Mapping[str, str], grey: bool, rings: bool
) -> None:
    """Say what colours mean: those of edges where they have signs, those of groups; and rings."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    if any(name in numbers for numbers in edges for name in SIGNED):
        used = {edge_colour(numbers) for numbers in edges}
        looks: dict[str, tuple[str, Any]] = {
            colour: GREY[colour] if grey else (colour, "solid") for colour in used
        }
        handles += [
            Line2D([], [], color=looks[sign][0], linestyle=looks[sign][1], label=words)
            for sign, words in SIGNS.items()
            if sign in used
        ]
    colours = group_colours(groups, SHADES if grey else GROUPS)
    handles += [
        Line2D([], [], linestyle="", marker="o", color=colour, label=name)
        for name, colour in list(colours.items())[:LISTED]
    ]
    if len(colours) > LISTED:
        handles.append(Line2D([], [], linestyle="", label=f"and {len(colours) - LISTED} more"))
    if rings:
        about: dict[str, Any] = {"linestyle": "", "marker": "o", "markerfacecolor": "none", "color": INK}
        handles.append(Line2D([], [], label="ring: predicted", **about))
    if handles:
        figure: Any = axes.figure
        most = max(1, int(figure.bbox.width / figure.dpi / COLUMN))
        more: dict[str, Any] = {"bbox_to_anchor": (0.5, 0.02), "ncols": min(len(handles), 6, most)}
        made = axes.legend(handles=handles, loc="upper center", frameon=False, fontsize=9, **more)
        fonts, words, _ = legible([text.get_text() for text in made.get_texts()])
        for text, word in zip(made.get_texts(), words, strict=True):
            text.set(parse_math=False, text=word, fontfamily=fonts)
