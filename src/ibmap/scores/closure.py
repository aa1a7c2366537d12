"""The Markov blanket closure: the assertions that determine a graph (paper, section 4.1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence import BoundTest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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


def closure_row(test: BoundTest, x: int, blanket: Ints, n: int) -> Floats:
    """Return σ_x: the log posteriors of the assertions about x, in two questions. σ_xx = 0."""
    row = np.zeros(n)
    others = np.setdiff1d(np.arange(n), np.append(blanket, x))
    if len(others):
        row[others] = _posteriors(test.fixed(x, others, blanket).log_independent)
    if len(blanket):
        row[blanket] = _posteriors(test.round_robin(x, blanket).log_dependent)
    return row


def _posteriors(values: Floats | None) -> Floats:
    if values is None:
        raise RequestError("the test has no posteriors; the IB-score needs log_independent and log_dependent")
    return values
