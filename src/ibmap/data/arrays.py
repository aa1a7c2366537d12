"""Two-dimensional arrays: straight to codes when they hold whole numbers, else column by column."""

from collections.abc import Hashable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap.data.columns import Column, column_of

Levels: TypeAlias = tuple[tuple[Hashable, ...], ...]
Encoded: TypeAlias = tuple[NDArray[np.signedinteger[Any]], Levels]


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
    if matrix.dtype.itemsize > 8 or matrix.dtype == np.float16:
        return None
    if not matrix.dtype.isnative or any(stride % matrix.itemsize for stride in matrix.strides):
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    found = _core.encode_matrix(matrix)
    if found is None:
        return None
    codes, first, values = found
    labels = values.astype(bool).tolist() if matrix.dtype.kind == "b" else values.tolist()
    return codes, tuple(tuple(labels[a:b]) for a, b in pairwise(first.tolist()))
