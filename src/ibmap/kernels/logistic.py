"""The log-linear model of ``loglinear.py`` where x has two levels: one log odds in every slice."""

import math

import numpy as np

from ibmap.kernels.cholesky import cholesky, solve_lower, solve_upper
from ibmap.kernels.jit import allocating_part, inline
from ibmap.kernels.records import Floats, FloatTable

SQRT_HALF = math.sqrt(0.5)  #: the contrast of the second level; that of the first is the opposite
SQRT_TWO = math.sqrt(2.0)
STEPS = 50  #: of Newton's method, at most; five are usual
CLOSE = 1e-14  #: twice the log posterior that the next step could gain, where it ends


@inline
def log_posterior_of_two(
    design: FloatTable, counts: FloatTable, theta: Floats, precision: Floats, share: FloatTable
) -> float:
    """Log posterior of θ, up to a constant; ``share`` becomes the probability of each level in each slice."""
    total = 0.0
    for i in range(theta.size):
        total -= 0.5 * precision[i] * theta[i] * theta[i]
    for k in range(design.shape[0]):
        odds = 0.0
        for j in range(theta.size):
            odds += theta[j] * design[k, j]
        odds *= SQRT_TWO
        rest = math.exp(-abs(odds))
        likely, larger = 1.0 / (1.0 + rest), max(odds, 0.0)
        total += counts[k, 1] * odds - (counts[k, 0] + counts[k, 1]) * (larger + math.log1p(rest))
        share[k, 1] = likely if odds >= 0.0 else rest * likely
        share[k, 0] = rest * likely if odds >= 0.0 else likely
    return total


@inline
def gradient_and_hessian(
    design: FloatTable,
    counts: FloatTable,
    theta: Floats,
    precision: Floats,
    share: FloatTable,
    gradient: Floats,
    hessian: FloatTable,
) -> None:
    """Fill the gradient of the log posterior, and the lower triangle of H."""
    width = theta.size
    for i in range(width):
        gradient[i] = -precision[i] * theta[i]
        for j in range(i):
            hessian[i, j] = 0.0
        hessian[i, i] = precision[i]
    for k in range(design.shape[0]):
        zero, one = counts[k, 0], counts[k, 1]
        left = SQRT_TWO * (one * share[k, 0] - zero * share[k, 1])
        weight = 2.0 * (zero + one) * share[k, 0] * share[k, 1]
        for i in range(width):
            gradient[i] += left * design[k, i]
            weighted = weight * design[k, i]
            for j in range(i + 1):
                hessian[i, j] += weighted * design[k, j]


@allocating_part
def fit_two_levels(
    design: FloatTable,
    counts: FloatTable,
    precision: Floats,
    theta: Floats,
    share: FloatTable,
    factor: FloatTable,
) -> float:
    """Find the mode θ by Newton's method, as ``loglinear.fit`` does, with the same results."""
    size = theta.size
    step, trial = np.empty(size), np.empty(size)
    value, log_det = log_posterior_of_two(design, counts, theta, precision, share), 0.0
    for _ in range(STEPS):
        gradient_and_hessian(design, counts, theta, precision, share, step, factor)
        log_det = cholesky(factor, size)
        solve_lower(factor, size, step)
        gain = 0.0
        for i in range(size):
            gain += step[i] * step[i]
        if gain < CLOSE:
            break
        solve_upper(factor, size, step)
        length = 1.0
        while length > 1e-8:
            for i in range(size):
                trial[i] = theta[i] + length * step[i]
            found = log_posterior_of_two(design, counts, trial, precision, share)
            if found >= value:
                value = found
                for i in range(size):
                    theta[i] = trial[i]
                break
            length *= 0.5
        else:
            log_posterior_of_two(design, counts, theta, precision, share)
            break
    for i in range(size):
        value += 0.5 * math.log(precision[i])
    return value - 0.5 * log_det
