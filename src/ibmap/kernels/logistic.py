"""The log-linear model of ``loglinear.py`` where x has two levels: one log odds in every slice."""

import math

from ibmap.kernels.jit import inline
from ibmap.kernels.records import Floats, FloatTable

SQRT_TWO = math.sqrt(2.0)  #: the distance of the contrasts of the two levels


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
