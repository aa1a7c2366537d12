"""`load`: the one way into the library for data."""

import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ibmap.data.arrays import encode_matrix
from ibmap.data.columns import Coded, Column, encode_numbers
from ibmap.data.discretize import ADVICE, Bins, about_continuous, check_bins, discretize_columns
from ibmap.data.missing import apply_policy, check_finite, check_policy, with_category
from ibmap.data.packed import PackedData
from ibmap.data.quality import missing_together, too_many_levels
from ibmap.data.sources import RawTable, Stream, check_shape, chosen, listed_names, read
from ibmap.data.streaming import is_reader, load_stream, stream_of_frames
from ibmap.data.table import CategoricalData, smallest_dtype
from ibmap.data.told import MissingValues, Ordinal, Told, check_order, lost_orders, told
from ibmap.errors import ContinuousError, DataError, DataWarning, RequestError


def load(
    source: Any,
    *,
    missing: str = "error",
    discretize: str | None = None,
    bins: Bins = None,
    drop: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    ordinal: Ordinal = None,
    categorical: Iterable[str] | None = None,
    missing_values: MissingValues = None,
) -> CategoricalData:
    """Turn any table into :class:`CategoricalData`.

    Parameters
    ----------
    source : table
        A pandas, polars or Arrow frame, a NumPy array, a list of rows, a dict of columns, the path of a CSV
        (or otherwise delimited), Parquet, Arrow or packed file, of a file of SPSS, Stata, SAS or Excel (a
        sheet of it: "file.xlsx#Sheet2"), or of a folder of Parquet or Arrow files, an Arrow stream or another
        iterator of frames, or a ``CategoricalData``, of which only columns are chosen. Folders, streams and
        large files are read in batches and packed to bits as they pass.
    missing : {"error", "drop", "category", "testwise"}
        Refuse missing values; drop incomplete rows; make them a level of their own, labelled None and sorted
        last; or keep them as code -1, so that each test uses the rows complete in its own columns.
    discretize : {"equal-width", "quantile"}, optional
        How to cut columns with non-whole values, and numbers with more distinct values than bins, into
        left-closed intervals (the last includes its right end). Without it such values are refused. A value
        so frequent that it spans several quantiles is a bin of its own; the rest is cut into the other bins.
    bins : int or dict, optional
        The number of bins, by default ``int(1 + log2(N))`` for N values; or a dict from names to numbers of
        bins or to ascending edges. Edges beyond which values lie are inner: the outermost bin is then open.
    drop, only : iterable of str, optional
        Columns to leave out; the columns to use, by default all. What is left out may hold anything.
    ordinal : iterable of str, or dict, optional
        Columns whose levels have an order that has a meaning: numbers by value, declared categories as they
        were declared, words as "mood=low<high" or ``{"mood": ["low", "high"]}`` says. They are never cut.
        Ordered categories of pandas are ordinal without being named.
    categorical : iterable of str, optional
        Columns of categories without an order, whatever they hold: they are never cut.
    missing_values : iterable, or dict from names to iterables, optional
        Values that stand for missing ones (-9, "refused"), in all columns or by column.

    Returns
    -------
    CategoricalData
        Levels are in ascending order; declared categories (pandas Categorical, polars Enum) keep their order
        and stay even if no row has them. Of the bins only those that some row falls in are levels.

    Raises
    ------
    DataError
        If the table cannot be used as it is; the message says what to do.
    UnknownVariableError
        If an argument names a column that the table does not have.

    Examples
    --------
    >>> table = {"smoker": ["yes", "no", "yes"], "age": [31.5, 40.25, 58.0]}
    >>> data = load(table, discretize="quantile", bins=2)
    >>> data.levels
    (('no', 'yes'), ('[31.5, 40.25)', '[40.25, 58]'))
    >>> data.codes.tolist(), data.bin_edges
    ([[1, 0, 1], [0, 1, 1]], {'age': (31.5, 40.25, 58.0)})
    """
    check_policy(missing)
    check_bins(discretize, bins)
    source = opened(source)
    drop, only = listed_names(drop), listed_names(only)
    reading = {"missing": missing, "discretize": discretize, "bins": bins, "drop": drop, "only": only}
    if isinstance(source, CategoricalData):
        about = told(source.names, ordinal, categorical, missing_values)
        data = _chosen_variables(_told_about(source, about), chosen(source.names, drop, only))
        if isinstance(data, PackedData):
            _check_packed(data, missing, discretize, bins)
            for words in data.warnings:
                warnings.warn(words, DataWarning, stacklevel=2)
        chose = {"drop": drop, "only": only, **about.said(data.names)}
        before = source.reading or {"missing": "testwise" if data.has_missing else missing}
        return data.read_by({**before, **{name: value for name, value in chose.items() if value}})
    if isinstance(source, Stream):
        about = told(source.names, ordinal, categorical, missing_values)
        packed = load_stream(source, missing, discretize, bins, drop, only, about)
        if packed is not None:
            return packed.read_by(reading | about.said(packed.names))
    table = read(source, drop, only)
    if table.warning:
        warnings.warn(table.warning, DataWarning, stacklevel=2)
    about = told(table.names, ordinal, categorical, missing_values, table.ordinal)
    encoded, declared = None, set[str]()
    if table.matrix is not None and discretize is None and bins is None and about.is_plain:
        encoded = encode_matrix(table.matrix)
    if encoded is not None:
        encoded[0].flags.writeable = False  # nobody else has it: no copy is needed
        more: dict[str, Any] = {"backend": table.backend, "ordinal": about.orders}
        data, lost = CategoricalData(encoded[0], table.names, encoded[1], **more), ""
    else:
        data, declared, lost = _load_columns(table, missing, discretize, bins, about)
    odd = [too_many_levels(data, declared), missing_together(data) if missing == "category" else "", lost]
    for words in filter(None, odd):
        warnings.warn(words, DataWarning, stacklevel=2)
    reading |= about.said(table.names)
    return replace(data, warnings=tuple(filter(None, [table.warning, *odd])), reading=reading)


def opened(source: Any) -> Any:
    """Return what a path or an iterator of frames stands for; anything else as it is."""
    if isinstance(source, str | os.PathLike):
        from ibmap.data.files import open_file

        return open_file(Path(os.fspath(source)))
    return stream_of_frames(source) if isinstance(source, Iterator) or is_reader(source) else source


def _check_packed(data: PackedData, missing: str, discretize: str | None, bins: Bins) -> None:
    """Refuse what could only be done while a table was packed."""
    if discretize is not None or bins is not None:
        raise RequestError("the table is packed: columns can only be cut when it is packed")
    if missing in ("drop", "category") and data.has_missing:
        raise RequestError(
            f"the table was packed with its missing values: pack it again with missing={missing!r}"
        )


def _chosen_variables(data: CategoricalData, kept: list[int]) -> CategoricalData:
    if len(kept) == data.n_variables:
        return data
    check_shape(data.n_rows, tuple(data.names[i] for i in kept))
    return data.variables(kept)


def _told_about(data: CategoricalData, about: Told) -> CategoricalData:
    """Return a table that is coded already with other orders of its levels."""
    if not about.is_plain:
        raise RequestError("the table is coded: say what is missing, and in which order, when it is loaded")
    for name in about.orders:
        check_order(name, data.levels[data.index(name)], name in data.ordinal)
    ordinal = [name for name in (*data.ordinal, *about.orders) if name not in about.categorical]
    if set(ordinal) == set(data.ordinal):
        return data
    if isinstance(data, PackedData):
        known = (data.names, data.levels, data.bin_edges, data.backend, data.warnings)
        return PackedData(data.bits, *known, ordinal=ordinal, reading=data.reading)
    return replace(data, ordinal=tuple(ordinal))


def _load_columns(
    table: RawTable, missing: str, discretize: str | None, bins: Bins, about: Told
) -> tuple[CategoricalData, set[str], str]:
    """Return the data, the names of the variables whose levels were declared, and which orders are lost."""
    columns = [about.column(column) for column in table.as_columns()]
    check_finite(columns)
    try:
        columns = apply_policy(columns, missing)
    except DataError as error:  # say all that is wrong at once
        more = about_continuous(columns) if discretize is None and bins is None else ""
        raise ContinuousError(f"{error}; {more}", ADVICE) if more else error from None
    columns, edges = discretize_columns(columns, discretize, bins)
    coded = [_coded(column, missing) for column in columns]
    widest = max(len(column.levels) for column in coded)
    codes = np.empty((len(coded), len(coded[0].codes)), dtype=smallest_dtype(widest))
    for row, column in zip(codes, coded, strict=True):
        row[:] = column.codes
    codes.flags.writeable = False
    levels = tuple(column.levels for column in coded)
    declared = {column.name for column in coded if column.declared}
    ordinal = [column.name for column in coded if column.ordinal]
    kept = [column.name for column in coded if column.ordinal and None not in column.levels]
    lost = lost_orders(ordinal, dict(zip(table.names, levels, strict=True)))
    data = CategoricalData(codes, table.names, levels, edges, table.backend, ordinal=tuple(kept))
    return data, declared, lost


def _coded(column: Column, missing: str) -> Coded:
    coded = column if isinstance(column, Coded) else encode_numbers(column)
    return with_category(coded) if missing == "category" else coded
