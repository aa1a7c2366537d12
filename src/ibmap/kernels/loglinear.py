"""x given its blanket as a log-linear model: fits, and the evidence for every other variable (SPEC 7).

With r levels of x, the r - 1 log odds are linear in the levels of the blanket: θ d, one block of effects for
every member. Levels are coded by contrasts, or by scores (``coding.py``); where those of x have an order, see
``ordinal.py``. Everything is a sum over slices: their levels, and their counts.

The names are those of the Laplace approximation: H is the negative Hessian of the log posterior at its mode,
Λ the precision of the prior, U and I score and information of a variable that is not in the model.
"""

import math

import numpy as np

from ibmap.kernels.cholesky import cholesky, solve_lower, solve_upper
from ibmap.kernels.coding import coded, contrast, first_column
from ibmap.kernels.jit import allocating_part, inline
from ibmap.kernels.logistic import gradient_and_hessian, log_posterior_of_two
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable

STEPS = 50  #: of Newton's method, at most; five are usual
CLOSE = 1e-14  #: twice the log posterior that the next step could gain, where it ends
ROUNDING = 1e-13  #: of the log posterior, by which a good step may seem to lower it


@allocating_part
def design_of(code: IntTable, levels: Ints, columns: Ints, members: Ints) -> FloatTable:
    """Return a row for every slice: 1, and contrasts or score of the level of every member."""
    width = 1
    for member in members:
        width += columns[member]
    design = np.empty((code.shape[0], width))
    for k in range(code.shape[0]):
        design[k, 0] = 1.0
        at = 1
        for j in range(members.size):
            n_levels, n_columns = levels[members[j]], columns[members[j]]
            for column in range(n_columns):
                design[k, at] = coded(code[k, j], column, n_levels, n_columns)
                at += 1
    return design


@inline
def log_likelihood(counts: Floats, share: Floats) -> float:
    """Log likelihood of the levels of x in a slice; ``share`` turns from log odds into probabilities."""
    largest, norm, total = share[0], 0.0, 0.0
    for level in range(1, share.size):
        largest = max(largest, share[level])
    for level in range(share.size):
        norm += math.exp(share[level] - largest)
    log_norm = largest + math.log(norm)
    for level in range(share.size):
        if counts[level] > 0.0:
            total += counts[level] * (share[level] - log_norm)
        share[level] = math.exp(share[level] - log_norm)
    return total


@inline
def log_posterior(
    design: FloatTable, counts: FloatTable, theta: Floats, precision: Floats, share: FloatTable
) -> float:
    """Log posterior of θ, up to a constant; ``share`` becomes the probability of each level in each slice."""
    if counts.shape[1] == 2:
        return log_posterior_of_two(design, counts, theta, precision, share)
    n_levels, width = counts.shape[1], design.shape[1]
    total = 0.0
    for i in range(theta.size):
        total -= 0.5 * precision[i] * theta[i] * theta[i]
    for k in range(design.shape[0]):
        for level in range(n_levels):
            share[k, level] = 0.0
        for a in range(n_levels - 1):
            odds = 0.0
            for j in range(width):
                odds += theta[a * width + j] * design[k, j]
            for level in range(a + 2):
                share[k, level] += odds * contrast(level, a)
        total += log_likelihood(counts[k], share[k])
    return total


@allocating_part
def moments_of(share: FloatTable) -> tuple[FloatTable, FloatTable]:
    """Mean and covariance (row by row) of the contrasts of x in every slice."""
    q = share.shape[1] - 1
    mean, spread = np.zeros((share.shape[0], q)), np.zeros((share.shape[0], q * q))
    for k in range(share.shape[0]):
        for level in range(q + 1):
            for a in range(max(level - 1, 0), q):
                c = share[k, level] * contrast(level, a)
                mean[k, a] += c
                for b in range(max(level - 1, 0), q):
                    spread[k, a * q + b] += c * contrast(level, b)
        for a in range(q):
            for b in range(q):
                spread[k, a * q + b] -= mean[k, a] * mean[k, b]
    return mean, spread


@allocating_part
def hessian(
    design: FloatTable, counts: FloatTable, spread: FloatTable, precision: Floats, out: FloatTable
) -> None:
    """Fill the lower triangle of H."""
    q, width = counts.shape[1] - 1, design.shape[1]
    for i in range(precision.size):
        for j in range(i + 1):
            out[i, j] = 0.0
    for k in range(design.shape[0]):
        rows = 0.0
        for level in range(q + 1):
            rows += counts[k, level]
        for a in range(q):
            for b in range(a + 1):
                w = rows * spread[k, a * q + b]
                for i in range(width):
                    wd = w * design[k, i]
                    for j in range(i + 1 if a == b else width):
                        out[a * width + i, b * width + j] += wd * design[k, j]
    for i in range(precision.size):
        out[i, i] += precision[i]


@inline
def gradient(
    design: FloatTable, counts: FloatTable, mean: FloatTable, theta: Floats, precision: Floats, out: Floats
) -> None:
    """Fill the gradient of the log posterior."""
    q, width = mean.shape[1], design.shape[1]
    for a in range(q):
        for j in range(width):
            out[a * width + j] = -precision[a * width + j] * theta[a * width + j]
    for k in range(design.shape[0]):
        for level in range(q + 1):
            if counts[k, level] > 0.0:
                for a in range(q):
                    r = counts[k, level] * (contrast(level, a) - mean[k, a])
                    for j in range(width):
                        out[a * width + j] += r * design[k, j]


@allocating_part
def fit(
    design: FloatTable,
    counts: FloatTable,
    precision: Floats,
    theta: Floats,
    share: FloatTable,
    factor: FloatTable,
) -> float:
    """Find the mode θ by Newton's method; ``factor`` becomes the Cholesky factor of H. Returns log evidence.

    A step is halved until it does not lower the log posterior, which is concave: there is one mode.
    """
    q, width = counts.shape[1] - 1, design.shape[1]
    size = q * width
    step, trial = np.empty(size), np.empty(size)
    value = log_posterior(design, counts, theta, precision, share)
    log_det = 0.0
    for _ in range(STEPS):
        if q == 1:
            gradient_and_hessian(design, counts, theta, precision, share, step, factor)
        else:
            mean, spread = moments_of(share)
            hessian(design, counts, spread, precision, factor)
            gradient(design, counts, mean, theta, precision, step)
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
            found = log_posterior(design, counts, trial, precision, share)
            if found >= value - ROUNDING * abs(value):
                value = found
                for i in range(size):
                    theta[i] = trial[i]
                break
            length *= 0.5
        else:
            log_posterior(design, counts, theta, precision, share)
            break
    for i in range(size):
        value += 0.5 * math.log(precision[i])
    return value - 0.5 * log_det


@allocating_part
def evidence_outside(
    design: FloatTable,
    mean: FloatTable,
    spread: FloatTable,
    factor: FloatTable,
    n_levels: int,
    r: int,
    precision: float,
    cells: IntTable,
    begin: int,
    end: int,
) -> float:
    """Return t of a variable that is not in the model, from its table with x: one Newton step from zero.

    The sums over a slice are those of the r columns of y: first and second moments.
    """
    q, width = mean.shape[1], design.shape[1]
    block = q * r
    if block == 0:
        return 0.0
    score, inner = np.zeros(block), np.zeros((block, block))
    cross = np.zeros((block, q * width))
    first, second = np.empty(r), np.empty((r, r))
    c = begin
    while c < end:
        k = cells[0, c]
        for b in range(r):
            first[b] = 0.0
            for b2 in range(r):
                second[b, b2] = 0.0
        while c < end and cells[0, c] == k:
            x, y, count = cells[1, c], cells[2, c], cells[3, c]
            start = first_column(y, n_levels, r)
            for b in range(start, r):
                weighted = count * coded(y, b, n_levels, r)
                first[b] += weighted
                for b2 in range(start, r):
                    second[b, b2] += weighted * coded(y, b2, n_levels, r)
                for a in range(q):
                    score[a * r + b] += weighted * (contrast(x, a) - mean[k, a])
            c += 1
        for a in range(q):
            for a2 in range(q):
                w = spread[k, a * q + a2]
                for b in range(r):
                    wb = w * first[b]
                    for j in range(width):
                        cross[a * r + b, a2 * width + j] += wb * design[k, j]
                    for b2 in range(r):
                        inner[a * r + b, a2 * r + b2] += w * second[b, b2]
    return one_step(score, inner, cross, factor, precision)


@inline
def one_step(
    score: Floats, inner: FloatTable, cross: FloatTable, factor: FloatTable, precision: float
) -> float:
    """Return t of effects at zero from their score and information, and what they share with the model."""
    block, size = score.size, cross.shape[1]
    for i in range(block):
        solve_lower(factor, size, cross[i])
    for i in range(block):
        for j in range(i + 1):
            total = inner[i, j]
            for k in range(size):
                total -= cross[i, k] * cross[j, k]
            inner[i, j] = total
        inner[i, i] += precision
    log_det = cholesky(inner, block)
    solve_lower(inner, block, score)
    total = 0.0
    for i in range(block):
        total += score[i] * score[i]
    return 0.5 * (total - log_det + block * math.log(precision))


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
    """Return t of a member with r columns of the design, from ``first`` on; ``value`` is the log evidence.

    A weak effect is judged by its size and H⁻¹. Of one that is longer than ``strong`` they say too little,
    the less the longer it is: the model is fitted again without it.
    """
    q, width = counts.shape[1] - 1, design.shape[1]
    block = q * r
    if block == 0:
        return 0.0
    place, length = np.empty(block, np.int64), 0.0
    for a in range(q):
        for b in range(r):
            i = place[a * r + b] = a * width + first + b
            length += theta[i] * theta[i]
    if length > strong * strong:
        return value - evidence_without(design, counts, precision, theta, first, r)
    return evidence_of(place, theta, factor, precision[first])


@allocating_part
def evidence_of(place: Ints, theta: Floats, factor: FloatTable, precision: float) -> float:
    """Return t of the effects at some places of θ, by their size and their block of H⁻¹."""
    block, size = place.size, theta.size
    parts, inner, effect = np.zeros((block, size)), np.empty((block, block)), np.empty(block)
    for i in range(block):
        effect[i] = theta[place[i]]
        parts[i, place[i]] = 1.0
        solve_lower(factor, size, parts[i])
    for i in range(block):
        for j in range(i + 1):
            total = 0.0
            for k in range(size):
                total += parts[i, k] * parts[j, k]
            inner[i, j] = total
    log_det = cholesky(inner, block)  # of the block of H⁻¹: the inverse of A
    solve_lower(inner, block, effect)
    total = 0.0
    for i in range(block):
        total += effect[i] * effect[i]
    return 0.5 * (total + log_det + block * math.log(precision))


@allocating_part
def evidence_without(
    design: FloatTable, counts: FloatTable, precision: Floats, theta: Floats, first: int, r: int
) -> float:
    """Return the log evidence of the model without r columns of the design, from ``first`` on."""
    n_slices, n_levels, width = counts.shape[0], counts.shape[1], design.shape[1]
    less, size = width - r, (n_levels - 1) * (width - r)
    rest, its_precision, start = np.empty((n_slices, less)), np.empty(size), np.empty(size)
    for j in range(less):
        column = j if j < first else j + r
        for k in range(n_slices):
            rest[k, j] = design[k, column]
        for a in range(n_levels - 1):
            its_precision[a * less + j] = precision[a * width + column]
            start[a * less + j] = theta[a * width + column]
    return fit(rest, counts, its_precision, start, np.empty((n_slices, n_levels)), np.empty((size, size)))


@allocating_part
def precision_of(n_effects: int, width: int, of_intercept: float, of_effect: float) -> Floats:
    """Return the precisions of the prior: those of the intercepts, and of all other effects."""
    precision = np.empty(n_effects * width)
    for i in range(precision.size):
        precision[i] = of_effect if i % width else of_intercept
    return precision


@allocating_part
def counts_of(n_levels: int, n_slices: int, begin: int, end: int, sets: Ints) -> FloatTable:
    """Return how many rows of every slice have each level of x."""
    counts = np.zeros((n_slices, n_levels))
    for s in range(begin, end):
        counts[sets[0, s], sets[1, s]] = sets[2, s]
    return counts
