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
LISTED = 12  #: groups that a legend lists
SIGNED = ("partial_correlation", "score_correlation", "log_odds_ratio", "direction")


def edge_colour(numbers: Numbers) -> str:
    """Return the colour of an edge: by the sign of its effect if that is known."""
    effect = next((numbers[name] for name in SIGNED if name in numbers), None)
    if effect is None:
        return UNSIGNED if "strength" in numbers else ACCENT
    return ACCENT if effect >= 0 else WRONG


def group_colours(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the colour of each group, in the order of their names; "group 10" comes after "group 9".

    Examples
    --------
    >>> group_colours({"a": "tea", "b": "", "c": "coffee"})
    {'coffee': '#e69f00', 'tea': '#56b4e9'}
    """
    named = sorted(set(filter(None, groups.values())), key=lambda name: (len(name), name))
    if not all(name.startswith("group ") for name in named):
        named.sort()
    return {name: GROUPS[k % len(GROUPS)] for k, name in enumerate(named)}


def legend(axes: "Axes", edges: Sequence[Numbers], groups: Mapping[str, str]) -> None:
    """Say what colours mean: those of edges where they have signs, those of groups."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    if any(name in numbers for numbers in edges for name in SIGNED):
        used = {edge_colour(numbers) for numbers in edges}
        handles += [
            Line2D([], [], color=colour, label=words) for colour, words in SIGNS.items() if colour in used
        ]
    colours = group_colours(groups)
    handles += [
        Line2D([], [], linestyle="", marker="o", color=colour, label=name)
        for name, colour in list(colours.items())[:LISTED]
    ]
    if len(colours) > LISTED:
        handles.append(Line2D([], [], linestyle="", label=f"and {len(colours) - LISTED} more"))
    if handles:
        more: dict[str, Any] = {"bbox_to_anchor": (0.5, 0.02), "ncols": min(len(handles), 6)}
        made = axes.legend(handles=handles, loc="upper center", frameon=False, fontsize=9, **more)
        fonts, words, _ = legible([text.get_text() for text in made.get_texts()])
        for text, word in zip(made.get_texts(), words, strict=True):
            text.set(parse_math=False, text=word, fontfamily=fonts)
