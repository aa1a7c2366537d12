"""All pairs of variables without conditioning: the score of the graph without edges.

Counting comes first, a tile of pairs at a time, so that the bits of 32 columns stay in the first-level cache
while many variables pass over them; then each row of the tile is scored. Every pair is counted once. Twice as
fast as row after row (``benchmarks/kernels.py``), and the larger part of a fit that stops early.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import (
    Model,
    Scratch,
    log_cells,
    log_prior_of,
    log_prior_ratio,
    priors_of,
    records_of,
    slice_prior,
)
from ibmap.kernels.blocks import add_cells, put
from ibmap.kernels.jit import inline, kernel, part
from ibmap.kernels.logspace import exp, log1p_of_share
from ibmap.kernels.popcount import count_8, count_32
from ibmap.kernels.records import Counts, Floats, Ints, Packed

WORDS = 256  #: of 32 columns, that fit the cache


@kernel
def unconditional_tile(
    context: Ints,
    words: NDArray[np.uint32],
    tile: Counts,
    first_x: int,
    last_x: int,
    block: int,
    sigma: Floats,
) -> None:
    """Score some variables (positions in ``order``, all of equal levels) against a block, and mirror it.

    ``words`` is 0, 1, 2, ...; ``tile`` has a row for every level but one of every x against the block.
    """
    packed, _, model, scratch = records_of(context)
    score_tile(packed, model, scratch, words, tile, first_x, last_x, block, sigma, np.int64(0))
    order, first, last = packed.order, packed.blocks[block, 1], packed.blocks[block, 2]
    for j in range(max(first, first_x), last):
        y = order[j]
        for i in range(first_x, min(last_x, j)):
            sigma[y, order[i]] = sigma[order[i], y]


@kernel
def unconditional_band(
    context: Ints,
    words: NDArray[np.uint32],
    tile: Counts,
    first_x: int,
    last_x: int,
    block: int,
    band: Floats,
) -> None:
    """The same without a matrix: ``band[x - first_x]`` is the row of x; variables are in order."""
    packed, _, model, scratch = records_of(context)
    score_tile(packed, model, scratch, words, tile, first_x, last_x, block, band, first_x)


@part
def score_tile(
    packed: Packed,
    model: Model,
    scratch: Scratch,
    words: NDArray[np.uint32],
    tile: Counts,
    first_x: int,
    last_x: int,
    block: int,
    rows: Floats,
    shift: int,
) -> None:
    """``rows[x - shift, y] = σ_xy`` for some variables, and those of a block that do not come before them."""
    levels, first, last, column, stride = packed.blocks[block]
    skipped = max(0, first_x - first)  # pairs that an earlier tile of the same block has scored
    first += skipped
    column += skipped
    m, width, n_levels = last - first, (levels - 1) * stride - skipped, packed.levels[packed.order[first_x]]
    count_tile(packed, words, tile, first_x, last_x, n_levels, column, width)
    scratch.offset[:m] = 0.0
    by_column = model.tables[priors_of(model, packed.order[first_x], packed.order[first]).column]
    margins, n, rest = packed.totals[column : column + width], np.int32(packed.n_rows), scratch.rest
    add_cells(by_column, margins, n, levels, stride, m, rest, scratch.offset, -1.0)
    for i in range(first_x, last_x):
        x, counts = packed.order[i], tile[(i - first_x) * (n_levels - 1) :]
        bayes_of_row(packed, model, scratch, counts, x, levels, first, m, column, stride)
        posteriors_of_row(packed, model, scratch, x, first, m, rows[x - shift])


@inline
def count_tile(
    packed: Packed,
    words: NDArray[np.uint32],
    tile: Counts,
    first_x: int,
    last_x: int,
    n_levels: int,
    column: int,
    width: int,
) -> None:
    """``tile[r, c]``: rows of the table that have level 1, 2, ... of x and the bit of the column."""
    level_bits, columns, order, first = packed.level_bits, packed.columns, packed.order, packed.first
    n_words = level_bits.shape[1]
    for row in range((last_x - first_x) * (n_levels - 1)):
        for c in range(width):
            tile[row, c] = 0
    for word in range(0, n_words, WORDS):
        stop = min(word + WORDS, n_words)
        for c in range(0, width, 32):
            for i in range(first_x, last_x):
                level_0 = first[order[i]]
                for level in range(1, n_levels):
                    masks = level_bits[level_0 + level]
                    out = tile[(i - first_x) * (n_levels - 1) + level - 1]
                    if c + 32 <= width:
                        count_32(words, masks, word, stop, columns, column + c, out, c)
                    else:
                        for d in range(c, width, 8):
                            count_8(words, masks, word, stop, columns, column + d, out, d)


@inline
def bayes_of_row(
    packed: Packed,
    model: Model,
    scratch: Scratch,
    counts: Counts,
    x: int,
    levels: int,
    first: int,
    m: int,
    column: int,
    stride: int,
) -> None:
    """``scratch.bayes[v] = d`` from the counts of x; those of its level 0 are what the totals leave."""
    width, n = (levels - 2) * stride + m if levels > 1 else 0, packed.n_rows
    priors = priors_of(model, x, packed.order[first])
    by_cell, by_row = model.tables[priors.cell], model.tables[priors.row]
    bayes, cells, totals, columns = scratch.bayes, scratch.cells, packed.totals, scratch.offset
    start, rest = log_prior_ratio(model, priors, n), np.int64(n)
    for level in range(1, packed.levels[x]):
        size = level_size(packed, x, level)
        start -= by_row[size]
        rest -= size
    start -= by_row[rest]
    if levels == 2 and packed.levels[x] == 2:
        n_one, n_zero, ones = np.int32(n - rest), np.int32(rest), counts[0]
        for v in range(m):
            c, y = ones[v], totals[column + v]
            h = log_cells(by_cell, c, n_one - c, y - c, n_zero - y + c)
            bayes[v] = start + (h + columns[v])
        return
    for v in range(m):
        bayes[v] = start + columns[v]
    for c in range(width):
        cells[c] = totals[column + c]
    for level in range(1, packed.levels[x]):
        of_level, size = counts[level - 1], np.int32(level_size(packed, x, level))
        add_cells(by_cell, of_level, size, levels, stride, m, scratch.rest, bayes, 1.0)
        for c in range(width):
            cells[c] -= of_level[c]
    add_cells(by_cell, cells, np.int32(rest), levels, stride, m, scratch.rest, bayes, 1.0)


@inline
def level_size(packed: Packed, x: int, level: int) -> int:
    """Return the number of rows with this level."""
    return packed.level_sizes[packed.first[x] + level]


@inline
def posteriors_of_row(
    packed: Packed, model: Model, scratch: Scratch, x: int, first: int, m: int, out: Floats
) -> None:
    """``out[y] = -softplus(t)``: with a single slice all options of the test agree."""
    bayes = scratch.bayes
    if model.log_prior.shape[0] == 1:
        offset = slice_prior(model.log_prior[0, 0], 0.0)
        for v in range(m):
            bayes[v] += offset
    else:
        for v in range(m):
            bayes[v] += slice_prior(log_prior_of(model, x, packed.order[first + v]), 0.0)
    share = scratch.product
    for v in range(m):  # two loops: in one, the compiler runs out of registers
        share[v] = exp(-abs(bayes[v]))
    for v in range(m):
        bayes[v] = -(max(bayes[v], 0.0) + log1p_of_share(share[v]))
    put(packed.order, first, m, bayes, out)
    out[x] = 0.0
