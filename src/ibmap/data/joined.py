"""Two tables with the same columns, read as one: the same kinds, the same levels, the same bins."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ibmap._text import listing
from ibmap._types import Bools
from ibmap.data.columns import Coded, Column, Labels, Numeric
from ibmap.data.declared import as_categories
from ibmap.data.packing import key_of, sort_key
from ibmap.data.sources import Source, one_batch
from ibmap.errors import DataError, TimeColumnError

DECLARED = "declared categories"  #: go with labels of any kind


def joined(first: Source, second: Source, labels: tuple[str, str]) -> tuple[Source, str]:
    """Return the rows of two tables as one table, and the name of its column that says whose a row is.

    ``labels`` are what the tables are called.

    Examples
    --------
    >>> from ibmap.data.frames import open_source
    >>> one, two = open_source({"a": ["x", "y"], "b": [1, 2]}), open_source({"b": [3], "a": ["w"]})
    >>> both, by = joined(one, two, ("old", "new"))
    >>> [(column.name, column.levels) for column in both.columns(["a", by])]
    [('a', ('w', 'x', 'y')), ('group', ('old', 'new'))]
    """
    for mine, other, label in ((first, second, labels[1]), (second, first, labels[0])):
        there = set(other.names)
        if missing := [name for name in mine.names if name not in there]:
            raise DataError(f"{label!r} has no column {listing(missing)}: choose columns that both have")
    for name in {**first.ordinal, **second.ordinal}:
        if first.ordinal.get(name, ()) != second.ordinal.get(name, ()):
            raise _other_order(name)
    by = "group"
    while by in first.names:
        by += "_"
    read = partial(_both, first.at_once(), second.at_once(), by, labels)
    about = {"warning": first.warning or second.warning, "backend": first.backend, "ordinal": first.ordinal}
    return one_batch((*first.names, by), read, **about), by


def _both(
    first: Source, second: Source, by: str, labels: tuple[str, str], names: Sequence[str]
) -> list[Column]:
    """Return columns with the rows of two tables."""
    read = [name for name in names if name != by] or [first.names[0]]
    found = [_columns(table, read) for table in (first, second)]
    times = [columns for columns in found if isinstance(columns, TimeColumnError)]
    if times:
        raise times[0] if len(times) == 2 else DataError(f"in one of the two tables, {times[0]}")
    mine, yours = (columns for columns in found if not isinstance(columns, TimeColumnError))
    both = {one.name: stacked(one, other, labels) for one, other in zip(mine, yours, strict=True)}
    which = np.repeat([0, 1], [len(_absent(mine[0])), len(_absent(yours[0]))])
    both[by] = Coded(by, which, labels, declared=True)
    return [both[name] for name in names]


def _columns(table: Source, names: Sequence[str]) -> list[Column] | TimeColumnError:
    try:
        return table.columns(names)
    except TimeColumnError as error:
        return error


def stacked(one: Column, other: Column, labels: tuple[str, str] = ("first", "second")) -> Column:
    """Return the rows of two columns as one column.

    Examples
    --------
    >>> stacked(Numeric("x", np.arange(2)), Numeric("x", np.array([0.5]))).values.tolist()
    [0.0, 1.0, 0.5]
    >>> stacked(Coded("x", np.array([0, -1]), ("b",)), Coded("x", np.array([0]), ("a",))).codes.tolist()
    [1, -1, 0]
    """
    absent = [_absent(column) for column in (one, other)]
    kinds = [column.kind if not gone.all() else "" for column, gone in zip((one, other), absent, strict=True)]
    if len({*kinds} - {"", DECLARED}) > 1:
        raise DataError(
            f"column {one.name!r} holds {kinds[0]} in {labels[0]!r}, and {kinds[1]} in {labels[1]!r}: make "
            "them alike, or drop it"
        )
    if Numeric.kind in kinds and DECLARED not in kinds:
        parts = [
            column.values if isinstance(column, Numeric) else np.zeros(len(gone), np.int64)
            for column, gone in zip((one, other), absent, strict=True)
        ]
        missing = np.concatenate(absent)
        return Numeric(one.name, np.concatenate(parts), missing if missing.any() else None)
    coded = as_categories(one), as_categories(other)
    known = [column for column, kind in zip(coded, kinds, strict=True) if kind] or coded[:1]
    levels = _levels(known)
    place = {key_of(label): code for code, label in enumerate(levels)}
    codes = [
        np.array([*(place.get(key_of(label), -1) for label in column.levels), -1])[column.codes]
        for column in coded
    ]
    return replace(known[0], codes=np.concatenate(codes), levels=levels)


def _absent(column: Column) -> Bools:
    """Return in which rows a column has no value."""
    n_rows = len(column.values if isinstance(column, Numeric) else column.codes)
    return np.zeros(n_rows, bool) if column.missing is None else column.missing


def _levels(columns: Sequence[Coded]) -> Labels:
    """Return the levels of all: those of the column that has all of them, or else in ascending order."""
    longest = max(columns, key=lambda column: len(column.levels))
    place = {key_of(label): code for code, label in enumerate(longest.levels)}
    places = [[place.get(key_of(label), -1) for label in column.levels] for column in columns]
    is_longest = all(-1 not in some and some == sorted(some) for some in places)
    every = {key_of(label): label for column in columns for label in column.levels}
    are_numbers = all(type(label) in (int, float) for label in every.values())
    orders = {column.ordinal for column in columns}
    if not are_numbers and (len(orders) > 1 or (not is_longest and True in orders)):
        raise _other_order(longest.name)
    return longest.levels if is_longest else tuple(sorted(every.values(), key=sort_key))


def _other_order(name: str) -> DataError:
    return DataError(f"{name!r} has an order of its levels, which must be the same in both tables")
