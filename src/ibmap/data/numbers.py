"""Tables of numbers: continuous columns as they are, or all columns by their ranks."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._text import listing, one_of
from ibmap._types import Floats
from ibmap.data.columns import Coded, Column, Numeric
from ibmap.data.declared import MissingValues, Ordinal, column_options
from ibmap.data.frames import open_source
from ibmap.data.missing import apply_policy, check_finite
from ibmap.data.schema import CONTINUOUS, Schema
from ibmap.data.sources import list_names, select_columns
from ibmap.errors import DataError, DataWarning, RequestError

COLUMNS = ("auto", "values", "ranks")  #: what numbers a column becomes
POLICIES = ("error", "drop")  #: of missing values


@dataclass(frozen=True, eq=False, repr=False)
class NumericData:
    """A table of continuous variables, one row of ``values`` per variable.

    Attributes
    ----------
    values : ndarray of shape (n_variables, n_rows)
        The numbers; read-only.
    names : tuple of str
        The variables.
    columns : {"values", "ranks"}
        Whether they are the values, or normal scores of their ranks.
    backend : str or None
        The library of the frame that the user brought.
    warnings : tuple of str
        What is probably not meant like this.
    reading : mapping
        How it was read, by the arguments of :func:`load_numbers`.
    """

    values: Floats
    names: tuple[str, ...]
    columns: str = "values"
    backend: str | None = None
    warnings: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(self.names) or not np.isfinite(values).all():
            raise DataError("values must be a 2-D array of finite numbers, one row per variable")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        n, rows = self.values.shape
        return f"NumericData({n} variables, {rows} rows, {self.columns})"

    @cached_property
    def schema(self) -> Schema:
        """The table without its rows."""
        n, rows = self.values.shape
        said = json.dumps([self.names, self.columns, list(self.values.shape)]).encode()
        digest = hashlib.sha256(said + np.ascontiguousarray(self.values).tobytes()).hexdigest()
        kinds = (CONTINUOUS,) * n
        reading = {**self.reading, "columns": self.columns}
        more: dict[str, Any] = {"warnings": self.warnings, "reading": reading}
        return Schema(self.names, ((),) * n, rows, kinds, self.backend, digest_of_rows=digest, **more)


def load_numbers(
    source: Any,
    *,
    columns: str = "auto",
    missing: str = "error",
    drop: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    ordinal: Ordinal = None,
    categorical: Iterable[str] | None = None,
    missing_values: MissingValues = None,
) -> NumericData:
    """Turn a table into numbers, for Gaussian tests.

    Parameters
    ----------
    source : table
        As for :func:`ibmap.load`; or a ``NumericData``, of which only columns are chosen.
    columns : {"auto", "values", "ranks"}
        Take the values, which needs numbers in all columns; or replace every column by the normal scores of
        its ranks, ties sharing their mean rank (a Gaussian copula), which serves numbers, columns of two
        levels, and declared, ordered categories in one table. "auto" takes the values if all columns are
        numbers, otherwise ranks, and warns that it does.
    missing : {"error", "drop"}
        Refuse missing values, or drop incomplete rows.
    drop, only : iterable of str, optional
        Columns to leave out; the columns to use.
    ordinal, categorical, missing_values
        As for :func:`ibmap.load`.

    Examples
    --------
    >>> load_numbers({"height": [1.5, 1.7, 1.9], "weight": [50, 70, 65]})
    NumericData(2 variables, 3 rows, values)
    >>> load_numbers({"height": [1.5, 1.7, 1.9], "sex": ["f", "m", "m"]}, columns="ranks").values.round(2)
    array([[-0.97,  0.  ,  0.97],
           [-0.97,  0.43,  0.43]])
    """
    if columns not in COLUMNS:
        raise RequestError(f"columns must be {one_of(COLUMNS)}, not {columns!r}")
    if missing not in POLICIES:
        raise RequestError(f"missing must be {one_of(POLICIES)} where columns are numbers, not {missing!r}")
    drop, only = list_names(drop), list_names(only)
    if isinstance(source, NumericData):
        kept = select_columns(source.names, drop, only)
        return replace(source, values=source.values[kept], names=tuple(source.names[i] for i in kept))
    table = open_source(source)
    names = table.select(drop, only)
    if table.warning:
        warnings.warn(table.warning, DataWarning, stacklevel=2)
    about = column_options(table.names, ordinal, categorical, missing_values, table.ordinal)
    found = [about.column(column, numbers=True) for column in table.columns(names)]
    check_finite(found)
    found = apply_policy(found, missing, POLICIES)
    words = [column.name for column in found if isinstance(column, Coded)]
    if columns == "values" and words:
        columns_in_words = "the column" if len(words) == 1 else "the columns"
        raise DataError(
            f"no numbers in {listing(words)}: drop {columns_in_words}, or pass columns='ranks', which serves "
            "two levels and ordered ones"
        )
    ranks = columns == "ranks" or bool(words)
    if columns == "auto" and ranks:
        hold = "holds" if len(words) == 1 else "hold"
        warnings.warn(
            f"{listing(words)} {hold} no numbers: all columns are taken by their ranks",
            DataWarning,
            stacklevel=2,
        )
    values = np.stack([_numbers(column) for column in found])
    if ranks:
        values = np.stack([normal_scores(row) for row in values])
    said = (table.warning,) if table.warning else ()
    reading = {"missing": missing, "drop": drop, "only": only, **about.arguments(names)}
    return NumericData(values, names, "ranks" if ranks else "values", table.backend, said, reading)


def has_order(column: Column) -> bool:
    """Whether the values of a column have an order: numbers, two levels, declared or ordinal ones.

    Examples
    --------
    >>> has_order(Coded("x", np.array([0, 1]), ("a", "b"))), has_order(Coded("x", np.arange(3), tuple("abc")))
    (True, False)
    """
    if isinstance(column, Numeric):
        return True
    return len(column.levels) <= 2 or column.declared or column.ordinal


def _numbers(column: Column) -> Floats:
    """Return the numbers of a column; ordered levels are numbered."""
    if isinstance(column, Numeric):
        return column.values.astype(np.float64)
    if not has_order(column):
        raise DataError(
            f"column {column.name!r} has {len(column.levels)} levels without an order: declare one (an "
            "ordered category), drop it, or cut the numbers instead (discretize='quantile')"
        )
    return column.codes.astype(np.float64)


def normal_scores(values: Floats) -> Floats:
    """Return the quantiles of a normal distribution that belong to the ranks of some numbers."""
    from scipy.special import ndtri

    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray(ndtri(middle / len(values))[inverse])
