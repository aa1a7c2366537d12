"""Mantel's statistics of tables of which one variable has a score: M², stratified over slices.

In slice k of n rows, with the scores s of one variable and the columns v (contrasts, or a score) of the
other, U_k = Σ (s - s̄)(v - v̄), whose covariance, where the two are independent and both margins are known, is
V_k = Σ (s - s̄)² Σ (v - v̄)(v - v̄)ᵀ / (n - 1). M² = (Σ U_k)ᵀ (Σ V_k)⁻¹ (Σ U_k) has as many degrees of freedom
as Σ V_k has rank.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.coding import coded, first_column
from ibmap.kernels.jit import allocating_kernel, allocating_part
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable

RANK = 1e-13  #: of what is subtracted from to get a variance, below which it is rounding
NO_SCORE = -1.0  #: degrees of freedom of tables of which neither variable has a score


@allocating_kernel
def score_statistics(
    x: Ints, y: Ints, start: Ints, cells: IntTable, levels: Ints, columns: Ints
) -> NDArray[np.float64]:
    """Return M² and the degrees of freedom of each table: rows 0 and 1 of the result."""
    out = np.zeros((2, x.size))
    for t in range(x.size):
        one, other, row = x[t], y[t], 1
        if columns[one] > 1:
            one, other, row = other, one, 2
        if columns[one] > 1:
            out[1, t] = NO_SCORE
        elif columns[one] == 1 and columns[other] > 0:
            sizes = levels[one], levels[other], columns[other]
            out[0, t], out[1, t] = statistic_of(cells, start[t], start[t + 1], row, *sizes)
    return out


@allocating_part
def statistic_of(
    cells: IntTable, begin: int, end: int, row: int, of_score: int, of_columns: int, r: int
) -> tuple[float, float]:
    """Return M² and its degrees of freedom; ``row`` of the cells has the levels that have a score."""
    total, spread, size = np.zeros(r), np.zeros((r, r)), np.zeros(r)
    first, both, second = np.zeros(r), np.zeros(r), np.zeros((r, r))
    c = begin
    while c < end:
        k, n, s1, s2 = cells[0, c], 0.0, 0.0, 0.0
        for a in range(r):
            first[a] = both[a] = 0.0
            for b in range(r):
                second[a, b] = 0.0
        while c < end and cells[0, c] == k:
            count, level = np.float64(cells[3, c]), cells[3 - row, c]
            s = coded(cells[row, c], 0, of_score, 1)
            n, s1, s2 = n + count, s1 + count * s, s2 + count * s * s
            begins = first_column(level, of_columns, r)
            for a in range(begins, r):
                v = count * coded(level, a, of_columns, r)
                first[a] += v
                both[a] += v * s
                for b in range(begins, a + 1):
                    second[a, b] += v * coded(level, b, of_columns, r)
            c += 1
        if n > 1.0:
            variance = (s2 - s1 * s1 / n) / (n - 1.0)
            for a in range(r):
                size[a] += s2 / (n - 1.0) * second[a, a]
                total[a] += both[a] - s1 * first[a] / n
                for b in range(a + 1):
                    spread[a, b] += variance * (second[a, b] - first[a] * first[b] / n)
    return quadratic_form(total, spread, size)


@allocating_part
def quadratic_form(vector: Floats, matrix: FloatTable, size: Floats) -> tuple[float, float]:
    """Return vᵀ M⁻ v and the rank of M, of which the lower triangle is there and is used up.

    A direction whose variance is nothing against its ``size`` has none.
    """
    r, value, rank = vector.size, 0.0, 0.0
    for a in range(r):
        for b in range(a):
            left = matrix[a, b]
            for k in range(b):
                left -= matrix[a, k] * matrix[b, k]
            matrix[a, b] = left / matrix[b, b] if matrix[b, b] > 0.0 else 0.0
        left, rest = matrix[a, a], vector[a]
        for k in range(a):
            left -= matrix[a, k] * matrix[a, k]
            rest -= matrix[a, k] * vector[k]
        found = left > RANK * size[a]
        matrix[a, a] = np.sqrt(left) if found else 0.0
        vector[a] = rest / matrix[a, a] if found else 0.0
        value += vector[a] * vector[a]
        rank += 1.0 if found else 0.0
    return value, rank
