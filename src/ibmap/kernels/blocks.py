"""One x against many ys at a time, given the slices of a conditioning set.

The same numbers as ``cells.py`` makes of lists of cells, 5 times faster (``benchmarks/kernels.py``).
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import (
    Model,
    Scratch,
    log_prior_of,
    log_prior_ratio,
    log_two_by_two,
    priors_of,
    slice_prior,
    unseen_share,
)
from ibmap.kernels.jit import inline
from ibmap.kernels.logspace import exp, log1p, softplus
from ibmap.kernels.records import Floats, Ints, Packed, Sets
from ibmap.kernels.tally import count_sets


@inline
def independence_block(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    n_slices: int,
    log_possible: float,
    block: int,
    out: Floats,
) -> None:
    """``out[y] = log Pr(x ⊥ y | slices)`` for every y of a block; the sets of (slice, x) are in place 2."""
    first, last = packed.blocks[block, 1], packed.blocks[block, 2]
    m = last - first
    result = scratch.above
    if n_slices == 0:
        for v in range(m):
            out[packed.order[first + v]] = log_prior_of(model, x, packed.order[first + v])
        return
    if model.one_factor:
        log_possible = 0.0
    if model.log_prior.shape[0] == 1:
        offset = slice_prior(model.log_prior[0, 0], log_possible)
        scratch.offset[:m] = offset
    else:
        for v in range(m):
            scratch.offset[v] = slice_prior(model.log_prior[x, packed.order[first + v]], log_possible)
    n_singles = add_log_odds(packed, sets, model, scratch, x, n_slices, block)
    if n_singles:
        for v in range(m):
            result[v] -= n_singles * softplus(scratch.offset[v])
    if model.every_slice and not model.one_factor:
        unseen = unseen_share(n_slices, log_possible)
        for v in range(m):
            result[v] += unseen * log_prior_of(model, x, packed.order[first + v])
    put(packed.order, first, m, result, out)


@inline
def put(order: Ints, first: int, m: int, values: Floats, out: Floats) -> None:
    """``out[order[first + v]] = values[v]``; the variables of a block mostly follow each other."""
    if order[first + m - 1] - order[first] == m - 1:  # they are in order, so none is between them
        start = order[first]
        for v in range(m):
            out[start + v] = values[v]
    else:
        for v in range(m):
            out[order[first + v]] = values[v]


@inline
def rows_of_slice(sets: Sets, k: int) -> int:
    """Return the number of rows of slice k."""
    n = 0
    for s in range(sets.child[2, k], sets.child[2, k + 1]):
        n += sets.size[2, s]
    return n


@inline
def add_log_odds(
    packed: Packed, sets: Sets, model: Model, scratch: Scratch, x: int, n_slices: int, block: int
) -> int:
    """``scratch.above[v] = -Σ_k softplus(t_k)`` over slices of two rows or more; return how many have one.

    In a slice of one row g_k = h_k, whatever the prior counts; such slices come last. With t = t_k,
    Σ softplus(t) = Σ max(t, 0) + log Π (1 + e^-|t|); the product less 1 is what is kept, so that a posterior
    near certainty loses no digit. With ``one_factor`` all slices together have one t, and none is special.
    """
    m = packed.blocks[block, 2] - packed.blocks[block, 1]
    offset, above, product, bayes = scratch.offset, scratch.above, scratch.product, scratch.bayes
    above[:m] = 0.0
    product[:m] = 0.0
    since, n_singles = 0, 0
    while n_singles < n_slices and rows_of_slice(sets, n_slices - 1 - n_singles) == 1:
        n_singles += 1
    scratch.window[0], scratch.window[1] = 0, 0
    for k in range(n_slices - n_singles):
        bayes_block(packed, sets, model, scratch, x, k, n_slices - n_singles, block)
        if model.one_factor:
            for v in range(m):
                above[v] += bayes[v]
            continue
        for v in range(m):
            t = offset[v] + bayes[v]
            e = exp(-abs(t))
            above[v] += max(t, 0.0)
            product[v] += e + product[v] * e
        since += 1
        if since == 512:  # before the product can overflow
            since = 0
            for v in range(m):
                above[v] += log1p(product[v])
            product[:m] = 0.0
    if model.one_factor:
        for v in range(m):
            t = offset[v] + above[v]
            above[v], product[v] = max(t, 0.0), exp(-abs(t))
        n_singles = 0
    for v in range(m):
        above[v] = -(above[v] + log1p(product[v]))
    return n_singles


@inline
def counts_of(
    packed: Packed, sets: Sets, scratch: Scratch, begin: int, end: int, last: int, column: int, width: int
) -> int:
    """Have the sets from ``begin`` to ``end`` counted, and as many of those before ``last`` as fit.

    Returns the row of ``scratch.counts`` that holds the first of them.
    """
    if end > scratch.window[1]:
        scratch.window[0] = begin
        scratch.window[1] = min(last, begin + scratch.counts.shape[0])
        count_sets(packed, sets, begin, scratch.window[1], column, width, scratch.cursor, scratch.counts)
    return begin - scratch.window[0]


@inline
def bayes_block(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    k: int,
    n_slices: int,
    block: int,
) -> None:
    """``scratch.bayes[v] = d_k`` for every variable of a block, k one of the first ``n_slices`` slices."""
    levels, first, last, column, stride = packed.blocks[block]
    m, width = last - first, (levels - 1) * stride
    margins, rest, bayes = scratch.margins, scratch.rest, scratch.bayes
    priors = priors_of(model, x, packed.order[first])
    by_cell, by_row = model.tables[priors.cell], model.tables[priors.row]
    by_column = model.tables[priors.column]
    begin, end, n = sets.child[2, k], sets.child[2, k + 1], rows_of_slice(sets, k)
    start = log_prior_ratio(model, priors, n)
    for s in range(begin, end):
        start -= by_row[sets.size[2, s]]
    everyone = n == packed.n_rows  # one slice of all rows: its margins are known
    last_set = sets.child[2, n_slices] - everyone
    if levels == 2 and end - begin == 2:
        row = counts_of(packed, sets, scratch, begin, end - everyone, last_set, column, width)
        if everyone:
            for v in range(m):
                margins[v] = packed.totals[column + v] - scratch.counts[row, v]
        n_one, n_two = np.int32(sets.size[2, begin]), np.int32(sets.size[2, begin + 1])
        two = margins if everyone else scratch.counts[row + 1]
        bayes_two_by_two(by_cell, by_column, scratch.counts[row], two, n_one, n_two, start, m, bayes)
        return
    for v in range(m):
        bayes[v] = start
    for c in range(width):
        margins[c] = 0
    for s in range(begin, end):
        if s < last_set:
            cells = scratch.counts[counts_of(packed, sets, scratch, s, s + 1, last_set, column, width)]
        else:
            cells = scratch.cells
            for c in range(width):
                cells[c] = packed.totals[column + c] - margins[c]
        add_cells(by_cell, cells, np.int32(sets.size[2, s]), levels, stride, m, rest, bayes, 1.0)
        for c in range(width):
            margins[c] += cells[c]
    add_cells(by_column, margins, np.int32(n), levels, stride, m, rest, bayes, -1.0)


@inline
def bayes_two_by_two(
    by_cell: Floats,
    by_column: Floats,
    one: NDArray[np.int32],
    two: NDArray[np.int32],
    n_one: int,
    n_two: int,
    start: float,
    m: int,
    bayes: Floats,
) -> None:
    """Binary variables against a binary x, in one pass instead of three."""
    for v in range(m):
        c, d = one[v], two[v]
        bayes[v] = start + log_two_by_two(by_cell, by_column, c, n_one - c, d, n_two - d)


@inline
def add_cells(
    table: Floats,
    cells: NDArray[np.int32],
    n: int,
    levels: int,
    stride: int,
    m: int,
    rest: NDArray[np.int32],
    bayes: Floats,
    sign: float,
) -> None:
    """Add (or subtract) the table values of all levels; level 0 is what the others leave of ``n``."""
    if levels == 2:
        for v in range(m):
            c = cells[v]
            bayes[v] += sign * (table[np.uint32(c)] + table[np.uint32(n - c)])
    elif levels == 3:
        two = cells[stride:]
        for v in range(m):
            c, d = cells[v], two[v]
            bayes[v] += sign * (table[np.uint32(c)] + table[np.uint32(d)] + table[np.uint32(n - c - d)])
    elif levels == 4:  # in one pass less than half the time of a pass per level
        two, three = cells[stride:], cells[2 * stride :]
        for v in range(m):
            c, d, e = cells[v], two[v], three[v]
            some = table[np.uint32(c)] + table[np.uint32(d)]
            bayes[v] += sign * (some + (table[np.uint32(e)] + table[np.uint32(n - c - d - e)]))
    else:
        for v in range(m):
            rest[v] = n
        for level in range(levels - 1):
            for v in range(m):
                c = cells[level * stride + v]
                rest[v] -= c
                bayes[v] += sign * table[np.uint32(c)]
        for v in range(m):
            bayes[v] += sign * table[np.uint32(rest[v])]
