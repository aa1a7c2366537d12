"""The marginal pseudo-likelihood of tables that are given as lists of observed cells."""

import numpy as np

from ibmap.kernels.jit import allocating_kernel
from ibmap.kernels.records import Floats, Ints


@allocating_kernel
def evidence_of_tables(
    rising: Floats, kinds: Ints, n_levels: int, start: Ints, cells: Ints, out: Floats
) -> None:
    """``out[t] = s_x(slices and y) - s_x(slices)`` of every table.

    ``rising[0, n]`` is log Γ(a + n) - log Γ(a), ``rising[kinds[t], n]`` the same for the total of x.
    """
    column = np.zeros(n_levels, np.int64)
    by_cell = rising[0]
    for t in range(out.size):
        by_total, begin, end, total = rising[kinds[t]], start[t], start[t + 1], 0.0
        while begin < end:
            i, k, n, row, level = begin, cells[0, begin], 0, 0, cells[1, begin]
            while i < end and cells[0, i] == k:
                count = cells[3, i]
                if cells[1, i] != level:
                    total -= by_cell[row]
                    row, level = 0, cells[1, i]
                row += count
                n += count
                total += by_cell[count]
                column[cells[2, i]] += count
                i += 1
            total += by_total[n] - by_cell[row]
            for j in range(begin, i):
                total -= by_total[column[cells[2, j]]]
                column[cells[2, j]] = 0
            begin = i
        out[t] = total
