"""The Markov blanket closure: the assertions that determine a graph (paper, section 4.1)."""

from typing import NamedTuple

from ibmap.graph import Graph


class Assertion(NamedTuple):
    """``x`` and ``y`` are dependent, or independent, given ``given``."""

    x: str
    y: str
    given: tuple[str, ...]
    dependent: bool


def markov_blanket_closure(graph: Graph) -> list[Assertion]:
    """List the n(n - 1) assertions of a graph: one for every ordered pair (x, y).

    Examples
    --------
    >>> for assertion in markov_blanket_closure(Graph("abc", [("a", "b")]))[:3]:
    ...     print(*assertion)
    a b () True
    a c ('b',) False
    b a () True
    """
    assertions = []
    for x in graph.names:
        blanket = graph.blanket(x)
        for y in graph.names:
            if y in blanket:
                assertions.append(Assertion(x, y, tuple(z for z in blanket if z != y), True))
            elif y != x:
                assertions.append(Assertion(x, y, blanket, False))
    return assertions
