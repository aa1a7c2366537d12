"""Log-linear conditionals for a batch of questions, as an engine answers them."""

import numpy as np

from ibmap.kernels.cholesky import solve_lower
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline
from ibmap.kernels.large_loglinear import fit_large, large_row
from ibmap.kernels.large_sums import columns_of, height
from ibmap.kernels.loglinear import (
    counts_of,
    design_of,
    evidence_inside,
    evidence_outside,
    fit,
    log_posterior,
    moments_of,
    precision_of,
)
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable

LARGE = 24  #: parameters of the largest effect that x could have, beyond which its model is approximated


@inline
def is_large(levels: Ints, x: int) -> bool:
    """Whether the model of x is approximated: whatever its blanket, so that evidence can be compared."""
    most = np.int64(1)
    for r in levels:
        most = max(most, r)
    return (levels[x] - 1) * (most - 1) > LARGE


@allocating_kernel
def loglinear_rows(
    levels: Ints,
    xs: Ints,
    y: Ints,
    y_start: Ints,
    given: Ints,
    given_start: Ints,
    slice_start: Ints,
    keys: Ints,
    set_start: Ints,
    sets: Ints,
    start: Ints,
    cells: Ints,
    of_intercept: float,
    of_effect: float,
    strong: float,
    outside: Floats,
    inside: Floats,
    values: Floats,
) -> None:
    """Answer a batch of rows: t of every table, t of every member, and the log evidence of every question.

    Variables with many levels are left to ``large_rows``.

    ``keys`` are the levels of the given variables in every slice, ``sets`` slice, level of x and rows of
    every set, as an engine answers; the precisions are those of the prior of intercepts and of effects. For
    ``strong`` see ``evidence_inside``.
    """
    first_key = 0
    for q in range(xs.size):
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        n_slices = slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + members.size * n_slices].reshape((n_slices, members.size))
        first_key += members.size * n_slices
        if is_large(levels, x):
            continue
        counts = counts_of(levels[x], n_slices, set_start[q], set_start[q + 1], sets)
        design = design_of(code, levels, members)
        n_effects, width = levels[x] - 1, design.shape[1]
        precision = precision_of(n_effects, width, of_intercept, of_effect)
        theta, share = np.zeros(precision.size), np.empty((n_slices, levels[x]))
        factor = np.empty((precision.size, precision.size))
        values[q] = fit(design, counts, precision, theta, share, factor)
        mean, spread = moments_of(share)
        at = 1
        for j in range(members.size):
            r = levels[members[j]] - 1
            inside[given_start[q] + j] = evidence_inside(
                design, counts, values[q], precision, theta, factor, at, r, strong
            )
            at += r
        for t in range(y_start[q], y_start[q + 1]):
            outside[t] = evidence_outside(
                design, mean, spread, factor, levels[y[t]], of_effect, cells, start[t], start[t + 1]
            )


@allocating_kernel
def large_rows(
    levels: Ints,
    xs: Ints,
    y: Ints,
    y_start: Ints,
    given: Ints,
    given_start: Ints,
    slice_start: Ints,
    keys: Ints,
    set_start: Ints,
    sets: Ints,
    start: Ints,
    cells: Ints,
    of_intercept: float,
    of_effect: float,
    strong: float,
    outside: Floats,
    inside: Floats,
    values: Floats,
) -> None:
    """The same for the variables with many levels, and for no others."""
    first_key = 0
    for q in range(xs.size):
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        n_slices = slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + members.size * n_slices].reshape((n_slices, members.size))
        first_key += members.size * n_slices
        if is_large(levels, x):
            values[q] = large_row(
                code,
                design_of(code, levels, members),
                counts_of(levels[x], n_slices, set_start[q], set_start[q + 1], sets),
                levels,
                members,
                y[y_start[q] : y_start[q + 1]],
                start[y_start[q] : y_start[q + 1] + 1],
                cells,
                of_intercept,
                of_effect,
                strong,
                outside[y_start[q] : y_start[q + 1]],
                inside[given_start[q] : given_start[q + 1]],
            )


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
    """Log likelihood at the mode, less Σ_i (1 - Λ_ii H⁻¹_ii): what the data and not the prior have set.

    Variables with many levels are left to ``large_left_out``.
    """
    first_key = 0
    for q in range(xs.size):
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        n_slices = slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + members.size * n_slices].reshape((n_slices, members.size))
        first_key += members.size * n_slices
        if is_large(levels, x):
            continue
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


@allocating_kernel
def large_left_out(
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
    """The same for the variables with many levels, and for no others."""
    first_key = 0
    for q in range(xs.size):
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        n_slices = slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + members.size * n_slices].reshape((n_slices, members.size))
        first_key += members.size * n_slices
        if is_large(levels, x):
            counts = counts_of(levels[x], n_slices, set_start[q], set_start[q + 1], sets)
            design, first = design_of(code, levels, members), columns_of(levels, members)
            out[q] = one_left_out(code, design, counts, first, of_intercept, of_effect)


@allocating_part
def one_left_out(
    code: IntTable,
    design: FloatTable,
    counts: FloatTable,
    first: Ints,
    of_intercept: float,
    of_effect: float,
) -> float:
    """Log likelihood at the mode of a model with many levels, less what the data have set."""
    q, width = counts.shape[1] - 1, design.shape[1]
    precision = np.full(width, of_effect)
    precision[0] = of_intercept
    theta, share = np.zeros((q, width)), np.empty(counts.shape)
    vectors, weights, factors = np.empty((q, q)), np.empty(q), np.empty((q * width, width))
    fit_large(code, design, counts, precision, first, theta, share, vectors, weights, factors)
    total, unit = height(code, counts, theta, precision, first, share), np.empty(width)
    for a in range(q):
        block = factors[a * width : (a + 1) * width]
        for i in range(width):
            total += 0.5 * precision[i] * theta[a, i] * theta[a, i]
            for j in range(width):
                unit[j] = 0.0
            unit[i] = 1.0
            solve_lower(block, width, unit)
            inverse = 0.0
            for j in range(width):
                inverse += unit[j] * unit[j]
            total -= 1.0 - precision[i] * inverse
    return total
