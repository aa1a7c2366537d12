"""The Markov blanket closure: the assertions that determine a graph (paper, section 4.1)."""

from typing import NamedTuple

import numpy as np

from ibmap._types import Ints
from ibmap.graph import Graph
from ibmap.independence import Answers, BoundTest


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


def closure_answers(test: BoundTest, x: int, blanket: Ints, n: int) -> list[tuple[Ints, Answers]]:
    """Ask a test about x and all other variables, as the closure does: in two questions at most.

    Returns the variables outside the blanket with their answers given it, and the members with theirs, each
    given the others.
    """
    asked: list[tuple[Ints, Answers]] = []
    outside = np.setdiff1d(np.arange(n), np.append(blanket, x))
    if len(outside):
        asked.append((outside, test.fixed(x, outside, blanket)))
    if len(blanket):
        asked.append((blanket, test.round_robin(x, blanket)))
    return asked
