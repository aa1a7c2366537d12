"""Tell what the user brought, and read it."""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.data.columns import Column, column_of
from ibmap.data.raw import RawTable, from_columns
from ibmap.errors import DataError


def read(source: Any) -> RawTable:
    """Return the table that ``source`` holds, whatever it is.

    Examples
    --------
    >>> read([["a", 1], ["b", 2]]).names
    ('x0', 'x1')
    >>> read({"x": ["a", "b"], "y": [1, 2]}).n_rows
    2
    """
    if isinstance(source, str | os.PathLike):
        from ibmap.data.files import read_file

        return read_file(Path(os.fspath(source)))
    if isinstance(source, RawTable):
        return source
    if isinstance(source, np.ndarray):
        return _read_array(source)
    if type(source).__module__.partition(".")[0] in ("scipy", "sparse"):  # some of them are mappings
        raise TypeError("a sparse matrix is not a table of categories: pass a dense array, X.toarray()")
    if isinstance(source, Mapping):
        return from_columns([_column(str(name), values) for name, values in source.items()])
    if isinstance(source, list | tuple):
        return _read_rows(source)
    from ibmap.data.frames import read_frame

    table = read_frame(source)
    if table is not None:
        return table
    if hasattr(source, "__array__"):
        return _read_array(np.asarray(source))
    raise DataError(
        f"cannot read a table from an object of type {type(source).__name__}: pass a data frame, an array, "
        "lists, a dict of columns, or the path of a CSV or Parquet file"
    )


def _read_array(array: NDArray[Any]) -> RawTable:
    array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    if array.dtype.names is not None and array.ndim == 1:
        return from_columns(
            [column_of(name, np.ascontiguousarray(array[name])) for name in array.dtype.names]
        )
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
    return RawTable(default_names(array.shape[1]), len(array), matrix=array)


@lru_cache(maxsize=4)
def default_names(n: int) -> tuple[str, ...]:
    """Return the names of columns that have none.

    Examples
    --------
    >>> default_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{j}" for j in range(n))


def _read_rows(rows: Sequence[Any]) -> RawTable:
    """Read a list of rows; an array is made of them only where no value changes its type by it."""
    if not len(rows):
        return _read_array(np.empty((0, 2)))
    if not all(isinstance(row, list | tuple) for row in rows):
        return _read_array(np.asarray(rows))
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(f"row {i} has {len(row)} values where row 0 has {len(rows[0])}")
    if set(map(type, chain.from_iterable(rows))) in ({int}, {float}, {bool}, {int, float}):
        return _read_array(np.asarray(rows))
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return _read_array(array)


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
