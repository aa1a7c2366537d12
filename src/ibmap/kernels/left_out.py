"""How well log-linear models predict rows that they have not seen."""

import numpy as np

from ibmap.kernels.cholesky import solve_lower
from ibmap.kernels.jit import allocating_kernel
from ibmap.kernels.loglinear import counts_of, design_of, fit, log_posterior, precision_of
from ibmap.kernels.records import Floats, Ints


@allocating_kernel
def loglinear_left_out(
    levels: Ints,
    xs: Ints,
    given: Ints,
    given_start: Ints,
    slice_start: Ints,
    keys: Ints,
    set_start: Ints,
    sets: Ints,
    of_intercept: float,
    of_effect: float,
    out: Floats,
) -> None:
    """Log likelihood at the mode, less Σ_i (1 - Λ_ii H⁻¹_ii): what the data and not the prior have set."""
    first_key = 0
    for q in range(xs.size):
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        n_slices = slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + members.size * n_slices].reshape((n_slices, members.size))
        first_key += members.size * n_slices
        counts = counts_of(levels[x], n_slices, set_start[q], set_start[q + 1], sets)
        design = design_of(code, levels, members)
        precision = precision_of(levels[x] - 1, design.shape[1], of_intercept, of_effect)
        size = precision.size
        theta, share = np.zeros(size), np.empty((n_slices, levels[x]))
        factor, unit = np.empty((size, size)), np.empty(size)
        fit(design, counts, precision, theta, share, factor)
        out[q] = log_posterior(design, counts, theta, precision, share)
        for i in range(size):
            out[q] += 0.5 * precision[i] * theta[i] * theta[i]
            for j in range(size):
                unit[j] = 0.0
            unit[i] = 1.0
            solve_lower(factor, size, unit)
            inverse = 0.0
            for j in range(size):
                inverse += unit[j] * unit[j]
            out[q] -= 1.0 - precision[i] * inverse
