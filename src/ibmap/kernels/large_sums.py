"""Sums over the slices of a log-linear model with many levels: first tables of levels, then contrasts."""

import numpy as np

from ibmap.kernels.jit import allocating_part
from ibmap.kernels.loglinear import contrast, log_likelihood
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable


@allocating_part
def columns_of(levels: Ints, members: Ints) -> Ints:
    """Return where the columns of every member begin in the design, and its width."""
    first = np.empty(members.size + 1, np.int64)
    first[0] = 1
    for j in range(members.size):
        first[j + 1] = first[j] + levels[members[j]] - 1
    return first


@allocating_part
def log_odds_of(theta: FloatTable, n_levels: int, first: Ints) -> FloatTable:
    """Return what the intercept, then what every level of every member adds to each level of x."""
    q = theta.shape[0]
    out = np.zeros((first[first.size - 1] + first.size - 1, n_levels))
    for level in range(n_levels):
        for a in range(max(level - 1, 0), q):
            c = contrast(level, a)
            out[0, level] += c * theta[a, 0]
            for j in range(first.size - 1):
                r = first[j + 1] - first[j] + 1
                for i in range(r):
                    for b in range(max(i - 1, 0), r - 1):
                        out[first[j] + j + i, level] += c * theta[a, first[j] + b] * contrast(i, b)
    return out


@allocating_part
def height(
    code: IntTable, counts: FloatTable, theta: FloatTable, precision: Floats, first: Ints, share: FloatTable
) -> float:
    """Log posterior of θ, up to a constant; ``share`` becomes the probability of each level in each slice."""
    n_levels, total = counts.shape[1], 0.0
    for a in range(theta.shape[0]):
        for j in range(precision.size):
            total -= 0.5 * precision[j] * theta[a, j] * theta[a, j]
    table = log_odds_of(theta, n_levels, first)
    for k in range(counts.shape[0]):
        for level in range(n_levels):
            share[k, level] = table[0, level]
            for j in range(first.size - 1):
                share[k, level] += table[first[j] + j + code[k, j], level]
        total += log_likelihood(counts[k], share[k])
    return total


@allocating_part
def mean_covariance(counts: FloatTable, share: FloatTable) -> FloatTable:
    """W̄: the covariance of the contrasts of x, averaged over the rows."""
    n_levels = counts.shape[1]
    by_level, rows = np.zeros((n_levels, n_levels)), 0.0
    for k in range(counts.shape[0]):
        n = 0.0
        for level in range(n_levels):
            n += counts[k, level]
        rows += n
        for i in range(n_levels):
            by_level[i, i] += n * share[k, i]
            for j in range(n_levels):
                by_level[i, j] -= n * share[k, i] * share[k, j]
    out = np.zeros((n_levels - 1, n_levels - 1))
    for a in range(n_levels - 1):
        for b in range(n_levels - 1):
            for i in range(a + 2):
                for j in range(b + 2):
                    out[a, b] += contrast(i, a) * by_level[i, j] * contrast(j, b) / max(rows, 1.0)
    return out


@allocating_part
def gradient(
    code: IntTable, counts: FloatTable, theta: FloatTable, precision: Floats, first: Ints, share: FloatTable
) -> FloatTable:
    """The slope of the log posterior, (q, width): what is left of x, by level of every member."""
    n_levels, q = counts.shape[1], theta.shape[0]
    table = np.zeros((first[first.size - 1] + first.size - 1, n_levels))
    for k in range(counts.shape[0]):
        n = 0.0
        for level in range(n_levels):
            n += counts[k, level]
        for level in range(n_levels):
            left = counts[k, level] - n * share[k, level]
            table[0, level] += left
            for j in range(first.size - 1):
                table[first[j] + j + code[k, j], level] += left
    out = np.zeros((q, precision.size))
    for a in range(q):
        for j in range(precision.size):
            out[a, j] = -precision[j] * theta[a, j]
        for level in range(a + 2):
            c = contrast(level, a)
            out[a, 0] += c * table[0, level]
            for j in range(first.size - 1):
                r = first[j + 1] - first[j] + 1
                for i in range(r):
                    for b in range(max(i - 1, 0), r - 1):
                        out[a, first[j] + b] += c * table[first[j] + j + i, level] * contrast(i, b)
    return out


@allocating_part
def gram(design: FloatTable, counts: FloatTable) -> FloatTable:
    """X = Σ_k n_k d_k d_kᵀ, the lower triangle."""
    width = design.shape[1]
    out = np.zeros((width, width))
    for k in range(design.shape[0]):
        n = 0.0
        for level in range(counts.shape[1]):
            n += counts[k, level]
        for i in range(width):
            nd = n * design[k, i]
            if nd != 0.0:
                for j in range(i + 1):
                    out[i, j] += nd * design[k, j]
    return out
