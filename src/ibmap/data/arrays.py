"""Two-dimensional arrays: straight to codes when they hold whole numbers, else column by column."""

from collections.abc import Hashable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap.data.columns import TABLE_SIZE, Column, column_of
from ibmap.data.table import smallest_dtype

Levels: TypeAlias = tuple[tuple[Hashable, ...], ...]
Encoded: TypeAlias = tuple[NDArray[np.signedinteger[Any]], Levels]

BLOCK = 1 << 17  # numbers cast at a time: they stay in the second-level cache


class _NotWholeError(Exception):
    """A block of rows holds something other than whole numbers."""


def columns_of(matrix: NDArray[Any], names: tuple[str, ...]) -> list[Column]:
    """Return the columns of a two-dimensional array; masked entries of a masked array are missing."""
    mask = np.ma.getmaskarray(matrix) if np.ma.is_masked(matrix) else None
    values = np.ma.getdata(matrix)
    return [
        column_of(name, values[:, j], None if mask is None else mask[:, j]) for j, name in enumerate(names)
    ]


def encode_matrix(matrix: NDArray[Any]) -> Encoded | None:
    """Return codes and levels of an array of whole numbers or booleans; None if it is anything else.

    Two compiled passes: one finds which values each column holds, one writes the transposed codes.

    Examples
    --------
    >>> codes, levels = encode_matrix(np.array([[5, 0], [-1, 0], [5, 1]]))
    >>> codes.tolist(), levels
    ([[1, 0, 1], [0, 0, 1]], ((-1, 5), (0, 1)))
    >>> encode_matrix(np.array([[0.5, 1.0]])) is None
    True
    """
    if matrix.dtype.kind not in "biuf" or not matrix.size or np.ma.is_masked(matrix):
        return None
    matrix = np.ma.getdata(matrix)
    try:
        return _few_small_values(matrix) or _narrow_values(matrix)
    except _NotWholeError:
        return None


def _blocks(matrix: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield runs of rows as C-ordered uint8 or int64, each with the number of its first row."""
    step = max(1, BLOCK // matrix.shape[1])
    if matrix.flags.carray and matrix.dtype in (np.bool_, np.uint8, np.int64):
        step = len(matrix)  # nothing to cast or copy
    for start in range(0, len(matrix), step):
        yield start, _integers(matrix[start : start + step])


def _integers(block: NDArray[Any]) -> NDArray[Any]:
    kind = block.dtype.kind
    if kind == "b" or block.dtype == np.uint8:
        return np.require(block, requirements=["C", "W"]).view(np.uint8)
    with np.errstate(invalid="ignore"):
        whole = np.require(block, dtype=np.int64, requirements=["C", "W"])  # one layout: one compiled kernel
    exact = kind == "i" or bool((whole == block).all() if kind == "f" else (whole >= 0).all())
    if not exact:
        raise _NotWholeError
    return whole


def _few_small_values(matrix: NDArray[Any]) -> Encoded | None:
    """Encode columns whose values fit the 64 bits of one word."""
    from ibmap.kernels.encode import BASE, small_values

    seen = np.zeros(matrix.shape[1], dtype=np.uint64)
    for _, block in _blocks(matrix):
        if not small_values(block, seen):
            return None
    distinct, which = np.unique(seen, return_inverse=True)
    bits = (distinct[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1) == 1
    code = np.cumsum(bits, axis=1, dtype=np.int8) - np.int8(1)
    labels = [_labels(np.flatnonzero(row) - BASE, matrix.dtype) for row in bits]
    codes = _written(matrix, which * 64 + BASE, code.ravel())
    return codes, tuple(labels[k] for k in which.tolist())


def _narrow_values(matrix: NDArray[Any]) -> Encoded | None:
    """Encode columns whose values lie within a table of moderate size each."""
    from ibmap.kernels.encode import any_values

    bounds = _bounds(matrix)
    if bounds is None:
        return None
    low, width = bounds
    start = np.cumsum(width) - width
    present = np.zeros(int(width.sum()), dtype=np.bool_)
    for _, block in _blocks(matrix):
        any_values(block, low, start, present)
    counts = np.add.reduceat(present, start, dtype=np.int64)
    code = np.cumsum(present) - 1 - np.repeat(np.cumsum(counts) - counts, width)
    codes = _written(matrix, start - low, code.astype(smallest_dtype(int(counts.max()))))
    values = np.flatnonzero(present) + np.repeat(low - start, counts)
    ends = np.cumsum(counts).tolist()
    return codes, tuple(_labels(values[a:b], matrix.dtype) for a, b in zip([0, *ends], ends, strict=False))


def _bounds(matrix: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the smallest value and the width of the range of each column; None if tables would be large."""
    low = high = None
    for _, block in _blocks(matrix):
        least, most = block.min(axis=0), block.max(axis=0)
        low = least if low is None else np.minimum(low, least)
        high = most if high is None else np.maximum(high, most)
    if low is None or high is None or (high.astype(np.float64) - low >= TABLE_SIZE).any():
        return None
    low = low.astype(np.int64)
    width = high.astype(np.int64) - low + 1
    return (low, width) if width.sum() <= max(1 << 20, matrix.size) else None


def _written(matrix: NDArray[Any], origin: NDArray[np.int64], code: NDArray[Any]) -> NDArray[Any]:
    from ibmap.kernels.encode import write_codes

    codes = np.empty(matrix.shape[::-1], dtype=code.dtype)
    for start, block in _blocks(matrix):
        write_codes(block, start, origin, code, codes)
    return codes


def _labels(values: NDArray[Any], dtype: np.dtype[Any]) -> tuple[Hashable, ...]:
    return tuple(map(bool, values.tolist())) if dtype.kind == "b" else tuple(values.tolist())
