"""What a source gives before it is coded: one matrix of one type, or columns of several."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ibmap.data._messages import listing
from ibmap.data.arrays import columns_of
from ibmap.data.columns import Column, Numeric
from ibmap.errors import DataError


@dataclass(frozen=True, eq=False)
class RawTable:
    """Names, and either a ``matrix`` of shape (rows, columns) or ``columns``; ``doubt`` is for a warning."""

    names: tuple[str, ...]
    n_rows: int
    matrix: NDArray[Any] | None = None
    columns: tuple[Column, ...] = ()
    backend: str | None = None
    doubt: str = ""

    def __post_init__(self) -> None:
        check_shape(self.n_rows, self.names)

    def as_columns(self) -> list[Column]:
        """Return the columns, whichever way they came."""
        return list(self.columns) if self.matrix is None else columns_of(self.matrix, self.names)


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
