"""Columns of a batch of rows → bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap.data.column_errors import infinite
from ibmap.data.columns import Coded, Column, Labels, Numeric, observed
from ibmap.data.discretize import is_whole
from ibmap.data.packed import WIDE
from ibmap.data.parts import Part, fresh
from ibmap.data.table import smallest_dtype
from ibmap.errors import DataError


@dataclass(frozen=True)
class PackedColumn:
    """One column of a batch: bits of every label, or codes if it has many."""

    labels: Labels  #: the distinct labels of these rows
    rows: NDArray[Any]  #: (labels, words) of bits, or codes, -1 where missing
    known: int  #: how many values are not missing


def pack_column(column: Column, file: str) -> PackedColumn:
    """Return any column of a batch by distinct labels; refuse numbers that are not whole.

    Examples
    --------
    >>> found = pack_column(Numeric("x", np.array([7, 5, 7])), "table.parquet")
    >>> found.labels, found.rows.tolist(), found.known
    ((5, 7), [[2], [5]], 3)
    """
    if isinstance(column, Coded):
        return pack_codes(observed(column) if column.declared else column)
    missing = None if column.missing is None else np.ascontiguousarray(column.missing)
    found = _core.encode_column(np.ascontiguousarray(column.values), missing)
    if found is not None:
        return PackedColumn(tuple(found[0].tolist()), found[1], found[2])
    present = column.present()
    if np.isinf(present).any():
        raise infinite(column.name)
    if not is_whole(present):
        odd = present[present != np.floor(present)][0]
        raise DataError(
            f"column {column.name!r} of {file} holds values that are not whole, such as {odd:.6g}; it "
            "looks continuous: pass discretize='equal-width' or 'quantile', or drop it"
        )
    return pack_codes(_by_sorting(column))


def _by_sorting(column: Numeric) -> Coded:
    """Return whole numbers that are far apart as codes."""
    distinct, codes = np.unique(column.present(), return_inverse=True)
    if column.missing is not None:
        scattered = np.full(len(column.values), -1, np.int64)
        scattered[~column.missing] = codes
        codes = scattered
    return Coded(column.name, codes, tuple(map(int, distinct.tolist())))


def pack_codes(column: Coded) -> PackedColumn:
    """Return a column of codes as bits, unless it has many labels."""
    size, known = len(column.levels), int((column.codes >= 0).sum())
    if size > WIDE:
        return PackedColumn(column.levels, column.codes.astype(smallest_dtype(size)), known)
    codes = np.ascontiguousarray(column.codes)[None]
    return PackedColumn(column.levels, _core.pack_codes(codes, np.array([size])), known)


def part_of(columns: Sequence[PackedColumn], n_rows: int) -> Part:
    """Put the columns of a batch beside each other."""
    labels = [column.labels for column in columns]
    n_bits = sum(len(one) for one in labels if len(one) <= WIDE)
    part, row = Part(n_rows, labels, fresh((n_bits, max(1, -(-n_rows // 64))))), 0
    for j, column in enumerate(columns):
        part.known.append(column.known)
        if len(labels[j]) > WIDE:
            part.codes[j] = column.rows
            part.row.append(-1)
            continue
        part.bits[row : row + len(labels[j])] = column.rows
        part.row.append(row)
        row += len(labels[j])
    return part
