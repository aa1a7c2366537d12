"""Problems whose bits come in blocks, and LeadingOnes."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ibmap._random import RandomState, generator
from ibmap.eda.problems.problem import Problem, check_number, check_size, graph_of_groups, variables
from ibmap.errors import RequestError
from ibmap.graph import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def onemax(n: int) -> Problem:
    """Count the ones: every bit for itself.

    Examples
    --------
    >>> onemax(12)([[1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1]])
    array([10.])
    """
    size = check_size(n, "onemax")
    return Problem("onemax", size, partial(_royal_road, gamma=1), float(size), Graph(variables(size)))


def royal_road(n: int, gamma: int = 4) -> Problem:
    """Count the ones in groups of γ that are all ones; the others add nothing.

    Examples
    --------
    >>> royal_road(12)([[1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1]])
    array([8.])
    """
    gamma = check_number(gamma, "gamma", 1, 2**31)
    size = check_size(n, "royal-road", gamma)
    graph = graph_of_groups(size, np.arange(size).reshape(-1, gamma).tolist())
    return Problem("royal-road", size, partial(_royal_road, gamma=gamma), float(size), graph)


def leading_ones(n: int) -> Problem:
    """Count the ones before the first zero: every pair of bits interacts.

    Examples
    --------
    >>> leading_ones(5)([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1]])
    array([2., 5.])
    """
    size = check_size(n, "leading-ones")
    return Problem("leading-ones", size, _leading_ones, float(size), Graph.complete(variables(size)))


def trap(n: int, k: int = 5, *, shuffled: bool = False, random_state: RandomState = None) -> Problem:
    """Concatenated deceptive traps: a block of k ones is worth k, else k - 1 less its ones.

    Within a block every step towards all zeros pays, and leads away from the optimum.

    Parameters
    ----------
    n, k : int
        Number of bits, and of bits in a block: 3, 4 or 5.
    shuffled : bool
        Whether the bits of a block are spread over the string, by ``random_state``.

    Examples
    --------
    >>> trap(10)([[0] * 10, [1, 0, 0, 0, 0, 1, 1, 1, 1, 1]])
    array([8., 8.])
    """
    k = check_number(k, "k", 3, 5)
    size = check_size(n, "trap", k)
    if not isinstance(shuffled, bool):
        raise RequestError(f"shuffled must be true or false, not {shuffled!r}")
    order = generator(random_state).permutation(size) if shuffled else np.arange(size)
    blocks = order.reshape(-1, k)
    graph = graph_of_groups(size, blocks.tolist())
    return Problem("trap", size, partial(_trap, blocks=blocks), float(size), graph)


def _royal_road(rows: Ints, gamma: int) -> Floats:
    groups = np.asarray(rows).reshape(len(rows), -1, gamma)
    return np.asarray(gamma * (groups == 1).all(axis=2).sum(axis=1), float)


def _leading_ones(rows: Ints) -> Floats:
    return np.asarray(np.cumprod(rows == 1, axis=1).sum(axis=1), float)


def _trap(rows: Ints, blocks: Ints) -> Floats:
    k = blocks.shape[1]
    ones = (rows[:, blocks] == 1).sum(axis=2)
    return np.asarray(np.where(ones == k, k, k - 1 - ones).sum(axis=1), float)
