"""A table on its way in: names, and columns in batches of rows. What is in memory is one batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from ibmap import _checks
from ibmap._text import listing
from ibmap.data.columns import Column, Numeric
from ibmap.data.schema import unknown_variable
from ibmap.errors import DataError


class NotInBatchesError(Exception):
    """A column is of a type whose labels depend on all of its values."""


class ReadAgainError(Exception):
    """What has passed was read in a wrong way: a late value has shown so. The next time it will be right."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table: where they are from, how many, and what reads some of their columns.

    Threads may call ``read`` at the same time. ``frame`` reads the same as a polars frame, if it is one.
    """

    where: str
    n_rows: int
    read: Callable[[Sequence[str]], list[Column]]
    frame: Callable[[Sequence[str]], Any] | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A table that is read in batches.

    Attributes
    ----------
    names : tuple of str
        The columns.
    batches : callable
        From the names that are wanted, and a number of rows that a batch should not exceed where it has a
        choice, to an iterator over batches.
    is_whole : bool
        Whether there is one batch, with all rows.
    whole : callable or None
        Reads all of a file into one polars frame; None if it passes only once, or is no file.
    column : callable or None
        Reads one column of a file, by its name, with all rows.
    matrix : callable or None
        From the names that are wanted to all rows as one array, None if they are of several types.
    backend : str or None
        The library of the frame that the user brought.
    warning : str
        What users should know about the source, "" if there is nothing.
    ordinal : mapping of str to tuple of str, or None
        Columns that the source says have an order; None is that of the data.
    n_rows : int or None
        How many rows there are, where that is known.
    """

    names: tuple[str, ...]
    batches: Callable[[Sequence[str], int], Iterator[Batch]]
    is_whole: bool = False
    whole: Callable[[], Any] | None = None
    column: Callable[[str], Column] | None = None
    matrix: Callable[[Sequence[str]], NDArray[Any] | None] | None = None
    backend: str | None = None
    warning: str = ""
    ordinal: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    n_rows: int | None = None

    @property
    def frame(self) -> Any:
        """All of a file, in memory."""
        if self.whole is None:
            raise DataError(
                "a stream passes once, and decimals, or discretize, need all of it: make one frame of it"
            )
        return self.whole()

    def at_once(self) -> "Source":
        """Return the same table as one batch."""
        if self.is_whole:
            return self
        from ibmap.data.frames import source_of_polars

        return source_of_polars(self.frame, self.warning, self.ordinal)

    def some(self, names: Sequence[str]) -> "Source":
        """Return the same table with some of its columns."""
        there = set(names)
        ordinal = {name: order for name, order in self.ordinal.items() if name in there}
        return replace(self, names=tuple(names), ordinal=ordinal)

    def head(self, names: Sequence[str], n_rows: int) -> Batch:
        """Return some of the first rows; all, if they are in memory and no file."""
        source = self
        if self.is_whole and self.whole is not None:
            from ibmap.data.frames import source_of_polars

            source = source_of_polars(self.frame.head(n_rows))
        return next(source.batches(names, n_rows), Batch("", 0, lambda _: []))

    def columns(self, names: Sequence[str]) -> list[Column]:
        """Return some of the columns, with all rows."""
        batch = next(self.at_once().batches(names, 0))
        if not batch.n_rows:
            check_shape(0, tuple(names))
        return batch.read(names)

    def select(self, drop: Iterable[str] | None, only: Iterable[str] | None) -> tuple[str, ...]:
        """Return the columns that are in ``only`` (None: all) and not in ``drop``: two or more."""
        names = tuple(self.names[i] for i in select_columns(self.names, drop, only))
        check_shape(1 if self.n_rows is None else self.n_rows, names)
        return names


def one_batch(names: Sequence[str], read: Callable[[Sequence[str]], list[Column]], **about: Any) -> Source:
    """Return a table in memory; ``read`` makes columns of what is there.

    Examples
    --------
    >>> import numpy as np
    >>> source = one_batch(("x",), lambda names: [Numeric(name, np.arange(3)) for name in names])
    >>> next(source.batches(["x"], 100)).n_rows
    3
    """

    def batches(wanted: Sequence[str], _: int) -> Iterator[Batch]:
        columns = read(wanted)
        sizes = [len(column.values if isinstance(column, Numeric) else column.codes) for column in columns]
        for name, size in zip(wanted, sizes, strict=True):
            if size != sizes[0]:
                raise DataError(
                    f"column {name!r} has {size} values where column {wanted[0]!r} has {sizes[0]}"
                )
        there = dict(zip(wanted, columns, strict=True))
        yield Batch("the table", sizes[0] if sizes else 0, lambda some: [there[name] for name in some])

    return Source(tuple(names), batches, is_whole=True, **about)


def select_columns(names: Sequence[str], drop: Iterable[str] | None, only: Iterable[str] | None) -> list[int]:
    """Return the positions of the columns that are in ``only`` (None: all) and not in ``drop``.

    Examples
    --------
    >>> select_columns(("id", "age", "sex"), ["id"], None), select_columns(("id", "age", "sex"), None, "age")
    ([1, 2], [1])
    >>> select_columns(("id", "age", "sex"), ["agee"], None)
    Traceback (most recent call last):
        ...
    ibmap.errors.UnknownVariableError: there is no variable 'agee'; did you mean 'age'?
    """
    left_out, wanted = _distinct(drop), None if only is None else _distinct(only)
    known = set(names)
    for name in (*left_out, *(wanted or ())):
        if name not in known:
            raise unknown_variable(name, names)
    kept = [i for i, name in enumerate(names) if name not in left_out]
    return kept if wanted is None else [i for i in kept if names[i] in wanted]


def list_names(names: Any) -> list[str] | None:
    """Return the names of columns that an argument holds, None if it is not given.

    Examples
    --------
    >>> list_names("age"), list_names(iter(["age", "sex"])), list_names(None)
    (['age'], ['age', 'sex'], None)
    """
    return None if names is None else list(_distinct(names))


def _distinct(names: Any) -> dict[str, None]:
    """Return names without repetitions; a single name counts as one."""
    return {} if names is None else dict.fromkeys(map(str, _checks.names_in(names, "drop and only")))


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
