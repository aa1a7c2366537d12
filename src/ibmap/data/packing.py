"""Columns of a batch of rows → bits; batches put together when the last has passed.

A part knows the labels that its own rows have. So a label may appear late, and nothing that was packed before
has to be done again: in the end the labels of all parts are sorted, and every part is put in its place.
"""

import mmap
from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._parallel import spread
from ibmap._text import listing
from ibmap._types import Floats, Ints
from ibmap.data.columns import Coded, Column, Labels, Numeric, drop_unused_levels, encode_numbers
from ibmap.data.discretize import is_whole
from ibmap.data.missing import check_finite
from ibmap.data.table import WIDE, LevelBits, smallest_dtype
from ibmap.errors import DataError

MAPPED = 1 << 18  #: bytes of an array from which on it is mapped by itself: there are 65,530 maps at most


@dataclass(frozen=True)
class PackedColumn:
    """One column of a batch: bits of every label, or codes if it has many; or numbers."""

    labels: Labels  #: the distinct labels of these rows
    rows: NDArray[Any]  #: (labels, words) of bits, or codes, -1 where missing
    known: int  #: how many values are not missing
    values: Floats | None = None  #: of numbers that are no labels, NaN where missing


def pack_column(column: Column) -> PackedColumn | None:
    """Return a column of a batch by distinct labels; None if it holds numbers that are not whole.

    Examples
    --------
    >>> from ibmap.data.columns import Numeric
    >>> found = pack_column(Numeric("x", np.array([7, 5, 7])))
    >>> found.labels, found.rows.tolist(), found.known
    ((5, 7), [[2], [5]], 3)
    """
    if isinstance(column, Coded):
        return pack_codes(drop_unused_levels(column) if column.declared else column)
    missing = None if column.missing is None else np.ascontiguousarray(column.missing)
    found = _core.encode_column(np.ascontiguousarray(column.values), missing)
    if found is not None:
        return PackedColumn(tuple(found[0].tolist()), found[1], found[2])
    check_finite([column])
    return pack_codes(encode_numbers(column)) if is_whole(column.present()) else None


def numbers_of(column: Numeric) -> PackedColumn:
    """Return a column of a batch as numbers."""
    check_finite([column])
    values = column.values.astype(np.float64)
    if column.missing is not None:
        values[column.missing] = np.nan
    words = np.empty((0, max(1, -(-len(values) // 64))), np.uint64)
    return PackedColumn((), words, len(column.present()), values)


def key_of(label: Hashable) -> Hashable:
    """Return what stands for a label in a dictionary, where True would be 1.

    Examples
    --------
    >>> key_of(True) == key_of(1), key_of("a")
    (False, 'a')
    """
    return (label,) if type(label) is bool else label


def sort_key(label: Hashable) -> tuple[bool, str, Any]:
    """Return by what labels are sorted: numbers by value, others by type and value, None last.

    Examples
    --------
    >>> sorted([None, "b", 2.5, 10, "a", True], key=sort_key)
    [True, 2.5, 10, 'a', 'b', None]
    """
    is_number = type(label) in (int, float)
    return label is None, "number" if is_number else type(label).__name__, label


def pack_codes(column: Coded) -> PackedColumn:
    """Return a column of codes as bits, unless it has many labels."""
    size, known = len(column.levels), int((column.codes >= 0).sum())
    if size > WIDE:
        return PackedColumn(column.levels, column.codes.astype(smallest_dtype(size)), known)
    codes = np.ascontiguousarray(column.codes)[None]
    return PackedColumn(column.levels, _core.pack_codes(codes, np.array([size])), known)


@dataclass
class Part:
    """Some rows of a table, packed."""

    n_rows: int
    labels: list[Labels]  #: of each column
    bits: NDArray[np.uint64]  #: a row of bits for each label
    row: list[int] = field(default_factory=list)  #: first row of ``bits`` of each column; -1 if it has codes
    codes: dict[int, NDArray[Any]] = field(default_factory=dict)  #: of columns with many labels
    known: list[int] = field(default_factory=list)  #: values of each column that are not missing
    values: dict[int, Floats] = field(default_factory=dict)  #: of columns of numbers

    def take_numbers(self, column: int) -> Floats:
        """Return the numbers of one column, and forget them."""
        if column in self.values:
            return self.values.pop(column)
        labels = np.array([*self.labels[column], np.nan], np.float64)
        numbers = labels[self.codes_of(column)]  # the last entry serves code -1
        self.codes.pop(column, None)
        self.labels[column], self.row[column] = (), 0
        return np.asarray(numbers)

    def codes_of(self, column: int) -> NDArray[Any]:
        """Return the codes of one column into its labels, -1 is missing."""
        if self.row[column] < 0:
            return self.codes[column]
        first = self.row[column]
        return _core.unpack_bits(self.bits[first : first + len(self.labels[column])], self.n_rows)

    def labels_beyond(self, column: int, known: Container[Hashable]) -> list[Hashable]:
        """Return the labels of a column that some row has and that are not among the known ones."""
        lost = [k for k, label in enumerate(self.labels[column]) if key_of(label) not in known]
        if not lost:
            return []
        present = np.isin(lost, self.codes_of(column)).tolist()
        return [self.labels[column][k] for k, is_there in zip(lost, present, strict=True) if is_there]


@dataclass(frozen=True)
class Plan:
    """What all parts of a table have in common, when all its rows have been seen.

    ``labels`` are those that occur, in order; columns with ``extra`` have a last level for missing values.
    Levels of ``ordinal`` columns have an order; ``lost`` is the warning about orders that could not be kept.
    """

    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    extra: tuple[bool, ...]
    ordinal: tuple[str, ...] = ()
    lost: str = ""

    @property
    def levels(self) -> tuple[Labels, ...]:
        """The levels of each column."""
        return tuple((*one, None) if more else one for one, more in zip(self.labels, self.extra, strict=True))

    def put_together(self, parts: list[Part], threads: int = 1) -> LevelBits:
        """Put parts together, and forget each as soon as it is in its place."""
        code_of = [{key_of(label): code for code, label in enumerate(one)} for one in self.labels]
        for part in parts:
            for j, name in enumerate(self.names):
                if lost := part.labels_beyond(j, code_of[j]):
                    raise DataError(
                        f"column {name!r} holds {listing(lost)}, and its levels do not: declare the same "
                        "categories in all batches"
                    )
        return together(parts, self.levels, code_of, self.extra, threads)


def fresh(shape: tuple[int, int]) -> NDArray[np.uint64]:
    """Return an array of zeros; a large one goes back to the system as soon as nobody needs it."""
    n_bytes = 8 * shape[0] * shape[1]
    if n_bytes < MAPPED:
        return np.zeros(shape, np.uint64)
    return np.frombuffer(mmap.mmap(-1, n_bytes), np.uint64).reshape(shape)


def part_of(columns: Sequence[PackedColumn], n_rows: int) -> Part:
    """Put the columns of a batch beside each other."""
    labels = [column.labels for column in columns]
    n_bits = sum(len(one) for one in labels if len(one) <= WIDE)
    part, row = Part(n_rows, labels, fresh((n_bits, max(1, -(-n_rows // 64))))), 0
    for j, column in enumerate(columns):
        part.known.append(column.known)
        if column.values is not None:
            part.values[j] = column.values
        if len(labels[j]) > WIDE:
            part.codes[j] = column.rows
            part.row.append(-1)
            continue
        part.bits[row : row + len(labels[j])] = column.rows
        part.row.append(row)
        row += len(labels[j])
    return part


def beside(parts: Sequence[Part]) -> Part:
    """Return parts of the same rows, with other columns each, as one."""
    whole = Part(parts[0].n_rows, [], fresh((sum(len(part.bits) for part in parts), parts[0].bits.shape[1])))
    start = 0
    for part in parts:
        whole.codes |= {len(whole.labels) + j: codes for j, codes in part.codes.items()}
        whole.values |= {len(whole.labels) + j: values for j, values in part.values.items()}
        whole.labels += part.labels
        whole.known += part.known
        whole.row += [row if row < 0 else start + row for row in part.row]
        whole.bits[start : start + len(part.bits)] = part.bits
        start += len(part.bits)
    return whole


def together(
    parts: list[Part],
    labels: Sequence[Labels],
    code_of: Sequence[dict[Hashable, int]],
    extra: Sequence[bool],
    threads: int = 1,
) -> LevelBits:
    """Put parts together, and forget each as soon as it is in its place.

    Parameters
    ----------
    parts : list of Part
        The rows, in order; the list is empty in the end.
    labels : sequence of tuples
        The levels of each column; of one with ``extra`` the last one is for missing values.
    code_of : sequence of dict
        The code of each label that some row has; other labels of a part need none.
    extra : sequence of bool
        Which columns have a level for missing values.
    threads : int
        How many share the work.
    """
    n_rows = sum(part.n_rows for part in parts)
    levels = np.array([len(one) for one in labels], np.int64)
    narrow = levels <= WIDE
    n_words = max(1, -(-n_rows // 64))
    n_bits = int(levels[narrow].sum())
    codes = np.empty((int((~narrow).sum()), n_rows), np.int32)
    table = LevelBits(n_rows, levels, fresh((n_bits, n_words)), codes, np.zeros(n_bits, np.int64))
    first, wide, start = table.first.tolist(), table.wide.tolist(), 0
    while parts:
        part = parts.pop(0)
        targets, sources = [], []
        for j, one in enumerate(part.labels):
            code = [code_of[j].get(key_of(label), -1) for label in one]
            if first[j] < 0:
                _put_codes(part.codes_of(j), code, table.wide_codes[wide[j]][start : start + part.n_rows])
            elif part.row[j] < 0:  # some labels are one in the end
                every = np.arange(int(levels[j]))
                codes = np.array([*code, -1])[part.codes_of(j)]  # the last entry serves code -1
                mine = _core.pack_codes(codes[None], levels[j : j + 1])
                _core.place_bits(mine, every, first[j] + every, start, table.bits)
            else:
                known = [(part.row[j] + k, first[j] + c) for k, c in enumerate(code) if c >= 0]
                sources += [source for source, _ in known]
                targets += [target for _, target in known]
        pairs = np.array([sources, targets], np.int64)

        def place(_: int, some: slice, part: Part = part, pairs: Ints = pairs, start: int = start) -> None:
            _core.place_bits(part.bits, pairs[0, some], pairs[1, some], start, table.bits)

        at_once = threads if len(set(targets)) == len(targets) else 1  # no two threads write to one row
        spread(place, shares(len(sources), at_once), at_once)
        start += part.n_rows
    _fill_extra(table, extra)

    def count(_: int, some: slice) -> None:
        table.level_sizes[some] = [np.bitwise_count(row).sum(dtype=np.int64) for row in table.bits[some]]

    spread(count, shares(n_bits, threads), threads)
    return table


def shares(size: int, threads: int) -> list[slice]:
    """Return so many parts of a range.

    Examples
    --------
    >>> shares(5, 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    step = max(1, -(-size // threads))
    return [slice(first, min(first + step, size)) for first in range(0, size, step)]


def _put_codes(codes: NDArray[Any], code: list[int], out: NDArray[np.int32]) -> None:
    out[:] = np.array([*code, -1], np.int32)[codes]  # the last entry serves code -1


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
