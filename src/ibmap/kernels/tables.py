"""Questions → tables as lists of observed cells: what an engine in memory answers.

A cell is (slice, level of x, level of y, count). Slices are numbered within a question; their keys, the
levels of the given variables, tell which slices of two partitions of the rows belong together.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import records_of
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline, kernel
from ibmap.kernels.partition import first_row, level_of, more_slices_of
from ibmap.kernels.records import Ints, Packed, Sets
from ibmap.kernels.tally import PAD, cells_of, count_sets, with_place, without_rest

MOST_COUNTS = 1 << 22  #: counts of one question that are made before they become cells
CROWDED = 16  #: so few sets are counted by bits however few rows they have

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
def count_tables(
    context: Ints, reached: Ints, xs: Ints, ys: Ints, y_start: Ints, given: Ints, given_start: Ints
) -> Answers:
    """Answer a batch of questions: x against each of its ys, in the slices of its given variables.

    ``reached`` tells how far the rows are split already (``more_slices_of``): growing a blanket by one
    variable after the other, or asking about more ys, does not begin anew.

    Returns (first cell of each table, cells; first slice of each question, a row of every slice; first set of
    each question, sets): a set is (slice, level of x, rows).
    """
    packed, sets, _, _ = records_of(context)
    start, cells, n = np.zeros(ys.size + 1, np.int64), np.empty((4, 4 * ys.size), np.int64), 0
    slice_start, some_row, n_slice = np.zeros(xs.size + 1, np.int64), np.empty((1, 64), np.int64), 0
    set_start, rows, n_rows = np.zeros(xs.size + 1, np.int64), np.empty((3, 64), np.int64), 0
    for q in range(xs.size):
        x, known, mine = xs[q], given[given_start[q] : given_start[q + 1]], ys[y_start[q] : y_start[q + 1]]
        here, n_slices = more_slices_of(packed, sets, x, known, reached)
        n_sets = sets.child[2, n_slices]
        some_row = with_place(some_row, n_slice + n_slices)
        for k in range(n_slices):
            some_row[0, n_slice + k] = first_row(sets, here, k)
        n_slice += n_slices
        rows, n_rows = add_sets(sets, n_slices, rows, n_rows)
        slice_start[q + 1], set_start[q + 1] = slice_start[q] + n_slices, n_rows
        most = np.int64(0)
        for y in mine:
            most += min(n_sets * packed.levels[y], packed.n_rows)
        cells = with_place(cells, n + min(most, MOST_COUNTS))
        width = packed.columns.shape[1] + PAD * packed.blocks.shape[0]
        crowded = n_sets <= CROWDED or 8 * n_sets <= packed.n_rows  # many rows to a set: bits are worth it
        dense = crowded and 8 * mine.size > packed.order.size and n_sets * width <= MOST_COUNTS
        counts, column, stride, offset = np.empty(0, np.int32), start[:0], start[:0], start[:0]
        if dense:
            counts, column, stride, offset = count_blocks(packed, sets, n_sets, mine)
        for t in range(y_start[q], y_start[q + 1]):
            y = ys[t]
            if dense and column[y] >= 0:
                cells = with_place(cells, n + n_sets * packed.levels[y])
                at = (offset[y], column[y], stride[y])
                n = add_cells_of(sets, n_slices, counts, at, packed.levels[y], cells, n)
            else:
                cells, n = cells_of(packed, sets, n_slices, 1 - here, y, cells, n)
            start[t + 1] = n
    return (
        start,
        without_rest(cells, n),
        slice_start,
        without_rest(some_row, n_slice)[0],
        set_start,
        without_rest(rows, n_rows),
    )


@allocating_part
def add_sets(sets: Sets, n_slices: int, rows: Ints, n: int) -> tuple[Ints, int]:
    """Append the sets of (slice, level of x) and their numbers of rows."""
    rows = with_place(rows, n + sets.child[2, n_slices])
    for k in range(n_slices):
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            rows[0, n], rows[1, n], rows[2, n] = k, sets.code[2, s], sets.size[2, s]
            n += 1
    return rows, n


@allocating_part
def count_blocks(packed: Packed, sets: Sets, n_sets: int, ys: Ints) -> tuple[Counts, Ints, Ints, Ints]:
    """Count all sets in the columns of bits of some ys, block by block.

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
        for i in range(first, last):
            y = packed.order[i]
            column[y], stride[y], offset[y] = i - first, step, end
        needed = np.int64(step)  # the first column that somebody asks about
        for y in ys:
            needed = min(needed, column[y] if column[y] >= 0 and offset[y] == end else step)
        skip = needed // 32 * 32 if levels == 2 else 0
        if needed < step:
            count_sets(packed, sets, 0, n_sets, place + skip, width - skip, cursor, tile[:, skip:])
        end += size
    return counts, column, stride, offset


@inline
def add_cells_of(
    sets: Sets, n_slices: int, counts: Counts, at: tuple[int, int, int], levels: int, cells: Ints, n: int
) -> int:
    """Append the cells of one y from the counts of its block; level 0 is what the others leave."""
    offset, column, stride = at
    width = (levels - 1) * stride + PAD
    child, size, code = sets.child[2], sets.size[2], sets.code[2]
    by_slice, by_x, by_y, by_count = cells[0], cells[1], cells[2], cells[3]
    for k in range(n_slices):
        for s in range(child[k], child[k + 1]):
            place, rest, x, zero = offset + s * width + column, size[s], code[s], n
            n += 1  # level 0 comes first; written last, and taken back if it has no row
            for level in range(1, levels):
                count = counts[place + (level - 1) * stride]
                if count:
                    by_slice[n], by_x[n], by_y[n], by_count[n] = k, x, level, count
                    n += 1
                    rest -= count
            by_slice[zero], by_x[zero], by_y[zero], by_count[zero] = k, x, 0, rest
            if rest == 0:
                for c in range(zero + 1, n):
                    by_y[c - 1], by_count[c - 1] = by_y[c], by_count[c]
                n -= 1
    return n


@allocating_kernel
def levels_in_rows(context: Ints, given: Ints, given_start: Ints, rows: Ints, row_start: Ints) -> Ints:
    """Levels of the given variables of each question in each of its rows, one row after the other."""
    packed, _, _, _ = records_of(context)
    size = np.int64(0)
    for q in range(row_start.size - 1):
        size += (row_start[q + 1] - row_start[q]) * (given_start[q + 1] - given_start[q])
    out, end = np.empty(size, np.int64), 0
    for q in range(row_start.size - 1):
        for i in range(row_start[q], row_start[q + 1]):
            for j in range(given_start[q], given_start[q + 1]):
                out[end] = level_of(packed, given[j], rows[i])
                end += 1
    return out


@kernel
def closes_gaps(start: Ints, cells: Ints, out: Ints) -> bool:
    """Number the slices of each table from 0 without gaps, into ``out``; return whether a number changes."""
    changed = False
    for t in range(start.size - 1):
        number = np.int64(-1)
        for c in range(start[t], start[t + 1]):
            number += c == start[t] or cells[0, c] != cells[0, c - 1]
            out[c] = number
            changed |= number != cells[0, c]
    return changed
