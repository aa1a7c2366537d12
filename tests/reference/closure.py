"""The Markov blanket closure: assertions about independence that determine a graph (paper, section 4.1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Adjacency = NDArray[np.bool_]


class Assertion(NamedTuple):
    """X and Y are dependent, or independent, given a set of variables."""

    x: int
    y: int
    given: tuple[int, ...]
    dependent: bool


def blanket(adjacency: Adjacency, x: int) -> tuple[int, ...]:
    """B_X: the neighbours of X, in increasing order."""
    return tuple(int(y) for y in np.flatnonzero(adjacency[x]))


def markov_blanket_closure(adjacency: Adjacency) -> list[Assertion]:
    """One assertion for each of the n(n-1) ordered pairs.

    >>> markov_blanket_closure(np.array([[False, True], [True, False]]))[0]
    Assertion(x=0, y=1, given=(), dependent=True)
    """
    adjacency = np.asarray(adjacency, dtype=bool)
    if not np.array_equal(adjacency, adjacency.T) or adjacency.diagonal().any():
        raise ValueError("adjacency must be symmetric with an empty diagonal")
    closure = []
    for x in range(len(adjacency)):
        b_x = blanket(adjacency, x)
        for y in range(len(adjacency)):
            if y == x:
                continue
            if y in b_x:
                closure.append(Assertion(x, y, tuple(w for w in b_x if w != y), dependent=True))
            else:
                closure.append(Assertion(x, y, b_x, dependent=False))
    return closure
