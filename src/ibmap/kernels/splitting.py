"""Scores of x given its parents, or its blanket: what splitting their slices by one more variable adds.

A score is a sum of functions of counts, which are rows of ``logs``: ``which`` says, for every y, which of
them serve the cells of x and y, the rows of x, the columns of y, and the slice. Slices of one row add
nothing.
"""

import numpy as np

from ibmap.kernels.bayes_model import records_of
from ibmap.kernels.blocks import add_cells, rows_of_slice
from ibmap.kernels.cells import sum_of_slice
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline
from ibmap.kernels.margins import margin_tables
from ibmap.kernels.partition import first_row, level_of, more_slices_of
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable, Packed, Sets
from ibmap.kernels.tables import add_sets
from ibmap.kernels.tally import PAD, cells_of, count_sets

TOGETHER = 1 << 18  #: counts that are made before they are scored


@inline
def evidence_of_cells(
    logs: FloatTable, which: IntTable, t: int, cells: IntTable, begin: int, end: int, column: Ints
) -> tuple[float, int]:
    """Return s_x(slices and y) - s_x(slices) from the cells of one table, and its number of rows."""
    by_cell, by_row = logs[which[0, t]], logs[which[1, t]]
    by_column, by_slice = logs[which[2, t]], logs[which[3, t]]
    total, n_rows = 0.0, np.int64(0)
    while begin < end:
        begin, n, d = sum_of_slice(cells, begin, end, by_cell, by_row, by_column, column)
        total += d + by_slice[n]
        n_rows += n
    return total, n_rows


@allocating_kernel
def evidence_of_tables(
    logs: FloatTable, which: IntTable, n_levels: int, start: Ints, cells: IntTable, out: Floats, rows: Ints
) -> None:
    """``out[t] = s_x(slices and y) - s_x(slices)`` of every table; ``rows[t]`` is how many rows it has."""
    column = np.zeros(n_levels, np.int64)
    for t in range(out.size):
        out[t], rows[t] = evidence_of_cells(logs, which, t, cells, start[t], start[t + 1], column)


@allocating_kernel
def family_row(
    context: Ints,
    reached: Ints,
    logs: FloatTable,
    which: IntTable,
    x: int,
    parents: Ints,
    out: Floats,
    rows: Ints,
) -> None:
    """The same for all y at once, from rows in memory: outside the parents in their slices, and each parent
    in the slices of the others.
    """
    packed, sets, _, _ = records_of(context)
    here, n_slices = more_slices_of(packed, sets, x, parents, reached)
    n_rows = np.int64(0)
    for k in range(n_slices):
        n_rows += rows_of_slice(sets, k)
    rows[:] = n_rows
    for block in range(packed.blocks.shape[0]):
        add_block(packed, sets, n_slices, logs, which, block, parents, out)
    column = np.zeros(packed.levels.max(), np.int64)
    cells = np.empty((4, 64), np.int64)
    for y in packed.irregular:
        if y != x:
            cells, n = cells_of(packed, sets, n_slices, 1 - here, y, cells, 0)
            out[y], rows[y] = evidence_of_cells(logs, which, y, cells, 0, n, column)
    if parents.size:
        keys = np.empty(n_slices * parents.size, np.int64)
        for k in range(n_slices):
            row = first_row(sets, here, k)
            for j in range(parents.size):
                keys[k * parents.size + j] = level_of(packed, parents[j], row)
        counted, n_sets = add_sets(sets, n_slices, np.empty((3, 64), np.int64), 0)
        ends = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
        ends[0][1], ends[1][1], ends[2][1] = parents.size, n_slices, n_sets
        start, margins = margin_tables(parents, ends[0], ends[1], keys, ends[2], counted)
        for j in range(parents.size):
            y = parents[j]
            out[y], rows[y] = evidence_of_cells(logs, which, y, margins, start[j], start[j + 1], column)
    out[x] = 0.0


@inline
def outside(parents: Ints, variables: Ints) -> int:
    """Return the first of some variables that is no parent; -1 if all are."""
    for y in variables:
        inside = False
        for p in parents:
            inside |= p == y
        if not inside:
            return y
    return np.int64(-1)


@allocating_part
def add_block(
    packed: Packed,
    sets: Sets,
    n_slices: int,
    logs: FloatTable,
    which: IntTable,
    block: int,
    parents: Ints,
    out: Floats,
) -> None:
    """``out[y]`` of all y in a block of columns; but for the parents they share the functions of counts."""
    levels, first, last, place, stride = packed.blocks[block]
    m, width, y = last - first, (levels - 1) * stride, outside(parents, packed.order[first:last])
    if y < 0:
        return
    by_cell, by_row = logs[which[0, y]], logs[which[1, y]]
    by_column, by_slice = logs[which[2, y]], logs[which[3, y]]
    total, rest = np.zeros(m), np.empty(m, np.int32)
    margins = np.empty(width, np.int32)
    child, size = sets.child[2], sets.size[2]
    most = np.int64(1)
    for k in range(n_slices):
        most = max(most, child[k + 1] - child[k])
    most = min(max(most, TOGETHER // (width + PAD)), child[n_slices])
    counts, cursor = np.empty((most, width + PAD), np.int32), np.empty(most, np.int64)
    base = stop = np.int64(0)
    for k in range(n_slices):
        begin, end, n = child[k], child[k + 1], rows_of_slice(sets, k)
        if n == 1:
            continue
        if end > stop:
            base, stop = begin, min(begin + most, child[n_slices])
            count_sets(packed, sets, base, stop, place, width, cursor, counts)
        start = by_slice[n]
        for s in range(begin, end):
            start -= by_row[size[s]]
        for v in range(m):
            total[v] += start
        margins[:] = 0
        for s in range(begin, end):
            add_cells(by_cell, counts[s - base], np.int32(size[s]), levels, stride, m, rest, total, 1.0)
            for c in range(width):
                margins[c] += counts[s - base, c]
        add_cells(by_column, margins, np.int32(n), levels, stride, m, rest, total, -1.0)
    for v in range(m):
        out[packed.order[first + v]] = total[v]
