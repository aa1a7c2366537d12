"""Data frames of pandas, polars and Arrow, through narwhals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ibmap.data.column_errors import wrong_type
from ibmap.data.columns import Coded, Column, column_of
from ibmap.data.objects import label
from ibmap.data.sources import Choose, RawTable, check_shape, duplicate_names, from_columns
from ibmap.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

BACKENDS = ("pandas", "polars", "pyarrow")
MANY = 20_000  # rows from which polars' own string operations are faster than a dictionary


def read_frame(source: Any, choose: Choose | None = None) -> RawTable | None:
    """Return the table that a data frame of any library holds; None if ``source`` is no data frame.

    ``choose`` says which columns to read; the others may hold anything.

    Examples
    --------
    >>> import polars as pl
    >>> table = read_frame(pl.DataFrame({"x": [1, 2], "y": ["a", None]}))
    >>> table.names, table.n_rows, table.backend
    (('x', 'y'), 2, 'polars')
    """
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
    if choose is not None and len(kept := choose(list(map(str, frame.columns)))) < len(frame.columns):
        frame = frame[:, kept]
    backend = frame.implementation.name.lower()
    if backend == "pyarrow":
        frame = nw.from_native(frame.to_polars())
    elif backend not in BACKENDS:
        frame, backend = nw.from_native(frame.to_pandas()), "pandas"
    return _read(frame, backend)


def _check_names(source: Any) -> None:
    """Refuse duplicate names in the frame itself, before a library renames them or stumbles."""
    attribute = {"pandas": "columns", "pyarrow": "column_names"}.get(
        type(source).__module__.partition(".")[0]
    )
    names = tuple(map(str, getattr(source, attribute, ()))) if attribute else ()
    if len(set(names)) < len(names):
        raise duplicate_names(names)


def _read(frame: "nw.DataFrame[Any]", backend: str) -> RawTable:
    names = tuple(map(str, frame.columns))
    check_shape(len(frame), names)
    dtypes = set(frame.schema.values())
    if len(dtypes) == 1 and _is_plain(dtypes.pop()):
        matrix = frame.to_numpy()
        if matrix.dtype.kind in "biuf" and not (matrix.dtype.kind == "f" and np.isnan(matrix).any()):
            return RawTable(names, len(frame), matrix=matrix, backend=backend)
    columns = [
        column_of_series(name, series) for name, series in zip(names, frame.iter_columns(), strict=True)
    ]
    return from_columns(columns, backend)


def _is_plain(dtype: "nw.dtypes.DType") -> bool:
    return dtype.is_numeric() and not dtype.is_decimal()


def column_of_series(name: str, series: "nw.Series[Any]") -> Column:
    """Return the column of a narwhals series of pandas or polars."""
    import narwhals as nw

    dtype = series.dtype
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _declared(name, series)
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


def _declared(name: str, series: "nw.Series[Any]") -> Column:
    """Return categories in the order that was declared; those of polars' Categorical are not declared."""
    native = series.to_native()
    if series.implementation.name == "POLARS":
        import polars as pl

        if not isinstance(native.dtype, pl.Enum):
            return _strings(name, series)
        codes = native.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return Coded(name, codes, tuple(native.dtype.categories.to_list()), declared=True)
    codes = native.cat.codes.to_numpy().astype(np.int64)
    levels = tuple(map(label, native.cat.categories.tolist()))
    return Coded(name, codes, levels, declared=True, ordinal=bool(native.cat.ordered))
