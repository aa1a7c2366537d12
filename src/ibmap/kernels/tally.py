"""Sets of rows → counts: of many columns at once, or as lists of observed cells."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import allocating_part, inline
from ibmap.kernels.partition import split
from ibmap.kernels.popcount import add_64, add_256, count_8, count_32, popcount
from ibmap.kernels.records import Ints, Packed, Sets

PAD = 64  #: columns beyond a block that ``count_sets`` may touch
TILE_BYTES = 1 << 18  #: columns of bits that stay in the cache while all sets pass over them


@inline
def count_sets(
    packed: Packed,
    sets: Sets,
    base: int,
    stop: int,
    column: int,
    width: int,
    cursor: Ints,
    out: NDArray[np.int32],
) -> None:
    """``out[s - base, c]``: rows of set s of place 2 in each of ``width`` (a multiple of 8) columns.

    With many rows the columns do not fit the cache: all sets pass over a tile of words before the next tile
    is looked at. A set with few rows to a word is added up row by row, if the rows are there as bytes.
    """
    n_words = packed.level_bits.shape[1]
    step = max(64, TILE_BYTES // (8 * max(width, 1)))
    for s in range(base, stop):
        cursor[s - base] = sets.start[2, s]
        for c in range(width):
            out[s - base, c] = 0
    for word in range(0, n_words, step):
        for s in range(base, stop):
            first, last = cursor[s - base], sets.start[2, s + 1]
            if word + step < n_words:
                last = word_at_least(sets.words[2], first, last, word + step)
                cursor[s - base] = last
            sparse = sets.size[2, s] * (width + 128) < 6 * (last - first) * width
            if sparse and packed.by_row.shape[0] and step >= n_words:
                count_by_row(packed, sets, s, column, width, out[s - base])
            else:
                count_by_word(packed, sets, first, last, column, width, out[s - base])


@inline
def word_at_least(words: NDArray[np.uint32], first: int, last: int, word: int) -> int:
    """Return the first position from ``first`` on, and before ``last``, whose word is not below ``word``."""
    while first < last:
        middle = (first + last) // 2
        if words[middle] < word:
            first = middle + 1
        else:
            last = middle
    return first


@inline
def count_by_word(
    packed: Packed, sets: Sets, first: int, last: int, column: int, width: int, out: NDArray[np.int32]
) -> None:
    """Add the set bits of some words, 32 or 8 columns at a time."""
    words, masks = sets.words[2], sets.masks[2]
    c = 0
    while c + 32 <= width:
        count_32(words, masks, first, last, packed.columns, column + c, out, c)
        c += 32
    while c < width:
        count_8(words, masks, first, last, packed.columns, column + c, out, c)
        c += 8


@inline
def count_by_row(
    packed: Packed, sets: Sets, one: int, column: int, width: int, out: NDArray[np.int32]
) -> None:
    """Add the bytes of the rows of a set, 256 or 64 columns at a time; more than ``width`` may be written."""
    rows, n = sets.keys, 0
    for i in range(sets.start[2, one], sets.start[2, one + 1]):
        mask = sets.masks[2, i]
        while mask:
            rows[n] = 64 * np.int64(sets.words[2, i]) + np.int64(popcount(~mask & (mask - np.uint64(1))))
            mask &= mask - np.uint64(1)
            n += 1
    for first in range(0, n, 255):  # a byte holds no more
        last = min(first + 255, n)
        c = 0
        while c + 256 <= width:
            add_256(rows, first, last, packed.by_row, column + c, out, c)
            c += 256
        while c < width:
            add_64(rows, first, last, packed.by_row, column + c, out, c)
            c += 64


@allocating_part
def cells_of(
    packed: Packed, sets: Sets, n_slices: int, spare: int, y: int, cells: Ints, n: int
) -> tuple[Ints, int]:
    """Append the observed cells of y against the sets of (slice, x): rows slice, x, y, count of ``cells``.

    Slices without a row that knows y have none. Returns (cells, perhaps in a larger array; their number).
    """
    n_sets = sets.child[2, n_slices]
    if packed.first[y] >= 0:
        cells = with_place(cells, n + min(n_sets * packed.levels[y], packed.n_rows))
        return cells, count_cells(packed, sets, n_slices, y, cells, n)
    cells = with_place(cells, n + split(packed, sets, np.int64(2), n_sets, spare, y))
    child, code, size = sets.child[spare], sets.code[spare], sets.size[spare]
    for k in range(n_slices):
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            for c in range(child[s], child[s + 1]):
                cells[0, n], cells[1, n] = k, sets.code[2, s]
                cells[2, n], cells[3, n] = code[c], size[c]
                n += 1
    return cells, n


@allocating_part
def with_place(columns: Ints, n: int) -> Ints:
    """Return an array with at least n columns that begins with these: itself, or one of twice the size."""
    if n <= columns.shape[1]:
        return columns
    larger = np.empty((columns.shape[0], max(n, 2 * columns.shape[1])), np.int64)
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            larger[i, j] = columns[i, j]
    return larger


@allocating_part
def without_rest(columns: Ints, n: int) -> Ints:
    """Return the first n columns, moved together in place: a fresh array would have to be paged in."""
    height, width = columns.shape
    flat = columns.reshape(-1)
    for i in range(1, height):
        for j in range(n):
            flat[i * n + j] = flat[i * width + j]
    return flat[: height * n].reshape((height, n))


@inline
def count_cells(packed: Packed, sets: Sets, n_slices: int, y: int, cells: Ints, n: int) -> int:
    """Append the cells of a narrow y: every set is counted in its levels until no row is left."""
    words, masks, start, size = sets.words[2], sets.masks[2], sets.start[2], sets.size[2]
    code, child, levels, zero = sets.code[2], sets.child[2], packed.levels[y], packed.first[y]
    bits = packed.level_bits
    by_slice, by_x, by_y, counts = cells[0], cells[1], cells[2], cells[3]
    for k in range(n_slices):
        for s in range(child[k], child[k + 1]):
            first, last, rest, level = start[s], start[s + 1], size[s], 0
            while rest and level < levels:
                count = np.int64(0)
                for i in range(first, last):
                    count += np.int64(popcount(masks[i] & bits[zero + level, words[i]]))
                if count:
                    by_slice[n], by_x[n], by_y[n], counts[n] = k, code[s], level, count
                    n += 1
                    rest -= count
                level += 1
    return n
