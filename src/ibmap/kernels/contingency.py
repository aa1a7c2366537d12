"""Classical statistics of tables that are given as lists of observed cells."""

import math

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import allocating_kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@allocating_kernel
def statistics_of_tables(start: Ints, cells: Ints, n_levels: int) -> Floats:
    """Return χ², G² and the adjusted degrees of freedom of each table: rows 0, 1, 2 of the result."""
    out = np.zeros((3, start.size - 1))
    by_row, by_column = np.zeros(n_levels, np.int64), np.zeros(n_levels, np.int64)
    for t in range(start.size - 1):
        begin = start[t]
        while begin < start[t + 1]:
            end, n, rows, columns = begin, 0, 0, 0
            while end < start[t + 1] and cells[0, end] == cells[0, begin]:
                x, y, count = cells[1, end], cells[2, end], cells[3, end]
                rows += by_row[x] == 0
                columns += by_column[y] == 0
                by_row[x] += count
                by_column[y] += count
                n += count
                end += 1
            chi = -np.float64(n)  # Σ (c - E)² / E = Σ c² / E - n, over observed cells only
            likelihood = 0.0
            for i in range(begin, end):
                expected = by_row[cells[1, i]] * (by_column[cells[2, i]] / n)
                chi += cells[3, i] * (cells[3, i] / expected)
                likelihood += cells[3, i] * math.log(cells[3, i] / expected)
            out[0, t] += max(chi, 0.0)
            out[1, t] += max(2.0 * likelihood, 0.0)
            out[2, t] += (rows - 1) * (columns - 1)
            for i in range(begin, end):
                by_row[cells[1, i]] = 0
                by_column[cells[2, i]] = 0
            begin = end
    return out
