"""Columns of a batch of rows → bits.

Whole numbers around 0 without gaps (``Small``) are packed as they stand; other columns (``Values``) are first
made bytes or codes. Both do the same, the first several times faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.data.column_errors import infinite
from ibmap.data.columns import Coded, Column, Labels, observed
from ibmap.data.discretize import is_whole
from ibmap.data.packed import WIDE
from ibmap.data.parts import ABSENT, Part, pack_cells
from ibmap.data.table import smallest_dtype
from ibmap.errors import DataError


@dataclass(frozen=True)
class Values:
    """One column of a batch: values within a byte, or codes of any size, and what they stand for."""

    labels: Labels  #: the distinct labels of these rows
    marks: NDArray[Any]  #: what stands for each label in ``cells``
    cells: NDArray[Any]  #: uint8, ``ABSENT`` where missing; or integers, -1 where missing
    declared: bool = False  #: whether labels are in a declared order and all of them are meant

    def pack(self, bits: NDArray[np.uint64]) -> None:
        """Set the bits of every label."""
        pack_cells(self.cells, self.marks, bits)

    def codes(self) -> NDArray[Any]:
        """Return the position among its labels of every value, -1 if it is missing."""
        if self.cells.dtype != np.uint8:
            return self.cells
        code = np.full(256, -1, np.int64)
        code[self.marks] = np.arange(len(self.marks))
        return np.asarray(code[self.cells])


@dataclass(frozen=True)
class Small:
    """One column of a batch: whole numbers around 0, few different ones, none missing."""

    word: int  #: which of them occur, bit by bit
    cells: NDArray[Any]

    @property
    def labels(self) -> Labels:
        """The distinct values."""
        return _values_in(self.word)[0]

    def pack(self, bits: NDArray[np.uint64]) -> None:
        """Set the bits of every label."""
        from ibmap.kernels.encode import pack_small

        pack_small(self.cells, _values_in(self.word)[1], np.zeros(64, np.uint8), bits)

    def codes(self) -> NDArray[Any]:
        """Return the position among its labels of every value."""
        return np.searchsorted(np.array(self.labels), self.cells)


@lru_cache(maxsize=1 << 12)
def _values_in(word: int) -> tuple[Labels, NDArray[np.uint8]]:
    """Return the values that a word stands for, and their bits."""
    from ibmap.kernels.encode import BASE

    present = [bit for bit in range(64) if word >> bit & 1]
    return tuple(bit - BASE for bit in present), np.array(present, np.uint8)


def small(column: Column) -> Small | None:
    """Return a column as small whole numbers; None if it is none.

    Examples
    --------
    >>> from ibmap.data.columns import Numeric
    >>> small(Numeric("x", np.array([7, -5, 7]))).labels, small(Numeric("x", np.array([7, 500, 7])))
    ((-5, 7), None)
    """
    from ibmap.kernels.encode import values_as_word

    if isinstance(column, Coded) or column.missing is not None or not len(column.values):
        return None
    values = column.values
    if values.dtype.kind not in "iu" or values.dtype == np.uint64:
        return None
    cells = values if values.dtype in (np.uint8, np.int64) else values.astype(np.int64)
    cells = np.ascontiguousarray(cells).view()
    cells.setflags(write=False)  # one kind of array, and the kernel is compiled once
    word = int(values_as_word(cells))
    return Small(word, cells) if word else None


def values_of(column: Column, file: str) -> Values:
    """Return any column of a batch by distinct labels; refuse numbers that are not whole.

    Examples
    --------
    >>> from ibmap.data.columns import Numeric
    >>> found = values_of(Numeric("x", np.array([7, 5, 7])), "table.parquet")
    >>> found.labels, found.marks.tolist(), found.cells.tolist()
    ((5, 7), [0, 2], [2, 0, 2])
    """
    if isinstance(column, Coded):
        column = observed(column) if column.declared else column
        return Values(column.levels, np.arange(len(column.levels)), column.codes, column.declared)
    values, missing = column.values, column.missing
    if values.dtype.kind == "f":
        present = column.present()
        if np.isinf(present).any():
            raise infinite(column.name)
        if not is_whole(present):
            odd = present[present != np.floor(present)][0]
            raise DataError(
                f"column {column.name!r} of {file} holds values that are not whole, such as {odd:.6g}; it "
                "looks continuous: pass discretize='equal-width' or 'quantile', or drop it"
            )
    return _whole_numbers(values, missing)


def _whole_numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Values:
    """Return whole numbers as bytes above the smallest where they are close together, as codes otherwise."""
    present = values if missing is None else values[~missing]
    if not len(present):
        return Values((), np.empty(0, np.int64), np.full(len(values), -1))
    low, high = int(present.min()), int(present.max())
    if high - low < ABSENT:
        cells = values if values.dtype == np.uint8 and low >= 0 and high < ABSENT else None
        base = 0 if cells is not None else low
        if cells is None:
            with np.errstate(invalid="ignore"):  # what is missing may be NaN
                cells = np.subtract(values, values.dtype.type(low)).astype(np.uint8)
        if missing is not None:
            cells = np.where(missing, np.uint8(ABSENT), cells)
        seen = _seen(cells)
        seen[ABSENT] = False
        marks = np.flatnonzero(seen)
        return Values(tuple(mark + base for mark in marks.tolist()), marks, cells)
    distinct, codes = np.unique(present, return_inverse=True)
    cells = codes
    if missing is not None:
        cells = np.full(len(values), -1, np.int64)
        cells[~missing] = codes
    return Values(tuple(map(int, distinct.tolist())), np.arange(len(distinct)), cells)


def _seen(cells: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which bytes occur."""
    from ibmap.kernels.encode import seen_bytes

    seen = np.zeros(256, np.bool_)
    seen_bytes(np.require(cells, requirements=["C", "W"]), seen)
    return seen


def part_of(columns: Sequence[Values | Small], n_rows: int) -> Part:
    """Pack the columns of a batch."""
    labels = [column.labels for column in columns]
    n_bits = sum(len(one) for one in labels if len(one) <= WIDE)
    part, row = Part(n_rows, labels, np.empty((n_bits, max(1, -(-n_rows // 64))), np.uint64)), 0
    for j, column in enumerate(columns):
        size = len(labels[j])
        if size > WIDE:
            part.codes[j] = column.codes().astype(smallest_dtype(size))
            part.row.append(-1)
            part.known.append(int((part.codes[j] >= 0).sum()))
            continue
        mine = part.bits[row : row + size]
        column.pack(mine)
        part.row.append(row)
        known = n_rows if isinstance(column, Small) else int(np.bitwise_count(mine).sum(dtype=np.int64))
        part.known.append(known)
        row += size
    return part
