"""Which side of its point a name stands on, so that names cover edges and each other seldom."""

from collections.abc import Sequence
from typing import Any

from ibmap.graph import Graph

GAP = 4.0  #: points between a variable and its name
Box = tuple[float, float, float, float]  #: left, right, bottom, top


def sides(graph: Graph, points: Any, texts: Sequence[str], size: float) -> list[bool]:
    """Tell for each name whether it stands above its point, or below.

    It stands where fewer of the edges go, unless another name is there and none on the other side.

    Parameters
    ----------
    graph : Graph
        The network.
    points : array of shape (n, 2)
        Where the variables are, in points of 1/72 inch, as ``size``, the height of letters.
    texts : sequence of str
        The names as they are shown.

    Examples
    --------
    >>> sides(Graph("abc", [("a", "b")]), [(0, 0), (0, 50), (0, -14)], "abc", 9)
    [False, True, False]
    """
    taken: list[Box] = []
    found = []
    for i, text in enumerate(texts):
        heights = [points[j][1] for j in graph.neighbours(i).tolist()]
        above = not heights or sum(heights) <= len(heights) * points[i][1]
        boxes = {side: _box(points[i], text, size, side) for side in (above, not above)}
        free = [side for side, box in boxes.items() if not any(_meet(box, other) for other in taken)]
        found.append(free[0] if free else above)
        taken.append(boxes[found[-1]])
    return found


def fitting(graph: Graph, points: Any, texts: Sequence[str], size: float) -> list[bool | None]:
    """Tell the same where there are many names; None for those that would cover another name, or a variable.

    Variables with many neighbours come first.

    Examples
    --------
    >>> fitting(Graph("abc", [("a", "b")]), [(0, 0), (1, 1), (90, 0)], ["long name", "b", "c"], 9)
    [False, True, True]
    """
    taken: list[Box] = [(x - 2, x + 2, y - 2, y + 2) for x, y in points]
    found: list[bool | None] = [None] * len(texts)
    for i in sorted(range(len(texts)), key=lambda i: (-len(graph.neighbours(i)), i)):
        heights = [points[j][1] for j in graph.neighbours(i).tolist()]
        above = not heights or sum(heights) <= len(heights) * points[i][1]
        for side in (above, not above):
            box = _box(points[i], texts[i], size, side)
            if not any(_meet(box, other) for other in taken):
                found[i] = side
                taken.append(box)
                break
    return found


def _box(point: Sequence[float], text: str, size: float, above: bool) -> Box:
    """Return the space that a text takes, for letters of common width."""
    half, height = 0.3 * size * len(text), 1.2 * size
    bottom = point[1] + GAP if above else point[1] - GAP - height
    return point[0] - half, point[0] + half, bottom, bottom + height


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
