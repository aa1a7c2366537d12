"""A table in the codes of a model: the same names, the same levels, the same bins."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ibmap._checks import word
from ibmap._text import in_short, listing
from ibmap._types import Floats, Ints
from ibmap.data import Table
from ibmap.data.columns import Coded, Column, Numeric, encode_numbers
from ibmap.data.declared import ColumnOptions
from ibmap.data.discretize import interval_labels, is_whole
from ibmap.data.frames import open_source
from ibmap.errors import DataError, RequestError
from ibmap.model.scales import Scale

UNSEEN = ("error", "missing")  #: what to do about levels that a model does not know


class Known(Protocol):
    """What a model knows about the columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        ...

    @property
    def levels(self) -> tuple[tuple[Hashable, ...], ...]:
        """Their labels."""
        ...

    @property
    def bin_edges(self) -> Mapping[str, tuple[float, ...]]:
        """The edges of those that were discretised."""
        ...

    @property
    def missing_values(self) -> Mapping[str, tuple[Any, ...]]:
        """Values that stand for missing ones."""
        ...


def standard_rows(
    known: Known, source: Any, unseen: str = "error", scales: Mapping[str, Scale] | None = None
) -> Floats:
    """Return codes of levels and standard scores of numbers (variables, rows); NaN is missing.

    Parameters
    ----------
    known : MarkovNetwork
        The model.
    source : table
        Anything that :func:`ibmap.load` reads; further columns are ignored.
    unseen : {"error", "missing"}
        Refuse levels that the model does not know, or treat them as missing.
    scales : mapping
        How values become standard scores, of every number.
    """
    found = []
    for column, labels in zip(_columns(known, source, unseen), known.levels, strict=True):
        if labels:
            codes = _codes(column, labels, known.bin_edges.get(column.name), unseen)
            found.append(np.where(codes < 0, np.nan, codes))
        else:
            found.append((scales or {})[column.name].scores(_values(column)))
    return np.stack(found) if found else np.empty((0, 0))


def _values(column: Column) -> Floats:
    """Return the numbers of a column, NaN where one is missing."""
    if isinstance(column, Numeric):
        absent = False if column.missing is None else column.missing
        values = np.where(absent, np.nan, column.values.astype(np.float64))
    else:
        strange = [level for level in column.levels if level is not None and type(level) not in (int, float)]
        if strange:
            raise DataError(
                f"column {column.name!r} holds {in_short(strange[0])}, and is a number in the model: correct "
                f"the column"
            )
        labels = [np.nan if level is None else float(level) for level in column.levels]  # type: ignore[arg-type]
        values = np.array([*labels, np.nan])[column.codes]
    if np.isinf(values).any():
        raise DataError(f"column {column.name!r} holds infinite numbers: correct the column")
    return values


def _columns(known: Known, source: Any, unseen: str) -> list[Column]:
    """Return the columns of a table that are those of a model."""
    word(unseen, "unseen", UNSEEN)
    if not isinstance(source, Table):
        table = open_source(source)
        _check_names(known.names, table.names)
        about = ColumnOptions(absent=dict(known.missing_values))
        return list(map(about.with_missing, table.columns(known.names)))
    _check_names(known.names, source.names)
    return [
        Numeric(name, found := source.values_of(i), np.isnan(found))
        if source.is_number[i]
        else Coded(name, source.codes_of(i).astype(np.int64), source.levels[i])
        for name, i in ((name, source.index(name)) for name in known.names)
    ]


def _check_names(needed: Sequence[str], there: Sequence[str]) -> None:
    absent = [name for name in needed if name not in set(there)]
    if absent:
        raise DataError(
            f"the table does not fit the model: it has no column {listing(absent)}; it has {listing(there)}"
        )


def _codes(column: Column, labels: tuple[Hashable, ...], edges: Any, unseen: str) -> Ints:
    """Return the codes of one column."""
    if isinstance(column, Coded):
        own = column
    elif edges is not None:
        cells = np.searchsorted(edges[1:-1], column.values, side="right")
        cells[column.missing if column.missing is not None else slice(0)] = -1
        own = Coded(column.name, cells, interval_labels(tuple(edges)))
    elif is_whole(column.present()):
        own = encode_numbers(column)
    else:
        distinct, codes = np.unique(column.values, return_inverse=True)
        codes[column.missing if column.missing is not None else slice(0)] = -1
        own = Coded(column.name, codes, tuple(distinct.tolist()))
    place = positions(labels)
    absent = place.get(None, -1)  # where missing values are a level of their own
    to_code = np.array([*(place.get(level, _by_text(place, level)) for level in own.levels), absent])
    known = to_code[own.codes]
    strange = np.flatnonzero((known == -2) & (own.codes >= 0))
    if len(strange) and unseen == "error":
        level = own.levels[own.codes[strange[0]]]
        raise DataError(
            f"column {column.name!r} has the level {level!r}, which the model has not seen: it knows "
            f"{listing(labels)}; pass unseen='missing' to take it for a missing value"
        )
    return np.where(known == -2, absent, known).astype(np.int64)


def middles(
    labels: Sequence[Hashable],
    edges: Sequence[float],
    cells: Floats | None = None,
    values: Sequence[Any] = (),
) -> list[Any]:
    """Return what a bin stands for where a number is wanted: the median of its values, or its middle.

    Parameters
    ----------
    labels : sequence of str
        The bins that a variable has.
    edges : sequence of float
        Of all bins.
    cells, values
        The codes and the values of a column in which to look for medians, which are values of it.

    Examples
    --------
    >>> edges = (0.0, 10.0, np.inf)
    >>> labels = interval_labels(edges)
    >>> middles(labels, edges), middles(labels, edges, np.array([0.0, 0.0, 0.0, np.nan]), [7, 9, 1, None])
    ([5.0, 10.0], [7, 10.0])
    """
    every, found = interval_labels(tuple(edges)), []
    for code, label in enumerate(labels):
        there = [] if cells is None else np.flatnonzero(cells == code).tolist()
        mine = sorted(float(values[row]) for row in there)
        if mine:
            middle = mine[(len(mine) - 1) // 2]
            found.append(next(values[row] for row in there if float(values[row]) == middle))
            continue
        k = every.index(str(label))
        found.append(float(np.mean([edge for edge in edges[k : k + 2] if np.isfinite(edge)])))
    return found


def positions(labels: tuple[Hashable, ...]) -> dict[Hashable, int]:
    """Return the code of every label."""
    return {label: code for code, label in enumerate(labels)}


def _by_text(place: dict[Hashable, int], level: Hashable) -> int:
    """Return the code of the label with this text, as files do not tell 1 from "1"; -2 if there is none."""
    for label, code in place.items():
        mine, theirs = str(label), str(level)
        if mine == theirs or (isinstance(label, bool) and mine.lower() == theirs.lower()):
            return code
    return -2


def code_of(name: str, labels: tuple[Hashable, ...], level: Hashable) -> int:
    """Return the code of one level of a variable.

    Examples
    --------
    >>> code_of("smokes", ("no", "yes"), "yes"), code_of("children", (0, 1, 2), "2")
    (1, 2)
    >>> code_of("smokes", (False, True), "true")
    1
    """
    place = positions(labels)
    try:
        found = place.get(level, _by_text(place, level))
    except TypeError:  # no label is a list
        found = -2
    if found < 0:
        raise RequestError(f"variable {name!r} has no level {level!r}: it has {listing(labels)}")
    return found
