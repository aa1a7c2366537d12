"""Questions → tables as lists of observed cells: what an engine in memory answers, and margins of answers.

A cell is (slice, level of x, level of y, count). Slices are numbered within a question; their keys, the
levels of the given variables, tell which slices of two partitions of the rows belong together.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import records_of
from ibmap.kernels.jit import allocating_kernel, allocating_part, kernel
from ibmap.kernels.partition import first_row, slices_of
from ibmap.kernels.records import Ints, Packed, Sets
from ibmap.kernels.round_robin import most, rank_pairs
from ibmap.kernels.tally import cells_of, count_sets

MOST_COUNTS = 1 << 22  #: counts of one question that are made before they become cells
CROWDED = 16  #: so few sets are counted by bits however few rows they have
PAD = 64  #: columns beyond a block that counting may touch

Counts = NDArray[np.int32]
Answers = tuple[Ints, Ints, Ints, Ints, Ints, Ints]


@kernel
def all_below(xs: Ints, ys: Ints, given: Ints, n: int) -> bool:
    """Whether all indices lie between 0 and n - 1."""
    outside = 0
    for variable in xs:
        outside += not 0 <= variable < n
    for variable in ys:
        outside += not 0 <= variable < n
    for variable in given:
        outside += not 0 <= variable < n
    return outside == 0


@allocating_kernel
def count_tables(context: Ints, xs: Ints, ys: Ints, y_start: Ints, given: Ints, given_start: Ints) -> Answers:
    """Answer a batch of questions: x against each of its ys, in the slices of its given variables.

    Returns (first cell of each table, cells; first slice of each question, a row of every slice; first set of
    each question, sets): a set is (slice, level of x, rows).
    """
    packed, sets, _, _ = records_of(context)
    least = 1024
    for q in range(xs.size):
        for t in range(y_start[q], y_start[q + 1]):
            least += packed.levels[xs[q]] * packed.levels[ys[t]]
    start, cells, n = np.zeros(ys.size + 1, np.int64), np.empty((4, min(least, MOST_COUNTS)), np.int64), 0
    slice_start, some_row, n_slice = np.zeros(xs.size + 1, np.int64), np.empty(64, np.int64), 0
    set_start, rows, n_rows = np.zeros(xs.size + 1, np.int64), np.empty((3, 64), np.int64), 0
    for q in range(xs.size):
        x, known, mine = xs[q], given[given_start[q] : given_start[q + 1]], ys[y_start[q] : y_start[q + 1]]
        here, n_slices = slices_of(packed, sets, x, known)
        n_sets = sets.child[2, n_slices]
        while n_slice + n_slices > some_row.size:
            some_row = np.concatenate((some_row, np.empty_like(some_row)))
        for k in range(n_slices):
            some_row[n_slice + k] = first_row(sets, here, k)
        n_slice += n_slices
        rows, n_rows = add_sets(sets, n_slices, rows, n_rows)
        slice_start[q + 1], set_start[q + 1] = slice_start[q] + n_slices, n_rows
        width = packed.columns.shape[1] + PAD * packed.blocks.shape[0]
        crowded = n_sets <= CROWDED or 8 * n_sets <= packed.n_rows  # many rows to a set: bits are worth it
        dense = crowded and 8 * mine.size > packed.order.size and n_sets * width <= MOST_COUNTS
        counts, column, stride, offset = np.empty(0, np.int32), start[:0], start[:0], start[:0]
        if dense:
            counts, column, stride, offset = count_blocks(packed, sets, n_sets)
        for t in range(y_start[q], y_start[q + 1]):
            y = ys[t]
            if dense and column[y] >= 0:
                room = n + n_sets * packed.levels[y]
                while room > cells.shape[1]:
                    cells = np.concatenate((cells, np.empty_like(cells)), axis=1)
                at = (offset[y], column[y], stride[y])
                n = add_cells_of(sets, n_slices, counts, at, packed.levels[y], cells, n)
            else:
                cells, n = cells_of(packed, sets, n_slices, 1 - here, y, cells, n)
            start[t + 1] = n
    return (
        start,
        cells[:, :n].copy(),
        slice_start,
        some_row[:n_slice].copy(),
        set_start,
        rows[:, :n_rows].copy(),
    )


@allocating_part
def add_sets(sets: Sets, n_slices: int, rows: Ints, n: int) -> tuple[Ints, int]:
    """Append the sets of (slice, level of x) and their numbers of rows."""
    while n + sets.child[2, n_slices] > rows.shape[1]:
        rows = np.concatenate((rows, np.empty_like(rows)), axis=1)
    for k in range(n_slices):
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            rows[0, n], rows[1, n], rows[2, n] = k, sets.code[2, s], sets.size[2, s]
            n += 1
    return rows, n


@allocating_part
def count_blocks(packed: Packed, sets: Sets, n_sets: int) -> tuple[Counts, Ints, Ints, Ints]:
    """Count all sets in all columns of bits, block by block.

    Returns (counts; of each variable the column in its block, -1 if it has none, the columns between two
    levels, and where the counts of its block begin).
    """
    n, blocks = packed.levels.size, packed.blocks
    column, stride, offset = np.full(n, -1, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    cursor, end = np.empty(n_sets, np.int64), 0
    counts = np.empty(n_sets * (packed.columns.shape[1] + PAD * blocks.shape[0]), np.int32)
    for b in range(blocks.shape[0]):
        levels, first, last, place, step = blocks[b]
        width = (levels - 1) * step
        size = n_sets * (width + PAD)
        tile = counts[end : end + size].reshape((n_sets, width + PAD))
        count_sets(packed, sets, 0, n_sets, place, width, cursor, tile)
        for i in range(first, last):
            y = packed.order[i]
            column[y], stride[y], offset[y] = i - first, step, end
        end += size
    return counts, column, stride, offset


@allocating_part
def add_cells_of(
    sets: Sets, n_slices: int, counts: Counts, at: tuple[int, int, int], levels: int, cells: Ints, n: int
) -> int:
    """Append the cells of one y from the counts of its block; level 0 is what the others leave."""
    offset, column, stride = at
    width = (levels - 1) * stride + PAD
    for k in range(n_slices):
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            place, rest, x = offset + s * width + column, sets.size[2, s], sets.code[2, s]
            for level in range(1, levels):
                rest -= counts[place + (level - 1) * stride]
            if rest:
                cells[0, n], cells[1, n], cells[2, n], cells[3, n] = k, x, 0, rest
                n += 1
            for level in range(1, levels):
                count = counts[place + (level - 1) * stride]
                if count:
                    cells[0, n], cells[1, n], cells[2, n], cells[3, n] = k, x, level, count
                    n += 1
    return n


@allocating_kernel
def margin_tables(
    given: Ints, given_start: Ints, slice_start: Ints, keys: Ints, set_start: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """Tables of x against each given variable, given the others: margins of (slice, level of x, rows).

    Returns (first cell of each table, cells); tables are in the order of ``given``. For member j the slices
    that agree on everything before j (``prefix``) and after j (``suffix``) merge.
    """
    start, cells, n, first_key = np.zeros(given.size + 1, np.int64), np.empty((4, 1024), np.int64), 0, 0
    for q in range(given_start.size - 1):
        size, n_slices = given_start[q + 1] - given_start[q], slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + size * n_slices].reshape((n_slices, size)).T.copy()
        first_key += size * n_slices
        mine = rows[:, set_start[q] : set_start[q + 1]]
        while n + mine.shape[1] * size > cells.shape[1]:
            cells = np.concatenate((cells, np.empty_like(cells)), axis=1)
        width = max(n_slices, most(code.reshape(-1))) + 2
        buffer, order, merged = (
            np.empty(3 * width, np.int64),
            np.empty(width, np.int64),
            np.empty(width, np.int64),
        )
        n_prefix = np.int64(1)
        suffix, prefix = np.zeros((size + 1, n_slices), np.int64), np.zeros(n_slices, np.int64)
        n_above, first_set = np.ones(size + 1, np.int64), np.zeros(n_slices + 1, np.int64)
        for s in range(mine.shape[1]):
            first_set[mine[0, s] + 1] = s + 1
        for j in range(size - 1, 0, -1):
            n_levels = most(code[j]) + 1
            n_above[j] = rank_pairs(
                code[j], n_levels, suffix[j + 1], n_above[j + 1], order, suffix[j], buffer
            )
        for j in range(size):
            rank_pairs(prefix, n_prefix, suffix[j + 1], n_above[j + 1], order, merged, buffer)
            n = add_margin(mine, first_set, code[j], merged, order[:n_slices], cells, n)
            start[given_start[q] + j + 1] = n
            if j + 1 < size:
                longer = np.empty_like(prefix)
                n_prefix = rank_pairs(prefix, n_prefix, code[j], most(code[j]) + 1, order, longer, buffer)
                prefix = longer
    return start, cells[:, :n].copy()


@allocating_part
def add_margin(
    sets: Ints, first_set: Ints, code: Ints, merged: Ints, order: Ints, cells: Ints, n: int
) -> int:
    """Append the sets as cells, sorted by merged slice, level of x, level of the member.

    ``order`` has the slices by merged number, and the sets of a slice are sorted by level of x: a slice that
    merges with no other is in order as it is.
    """
    begin = n
    for i in range(order.size):
        k = order[i]
        if i and merged[k] != merged[order[i - 1]]:
            sort_cells(cells, begin, n)
            begin = n
        for s in range(first_set[k], first_set[k + 1]):
            cells[0, n], cells[1, n], cells[2, n], cells[3, n] = merged[k], sets[1, s], code[k], sets[2, s]
            n += 1
    sort_cells(cells, begin, n)
    return n


@allocating_part
def sort_cells(cells: Ints, begin: int, end: int) -> None:
    """Sort the cells of one slice by level of x, then level of y (Shell sort)."""
    gap = end - begin
    while gap > 1:
        gap = max(1, (4 * gap) // 9)
        for i in range(begin + gap, end):
            x, y, count, j = cells[1, i], cells[2, i], cells[3, i], i
            while j >= begin + gap and (
                cells[1, j - gap] > x or (cells[1, j - gap] == x and cells[2, j - gap] > y)
            ):
                cells[1, j], cells[2, j], cells[3, j] = (
                    cells[1, j - gap],
                    cells[2, j - gap],
                    cells[3, j - gap],
                )
                j -= gap
            cells[1, j], cells[2, j], cells[3, j] = x, y, count
