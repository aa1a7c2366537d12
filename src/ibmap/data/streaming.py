"""A table that passes in batches → bits: its codes are never in memory all at once."""

import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ibmap._parallel import in_order
from ibmap._text import listing
from ibmap.data.batches import pack_column, part_of
from ibmap.data.column_errors import infinite
from ibmap.data.columns import Coded, Column, Labels, Numeric
from ibmap.data.discretize import Bins, Edges, cut, edges_of_columns, interval_labels
from ibmap.data.missing import check_counts, check_finite, no_row_left
from ibmap.data.packed import PackedData
from ibmap.data.parts import Part, Plan, beside, counted
from ibmap.data.quality import missing_together, too_many_levels
from ibmap.data.sources import Batch, Stream, check_shape, chosen
from ibmap.data.told import Told, check_order, lost_orders, without_values
from ibmap.errors import DataError, DataWarning

MOST = 1 << 18  #: rows of one batch, which is read some columns at a time
CELLS = 1 << 23  #: that a thread reads and packs at a time
WORTH = 1 << 18  #: cells from which on threads share the work
WHOLE, LEAST = 1 << 24, 1 << 10  #: cells and rows of a batch that has to be read with all columns at once


class NotInBatchesError(Exception):
    """A column is of a type whose labels depend on all of its values."""


class ReadAgainError(Exception):
    """What has passed was read in a wrong way: a late value has told so. The next time it will be right."""


def rows_at_once(n_columns: int) -> int:
    """Return how many rows a batch has that is read with all columns at once.

    Examples
    --------
    >>> rows_at_once(2), rows_at_once(100), rows_at_once(100_000)
    (262144, 167744, 1024)
    """
    return max(LEAST, min(MOST, WHOLE // max(n_columns, 1))) // 64 * 64


def columns_at_once(names: Sequence[str], n_rows: int, threads: int) -> list[Sequence[str]]:
    """Return the columns of a batch in groups of about equal size, each for a thread to read and pack.

    Examples
    --------
    >>> columns_at_once("abcde", 1 << 20, threads=2), columns_at_once("abcde", 100, threads=2)
    (['abc', 'de'], ['abcde'])
    """
    cells = len(names) * n_rows
    n_groups = threads * max(1, -(-cells // (threads * CELLS))) if cells >= WORTH else 1
    size = max(1, -(-len(names) // n_groups))
    return [names[k : k + size] for k in range(0, len(names), size)]


@dataclass
class Seen:
    """What was found in some columns of a batch."""

    where: str
    kinds: dict[str, str]
    is_last: bool  #: of the batch
    declared: dict[str, Labels] = field(default_factory=dict)
    packed: Any = None  #: a Part, or why there is none


@dataclass
class Passing:
    """What is known of a table while it passes."""

    names: tuple[str, ...]
    missing: str
    edges: dict[str, Edges]
    about: Told = field(default_factory=Told)
    parts: list[Part] = field(default_factory=list)
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)  #: of each column, and where it was seen
    declared: dict[str, Labels] = field(default_factory=dict)
    known: Any = 0  #: values of each column, before rows are dropped
    n_rows: int = 0  #: before rows are dropped
    threads: int = 1

    @property
    def most_rows(self) -> int:
        """How many rows a batch should have at most."""
        return rows_at_once(len(self.names)) if self.missing == "drop" else MOST

    def take(self, batches: Iterable[Batch]) -> None:
        """Pack batches, some columns at a time: threads run ahead, and parts come in order."""
        parts: list[Part] = []
        groups = self._groups(batches)
        for seen in in_order(
            lambda _, group: self._pack(*group), groups, self.threads, ahead=self.threads + 1
        ):
            for name, kind in seen.kinds.items():
                self.check_kind(name, kind, seen.where)
            if isinstance(seen.packed, Exception):
                raise seen.packed
            for name, levels in seen.declared.items():
                self.declare(name, levels, seen.where)
            parts.append(seen.packed)
            if seen.is_last:
                self.parts += [beside(parts)] if parts[0].n_rows else []
                parts = []

    def _groups(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Sequence[str], bool]]:
        """Yield the columns of batches in groups, and whether it is the last one of a batch."""
        for batch in batches:
            self.n_rows += batch.n_rows
            kept = self._complete_rows(batch) if self.missing == "drop" else batch
            *others, last = columns_at_once(self.names, kept.n_rows, self.threads)
            yield from ((kept, names, False) for names in others)
            yield kept, last, True

    def _pack(self, batch: Batch, names: Sequence[str], is_last: bool) -> "Seen":
        """Pack some columns of a batch."""
        frame = batch.read(names)
        kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
        seen = Seen(batch.where, kinds, is_last)
        try:
            columns = [self._column(name, series) for name, series in zip(names, frame, strict=True)]
            for column in columns:
                if isinstance(column, Coded) and column.declared:
                    seen.declared[column.name] = column.levels
            seen.packed = part_of([pack_column(column, batch.where) for column in columns], batch.n_rows)
        except (DataError, NotInBatchesError) as error:  # first what is said of columns of several kinds
            seen.packed = error
        return seen

    def _column(self, name: str, series: Any) -> Column:
        """Return a column as it was told about, in bins if it is to be cut."""
        column = self.about.column(column_of_polars(name, series))
        return cut(column, self.edges[name]) if name in self.edges and isinstance(column, Numeric) else column

    def check_kind(self, name: str, kind: str, where: str) -> None:
        """Refuse a column that is of another kind than it was before."""
        before, there = self.kinds.setdefault(name, (kind, where))
        if not before:
            self.kinds[name] = kind, where
        elif kind and kind != before:
            raise DataError(
                f"column {name!r} holds {kind} in {where}, and {before} in {there}: make them alike, "
                "or drop it"
            )

    def declare(self, name: str, levels: Labels, where: str) -> None:
        """Take the declared levels of a column; refuse others than those that were declared before."""
        before = self.declared.setdefault(name, levels)
        if before == levels:
            return
        if self.about.orders.get(name) is None:
            odd = [level for level in (*before, *levels) if (level in before) != (level in levels)]
            raise DataError(
                f"column {name!r} declares other categories in {where} than in {self.kinds[name][1]} "
                f"({listing(odd) or 'in another order'}): declare the same ones in the same order, or drop it"
            )
        pairs = zip(before, levels, strict=True)  # an order holds text for levels that a batch does not have
        self.declared[name] = tuple(new if isinstance(old, str) else old for old, new in pairs)

    def _complete_rows(self, batch: Batch) -> Batch:
        """Return the rows without a missing value; infinities count even where a row is left out."""
        import polars as pl

        frame = batch.read(self.names)
        for name, dtype in frame.schema.items():
            self.check_kind(name, kind_of(dtype), batch.where)
        floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
        for name in floats:
            if frame[name].is_infinite().any():
                raise infinite(name)
        frame = frame.with_columns(pl.col(floats).fill_nan(None)) if floats else frame
        for name, values in self.about.absent.items():
            if name in self.names:
                absent = without_values(column_of_polars(name, frame[name]), values).missing
                known = None if absent is None else pl.when(pl.Series(~absent)).then(pl.col(name))
                frame = frame if known is None else frame.with_columns(known.alias(name))
        self.known = self.known + (len(frame) - np.array(frame.null_count().row(0), np.int64))
        frame = frame.drop_nulls()
        return Batch(batch.where, len(frame), frame.select)

    def plan(self) -> Plan:
        """Return what all parts have in common, now that all rows have passed."""
        n_rows, absent = counted(self.parts)
        check_shape(self.n_rows, self.names)
        if self.missing == "drop":
            counts = self.n_rows - self.known
            check_counts(_some(self.names, counts), self.n_rows, self.missing)
            if not n_rows:
                raise no_row_left()
        check_counts(_some(self.names, absent), n_rows, self.missing)
        extra = [self.missing == "category" and bool(count) for count in absent.tolist()]
        labels = [self._labels(j) for j in range(len(self.names))]
        plan = Plan(self.names, tuple(labels), tuple(extra))
        found = dict(zip(self.names, plan.levels, strict=True))
        orders = [name for name in self.about.orders if name in found]
        for name in orders:  # words whose order nobody knows are refused
            words = tuple(label for label in found[name] if label is not None)
            check_order(name, words, name in self.declared)
        kept = tuple(name for name in orders if None not in found[name])
        return replace(plan, ordinal=kept, lost=lost_orders(orders, found))

    def finish(self, warning: str) -> PackedData:
        """Put the parts together."""
        plan = self.plan()
        bits, levels, extra = plan.put_together(self.parts, self.threads), plan.levels, plan.extra
        edges = {name: edges for name, edges in self.edges.items() if name in self.names}
        data = PackedData(bits, self.names, levels, edges)
        odd = [too_many_levels(data, self.declared), missing_together(data) if any(extra) else "", plan.lost]
        for words in filter(None, odd):
            warnings.warn(words, DataWarning, stacklevel=4)
        said = tuple(filter(None, [warning, *odd]))
        return PackedData(bits, self.names, levels, edges, warnings=said, ordinal=plan.ordinal)

    def _labels(self, column: int) -> Labels:
        """Return the levels of a column, in order."""
        name = self.names[column]
        if name in self.declared:
            return self.declared[name]
        seen = dict.fromkeys(label for part in self.parts for label in part.labels[column])
        if name in self.edges:
            return tuple(label for label in interval_labels(self.edges[name]) if label in seen)
        return tuple(sorted(seen, key=_sort_key))


def _sort_key(label: Hashable) -> tuple[str, Any]:
    return "number" if type(label) in (int, float) else type(label).__name__, label


def _some(names: Sequence[str], counts: Any) -> dict[str, int]:
    """Return the counts that are not 0, by name."""
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}


def kind_of(dtype: Any) -> str:
    """Return what values a polars column holds, in words; "" if it holds none.

    Examples
    --------
    >>> import polars as pl
    >>> kind_of(pl.Int8), kind_of(pl.Float64), kind_of(pl.String), kind_of(pl.Null)
    ('numbers', 'numbers', 'text', '')
    """
    import polars as pl

    if dtype in (pl.UInt8, pl.Int64, pl.Float64):  # most are
        return "numbers"
    if dtype == pl.Null:
        return ""
    if dtype == pl.Boolean:
        return "truth values"
    if isinstance(dtype, pl.Enum):
        return "declared categories"
    if dtype in (pl.String, pl.Categorical):
        return "text"
    if (dtype.is_integer() and "128" not in str(dtype)) or dtype.is_float():
        return "numbers"
    if dtype.is_numeric() or dtype == pl.Object:
        raise NotInBatchesError
    return f"values of type {dtype}"


def load_stream(
    stream: Stream,
    missing: str = "error",
    discretize: str | None = None,
    bins: Bins = None,
    drop: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    about: Told | None = None,
) -> PackedData | None:
    """Read a table in batches; None if it must be read as a whole.

    The arguments are those of :func:`ibmap.load`, and so is the result: the same levels, codes and warnings.
    """
    names = tuple(stream.names[i] for i in chosen(stream.names, drop, only))
    check_shape(1, names)
    edges: dict[str, Edges] = {}
    about = about or Told()
    if discretize is not None or bins is not None:
        if stream.column is None or missing == "drop":
            return None
        edges = edges_of_columns(map(about.column, _columns(stream, names)), names, discretize, bins)
    try:
        passing = _passed(stream, names, missing, edges, about)
    except NotInBatchesError:
        return None
    if stream.warning:
        warnings.warn(stream.warning, DataWarning, stacklevel=4)
    return passing.finish(stream.warning)


def _passed(
    stream: Stream, names: tuple[str, ...], missing: str, edges: dict[str, Edges], about: Told
) -> Passing:
    """Have all batches pass; from the start again if the stream asks for it."""
    import polars as pl

    passing = Passing(names, missing, edges, about, threads=pl.thread_pool_size())
    try:
        passing.take(stream.batches(names, passing.most_rows))
    except ReadAgainError:
        return _passed(stream, names, missing, edges, about)
    return passing


def _columns(stream: Stream, names: Sequence[str]) -> Iterator[Any]:
    """Yield one column after the other, with all its rows."""
    if stream.column is None:
        return
    for name in names:
        column = column_of_polars(name, stream.column(name))
        check_finite([column])
        yield column


def column_of_polars(name: str, series: Any) -> Column:
    """Return the column of a polars series; whole numbers without gaps are not looked at any further."""
    if series.dtype.is_integer() and not series.null_count():
        return Numeric(name, series.to_numpy())
    import narwhals as nw

    from ibmap.data.frames import column_of_series

    return column_of_series(name, nw.from_native(series, series_only=True))


def is_reader(source: object) -> bool:
    """Whether something is a stream of Arrow's record batches."""
    return hasattr(source, "read_next_batch") and hasattr(source, "schema")


def stream_of_frames(frames: Any) -> Stream:
    """Return frames that come one after the other, or a stream of Arrow's, as one table that passes once."""
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise DataError("the stream ended before its first batch")
    named = _as_polars(first, 1)

    def batches(names: Sequence[str], most_rows: int) -> Iterator[Batch]:
        for k, frame in enumerate(chain([named], rest), start=1):
            batch = _as_polars(frame, k)
            if gone := [name for name in names if name not in batch.columns]:
                raise DataError(f"batch {k} has no column {listing(gone)}, as batch 1 has")
            for row in range(0, len(batch), most_rows):
                some = batch[row : row + most_rows]
                yield Batch(f"batch {k}", len(some), some.select)

    return Stream(tuple(named.columns), batches)


def _as_polars(frame: Any, number: int) -> Any:
    """Return a batch as a polars frame."""
    import narwhals as nw
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if hasattr(frame, "__arrow_c_array__"):
        return pl.DataFrame(pl.from_arrow(frame))
    found = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(found, nw.DataFrame):
        raise DataError(f"batch {number} is no frame, but of type {type(frame).__name__}")
    return found.to_polars()
