"""A table in the codes of a model: the same names, the same levels, the same bins."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ibmap._text import listing, one_of
from ibmap._types import Ints
from ibmap.data import CategoricalData
from ibmap.data.columns import Coded, Column, encode_numbers
from ibmap.data.declared import ColumnOptions
from ibmap.data.discretize import interval_labels, is_whole
from ibmap.data.frames import open_source
from ibmap.errors import DataError, RequestError

UNSEEN = ("error", "missing")  #: what to do about levels that a model does not know
Levels = Sequence[tuple[Hashable, ...]]


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


def coded(known: Known, source: Any, unseen: str = "error") -> Ints:
    """Return the codes (variables, rows) of a table in the levels of a model; -1 is a missing value.

    Parameters
    ----------
    known : MarkovNetwork
        The model.
    source : table
        Anything that :func:`ibmap.load` reads; further columns are ignored.
    unseen : {"error", "missing"}
        Refuse levels that the model does not know, or take them for missing values.
    """
    if unseen not in UNSEEN:
        raise RequestError(f"unseen must be {one_of(UNSEEN)}, not {unseen!r}")
    if isinstance(source, CategoricalData):
        _check_names(known.names, source.names)
        columns: list[Column] = [
            Coded(name, source.codes_of(i).astype(np.int64), source.levels[i])
            for name, i in ((name, source.index(name)) for name in known.names)
        ]
    else:
        table = open_source(source)
        _check_names(known.names, table.names)
        about = ColumnOptions(absent=dict(known.missing_values))
        columns = list(map(about.with_missing, table.columns(known.names)))
    found = [
        _codes(column, labels, known.bin_edges.get(column.name), unseen)
        for column, labels in zip(columns, known.levels, strict=True)
    ]
    return np.stack(found) if found else np.empty((0, 0), np.int64)


def _check_names(needed: Sequence[str], there: Sequence[str]) -> None:
    absent = [name for name in needed if name not in set(there)]
    if absent:
        raise DataError(
            f"the table is not one of this model: it has no column {listing(absent)}; it has {listing(there)}"
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


def labelled(names: Sequence[str], levels: Levels, codes: Ints, backend: str | None = None) -> Any:
    """Return a frame with labels in place of codes, of polars or of the library that is named."""
    import narwhals as nw

    columns = {
        name: [labels[code] if code >= 0 else None for code in row]
        for name, labels, row in zip(names, levels, codes.tolist(), strict=True)
    }
    library: Any = backend or "polars"
    return nw.from_dict(columns, backend=library).to_native()
