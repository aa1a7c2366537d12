"""Compiled passes over a block of rows of an integer table: which values occur, and the transposed codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import kernel

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
