"""Decisions without posteriors, for binary variables: is 1 / Pr(x ⊥ y) above a limit?

1 / Pr(x ⊥ y) = Π_k (1 + e^t_k) is a product of one factor per slice, and a threshold needs nothing more; a
product that overflows is above every limit. In a slice with n1 rows of x = 1 and n0 of x = 0 the factor
depends only on two counts up to n1 and n0, so that for few rows one small table serves all ys: per slice and
y, one look-up and one multiplication. Where x is constant and the prior counts of cells and margins are
equal, h / g does not depend on y at all, and nothing is counted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import Model, Priors, log_prior_ratio, log_two_by_two, priors_of
from ibmap.kernels.jit import inline
from ibmap.kernels.logspace import exp, softplus
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import Floats, Sets

SMALL = 16  #: slices with fewer rows of either level of x have a table of factors
FEW = np.uint8(SMALL)
LARGEST = 700.0  #: e^t beyond it is above every limit

Bytes = NDArray[np.uint8]


class OddsWorkspace(NamedTuple):
    """Workspace for the factors of many ys."""

    odds: Floats  #: (width,): Π_k (1 + e^t_k)
    sums: Bytes  #: (width,): counts in a few rows
    ones: NDArray[np.int32]  #: (2, width): counts of y = 1 where x has its first, its second level
    tables: Floats  #: (SMALL, SMALL, SMALL²): 1 + e^t by the two counts, for every size of the two sets
    filled: NDArray[np.bool_]  #: (SMALL, SMALL): which tables are there


@inline
def constant_slice(model: Model, priors: Priors, size: int) -> float:
    """Return d of a slice where x, or y, is constant; if the margins have the prior counts of cells."""
    return log_prior_ratio(model, priors, size) - model.tables[priors.row, size] if size > 1 else 0.0


@inline
def start_of(model: Model, priors: Priors, first: int, second: int) -> float:
    """Return what the factors of all ys in a slice share."""
    start = log_prior_ratio(model, priors, first + second)
    return start - (model.tables[priors.row, first] + model.tables[priors.row, second])


@inline
def factor_of(cell: Floats, margin: Floats, c: int, not_c: int, d: int, not_d: int, start: float) -> float:
    """1 + e^t, where t = start + log h - log g of two by two cells."""
    return 1.0 + exp(min(start + log_two_by_two(cell, margin, c, not_c, d, not_d), LARGEST))


@inline
def multiply_slices(
    sets: Sets,
    model: Model,
    rows: Bytes,
    workspace: OddsWorkspace,
    x: int,
    n_slices: int,
    offset: float,
    width: int,
) -> float:
    """Multiply ``odds`` of all ys by the factors of all slices. Returns the log of what all ys share.

    The sets of (slice, x) are in place 2; ``rows[r, v]`` is the level of the v-th y in row r.
    """
    priors, shared = priors_of(model, x, x), 0.0
    same = priors.cell == priors.row  # the prior counts of a cell and of a level
    cell, margin = model.tables[priors.cell], model.tables[priors.row]
    odds, sums, one, two = (
        workspace.odds[:width],
        workspace.sums[:width],
        workspace.ones[0],
        workspace.ones[1],
    )
    for k in range(n_slices):
        begin, end = sets.child[2, k], sets.child[2, k + 1]
        first = sets.size[2, begin]
        second = sets.size[2, begin + 1] if end - begin == 2 else np.int64(0)
        if second == 0 and same:
            shared += softplus(offset + constant_slice(model, priors, first))
            continue
        start = offset + start_of(model, priors, first, second)
        if max(first, second) < SMALL:
            table = workspace.tables[first, second]
            if not workspace.filled[first, second]:
                workspace.filled[first, second] = True
                for c in range(first + 1):
                    for d in range(second + 1):
                        table[SMALL * c + d] = factor_of(cell, margin, c, first - c, d, second - d, start)
            sums[:] = 0
            add_rows(sets, rows, begin, sums)
            for v in range(width):
                sums[v] *= FEW
            if second:
                add_rows(sets, rows, begin + 1, sums)
            for v in range(width):
                odds[v] *= table[sums[v]]
        else:
            count_ones(sets, rows, begin, sums, one)
            two[:width] = 0
            if second:
                count_ones(sets, rows, begin + 1, sums, two)
            for v in range(width):
                odds[v] *= factor_of(cell, margin, one[v], first - one[v], two[v], second - two[v], start)
    return shared


@inline
def add_rows(sets: Sets, rows: Bytes, one: int, sums: Bytes) -> None:
    """Add up the rows of a set of fewer than 256."""
    for i in range(sets.start[2, one], sets.start[2, one + 1]):
        mask, first = sets.masks[2, i], 64 * np.int64(sets.words[2, i])
        while mask:
            row = rows[first + np.int64(popcount(~mask & (mask - np.uint64(1))))]
            mask &= mask - np.uint64(1)
            for v in range(sums.size):
                sums[v] += row[v]


@inline
def count_ones(sets: Sets, rows: Bytes, one: int, sums: Bytes, out: NDArray[np.int32]) -> None:
    """``out[v]``: rows of a set where the v-th y is 1; bytes are emptied before they can overflow."""
    width, since = sums.size, 0
    out[:width] = 0
    sums[:] = 0
    for i in range(sets.start[2, one], sets.start[2, one + 1]):
        mask, first = sets.masks[2, i], 64 * np.int64(sets.words[2, i])
        while mask:
            row = rows[first + np.int64(popcount(~mask & (mask - np.uint64(1))))]
            mask &= mask - np.uint64(1)
            for v in range(width):
                sums[v] += row[v]
            since += 1
            if since == 255:
                since = 0
                for v in range(width):
                    out[v] += sums[v]
                    sums[v] = 0
    for v in range(width):
        out[v] += sums[v]
