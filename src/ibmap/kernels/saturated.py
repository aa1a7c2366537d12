"""The marginal pseudo-likelihood of tables that are given as lists of observed cells."""

import numpy as np

from ibmap.kernels.cells import sum_of_slice
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
            begin, n, d = sum_of_slice(cells, begin, end, by_cell, by_cell, by_total, column)
            total += d + by_total[n]
        out[t] = total
