"""Sums over the slices of a log-linear model with many levels (``scores/large_model.py``).

The first row of a table stands for 1, the others for combinations of levels in the blanket; ``at[k]`` are the
rows that slice k has. Columns are levels of x.
"""

from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.loglinear import log_likelihood
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable


@inline
def odds_of_slice(table: FloatTable, at: Ints, out: Floats) -> None:
    """Add up what a slice adds to each level of x."""
    for level in range(out.size):
        out[level] = table[0, level]
    for j in range(at.size):
        for level in range(out.size):
            out[level] += table[at[j], level]


@inline
def add_to_levels(left: Floats, at: Ints, out: FloatTable) -> None:
    """Add numbers by level of x to the rows of a slice."""
    for level in range(left.size):
        out[0, level] += left[level]
    for j in range(at.size):
        for level in range(left.size):
            out[at[j], level] += left[level]


@kernel
def log_likelihood_of(table: FloatTable, at: IntTable, counts: FloatTable, share: FloatTable) -> float:
    """Log likelihood, from log odds; ``share`` becomes the probability of each level in each slice."""
    total = 0.0
    for k in range(at.shape[0]):
        odds_of_slice(table, at[k], share[k])
        total += log_likelihood(counts[k], share[k])
    return total


@kernel
def add_residuals(
    at: IntTable, counts: FloatTable, sizes: Floats, share: FloatTable, left: Floats, out: FloatTable
) -> None:
    """Add what is left of the counts, n_kx - n_k p_kx; ``left`` is scratch."""
    for k in range(at.shape[0]):
        for level in range(left.size):
            left[level] = counts[k, level] - sizes[k] * share[k, level]
        add_to_levels(left, at[k], out)


@kernel
def add_curvature(
    table: FloatTable, at: IntTable, sizes: Floats, share: FloatTable, change: Floats, out: FloatTable
) -> None:
    """Add n_k W_k o_k: W_k the covariance of the levels, o_k log odds; ``change`` is scratch."""
    for k in range(at.shape[0]):
        mean = 0.0
        odds_of_slice(table, at[k], change)
        for level in range(change.size):
            mean += share[k, level] * change[level]
        for level in range(change.size):
            change[level] = sizes[k] * share[k, level] * (change[level] - mean)
        add_to_levels(change, at[k], out)


@kernel
def add_pairs(at: IntTable, sizes: Floats, out: FloatTable) -> None:
    """Add the numbers of rows of slices, for all pairs of what they have (and 1)."""
    for k in range(at.shape[0]):
        out[0, 0] += sizes[k]
        for i in range(at.shape[1]):
            out[0, at[k, i]] += sizes[k]
            out[at[k, i], 0] += sizes[k]
            for j in range(at.shape[1]):
                out[at[k, i], at[k, j]] += sizes[k]


@kernel
def add_outside(
    at: IntTable,
    share: FloatTable,
    cells: IntTable,
    begin: int,
    end: int,
    left: FloatTable,
    cross: FloatTable,
) -> None:
    """Add, by level of a variable y that is not in the model, what is left of x, and the numbers of rows."""
    for c in range(begin, end):
        k, x, y, count = cells[0, c], cells[1, c], cells[2, c], cells[3, c]
        left[y, x] += count
        cross[y, 0] += count
        for level in range(left.shape[1]):
            left[y, level] -= count * share[k, level]
        for j in range(at.shape[1]):
            cross[y, at[k, j]] += count
