"""Compiled passes over integer tables and columns: which values occur, the transposed codes, and bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import inline, kernel

BASE = 16  # values in [-BASE, 64 - BASE) have a bit of their own in one machine word
TILE = 32  # so many rows and columns stay in the first-level cache while they are turned


@kernel
def small_values(block: NDArray[Any], seen: NDArray[np.uint64]) -> bool:
    """Set bit ``v + BASE`` of ``seen[j]`` for each value v of column j; False if some value has no bit."""
    outside = np.int64(0)
    one = np.uint64(1)
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            shifted = np.int64(block[i, j]) + BASE
            outside |= shifted & ~63
            seen[j] |= one << np.uint64(shifted & 63)
    return bool(outside == 0)


@kernel
def any_values(
    block: NDArray[Any], low: NDArray[np.int64], start: NDArray[np.int64], present: NDArray[np.bool_]
) -> None:
    """Mark ``present[start[j] + v - low[j]]`` for each value v of column j."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            present[np.uint64(start[j] + np.int64(block[i, j]) - low[j])] = True


@kernel
def write_codes(
    block: NDArray[Any], first: int, origin: NDArray[np.int64], code: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write ``out[j, first + i] = code[origin[j] + block[i, j]]``, tile by tile."""
    n_rows, n_columns = block.shape
    for top in range(0, n_rows, TILE):
        rows = min(TILE, n_rows - top)
        for left in range(0, n_columns, TILE):
            for j in range(left, min(left + TILE, n_columns)):
                shift = np.uint64(origin[j])  # unsigned: numba then leaves out its test for negative indices
                source = block[top : top + rows, j]
                target = out[j, first + top : first + top + rows]
                for i in range(rows):
                    target[i] = code[shift + np.uint64(np.int64(source[i]))]


@kernel
def seen_bytes(values: NDArray[np.uint8], seen: NDArray[np.bool_]) -> None:
    """Mark the values that occur: ``seen`` has an entry for each of the 256."""
    for value in values:
        seen[value] = True


@inline
def rows_equal_to(value: int, eights: NDArray[np.uint64], w: int) -> int:
    """Return a word whose bit r is set where byte r of 64 is ``value``; they come as words 8w to 8w + 7."""
    low, high = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
    gather = np.uint64(0x0102040810204080)
    pattern = np.uint64(value) * np.uint64(0x0101010101010101)
    word = np.uint64(0)
    for i in range(8):
        differs = eights[8 * w + i] ^ pattern
        zero_bytes = ~(((differs & low) + low) | differs | low) & high
        word |= (((zero_bytes >> np.uint64(7)) * gather) >> np.uint64(56)) << np.uint64(8 * i)
    return word


@kernel
def pack_bytes(values: NDArray[np.uint8], wanted: NDArray[np.uint8], out: NDArray[np.uint64]) -> None:
    """Set bit r of ``out[k]`` where ``values[r] == wanted[k]``, eight rows at a time; 64 rows make a word."""
    eights = values.view(np.uint64)
    for k in range(wanted.size):
        for w in range(out.shape[1]):
            out[k, w] = rows_equal_to(wanted[k], eights, w)


@kernel
def values_as_word(values: NDArray[Any]) -> int:
    """Return a word with bit ``v + BASE`` set for each value v that occurs; 0 if some value has no bit."""
    outside, word, one = np.int64(0), np.uint64(0), np.uint64(1)
    for value in values:
        shifted = np.int64(value) + BASE
        outside |= shifted & ~63
        word |= one << np.uint64(shifted & 63)
    return word if outside == 0 else np.uint64(0)


@kernel
def pack_small(
    values: NDArray[Any], present: NDArray[np.uint8], rows: NDArray[np.uint8], out: NDArray[np.uint64]
) -> None:
    """Set bit r of ``out[k]`` where ``values[r] + BASE == present[k]``, which are all values that occur.

    ``rows`` is room for 64 of them. The last value is where no other one is.
    """
    eights, last = rows.view(np.uint64), present.size - 1
    for w in range(out.shape[1]):
        n = min(64, values.size - 64 * w)
        for r in range(n):
            rows[r] = np.uint8(values[64 * w + r]) + np.uint8(BASE)
        every = ~np.uint64(0) >> np.uint64(64 - n)
        found = np.uint64(0)
        for k in range(last):
            out[k, w] = rows_equal_to(present[k], eights, 0) & every
            found |= out[k, w]
        out[last, w] = every & ~found


@kernel
def place_bits(
    bits: NDArray[np.uint64],
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    start: int,
    out: NDArray[np.uint64],
) -> None:
    """Set the bits of row ``sources[k]`` in row ``targets[k]`` of ``out``, from ``start`` on."""
    n, first, shift = bits.shape[1], start // 64, np.uint64(start % 64)
    back = np.uint64(64) - shift
    for k in range(sources.size):
        source, target = bits[sources[k]], out[targets[k], first:]
        if shift == 0:
            for w in range(n):
                target[w] |= source[w]
            continue
        target[0] |= source[0] << shift
        for w in range(1, n):
            target[w] |= (source[w] << shift) | (source[w - 1] >> back)
        if n < target.size:
            target[n] |= source[n - 1] >> back


@kernel
def unpack_bits(bits: NDArray[np.uint64], out: NDArray[np.int8]) -> None:
    """Write ``out[r] = k`` where bit r of ``bits[k]`` is set, -1 where none is; eight rows at a time."""
    n_whole = out.size // 64
    eights = out[: 64 * n_whole].view(np.uint64)
    for w in range(n_whole):
        for i in range(8):
            eights[8 * w + i] = codes_of_eight(bits, w, i)
    for r in range(64 * n_whole, out.size):
        codes = codes_of_eight(bits, r // 64, r % 64 // 8)
        out[r] = np.int8(np.uint8((codes >> np.uint64(8 * (r % 8))) & np.uint64(255)))


@inline
def codes_of_eight(bits: NDArray[np.uint64], w: int, i: int) -> int:
    """Return the codes of the rows of byte i of words w, as the bytes of a word."""
    each, high = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    spread, below = np.uint64(0x8040201008040201), np.uint64(0x7F7F7F7F7F7F7F7F)
    codes = np.uint64(0)  # one more than they are, at first
    for k in range(bits.shape[0]):
        byte = (bits[k, w] >> np.uint64(8 * i)) & np.uint64(255)
        ones = ((((byte * each) & spread) + below) >> np.uint64(7)) & each
        codes += np.uint64(k + 1) * ones
    return ((codes | high) - each) ^ high
