"""Questions → tables as lists of observed cells: what an engine in memory answers, and margins of answers.

A cell is (slice, level of x, level of y, count). Slices are numbered within a question; their keys, the
levels of the given variables, tell which slices of two partitions of the rows belong together.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import allocating_kernel, allocating_part
from ibmap.kernels.partition import first_row, level_of, slices_of
from ibmap.kernels.pointers import Layout
from ibmap.kernels.records import Ints, Packed, Sets
from ibmap.kernels.round_robin import counting_sort, most, rank_pairs
from ibmap.kernels.tally import cells_of, count_sets

MOST_COUNTS = 1 << 22  #: counts of one question that are made before they become cells
PAD = 64  #: columns beyond a block that counting may touch

Counts = NDArray[np.int32]
Answers = tuple[Ints, Ints, Ints, Ints, Ints, Ints]


LAYOUT = Layout(Packed, Sets)
packed_and_sets = LAYOUT.reader(0, 2)  #: what kernels make of the numbers of a table: (packed, sets)


@allocating_kernel
def count_tables(table: Ints, xs: Ints, ys: Ints, y_start: Ints, given: Ints, given_start: Ints) -> Answers:
    """Answer a batch of questions: x against each of its ys, in the slices of its given variables.

    Returns (first cell of each table, cells; first slice of each question, keys of all slices one after the
    other; first set of each question, sets): a set is (slice, level of x, rows).
    """
    packed, sets = packed_and_sets(table)
    start, cells, n = np.zeros(ys.size + 1, np.int64), np.empty((4, 1024), np.int64), 0
    slice_start, keys, n_keys = np.zeros(xs.size + 1, np.int64), np.empty(64, np.int64), 0
    set_start, rows, n_rows = np.zeros(xs.size + 1, np.int64), np.empty((3, 64), np.int64), 0
    for q in range(xs.size):
        x, known, mine = xs[q], given[given_start[q] : given_start[q + 1]], ys[y_start[q] : y_start[q + 1]]
        here, n_slices = slices_of(packed, sets, x, known)
        n_sets = sets.child[2, n_slices]
        keys, n_keys = add_keys(packed, sets, here, n_slices, known, keys, n_keys)
        rows, n_rows = add_sets(sets, n_slices, rows, n_rows)
        slice_start[q + 1], set_start[q + 1] = slice_start[q] + n_slices, n_rows
        width = packed.columns.shape[1] + PAD * packed.blocks.shape[0]
        dense = 8 * mine.size > packed.order.size and n_sets * width <= MOST_COUNTS
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
    return start, cells[:, :n].copy(), slice_start, keys[:n_keys].copy(), set_start, rows[:, :n_rows].copy()


@allocating_part
def add_keys(
    packed: Packed, sets: Sets, here: int, n_slices: int, given: Ints, keys: Ints, n: int
) -> tuple[Ints, int]:
    """Append the levels of the given variables in every slice."""
    while n + n_slices * given.size > keys.size:
        keys = np.concatenate((keys, np.empty_like(keys)))
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for variable in given:
            keys[n] = level_of(packed, variable, row)
            n += 1
    return keys, n


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
        width = max(n_slices, most(code.reshape(-1)), most(mine[1])) + mine.shape[1] + 2
        buffer, order, merged = (
            np.empty(6 * width, np.int64),
            np.empty(width, np.int64),
            np.empty(width, np.int64),
        )
        sorting, n_prefix = buffer[: 3 * width], np.int64(1)
        suffix, prefix = np.zeros((size + 1, n_slices), np.int64), np.zeros(n_slices, np.int64)
        n_above = np.ones(size + 1, np.int64)
        for j in range(size - 1, 0, -1):
            n_levels = most(code[j]) + 1
            n_above[j] = rank_pairs(
                code[j], n_levels, suffix[j + 1], n_above[j + 1], order, suffix[j], sorting
            )
        for j in range(size):
            rank_pairs(prefix, n_prefix, suffix[j + 1], n_above[j + 1], order, merged, sorting)
            n = add_margin(mine, code[j], merged, buffer, width, cells, n)
            start[given_start[q] + j + 1] = n
            if j + 1 < size:
                longer = np.empty_like(prefix)
                n_prefix = rank_pairs(prefix, n_prefix, code[j], most(code[j]) + 1, order, longer, sorting)
                prefix = longer
    return start, cells[:, :n].copy()


@allocating_part
def add_margin(sets: Ints, code: Ints, merged: Ints, buffer: Ints, width: int, cells: Ints, n: int) -> int:
    """Append the sets as cells, sorted by merged slice, level of x, level of the member."""
    m = sets.shape[1]
    items, sorted_items, position = buffer[:m], buffer[width : width + m], buffer[2 * width : 3 * width]
    by_slice, by_x = buffer[3 * width : 3 * width + m], buffer[4 * width : 4 * width + m]
    by_y = buffer[5 * width : 5 * width + m]
    for s in range(m):
        items[s], by_slice[s], by_x[s], by_y[s] = s, merged[sets[0, s]], sets[1, s], code[sets[0, s]]
    counting_sort(items, by_y, most(by_y) + 1, sorted_items, position)
    counting_sort(sorted_items, by_x, most(by_x) + 1, items, position)
    counting_sort(items, by_slice, most(by_slice) + 1, sorted_items, position)
    for i in range(m):
        s = sorted_items[i]
        cells[0, n], cells[1, n], cells[2, n], cells[3, n] = by_slice[s], by_x[s], by_y[s], sets[2, s]
        n += 1
    return n
