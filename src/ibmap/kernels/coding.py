"""How levels enter a log-linear model: by contrasts, or by one score where they have an order.

Contrasts are orthonormal, so that an isotropic prior of effects does not depend on which level is called the
first: the log odds ratio of any two levels has the same variance. Scores of r ordered levels are equally
spaced and add up to zero; the mean of (s_i - s_j)² over all pairs of levels is 2, as it is of contrasts, so
that log odds ratios are on average as large. Two levels have one contrast, which is their score.

A variable with fewer columns than contrasts (``levels - 1``) is one whose levels have an order.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import inline
from ibmap.kernels.records import Ints

MOST = 32  #: levels whose contrasts are in a table


def columns_of(levels: Ints, ordinal: NDArray[np.bool_]) -> Ints:
    """Return how many columns of a design each variable has.

    Examples
    --------
    >>> columns_of(np.array([1, 2, 5, 5]), np.array([True, True, True, False])).tolist()
    [0, 1, 1, 4]
    """
    return np.where(ordinal, np.minimum(levels - 1, 1), levels - 1)


def helmert(level: int, column: int) -> float:
    """Return an entry of orthonormal contrasts (Helmert's): a level against the mean of those before it.

    Examples
    --------
    >>> [round(helmert(level, 1), 3) for level in range(4)]
    [-0.408, -0.408, 0.816, 0.0]
    """
    if level > column + 1:
        return 0.0
    scale = 1.0 / math.sqrt((column + 1.0) * (column + 2.0))
    return (column + 1.0) * scale if level == column + 1 else -scale


CONTRASTS = np.array([[helmert(level, column) for column in range(MOST)] for level in range(MOST)])


@inline
def contrast(level: int, column: int) -> float:
    """Return that entry, from the table; beyond it, the formula once more."""
    if level < MOST and column < MOST:
        return CONTRASTS[level, column]
    if level > column + 1:
        return 0.0
    scale = 1.0 / math.sqrt((column + 1.0) * (column + 2.0))
    return (column + 1.0) * scale if level == column + 1 else -scale


@inline
def score(level: int, n_levels: int) -> float:
    """Return the score of one of several ordered levels."""
    return (level - 0.5 * (n_levels - 1)) * math.sqrt(12.0 / (n_levels * (n_levels + 1.0)))


@inline
def coded(level: int, column: int, n_levels: int, n_columns: int) -> float:
    """Return what a level has in a column of the design: a contrast, or its score."""
    return score(level, n_levels) if n_columns < n_levels - 1 else contrast(level, column)


@inline
def first_column(level: int, n_levels: int, n_columns: int) -> int:
    """Return the first column that is not zero for a level."""
    return 0 if n_columns < n_levels - 1 else max(level - 1, 0)
