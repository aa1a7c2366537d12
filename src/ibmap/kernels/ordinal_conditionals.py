"""Conditionals of one variable with ordered levels: as ``conditionals.py`` has them of one without."""

import numpy as np

from ibmap.kernels.cholesky import diagonal_of_inverse
from ibmap.kernels.jit import allocating_kernel
from ibmap.kernels.loglinear import counts_of, design_of
from ibmap.kernels.ordinal import (
    evidence_inside,
    evidence_outside,
    fit_scores,
    log_posterior,
    moments_of_scores,
    precision_of_scores,
)
from ibmap.kernels.records import Floats, Ints, IntTable


@allocating_kernel
def ordinal_row(
    levels: Ints,
    columns: Ints,
    x: int,
    members: Ints,
    code: IntTable,
    sets: IntTable,
    begin: int,
    end: int,
    of_intercept: float,
    of_effect: float,
    strong: float,
    ys: Ints,
    start: Ints,
    cells: IntTable,
    outside: Floats,
    inside: Floats,
) -> float:
    """Fill t of every table and of every member; return the log evidence."""
    counts = counts_of(levels[x], code.shape[0], begin, end, sets)
    design = design_of(code, levels, columns, members)
    precision = precision_of_scores(levels[x] - 1, design.shape[1], of_intercept, of_effect)
    theta, share = np.zeros(precision.size), np.empty(counts.shape)
    factor = np.empty((precision.size, precision.size))
    value = fit_scores(design, counts, precision, theta, share, factor)
    mean, spread = moments_of_scores(share)
    at = 1
    for j in range(members.size):
        r = columns[members[j]]
        inside[j] = evidence_inside(design, counts, value, precision, theta, factor, at, r, strong)
        at += r
    for t in range(ys.size):
        of_y = levels[ys[t]], columns[ys[t]]
        outside[t] = evidence_outside(
            design, share, mean, spread, factor, *of_y, of_effect, cells, start[t], start[t + 1]
        )
    return value


@allocating_kernel
def ordinal_left_out(
    levels: Ints,
    columns: Ints,
    x: int,
    members: Ints,
    code: IntTable,
    sets: IntTable,
    begin: int,
    end: int,
    of_intercept: float,
    of_effect: float,
) -> float:
    """Log likelihood at the mode, less Σ_i (1 - Λ_ii H⁻¹_ii): what the data and not the prior have set."""
    counts = counts_of(levels[x], code.shape[0], begin, end, sets)
    design = design_of(code, levels, columns, members)
    precision = precision_of_scores(levels[x] - 1, design.shape[1], of_intercept, of_effect)
    size = precision.size
    theta, share, factor = np.zeros(size), np.empty(counts.shape), np.empty((size, size))
    fit_scores(design, counts, precision, theta, share, factor)
    total, unit = log_posterior(design, counts, theta, precision, share), np.empty(size)
    for i in range(size):
        total += 0.5 * precision[i] * theta[i] * theta[i]
        total -= 1.0 - precision[i] * diagonal_of_inverse(factor, size, i, unit)
    return total
