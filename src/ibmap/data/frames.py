"""What users have in memory: frames of any library, through narwhals; arrays, lists of rows, dicts."""

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._text import listing
from ibmap.data.columns import EXACT, Coded, Column, Numeric, column_of, label, wrong_type
from ibmap.data.sources import Batch, NotInBatchesError, Source, duplicate_names, one_batch
from ibmap.data.table import Table
from ibmap.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

BACKENDS = ("pandas", "polars", "pyarrow")
MANY = 20_000  # rows from which polars' own string operations are faster than a dictionary


def open_source(source: Any) -> Source:
    """Return the table that ``source`` holds, whatever it is.

    Examples
    --------
    >>> open_source([["a", 1], ["b", 2]]).names
    ('x0', 'x1')
    >>> open_source({"x": ["a", "b"], "when": [object(), object()]}).columns(["x"])[0].levels
    ('a', 'b')
    """
    if isinstance(source, str | os.PathLike):
        from ibmap.data.files import open_file

        source = open_file(Path(os.fspath(source)))
    if isinstance(source, Source):
        return source
    if isinstance(source, Iterator) or is_reader(source):
        return source_of_frames(source)
    if isinstance(source, Table):
        return one_batch(source.names, partial(_columns_of_codes, source), backend=source.backend)
    if isinstance(source, np.ndarray):
        return _source_of_array(source)
    if type(source).__module__.partition(".")[0] in ("scipy", "sparse"):  # some of them are mappings
        raise TypeError("a sparse matrix is not a table of categories: pass a dense array, X.toarray()")
    if isinstance(source, Mapping):
        columns = {str(name): values for name, values in source.items()}
        if len(columns) < len(source):
            raise duplicate_names(tuple(map(str, source)))
        return one_batch(tuple(columns), lambda names: [_column(name, columns[name]) for name in names])
    if isinstance(source, list | tuple):
        return _source_of_rows(source)
    found = _source_of_frame(source)
    if found is not None:
        return found
    if hasattr(source, "__array__"):
        return _source_of_array(np.asarray(source))
    raise DataError(
        f"cannot read a table from an object of type {type(source).__name__}: pass a data frame, an array, "
        "lists, a dict of columns, or the path of a CSV or Parquet file"
    )


def _columns_of_codes(data: Table, names: Sequence[str]) -> list[Column]:
    """Return variables that have their codes already, and numbers."""
    return [
        column_of(name, data.values_of(i))
        if data.is_number[i]
        else Coded(name, data.codes_of(i).astype(np.int64), data.levels[i], True, name in data.ordinal)
        for name, i in zip(names, data.indices(names), strict=True)
    ]


# Frames


def _source_of_frame(source: Any) -> Source | None:
    """Return the table that a data frame of any library holds; None if it is no data frame."""
    import narwhals as nw

    if hasattr(source, "__arrow_c_array__") and hasattr(source, "column_names"):  # a record batch
        import pyarrow as pa  # type: ignore[import-untyped]

        source = pa.Table.from_batches([pa.record_batch(source)])
    _check_names(source)
    native = nw.from_native(source, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        raise DataError("a single series is not a table. Reshape your data into a frame with several columns")
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if not isinstance(native, nw.DataFrame):
        return None
    frame: nw.DataFrame[Any] = native
    backend = frame.implementation.name.lower()
    if backend == "pyarrow":
        table = _with_every_value(frame.to_native())
        orders = orders_in_arrow(table)
        frame = nw.from_native(nw.from_native(table, eager_only=True).to_polars(), eager_only=True)
        return _of_narwhals(frame, backend=backend, ordinal=orders)
    if backend not in BACKENDS:
        frame, backend = nw.from_native(frame.to_pandas()), "pandas"
    return _of_narwhals(frame, backend=backend)


def source_of_polars(
    frame: Any, warning: str = "", ordinal: Mapping[str, tuple[str, ...] | None] | None = None
) -> Source:
    """Return a polars frame that was read from a file: it is not one that the user brought."""
    import narwhals as nw

    found = _of_narwhals(nw.from_native(frame, eager_only=True), warning=warning, ordinal=ordinal or {})
    return Source(**{**vars(found), "whole": lambda: frame})


def _with_every_value(table: Any) -> Any:
    """Return a table of Arrow whose columns do not hold runs of equal values, which polars cannot read."""
    import pyarrow as pa
    import pyarrow.compute  # type: ignore[import-untyped]

    for j, field in enumerate(table.schema):
        if pa.types.is_run_end_encoded(field.type):
            chunks = [pyarrow.compute.run_end_decode(chunk) for chunk in table[j].chunks]
            table = table.set_column(j, field.name, pa.chunked_array(chunks, field.type.value_type))
    return table


def orders_in_arrow(table: Any) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table of Arrow whose text has a declared order; polars' own are left to it."""
    import pyarrow as pa

    orders = {}
    for field in table.schema:
        theirs = any(key.startswith(b"_PL_") for key in field.metadata or ())
        if pa.types.is_dictionary(field.type) and field.type.ordered and not theirs and len(table):
            found = {tuple(chunk.dictionary.to_pylist()) for chunk in table[field.name].chunks}
            if len(found) > 1:
                raise DataError(
                    f"column {field.name!r} declares other categories in some of its parts than in others: "
                    "declare the same ones in the same order"
                )
            orders[field.name] = found.pop()
    return orders


def _arrow_chunks(series: Any) -> Any:
    """Return a series of pandas as Arrow has it."""
    import pyarrow as pa

    found = pa.array(series)
    return found.chunks if isinstance(found, pa.ChunkedArray) else [found]


def _arrow_dictionary(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """Return the categories of a column of Arrow, and their codes."""
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else column
    whole = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return whole.dictionary.to_pylist(), whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _of_narwhals(frame: "nw.DataFrame[Any]", **about: Any) -> Source:
    place = {name: j for j, name in enumerate(map(str, frame.columns))}

    def read(names: Sequence[str]) -> list[Column]:
        series = list(frame.iter_columns())  # not one by one: each time all names would be copied
        return [column_of_series(name, series[place[name]]) for name in names]

    def matrix(names: Sequence[str]) -> NDArray[Any] | None:
        some = frame if len(names) == len(place) else frame[:, [place[name] for name in names]]
        dtypes = set(some.schema.values())
        if len(dtypes) != 1 or not _is_plain(dtypes.pop()):
            return None
        return some.to_numpy()

    return one_batch(tuple(place), read, matrix=matrix, n_rows=len(frame), **about)


def _check_names(source: Any) -> None:
    """Refuse duplicate names in the frame itself, before a library renames them or stumbles."""
    attribute = {"pandas": "columns", "pyarrow": "column_names"}.get(
        type(source).__module__.partition(".")[0]
    )
    names = tuple(map(str, getattr(source, attribute, ()))) if attribute else ()
    if len(set(names)) < len(names):
        raise duplicate_names(names)


def _is_plain(dtype: "nw.dtypes.DType") -> bool:
    return dtype.is_numeric() and not dtype.is_decimal()


def column_of_series(name: str, series: "nw.Series[Any]") -> Column:
    """Return the column of a narwhals series of pandas or polars."""
    import narwhals as nw

    if series.implementation.is_polars() and _is_complete(native := series.to_native()):
        return Numeric(name, native.to_numpy())
    dtype = series.dtype
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _categories(name, series)
    missing = series.is_null().to_numpy().astype(bool)
    if missing.all():
        return Coded(name, np.full(len(series), -1), ())
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return _plain(name, series, missing)
    if isinstance(dtype, nw.String):
        return _strings(name, series)
    if isinstance(dtype, nw.Object | nw.Unknown):
        return column_of(name, series.to_numpy())
    raise wrong_type(name, str(dtype))


def _plain(name: str, series: "nw.Series[Any]", missing: "np.ndarray[Any, np.dtype[np.bool_]]") -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_decimal() or isinstance(dtype, nw.Int128 | nw.UInt128):
        return column_of(name, np.array(series.to_list(), dtype=object))
    if not missing.any():
        return column_of(name, series.to_numpy())
    present = series.drop_nulls().to_numpy()
    filled = np.zeros(len(series), dtype=present.dtype)
    filled[~missing] = present
    return column_of(name, filled, missing)


def _strings(name: str, series: "nw.Series[Any]") -> Column:
    if series.implementation.name != "POLARS" or len(series) < MANY:
        return column_of(name, series.to_numpy())
    import polars as pl

    text = series.to_native().cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1)
    return Coded(name, codes.to_numpy(), tuple(levels.to_list()))


def _categories(name: str, series: "nw.Series[Any]") -> Column:
    """Return categories in the order that was declared; those of polars' Categorical are not declared."""
    native = series.to_native()
    if series.implementation.name == "POLARS":
        import polars as pl

        if not isinstance(native.dtype, pl.Enum):
            return _strings(name, series)
        codes = native.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return Coded(name, codes, tuple(native.dtype.categories.to_list()), declared=True)
    if not hasattr(native, "cat"):  # a dictionary of Arrow
        labels, codes = _arrow_dictionary(_arrow_chunks(native))
        if not native.dtype.pyarrow_dtype.ordered:
            return column_of(name, np.array([*labels, None], object)[codes])
        return Coded(name, codes.astype(np.int64), tuple(map(label, labels)), declared=True, ordinal=True)
    codes = native.cat.codes.to_numpy().astype(np.int64)
    levels = tuple(map(label, native.cat.categories.tolist()))
    return Coded(name, codes, levels, declared=True, ordinal=bool(native.cat.ordered))


def _is_complete(series: Any) -> bool:
    """Whether a polars series holds whole numbers without gaps, which are not looked at any further."""
    return series.dtype.is_integer() and not series.null_count() and "128" not in str(series.dtype)


def column_of_polars(name: str, series: Any) -> Column:
    """Return the column of a polars series."""
    if _is_complete(series):
        return Numeric(name, series.to_numpy())
    import narwhals as nw

    return column_of_series(name, nw.from_native(series, series_only=True))


# Frames that come one after the other


def is_reader(source: object) -> bool:
    """Whether something is a stream of Arrow's record batches."""
    return hasattr(source, "read_next_batch") and hasattr(source, "schema")


def columns_in_batches(frame: Any) -> list[Column]:
    """Return the columns of a batch of a polars frame; refuse types whose labels depend on all values."""
    import polars as pl

    for dtype in set(frame.dtypes):
        if dtype == pl.Object or (dtype.is_numeric() and (dtype.is_decimal() or "128" in str(dtype))):
            raise NotInBatchesError
    return [column_of_polars(name, series) for name, series in zip(frame.columns, frame, strict=True)]


def polars_batch(where: str, frame: Any) -> Batch:
    """Return a batch whose rows are a polars frame."""
    return Batch(where, len(frame), lambda names: columns_in_batches(frame.select(names)), frame.select)


def source_of_frames(frames: Any) -> Source:
    """Return frames that come one after the other, or a stream of Arrow's, as one table that passes once."""
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise DataError("the stream ended before its first batch")
    named, orders = _eager(first, 1)

    def batches(names: Sequence[str], most_rows: int) -> Iterator[Batch]:
        for k, frame in enumerate(chain([first], rest), start=1):
            batch, _ = _eager(frame, k)
            if gone := [name for name in names if name not in batch.columns]:
                raise DataError(f"batch {k} has no column {listing(gone)}, unlike batch 1")
            for row in range(0, len(batch), most_rows):
                some = batch[row : row + most_rows]
                yield Batch(f"batch {k}", len(some), partial(_columns_in_batches, some))

    return Source(tuple(named.columns), batches, ordinal=orders)


def _columns_in_batches(frame: "nw.DataFrame[Any]", names: Sequence[str]) -> list[Column]:
    """Return some columns of a batch of pandas or polars."""
    if frame.implementation.is_polars():
        return columns_in_batches(frame.to_native().select(names))
    return [column_of_series(name, frame[name]) for name in names]


def _eager(frame: Any, number: int) -> "tuple[nw.DataFrame[Any], dict[str, tuple[str, ...]]]":
    """Return a batch as a frame of pandas or polars, and the orders that Arrow declares in it."""
    import narwhals as nw

    if hasattr(frame, "__arrow_c_array__"):
        import pyarrow as pa

        frame = pa.Table.from_batches([pa.record_batch(frame)])
    found = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(found, nw.DataFrame):
        raise DataError(f"batch {number} is not a frame, but of type {type(frame).__name__}")
    if found.implementation.is_pyarrow():
        return nw.from_native(found.to_polars(), eager_only=True), orders_in_arrow(frame)
    if found.implementation.is_pandas() or found.implementation.is_polars():
        return found, {}
    return nw.from_native(found.to_polars(), eager_only=True), {}


# Arrays, lists of rows, dicts of columns


def _source_of_array(array: NDArray[Any]) -> Source:
    array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    if array.dtype.names is not None and array.ndim == 1:
        return one_batch(
            array.dtype.names,
            lambda names: [column_of(name, np.ascontiguousarray(array[name])) for name in names],
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
    return _source_of_matrix(array)


def _source_of_matrix(array: NDArray[Any]) -> Source:
    """Return a table of one type; masked entries of a masked array are missing."""
    names = default_names(array.shape[1])
    values, mask = np.ma.getdata(array), np.ma.getmaskarray(array) if np.ma.is_masked(array) else None

    def read(wanted: Sequence[str]) -> list[Column]:
        place = [int(name[1:]) for name in wanted]
        return [column_of(f"x{j}", values[:, j], None if mask is None else mask[:, j].copy()) for j in place]

    def matrix(wanted: Sequence[str]) -> NDArray[Any] | None:
        if mask is not None:
            return None
        return values if len(wanted) == len(names) else values[:, [int(name[1:]) for name in wanted]]

    return one_batch(names, read, matrix=matrix, n_rows=len(array))


@lru_cache(maxsize=4)
def default_names(n: int) -> tuple[str, ...]:
    """Return the names of columns that have none.

    Examples
    --------
    >>> default_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{j}" for j in range(n))


def _source_of_rows(rows: Sequence[Any]) -> Source:
    """Read a list of rows; an array is made of them only where no value changes its type by it."""
    if not len(rows):
        return _source_of_array(np.empty((0, 2)))
    if not all(isinstance(row, list | tuple) for row in rows):
        kinds = {row.dtype.kind if isinstance(row, np.ndarray) and row.ndim == 1 else "?" for row in rows}
        if "?" in kinds or len(kinds) == 1:
            return _source_of_array(np.asarray(rows))
        rows = [row.tolist() for row in rows]  # of several types: one array would round or change them
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(f"row {i} has {len(row)} values where row 0 has {len(rows[0])}")
    kinds = set(map(type, chain.from_iterable(rows)))
    if kinds in ({int}, {float}, {bool}, {int, float}):
        matrix = np.asarray(rows)
        if int not in kinds or matrix.dtype.kind == "i" or (np.abs(matrix.astype(float)) < EXACT).all():
            return _source_of_matrix(matrix)  # no integer was rounded
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return _source_of_matrix(array)


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
            return column_of_series(name, series)
        values = np.asarray(values)
    if values.ndim != 1:
        raise DataError(f"column {name!r} is {values.ndim}-D: each column must be a list of values")
    return column_of(name, values)


def encode_matrix(
    matrix: NDArray[Any] | None,
) -> tuple[NDArray[np.signedinteger[Any]], tuple[tuple[Hashable, ...], ...]] | None:
    """Return codes and levels of an array of whole numbers or booleans; None if it is anything else.

    Examples
    --------
    >>> codes, levels = encode_matrix(np.array([[5, 0], [-1, 0], [5, 1]]))
    >>> codes.tolist(), levels
    ([[1, 0, 1], [0, 0, 1]], ((-1, 5), (0, 1)))
    >>> encode_matrix(np.array([[0.5, 1.0]])) is None
    True
    """
    if matrix is None or matrix.dtype.kind not in "biuf" or not matrix.size:
        return None
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
