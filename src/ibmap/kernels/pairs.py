"""All pairs of a matrix of log posteriors, a band of rows at a time."""

import math

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import kernel
from ibmap.kernels.logspace import log_one_minus_exp

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def absent_pairs(
    sigma: Floats, adjacent: NDArray[np.bool_], first: int, last: int, bar: float, pairs: Ints, worth: Floats
) -> int:
    """List absent pairs (i, j), first <= i < last, i < j, whose log posterior of an edge exceeds a bar.

    The log posterior of an edge, both ends together, is log(1 - e^σ_ij) + log(1 - e^σ_ji); as log(1 - e^σ) is
    at most log(-σ), most pairs need no exact value. ``adjacent[i - first, j]`` marks edges.
    Returns how many there are.
    """
    n, least = 0, math.exp(bar) * (1.0 - 1e-12)
    for i in range(first, last):
        for j in range(i + 1, sigma.shape[0]):
            here, there = sigma[i, j], sigma[j, i]
            if adjacent[i - first, j] or min(-here, 1.0) * min(-there, 1.0) < least:
                continue
            value = log_one_minus_exp(here) + log_one_minus_exp(there)
            if value > bar:
                pairs[n, 0], pairs[n, 1], worth[n] = i, j, value
                n += 1
    return n
