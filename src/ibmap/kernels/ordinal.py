"""x given its blanket where the levels of x have an order: log-linear, one effect for a column of the design.

In slice k, log p(x = l) = a·c_l + s_l η_k + constant, with η_k = b·d_k: contrasts c_l with free intercepts a,
scores s_l (``coding.py``), and the columns d_k of the blanket, without the 1 that ``loglinear.py`` has before
them. Of a neighbour with ordered levels this is the linear-by-linear association. θ is (a, b), the rest as in
``loglinear.py``. Sums are made over levels of x, and turned into contrasts at the end.
"""

import math

import numpy as np

from ibmap.kernels.cholesky import cholesky, solve_lower, solve_upper
from ibmap.kernels.coding import coded, contrast, first_column, score
from ibmap.kernels.jit import allocating_part, inline
from ibmap.kernels.loglinear import CLOSE, ROUNDING, STEPS, evidence_of, log_likelihood, one_step
from ibmap.kernels.records import Floats, FloatTable, IntTable


@allocating_part
def log_posterior(
    design: FloatTable, counts: FloatTable, theta: Floats, precision: Floats, share: FloatTable
) -> float:
    """Log posterior of θ, up to a constant; ``share`` becomes the probability of each level in each slice."""
    n_levels, q = counts.shape[1], counts.shape[1] - 1
    intercept, total = np.zeros(n_levels), 0.0
    for i in range(theta.size):
        total -= 0.5 * precision[i] * theta[i] * theta[i]
    for a in range(q):
        for level in range(a + 2):
            intercept[level] += theta[a] * contrast(level, a)
    for k in range(design.shape[0]):
        slope = 0.0
        for j in range(1, design.shape[1]):
            slope += theta[q + j - 1] * design[k, j]
        for level in range(n_levels):
            share[k, level] = intercept[level] + score(level, n_levels) * slope
        total += log_likelihood(counts[k], share[k])
    return total


@allocating_part
def moments_of_scores(share: FloatTable) -> tuple[Floats, Floats]:
    """Mean and variance of the score of x in every slice."""
    n_levels = share.shape[1]
    mean, spread = np.zeros(share.shape[0]), np.zeros(share.shape[0])
    for k in range(share.shape[0]):
        for level in range(n_levels):
            mean[k] += share[k, level] * score(level, n_levels)
        for level in range(n_levels):
            left = score(level, n_levels) - mean[k]
            spread[k] += share[k, level] * left * left
    return mean, spread


@inline
def add_contrasts(by_level: Floats, out: Floats) -> None:
    """Add numbers by level, turned into contrasts, to the first entries of a vector."""
    for a in range(by_level.size - 1):
        for level in range(a + 2):
            out[a] += by_level[level] * contrast(level, a)


@allocating_part
def slopes(
    design: FloatTable,
    counts: FloatTable,
    share: FloatTable,
    theta: Floats,
    precision: Floats,
    gradient: Floats,
    hessian: FloatTable,
) -> None:
    """Fill the gradient of the log posterior, and the lower triangle of H."""
    n_levels, q, size = counts.shape[1], counts.shape[1] - 1, theta.size
    mean, spread = moments_of_scores(share)
    left, crossed = np.zeros(n_levels), np.zeros((size - q, n_levels))
    covariance, turned = np.zeros((n_levels, n_levels)), np.zeros((n_levels, q))
    for i in range(size):
        gradient[i] = -precision[i] * theta[i]
        for j in range(i + 1):
            hessian[i, j] = precision[i] if i == j else 0.0
    for k in range(design.shape[0]):
        rows, beyond = 0.0, 0.0
        for level in range(n_levels):
            rows += counts[k, level]
            beyond += counts[k, level] * (score(level, n_levels) - mean[k])
        for level in range(n_levels):
            p = share[k, level]
            left[level] += counts[k, level] - rows * p
            covariance[level, level] += rows * p
            for other in range(n_levels):
                covariance[level, other] -= rows * p * share[k, other]
            with_score = rows * p * (score(level, n_levels) - mean[k])
            for j in range(size - q):
                crossed[j, level] += with_score * design[k, j + 1]
        for i in range(size - q):
            gradient[q + i] += beyond * design[k, i + 1]
            weighted = rows * spread[k] * design[k, i + 1]
            for j in range(i + 1):
                hessian[q + i, q + j] += weighted * design[k, j + 1]
    add_contrasts(left, gradient)
    for level in range(n_levels):
        add_contrasts(covariance[level], turned[level])
    for a in range(q):
        for level in range(a + 2):
            for b in range(a + 1):
                hessian[a, b] += contrast(level, a) * turned[level, b]
    for j in range(size - q):
        add_contrasts(crossed[j], hessian[q + j])


@allocating_part
def fit_scores(
    design: FloatTable,
    counts: FloatTable,
    precision: Floats,
    theta: Floats,
    share: FloatTable,
    factor: FloatTable,
) -> float:
    """Find the mode θ by Newton's method; ``factor`` becomes the factor of H. Returns log evidence."""
    size, log_det = theta.size, 0.0
    step, trial = np.empty(size), np.empty(size)
    value = log_posterior(design, counts, theta, precision, share)
    for _ in range(STEPS):
        slopes(design, counts, share, theta, precision, step, factor)
        log_det = cholesky(factor, size)
        solve_lower(factor, size, step)
        gain = 0.0
        for i in range(size):
            gain += step[i] * step[i]
        if gain < CLOSE:
            break
        solve_upper(factor, size, step)
        length, found = 1.0, -math.inf
        least = value - ROUNDING * abs(value)
        while length > 1e-8 and found < least:
            for i in range(size):
                trial[i] = theta[i] + length * step[i]
            found = log_posterior(design, counts, trial, precision, share)
            length *= 0.5
        if found < least:
            log_posterior(design, counts, theta, precision, share)
            break
        value = found
        for i in range(size):
            theta[i] = trial[i]
    for i in range(size):
        value += 0.5 * math.log(precision[i])
    return value - 0.5 * log_det


@allocating_part
def evidence_outside(
    design: FloatTable,
    share: FloatTable,
    mean: Floats,
    spread: Floats,
    factor: FloatTable,
    n_levels: int,
    r: int,
    precision: float,
    cells: IntTable,
    begin: int,
    end: int,
) -> float:
    """Return t of a variable that is not in the model, with r columns: one Newton step from zero."""
    if r == 0:
        return 0.0
    of_x, width = share.shape[1], design.shape[1]
    gradient, inner, first = np.zeros(r), np.zeros((r, r)), np.empty(r)
    by_level, cross = np.zeros((r, of_x)), np.zeros((r, of_x - 1 + width - 1))
    c = begin
    while c < end:
        k = cells[0, c]
        for b in range(r):
            first[b] = 0.0
        while c < end and cells[0, c] == k:
            x, y, count = cells[1, c], cells[2, c], cells[3, c]
            start = first_column(y, n_levels, r)
            for b in range(start, r):
                weighted = count * coded(y, b, n_levels, r)
                first[b] += weighted
                gradient[b] += weighted * (score(x, of_x) - mean[k])
                for b2 in range(start, r):
                    inner[b, b2] += spread[k] * weighted * coded(y, b2, n_levels, r)
            c += 1
        for b in range(r):
            for level in range(of_x):
                by_level[b, level] += first[b] * share[k, level] * (score(level, of_x) - mean[k])
            for j in range(1, width):
                cross[b, of_x + j - 2] += spread[k] * first[b] * design[k, j]
    for b in range(r):
        add_contrasts(by_level[b], cross[b])
    return one_step(gradient, inner, cross, factor, precision)


@allocating_part
def evidence_inside(
    design: FloatTable,
    counts: FloatTable,
    value: float,
    precision: Floats,
    theta: Floats,
    factor: FloatTable,
    first: int,
    r: int,
    strong: float,
) -> float:
    """Return t of a member with r columns of the design, from ``first`` on, as in ``loglinear.py``."""
    if r == 0:
        return 0.0
    q, size = counts.shape[1] - 1, theta.size
    place, length = np.empty(r, np.int64), 0.0
    for b in range(r):
        place[b] = q + first - 1 + b
        length += theta[place[b]] * theta[place[b]]
    if length <= strong * strong:
        return evidence_of(place, theta, factor, precision[size - 1])
    less = size - r
    rest, start, its_precision = (
        np.empty((design.shape[0], design.shape[1] - r)),
        np.empty(less),
        np.empty(less),
    )
    for i in range(less):
        old = i if i < place[0] else i + r
        start[i], its_precision[i] = theta[old], precision[old]
    for j in range(rest.shape[1]):
        for k in range(design.shape[0]):
            rest[k, j] = design[k, j if j < first else j + r]
    share = np.empty(counts.shape)
    return value - fit_scores(rest, counts, its_precision, start, share, np.empty((less, less)))


@allocating_part
def precision_of_scores(q: int, width: int, of_intercept: float, of_effect: float) -> Floats:
    """Return the precisions of the prior: those of the intercepts, then those of the effects."""
    precision = np.empty(q + width - 1)
    for i in range(precision.size):
        precision[i] = of_intercept if i < q else of_effect
    return precision
