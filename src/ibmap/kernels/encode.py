"""Compiled passes over rows of an integer table: which values occur, the transposed codes, and bits."""

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
