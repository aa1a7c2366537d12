"""Batches of rows → bits: each batch is packed by itself, and all are put together when the last has passed.

A part knows the labels that its own rows have. So a label may appear late, and nothing that was packed before
has to be done again: in the end the labels of all parts are sorted, and every part is put in its place.
"""

import mmap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.data.column_errors import infinite
from ibmap.data.columns import Coded, Column
from ibmap.data.discretize import is_whole
from ibmap.data.packed import WIDE, LevelBits
from ibmap.data.table import smallest_dtype
from ibmap.errors import DataError

Labels = tuple[Hashable, ...]

MAPPED = 1 << 18  #: bytes of an array from which on it is mapped by itself: there are 65,530 maps at most
ABSENT = 255  #: of a column whose values lie within one byte, what a missing value is


@dataclass(frozen=True)
class Values:
    """One column of a batch: values within a byte, or codes of any size, and what they stand for."""

    labels: Labels  #: the distinct labels of these rows
    marks: NDArray[Any]  #: what stands for each label in ``cells``
    cells: NDArray[Any]  #: uint8, ``ABSENT`` where missing; or integers, -1 where missing
    declared: bool = False  #: whether labels are in a declared order and all of them are meant


@dataclass
class Part:
    """Some rows of a table, packed."""

    n_rows: int
    labels: list[Labels]  #: of each column
    bits: NDArray[np.uint64]  #: a row of bits for each label
    row: list[int] = field(default_factory=list)  #: first row of ``bits`` of each column; -1 if it has codes
    codes: dict[int, NDArray[Any]] = field(default_factory=dict)  #: of columns with many labels
    known: list[int] = field(default_factory=list)  #: values of each column that are not missing

    def codes_of(self, column: int) -> NDArray[Any]:
        """Return the codes of one column into its labels, -1 is missing."""
        from ibmap.kernels.encode import unpack_bits

        if self.row[column] < 0:
            return self.codes[column]
        first = self.row[column]
        out = np.empty(self.n_rows, np.int8)
        unpack_bits(self.bits[first : first + len(self.labels[column])], out)
        return out


def values_of(column: Column, file: str) -> Values:
    """Return a column of a batch by distinct labels; refuse numbers that are not whole.

    Examples
    --------
    >>> from ibmap.data.columns import Numeric
    >>> found = values_of(Numeric("x", np.array([7, 5, 7])), "table.parquet")
    >>> found.labels, found.marks.tolist(), found.cells.tolist()
    ((5, 7), [0, 2], [2, 0, 2])
    """
    if isinstance(column, Coded):
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
    if values.dtype == np.uint8 and missing is None and len(values):
        seen = _seen(values)
        if not seen[ABSENT]:
            marks = np.flatnonzero(seen)
            return Values(tuple(marks.tolist()), marks, values)
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


def part_of(columns: Sequence[Values], n_rows: int) -> Part:
    """Pack the columns of a batch."""
    from ibmap.kernels.encode import pack_bytes

    n_words = max(1, -(-n_rows // 64))
    labels = [column.labels for column in columns]
    narrow = [len(one) <= WIDE for one in labels]
    part = Part(n_rows, labels, fresh((sum(len(one) for one in labels if len(one) <= WIDE), n_words)))
    padded, row = np.full(64 * n_words, ABSENT, np.uint8), 0
    for j, (column, few) in enumerate(zip(columns, narrow, strict=True)):
        if not few:
            dtype = smallest_dtype(len(column.labels))
            part.codes[j] = _as_codes(column).astype(dtype)
            part.row.append(-1)
            part.known.append(int((part.codes[j] >= 0).sum()))
            continue
        size = len(column.labels)
        padded[:n_rows] = column.cells  # -1 becomes ABSENT
        mine = part.bits[row : row + size]
        pack_bytes(padded, column.marks.astype(np.uint8), mine)
        part.row.append(row)
        part.known.append(int(np.bitwise_count(mine).sum(dtype=np.int64)))
        row += size
    return part


def _as_codes(column: Values) -> NDArray[Any]:
    """Return the position among its labels of every value, -1 if it is missing."""
    if column.cells.dtype != np.uint8:
        return column.cells
    code = np.full(256, -1, np.int64)
    code[column.marks] = np.arange(len(column.marks))
    return np.asarray(code[column.cells])


def fresh(shape: tuple[int, int]) -> NDArray[np.uint64]:
    """Return an array of zeros; a large one goes back to the system as soon as nobody needs it."""
    n_bytes = 8 * shape[0] * shape[1]
    if n_bytes < MAPPED:
        return np.zeros(shape, np.uint64)
    return np.frombuffer(mmap.mmap(-1, n_bytes), np.uint64).reshape(shape)


def together(
    parts: list[Part], labels: Sequence[Labels], code_of: Sequence[dict[Hashable, int]], extra: Sequence[bool]
) -> LevelBits:
    """Put parts together, and forget each as soon as it is in its place.

    Parameters
    ----------
    parts : list of Part
        The rows, in order; the list is empty in the end.
    labels : sequence of tuples
        The levels of each column; of one with ``extra`` the last one is for missing values.
    code_of : sequence of dict
        The code of each label that occurs in some part; labels that are not in it are missing values.
    extra : sequence of bool
        Which columns have a level for missing values.
    """
    n_rows = sum(part.n_rows for part in parts)
    levels = np.array([len(one) for one in labels], np.int64)
    narrow = levels <= WIDE
    n_words = max(1, -(-n_rows // 64))
    n_bits = int(levels[narrow].sum())
    codes = np.full((int((~narrow).sum()), n_rows), -1, np.int32)
    table = LevelBits(n_rows, levels, fresh((n_bits, n_words)), codes, np.zeros(n_bits, np.int64))
    first, wide, start = table.first.tolist(), table.wide.tolist(), 0
    while parts:
        part = parts.pop(0)
        targets, sources = [], []
        for j, one in enumerate(part.labels):
            code = [code_of[j].get(label, -1) for label in one]
            if first[j] < 0:
                _put_codes(part.codes_of(j), code, table.wide_codes[wide[j]][start : start + part.n_rows])
            elif part.row[j] < 0:  # some labels are one in the end
                _put_rows(_packed(part.codes_of(j), code, int(levels[j])), table.bits[first[j] :], start)
            else:
                known = [(part.row[j] + k, first[j] + c) for k, c in enumerate(code) if c >= 0]
                sources += [source for source, _ in known]
                targets += [target for _, target in known]
        _place(part.bits, sources, targets, table.bits, start)
        start += part.n_rows
    _fill_extra(table, extra)
    table.level_sizes[:] = [np.bitwise_count(row).sum(dtype=np.int64) for row in table.bits]
    return table


def _put_codes(codes: NDArray[Any], code: list[int], out: NDArray[np.int32]) -> None:
    out[:] = np.array([*code, -1], np.int32)[codes]  # the last entry serves code -1


def _packed(codes: NDArray[Any], code: list[int], size: int) -> NDArray[np.uint64]:
    """Return codes as bits of their final levels."""
    mapped = np.array([*code, -1])[codes]
    return part_of([Values(tuple(range(size)), np.arange(size), mapped)], len(codes)).bits


def _put_rows(bits: NDArray[np.uint64], out: NDArray[np.uint64], start: int) -> None:
    for k, row in enumerate(bits):
        _add_bits(row, out[k], start)


def _place(
    bits: NDArray[np.uint64],
    sources: list[int],
    targets: list[int],
    out: NDArray[np.uint64],
    start: int,
) -> None:
    """Put rows of bits where they belong, from row ``start`` of the table on."""
    word, shift = divmod(start, 64)
    if not shift and len(set(targets)) == len(targets):
        out[targets, word : word + bits.shape[1]] = (
            bits if sources == list(range(len(bits))) else bits[sources]
        )
        return
    for source, target in zip(sources, targets, strict=True):
        _add_bits(bits[source], out[target], start)


def _add_bits(bits: NDArray[np.uint64], out: NDArray[np.uint64], start: int) -> None:
    """Set bits of a longer row, from bit ``start`` on.

    Examples
    --------
    >>> out = np.zeros(2, np.uint64)
    >>> _add_bits(np.array([0b11], np.uint64), out, 63)
    >>> [bin(word) for word in out.tolist()]
    ['0b1000000000000000000000000000000000000000000000000000000000000000', '0b1']
    """
    word, shift = divmod(start, 64)
    out[word : word + len(bits)] |= bits << np.uint64(shift)
    if shift:
        rest = out[word + 1 : word + 1 + len(bits)]
        rest |= bits[: len(rest)] >> np.uint64(64 - shift)


def _fill_extra(table: LevelBits, extra: Sequence[bool]) -> None:
    """Give missing values the last level where they are to have one."""
    first, wide, levels = table.first.tolist(), table.wide.tolist(), table.levels.tolist()
    for j in np.flatnonzero(extra).tolist():
        if first[j] < 0:
            codes = table.wide_codes[wide[j]]
            codes[codes < 0] = levels[j] - 1
            continue
        mine = table.bits[first[j] : first[j] + levels[j]]
        mine[-1] = ~np.bitwise_or.reduce(mine[:-1], axis=0)
        if table.n_rows % 64:
            mine[-1, -1] &= np.uint64((1 << (table.n_rows % 64)) - 1)


def counted(parts: Sequence[Part]) -> tuple[int, Ints]:
    """Return the number of rows, and how many values of each column are missing."""
    n_rows = sum(part.n_rows for part in parts)
    known = np.array([part.known for part in parts], np.int64).sum(axis=0)
    return n_rows, np.asarray(n_rows - known)
