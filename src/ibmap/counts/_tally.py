"""Sets of rows → counts: of many columns at once, or as lists of observed cells."""

import numpy as np
from numpy.typing import NDArray

from ibmap._jit import allocating_kernel, inline
from ibmap.counts._partition import slices_of, split
from ibmap.counts._popcount import count_8, count_32, popcount
from ibmap.counts._records import Ints, Packed, Sets


@inline
def count_columns(
    packed: Packed, sets: Sets, where: int, one: int, column: int, n_columns: int, out: NDArray[np.int32]
) -> None:
    """Count the rows of one set in each of ``n_columns`` (a multiple of 8) columns.

    Word by word, 8 columns take about as long as 32 columns row by row, so sets with few rows to a word are
    added up as bytes. In the whole fit with 4 levels (``benchmarks/shapes.py``) the gain is within the noise.
    """
    words, masks = sets.words[where], sets.masks[where]
    first, last = sets.start[where, one], sets.start[where, one + 1]
    if packed.by_row.shape[0] and sets.size[where, one] < 3 * (last - first):
        count_bytes(packed, sets, words, masks, first, last, column, n_columns, out)
        return
    c = 0
    while c + 32 <= n_columns:
        count_32(words, masks, first, last, packed.columns, column + c, out, c)
        c += 32
    while c < n_columns:
        count_8(words, masks, first, last, packed.columns, column + c, out, c)
        c += 8


@inline
def count_bytes(
    packed: Packed,
    sets: Sets,
    words: NDArray[np.uint32],
    masks: NDArray[np.uint64],
    first: int,
    last: int,
    column: int,
    n_columns: int,
    out: NDArray[np.int32],
) -> None:
    """Count row by row, in bytes; they are emptied before they can overflow."""
    sums = sets.sums
    for c in range(n_columns):
        sums[c] = 0
        out[c] = 0
    since = 0
    for i in range(first, last):
        mask = masks[i]
        while mask:
            row = 64 * np.int64(words[i]) + np.int64(popcount(~mask & (mask - np.uint64(1))))
            mask &= mask - np.uint64(1)
            ones = packed.by_row[row, column : column + n_columns]
            for c in range(n_columns):
                sums[c] += ones[c]
            since += 1
            if since == 255:
                since = 0
                for c in range(n_columns):
                    out[c] += sums[c]
                    sums[c] = 0
    for c in range(n_columns):
        out[c] += sums[c]


@allocating_kernel
def cells_of(
    packed: Packed, sets: Sets, n_slices: int, spare: int, y: int, cells: Ints, n: int
) -> tuple[Ints, int]:
    """Append the observed cells of y against the sets of (slice, x): rows slice, x, y, count of ``cells``.

    Slices without a row that knows y are skipped. Returns (cells, perhaps in a larger array; their number).
    """
    n_cells = split(packed, sets, np.int64(2), sets.child[2, n_slices], spare, y)
    child, code, size = sets.child[spare], sets.code[spare], sets.size[spare]
    while n + n_cells > cells.shape[1]:
        cells = np.concatenate((cells, np.empty_like(cells)), axis=1)
    observed = 0
    for k in range(n_slices):
        begin = n
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            for c in range(child[s], child[s + 1]):
                cells[0, n], cells[1, n] = observed, sets.code[2, s]
                cells[2, n], cells[3, n] = code[c], size[c]
                n += 1
        observed += n > begin
    return cells, n


@allocating_kernel
def count_cells(
    packed: Packed, sets: Sets, x: int, ys: Ints, which: Ints, given: Ints, start: Ints
) -> tuple[Ints, Ints]:
    """Observed cells of x against each ``ys[t]`` given set ``which[t]``: (first of each table, cells)."""
    cells = np.empty((4, 1024), np.int64)
    first = np.zeros(ys.size + 1, np.int64)
    n, here, n_slices, current = 0, 0, 0, -1
    for t in range(ys.size):
        if which[t] != current:
            current = which[t]
            here, n_slices = slices_of(packed, sets, x, given[start[current] : start[current + 1]])
        cells, n = cells_of(packed, sets, n_slices, 1 - here, ys[t], cells, n)
        first[t + 1] = n
    return first, cells[:, :n].copy()
