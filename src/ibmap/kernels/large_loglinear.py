"""Log-linear models of variables with many levels: the same as ``loglinear.py``, but for one approximation.

With q = r - 1 contrasts of x and a design of width w, the negative Hessian H = Σ_k n_k W_k ⊗ d_k d_kᵀ + Λ has
(q w)² entries: hours, where x and its neighbours have a dozen levels each. Here the covariance W_k of the
contrasts of x in slice k is replaced by its mean W̄ over all rows. Then H = W̄ ⊗ X + Λ, X = Σ_k n_k d_k d_kᵀ,
and in the eigenvectors of W̄ it falls apart into q matrices of width w. The mode is found by steps with that
H; its likelihood is exact.
"""

import math

import numpy as np

from ibmap.kernels.cholesky import cholesky, eigen, solve_lower, solve_upper
from ibmap.kernels.jit import allocating_part
from ibmap.kernels.large_sums import gradient, gram, height, mean_covariance
from ibmap.kernels.loglinear import contrast
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable

STEPS = 200  #: at most; ten are usual
FRESH = 6  #: steps with one H
CLOSE = 1e-8  #: twice the log posterior that the next step could gain, where it ends
Factors = FloatTable  #: q matrices, one below the other


@allocating_part
def factors_of(weights: Floats, products: FloatTable, precision: Floats, factors: Factors) -> float:
    """Fill the factors of w_a X + Λ, one for every eigenvalue of W̄; return Σ log determinants."""
    width, log_det = precision.size, 0.0
    for a in range(weights.size):
        block = factors[a * width : (a + 1) * width]
        for i in range(width):
            for j in range(i + 1):
                block[i, j] = weights[a] * products[i, j]
            block[i, i] += precision[i]
        log_det += cholesky(block, width)
    return log_det


@allocating_part
def fit_large(
    code: IntTable,
    design: FloatTable,
    counts: FloatTable,
    precision: Floats,
    first: Ints,
    theta: FloatTable,
    share: FloatTable,
    vectors: FloatTable,
    weights: Floats,
    factors: Factors,
) -> float:
    """Find the mode θ; ``vectors`` and ``weights`` become those of W̄ there. Returns log evidence.

    Steps are those of Newton's method with the approximated H, made conjugate (Polak and Ribière).
    """
    q, width = theta.shape
    products, rotated = gram(design, counts), np.empty(width)
    value = height(code, counts, theta, precision, first, share)
    gain_before = 0.0
    direction, step_before = np.zeros((q, width)), np.zeros((q, width))
    for n_done in range(STEPS):
        if n_done % FRESH == 0:
            eigen(mean_covariance(counts, share), vectors, weights)
            factors_of(weights, products, precision, factors)
            gain_before = 0.0
        slope, step, gain = gradient(code, counts, theta, precision, first, share), np.zeros((q, width)), 0.0
        for a in range(q):
            block = factors[a * width : (a + 1) * width]
            for j in range(width):
                rotated[j] = 0.0
                for b in range(q):
                    rotated[j] += vectors[b, a] * slope[b, j]
            solve_lower(block, width, rotated)
            for j in range(width):
                gain += rotated[j] * rotated[j]
            solve_upper(block, width, rotated)
            for b in range(q):
                for j in range(width):
                    step[b, j] += vectors[b, a] * rotated[j]
        if gain < CLOSE:
            break
        conjugate, uphill = 0.0, 0.0
        if gain_before > 0.0:
            for a in range(q):
                for j in range(width):
                    conjugate += slope[a, j] * (step[a, j] - step_before[a, j]) / gain_before
        for a in range(q):
            for j in range(width):
                direction[a, j] = step[a, j] + max(conjugate, 0.0) * direction[a, j]
                uphill += slope[a, j] * direction[a, j]
                step_before[a, j] = step[a, j]
        if uphill <= 0.0:
            for a in range(q):
                for j in range(width):
                    direction[a, j] = step[a, j]
        gain_before, length = gain, 1.0
        while length > 1e-6:
            trial = theta + length * direction
            found = height(code, counts, trial, precision, first, share)
            if found >= value:
                break
            length *= 0.5
        else:
            height(code, counts, theta, precision, first, share)
            break
        value = found
        for a in range(q):
            for j in range(width):
                theta[a, j] = trial[a, j]
    for j in range(width):
        value += 0.5 * q * math.log(precision[j])
    eigen(mean_covariance(counts, share), vectors, weights)
    return value - 0.5 * factors_of(weights, products, precision, factors)


@allocating_part
def large_inside(
    theta: FloatTable, vectors: FloatTable, factors: Factors, first: int, r: int, precision: float
) -> float:
    """Return t of a member with r columns of the design, from ``first`` on, from its effects and H⁻¹."""
    q, width = theta.shape
    parts, inner, effect, total = np.empty((r, width)), np.empty((r, r)), np.empty(r), 0.0
    for a in range(q):
        block = factors[a * width : (a + 1) * width]
        for i in range(r):
            effect[i] = 0.0
            for b in range(q):
                effect[i] += vectors[b, a] * theta[b, first + i]
            for j in range(width):
                parts[i, j] = 0.0
            parts[i, first + i] = 1.0
            solve_lower(block, width, parts[i])
        for i in range(r):
            for j in range(i + 1):
                inner[i, j] = 0.0
                for k in range(width):
                    inner[i, j] += parts[i, k] * parts[j, k]
        log_det = cholesky(inner, r)
        solve_lower(inner, r, effect)
        for i in range(r):
            total += effect[i] * effect[i]
        total += log_det + r * math.log(precision)
    return 0.5 * total


@allocating_part
def large_outside(
    design: FloatTable,
    share: FloatTable,
    vectors: FloatTable,
    weights: Floats,
    factors: Factors,
    n_levels: int,
    precision: float,
    cells: IntTable,
    begin: int,
    end: int,
) -> float:
    """Return t of a variable that is not in the model, from its table with x: one step from zero."""
    q, width, r = weights.size, design.shape[1], n_levels - 1
    if r == 0:
        return 0.0
    left, cross, inner = np.zeros((q + 1, n_levels)), np.zeros((n_levels, width)), np.zeros(n_levels)
    for c in range(begin, end):
        k, x, y, count = cells[0, c], cells[1, c], cells[2, c], cells[3, c]
        left[x, y] += count
        inner[y] += count
        for level in range(q + 1):
            left[level, y] -= count * share[k, level]
        for j in range(width):
            cross[y, j] += count * design[k, j]
    score, of_y = np.zeros((q, r)), np.zeros((r, width))
    for b in range(r):
        for y in range(b + 2):
            c = contrast(y, b)
            for j in range(width):
                of_y[b, j] += c * cross[y, j]
            for a in range(q):
                for x in range(a + 2):
                    score[a, b] += contrast(x, a) * left[x, y] * c
    total, solved, matrix, u = 0.0, np.empty((r, width)), np.empty((r, r)), np.empty(r)
    for a in range(q):
        block = factors[a * width : (a + 1) * width]
        for b in range(r):
            u[b] = 0.0
            for e in range(q):
                u[b] += vectors[e, a] * score[e, b]
            for j in range(width):
                solved[b, j] = weights[a] * of_y[b, j]
            solve_lower(block, width, solved[b])
        for b in range(r):
            for e in range(b + 1):
                matrix[b, e] = 0.0
                for y in range(n_levels):
                    if y <= b + 1 and y <= e + 1:
                        matrix[b, e] += weights[a] * inner[y] * contrast(y, b) * contrast(y, e)
                for j in range(width):
                    matrix[b, e] -= solved[b, j] * solved[e, j]
            matrix[b, b] += precision
        log_det = cholesky(matrix, r)
        solve_lower(matrix, r, u)
        for b in range(r):
            total += u[b] * u[b]
        total += r * math.log(precision) - log_det
    return 0.5 * total


@allocating_part
def large_without(
    code: IntTable,
    design: FloatTable,
    counts: FloatTable,
    precision: Floats,
    first: Ints,
    theta: FloatTable,
    out: int,
) -> float:
    """Return the log evidence of the model without one member."""
    q, r = theta.shape[0], first[out + 1] - first[out]
    width = theta.shape[1] - r
    rest, codes = np.empty((design.shape[0], width)), np.empty((code.shape[0], code.shape[1] - 1), np.int64)
    start, mine, begins = np.empty((q, width)), np.empty(width), np.empty(first.size - 1, np.int64)
    for j in range(width):
        column = j if j < first[out] else j + r
        mine[j] = precision[column]
        for k in range(design.shape[0]):
            rest[k, j] = design[k, column]
        for a in range(q):
            start[a, j] = theta[a, column]
    for j in range(codes.shape[1]):
        member = j if j < out else j + 1
        begins[j] = first[member] if j < out else first[member] - r
        for k in range(code.shape[0]):
            codes[k, j] = code[k, member]
    begins[codes.shape[1]] = width
    share, vectors, weights = np.empty(counts.shape), np.empty((q, q)), np.empty(q)
    factors = np.empty((q * width, width))
    return fit_large(codes, rest, counts, mine, begins, start, share, vectors, weights, factors)
