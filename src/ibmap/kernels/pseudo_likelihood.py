"""The pseudo-likelihood of a pairwise model and its gradient, from the counts of every variable's blanket.

Parameters are flat (``model/layout.py``): a field for every level of every variable, a table for every edge.
The slow twin is in ``tests/reference/pseudo_likelihood.py``.
"""

import numpy as np

from ibmap.kernels.jit import kernel
from ibmap.kernels.logspace import exp
from ibmap.kernels.records import Floats, IntTable


@kernel
def add_variable(
    theta: Floats,
    field: int,
    ends: IntTable,
    codes: IntTable,
    counts: IntTable,
    share: Floats,
    gradient: Floats,
) -> float:
    """Return the log likelihood of a variable given its neighbours; add its gradient.

    ``ends`` says of each neighbour where the table is, the stride of the variable's levels in it, and that of
    the neighbour's; ``codes`` (slices, neighbours) has the levels of the neighbours, ``counts`` (slices,
    levels) the rows with each level of the variable. ``share`` is scratch.
    """
    value, n_levels = 0.0, counts.shape[1]
    for k in range(counts.shape[0]):
        for level in range(n_levels):
            share[level] = theta[field + level]
        for j in range(ends.shape[0]):
            at, step = ends[j, 0] + ends[j, 2] * codes[k, j], ends[j, 1]
            for level in range(n_levels):
                share[level] += theta[at + step * level]
        largest, size = share[0], 0.0
        for level in range(n_levels):
            largest = max(largest, share[level])
            size += counts[k, level]
        total = 0.0
        for level in range(n_levels):
            value += counts[k, level] * (share[level] - largest)
            share[level] = exp(share[level] - largest)
            total += share[level]
        value -= size * np.log(total)
        for level in range(n_levels):
            share[level] = counts[k, level] - size * share[level] / total
            gradient[field + level] += share[level]
        for j in range(ends.shape[0]):
            at, step = ends[j, 0] + ends[j, 2] * codes[k, j], ends[j, 1]
            for level in range(n_levels):
                gradient[at + step * level] += share[level]
    return value
