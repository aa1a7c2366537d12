"""Rows that count more than once: frequencies, and sampling weights by their effective sample size."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Ints
from ibmap.errors import DataError

LARGEST = 200_000_000  #: rows that a table may have once they are repeated


class Times(NamedTuple):
    """How often each row counts, and what to say about it."""

    times: Ints
    words: str


def times_of(weights: Any, n_rows: int, name: str = "the weights") -> Times:
    """Return how often each row counts.

    Whole numbers are frequencies: a row with weight 3 is three rows. Others are sampling weights: n rows with
    weights w are worth (Σw)² / Σw² rows (Kish's effective sample size). So many are taken, one after the
    other, each row as often as its share says, rounded so that sums over neighbouring rows are right.

    Examples
    --------
    >>> times_of([2, 0, 1], 3).times.tolist()
    [2, 0, 1]
    >>> found = times_of([0.5, 1.5, 1.5, 0.5], 4)
    >>> found.times.tolist(), found.words
    ([0, 2, 1, 0], 'the weights are not whole: 4 rows count as 3.2, their effective sample size')
    """
    try:
        values = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers") from None
    if values.shape != (n_rows,):
        raise DataError(f"there must be one weight a row: {n_rows:,} rows, weights of shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{name} must be numbers of zero or more, and none may be missing")
    if not values.any():
        raise DataError(f"{name} are all zero: no row is left")
    is_whole = bool((values == np.floor(values)).all())
    if not is_whole:  # by a power of two, so that no square is infinite
        values = np.ldexp(values, -np.frexp(values.max())[1])
    effective = values.sum() if is_whole else values.sum() ** 2 / (values**2).sum()
    if effective > LARGEST:
        raise DataError(f"with {name} there are {effective:,.10g} rows, more than {LARGEST:,}")
    if is_whole:
        times = values.astype(np.int64)
        words = f"rows count as often as {name} say: {times.sum():,} rows in all"
    else:
        ends = np.floor(np.cumsum(values) / values.sum() * effective + 0.5)
        times = np.diff(ends, prepend=0.0).astype(np.int64)
        words = (
            f"{name} are not whole: {n_rows:,} rows count as {effective:,.4g}, their effective sample size"
        )
    return Times(times, words)


def repeat_rows(table: Any, times: Ints) -> Any:
    """Return a table, a frame, an array, a dict of columns or a list of rows, with rows repeated.

    Examples
    --------
    >>> repeat_rows({"a": [1, 2], "b": ["x", "y"]}, np.array([2, 1]))["b"].tolist()
    ['x', 'x', 'y']
    >>> repeat_rows([[1, 2], [3, 4]], np.array([0, 2]))
    [[3, 4], [3, 4]]
    """
    rows, table = np.repeat(np.arange(len(times)), times), _plain(table)
    if isinstance(table, Mapping):
        return {name: np.asarray(values)[rows] for name, values in table.items()}
    if isinstance(table, np.ndarray):
        return table[rows]
    if isinstance(table, list | tuple):
        return [table[i] for i in rows.tolist()]
    import narwhals as nw

    frame: Any = nw.from_native(table, eager_only=True)
    return frame[rows.tolist()].to_native()


def n_rows_of(table: Any) -> int:
    """Return how many rows a table has.

    Examples
    --------
    >>> n_rows_of({"a": [1, 2, 3]}), n_rows_of(np.zeros((4, 2)))
    (3, 4)
    """
    table = _plain(table)
    if isinstance(table, Mapping):
        return len(next(iter(table.values()), ()))
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    return len(table)


def _plain(table: Any) -> Any:
    """Return an array in place of what is only like one; frames are like arrays, too, and stay."""
    is_frame = hasattr(table, "columns") or hasattr(table, "column_names")
    return table if is_frame or not hasattr(table, "__array__") else np.asarray(table)
