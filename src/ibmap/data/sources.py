"""What the user brought, read as columns: frames, arrays, lists, dicts, files."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap._text import listing
from ibmap.data.arrays import columns_of
from ibmap.data.columns import Coded, Column, Numeric, column_of
from ibmap.data.objects import EXACT
from ibmap.data.schema import unknown_variable
from ibmap.data.table import CategoricalData
from ibmap.errors import DataError, RequestError

Choose: TypeAlias = Callable[[Sequence[str]], list[int]]  #: from the names of columns to the ones to keep


@dataclass(frozen=True, eq=False)
class RawTable:
    """Names, and either a ``matrix`` of shape (rows, columns) of one type or ``columns`` of several.

    ``warning`` is what users should know about the source, "" if there is nothing.
    """

    names: tuple[str, ...]
    n_rows: int
    matrix: NDArray[Any] | None = None
    columns: tuple[Column, ...] = ()
    backend: str | None = None
    warning: str = ""
    ordinal: tuple[str, ...] = ()  #: columns that the source says have an order

    def __post_init__(self) -> None:
        check_shape(self.n_rows, self.names)

    def as_columns(self) -> list[Column]:
        """Return the columns, whichever way they came."""
        return list(self.columns) if self.matrix is None else columns_of(self.matrix, self.names)


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """The polars frame in a file, with columns of any type, and a warning about it, "" if there is none.

    ``ordinal`` are the columns that the file says have an order.
    """

    frame: Any
    warning: str = ""
    ordinal: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.frame.columns)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table: where they are from, how many, and what reads some of their columns.

    ``read`` takes names, and returns a polars frame; threads may call it at the same time.
    """

    where: str
    n_rows: int
    read: Callable[[Sequence[str]], Any]


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read in batches.

    Attributes
    ----------
    names : tuple of str
        The columns.
    batches : callable
        From the names that are wanted, and a number of rows that a batch should not exceed where it has a
        choice, to an iterator over batches.
    whole : callable or None
        Reads all of it into one frame, for what cannot be done in batches; None if it passes only once.
    column : callable or None
        Reads one column, by its name.
    warning : str
        What users should know about the source.
    """

    names: tuple[str, ...]
    batches: Callable[[Sequence[str], int], Iterator[Batch]]
    whole: Callable[[], Any] | None = None
    column: Callable[[str], Any] | None = None
    warning: str = ""

    @property
    def frame(self) -> Any:
        """All of it, in memory."""
        if self.whole is None:
            raise DataError(
                "a stream passes once, and decimals, or discretize, need all of it: make one frame of it"
            )
        return self.whole()


def chosen(names: Sequence[str], drop: Iterable[str] | None, only: Iterable[str] | None) -> list[int]:
    """Return the positions of the columns that are in ``only`` (None: all) and not in ``drop``.

    Examples
    --------
    >>> chosen(("id", "age", "sex"), ["id"], None), chosen(("id", "age", "sex"), None, "age")
    ([1, 2], [1])
    >>> chosen(("id", "age", "sex"), ["agee"], None)
    Traceback (most recent call last):
        ...
    ibmap.errors.UnknownVariableError: there is no variable 'agee'; did you mean 'age'?
    """
    left_out, wanted = _names(drop), None if only is None else _names(only)
    for name in (*left_out, *(wanted or ())):
        if name not in names:
            raise unknown_variable(name, names)
    kept = [i for i, name in enumerate(names) if name not in left_out]
    return kept if wanted is None else [i for i in kept if names[i] in wanted]


def listed_names(names: Any) -> list[str] | None:
    """Return the names of columns that an argument holds, None if it is not given.

    Examples
    --------
    >>> listed_names("age"), listed_names(iter(["age", "sex"])), listed_names(None)
    (['age'], ['age', 'sex'], None)
    """
    return None if names is None else list(_names(names))


def _names(names: Any) -> dict[str, None]:
    """Return names without repetitions; a single name counts as one."""
    if not isinstance(names, Iterable | None):
        raise RequestError(f"drop and only take names of columns, not {names!r}")
    return dict.fromkeys(map(str, (names,) if isinstance(names, str) else names or ()))


def read(source: Any, drop: Iterable[str] | None = None, only: Iterable[str] | None = None) -> RawTable:
    """Return the table that ``source`` holds, whatever it is; columns that are left out are not looked at.

    Examples
    --------
    >>> read([["a", 1], ["b", 2]]).names
    ('x0', 'x1')
    >>> read({"x": ["a", "b"], "y": [1, 2], "when": [object(), object()]}, drop=["when"]).n_rows
    2
    """

    def choose(names: Sequence[str]) -> list[int]:
        return chosen(names, drop, only)

    if isinstance(source, str | os.PathLike):
        from ibmap.data.files import open_file

        source = open_file(Path(os.fspath(source)))
    if isinstance(source, OpenedFile | Stream):
        return _read_opened(source, choose)
    if isinstance(source, CategoricalData):
        names = (source.names[i] for i in choose(source.names))
        return from_columns([_coded(source, name) for name in names], source.backend)
    if isinstance(source, np.ndarray):
        return _read_array(source, choose)
    if type(source).__module__.partition(".")[0] in ("scipy", "sparse"):  # some of them are mappings
        raise TypeError("a sparse matrix is not a table of categories: pass a dense array, X.toarray()")
    if isinstance(source, Mapping):
        columns = [(str(name), values) for name, values in source.items()]
        return from_columns([_column(*columns[j]) for j in choose([name for name, _ in columns])])
    if isinstance(source, list | tuple):
        return _read_rows(source, choose)
    from ibmap.data.frames import read_frame

    table = read_frame(source, choose)
    if table is not None:
        return table
    if hasattr(source, "__array__"):
        return _read_array(np.asarray(source), choose)
    raise DataError(
        f"cannot read a table from an object of type {type(source).__name__}: pass a data frame, an array, "
        "lists, a dict of columns, or the path of a CSV or Parquet file"
    )


def _read_opened(file: OpenedFile | Stream, choose: Choose) -> RawTable:
    """Return the table in a file; it has no frame library of the user's, in which results are returned."""
    from ibmap.data.frames import read_frame

    table = read_frame(file.frame, choose)
    if table is None:
        raise DataError("there is no table in the file")
    ordinal = tuple(name for name in getattr(file, "ordinal", ()) if name in table.names)
    return replace(table, backend=None, warning=file.warning, ordinal=ordinal)


def _coded(data: CategoricalData, name: str) -> Column:
    """Return a variable that has its codes already."""
    i = data.index(name)
    codes = data.codes_of(i).astype(np.int64)
    return Coded(name, codes, data.levels[i], declared=True, ordinal=name in data.ordinal)


def _read_array(array: NDArray[Any], choose: Choose) -> RawTable:
    array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    if array.dtype.names is not None and array.ndim == 1:
        fields = [array.dtype.names[j] for j in choose(array.dtype.names)]
        return from_columns([column_of(name, np.ascontiguousarray(array[name])) for name in fields])
    if array.ndim < 2:
        raise DataError(
            f"expected a table, got a {array.ndim}-D array. Reshape your data: one row per case, "
            "one column per variable"
        )
    if array.ndim > 2:
        raise DataError(
            f"expected a table of rows and columns, got a {array.ndim}-D array of shape {array.shape}"
        )
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: the array is of type {array.dtype}")
    names = default_names(array.shape[1])
    kept = choose(names)
    if len(kept) < len(names):
        names, array = tuple(names[j] for j in kept), array[:, kept]
    return RawTable(names, len(array), matrix=array)


@lru_cache(maxsize=4)
def default_names(n: int) -> tuple[str, ...]:
    """Return the names of columns that have none.

    Examples
    --------
    >>> default_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{j}" for j in range(n))


def _read_rows(rows: Sequence[Any], choose: Choose) -> RawTable:
    """Read a list of rows; an array is made of them only where no value changes its type by it."""
    if not len(rows):
        return _read_array(np.empty((0, 2)), choose)
    if not all(isinstance(row, list | tuple) for row in rows):
        kinds = {row.dtype.kind if isinstance(row, np.ndarray) and row.ndim == 1 else "?" for row in rows}
        if "?" in kinds or len(kinds) == 1:
            return _read_array(np.asarray(rows), choose)
        rows = [row.tolist() for row in rows]  # of several types: one array would round or change them
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(f"row {i} has {len(row)} values where row 0 has {len(rows[0])}")
    names = default_names(len(rows[0]))
    kept = choose(names)
    if len(kept) < len(names):
        names, rows = tuple(names[j] for j in kept), [[row[j] for j in kept] for row in rows]
    kinds = set(map(type, chain.from_iterable(rows)))
    if kinds in ({int}, {float}, {bool}, {int, float}):
        matrix = np.asarray(rows)
        if int not in kinds or matrix.dtype.kind == "i" or (np.abs(matrix.astype(float)) < EXACT).all():
            return RawTable(names, len(rows), matrix=matrix)  # no integer was rounded
    array = np.empty((len(rows), len(names)), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return RawTable(names, len(rows), matrix=array)


def _column(name: str, values: Any) -> Column:
    """Return a column of a dict: a list, an array, or a series of a data frame library."""
    if isinstance(values, list | tuple | range):
        things = np.empty(len(values), dtype=object)
        things[:] = values
        return column_of(name, things)
    if not isinstance(values, np.ndarray):
        import narwhals as nw

        series = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            from ibmap.data.frames import column_of_series

            return column_of_series(name, series)
        values = np.asarray(values)
    if values.ndim != 1:
        raise DataError(f"column {name!r} is {values.ndim}-D: each column must be a list of values")
    return column_of(name, values)


def from_columns(columns: list[Column], backend: str | None = None) -> RawTable:
    """Return the table of some columns of equal length."""
    names = tuple(column.name for column in columns)
    sizes = [len(column.values if isinstance(column, Numeric) else column.codes) for column in columns]
    for name, size in zip(names, sizes, strict=True):
        if size != sizes[0]:
            raise DataError(f"column {name!r} has {size} values where column {names[0]!r} has {sizes[0]}")
    return RawTable(names, sizes[0] if sizes else 0, columns=tuple(columns), backend=backend)


def check_shape(n_rows: int, names: tuple[str, ...]) -> None:
    """Refuse tables that are too small, and names that are not distinct.

    Examples
    --------
    >>> check_shape(3, ("a", "b", "a"))
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: duplicate column names: 'a'
    """
    n = len(names)
    if n == 0:
        raise DataError(
            f"the table has no columns: 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 2 is required."
        )
    if len(set(names)) < n:
        raise duplicate_names(names)
    if n_rows == 0:
        raise DataError("the table has no rows: found 0 sample(s) while a minimum of 1 is required.")
    if n == 1:
        raise DataError("the table has 1 feature(s): structure learning needs at least two variables")


def duplicate_names(names: tuple[str, ...], advice: str = "") -> DataError:
    """Return the error that names the columns that are there twice."""
    seen: set[str] = set()
    twice = dict.fromkeys(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return DataError(f"duplicate column names: {listing(twice)}{advice}")
