"""`load`: the one way into the library for data. A table passes in batches, and becomes bits.

What is in memory is one batch. So a table has the same levels, the same codes and the same errors, whether it
comes at once, as a folder of files, or as a stream of frames.
"""

import os
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ibmap import _checks
from ibmap._parallel import in_order
from ibmap._text import listing
from ibmap.data.columns import Coded, Column, Labels, Numeric, infinite
from ibmap.data.declared import (
    ALL,
    ColumnOptions,
    MissingValues,
    Names,
    Ordinal,
    check_order,
    column_options,
    lost_orders,
)
from ibmap.data.discretize import (
    ADVICE,
    Bins,
    Edges,
    about_continuous,
    check_bins,
    cut,
    edges_of_columns,
    interval_labels,
)
from ibmap.data.files import open_file
from ibmap.data.frames import encode_matrix, open_source, polars_batch
from ibmap.data.kinds import MOST_LEVELS, MOST_WHOLE, with_kind
from ibmap.data.missing import POLICIES, apply_policy, check_counts, check_finite, check_policy, no_row_left
from ibmap.data.numbers import NUMBERS
from ibmap.data.packing import (
    PackedColumn,
    Part,
    Plan,
    beside,
    counted,
    key_of,
    numbers_of,
    pack_column,
    part_of,
    sort_key,
)
from ibmap.data.parquet import Piece
from ibmap.data.quality import (
    columns_of_times,
    identifiers,
    missing_together,
    no_plain_numbers,
    too_many_levels,
)
from ibmap.data.schema import Schema
from ibmap.data.sources import (
    Batch,
    NotInBatchesError,
    ReadAgainError,
    Source,
    check_shape,
    list_names,
    one_batch,
    select_columns,
)
from ibmap.data.table import PackedData, Table
from ibmap.errors import ContinuousError, DataError, DataWarning, RequestError

ROWS_AT_ONCE = 1 << 18  #: rows of one batch, which is read some columns at a time
CELLS_AT_ONCE = 1 << 23  #: that a thread reads and packs at a time
WORTH = 1 << 18  #: cells from which on threads share the work
BY_ROWS = ("question", "impute", "auto")  #: of missing values, where rows are looked at
SOME = 0.05  #: of the cells may be missing where each question uses the rows where its columns are known
#: why a column that tells rows apart, and nothing else, is left out
ROWS_APART = "every row has a different value (an identifier?); only= keeps such columns"
WHOLE, LEAST = 1 << 24, 1 << 10  #: cells and rows of a batch that has to be read with all columns at once


def load(
    source: Any,
    *,
    missing: str = "error",
    imputation_seed: int = 0,
    discretize: str | None = None,
    bins: Bins = None,
    drop: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    ordinal: Ordinal = None,
    nominal: Names = None,
    continuous: Names = None,
    numbers: str | None = None,
    missing_values: MissingValues = None,
) -> Table:
    """Read any table into a :class:`Table`: of categories, or of numbers and categories.

    Parameters
    ----------
    source : table
        A pandas, polars or Arrow frame, a NumPy array, a list of rows, a dict of columns, the path of a CSV
        (or otherwise delimited), Parquet, Arrow or packed file, of a file of SPSS, Stata, SAS or Excel (a
        sheet of it: "file.xlsx#Sheet2"), or of a folder of Parquet or Arrow files, an Arrow stream or another
        iterator of frames, or a ``Table``, of which only columns are chosen. Folders, streams and large
        files are read in batches and packed to bits as they pass.
    missing : {"error", "drop", "category", "testwise", "question", "impute", "auto"}
        Refuse missing values; drop incomplete rows; make them a level of their own, labelled None and sorted
        last; or keep them as code -1, so that each test uses the rows complete in its own columns. "question"
        and "impute" keep them, too: :class:`ibmap.EvidenceMAP` then uses, for each question, the rows where
        its columns are known, or completes the table five times by the network itself; "auto" imputes if more
        than 5 % of the cells are missing.
    imputation_seed : int
        The seed of the values that are imputed.
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
        Columns whose levels have an order: numbers by value, declared categories as they were declared, words
        as "mood=low<high" or ``{"mood": ["low", "high"]}`` says. They are never cut. Ordered categories of
        pandas are ordinal without being named.
    nominal : iterable of str, optional
        Columns of categories without an order, whatever they hold: they are never cut.
    continuous : iterable of str, optional
        Columns of numbers, however few different ones they hold; other columns as with "auto", which decides
        by values: columns with more than 20 whole numbers, or more than 10 with fractions, are continuous;
        fewer with fractions are ordinal; few whole numbers are categories, or ordinal if
        :class:`ibmap.EvidenceMAP` finds more evidence for that; two values and words are categories. "all":
        every column of numbers is continuous. By default all columns are categories. In all three lists "q*"
        stands for columns by a pattern, and "all" for those that are not named.
    numbers : {"ranks", "values"}, optional
        How a continuous column counts: by the normal scores of its ranks (the default), which do not depend
        on units, outliers or skewness; or by its values, the default for ``continuous="all"``.
    missing_values : iterable, or dict from names to iterables, optional
        Values that stand for missing ones (-9, "refused"), in all columns or by column.

    Returns
    -------
    Table
        Levels are in ascending order; declared categories (pandas Categorical, polars Enum) keep their order
        and stay even if no row has them. Bins without rows are no levels. With "auto", columns that say
        nothing are left out with a warning: identifiers, constants, dates, and columns of more than 100
        levels.

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
    >>> load(table, continuous=["age"]).schema.kinds
    ('nominal', 'continuous')
    """
    check_policy(missing, (*POLICIES, *BY_ROWS))
    policy = "testwise" if missing in BY_ROWS else missing
    _checks.whole(imputation_seed, "imputation_seed", 0, 2**63)
    check_bins(discretize, bins)
    if numbers is not None:
        _checks.word(numbers, "numbers", NUMBERS)
    if isinstance(source, str | os.PathLike):
        source = open_file(Path(os.fspath(source)))
    if not isinstance(source, Table):
        source = open_source(source)
    drop, only = list_names(drop), list_names(only)
    reading: dict[str, Any] = {"missing": missing, "discretize": discretize, "bins": bins}
    reading |= {"drop": drop, "only": only}
    known = {} if isinstance(source, Table) else source.ordinal
    about = column_options(source.names, ordinal, nominal, continuous, missing_values, known)
    if isinstance(source, Table):
        is_file = isinstance(source, PackedData) and source.known_digest is not None
        data = _select_variables(_with_options(source, about), select_columns(source.names, drop, only))
        _check_coded(data, policy, discretize, bins, "pack" if is_file else "load")
        for words in data.warnings if is_file else ():  # of others they were said before
            warnings.warn(words, DataWarning, stacklevel=2)
        chose = {"drop": drop, "only": only, **about.arguments(data.names)}
        before = dict(source.reading) or {"missing": "testwise" if data.has_missing else policy}
        if policy != missing and (missing != "auto" or before.get("missing") not in BY_ROWS):
            before |= about_missing(data, missing, imputation_seed)
        return data.read_by({**before, **{name: value for name, value in chose.items() if value}})
    names = source.select(drop, only)
    if source.warning:  # before what comes of it
        warnings.warn(source.warning, DataWarning, stacklevel=2)
    odd: list[str] = []
    chosen = names
    if about.others == "auto":
        names, odd = _without_useless(source, names, about, is_chosen=only is not None)
    is_cut = discretize is not None or bins is not None
    plain = None if is_cut else _plain_matrix(source, names, about)
    data = plain or _read(source, names, policy, discretize, bins, about)
    if about.others == "auto":
        if not _can_be_read_twice(source) and only is None:
            data, odd = _without_identifiers(data, about)
        data = _without_few_and_many(data, odd, is_chosen=only is not None)
    for words in data.warnings[bool(source.warning) :]:
        warnings.warn(words, DataWarning, stacklevel=2)
    reading |= about.arguments(names)
    kept = set(data.names)
    if left_out := [name for name in chosen if name not in kept]:
        reading["drop"] = [*(drop or ()), *left_out]
    if missing != policy:
        reading |= about_missing(data, missing, imputation_seed)
    if not len(data.values):  # categories, after all
        return data.read_by(reading | {"continuous": None})
    counts = numbers or ("values" if about.others == ALL else "ranks")
    return data.with_description(numbers=counts, reading=reading | {"numbers": counts})


def about_missing(data: Table, missing: str, seed: int) -> dict[str, Any]:
    """Return what is done about missing values where rows are looked at, as a table says it."""
    if not data.has_missing:
        return {"missing": "error"}
    imputes = missing == "impute" or (missing == "auto" and data.missing_share > SOME)
    return {"missing": "impute", "imputation_seed": int(seed)} if imputes else {"missing": "question"}


def _without_useless(
    source: Source, names: tuple[str, ...], about: ColumnOptions, is_chosen: bool
) -> tuple[tuple[str, ...], list[str]]:
    """Return columns without dates and identifiers, and words about those; chosen ones stay."""
    if is_chosen or not _can_be_read_twice(source):
        return names, []
    undeclared = [name for name in names if not about.is_declared(name)]
    dates = columns_of_times(source, undeclared)
    known = [name for name in undeclared if name not in dates]
    rows = identifiers(source, known, cut=True)
    kept = tuple(name for name in names if name not in (*dates, *rows))
    if len(kept) < 2:
        return names, []  # whoever reads them says what is wrong
    said = {
        "dates and times are neither numbers nor categories; a year, a month or a number of days is": dates,
        ROWS_APART: rows,
    }
    return kept, [f"left out {listing(found)}: {why}" for why, found in said.items() if found]


def _can_be_read_twice(source: Source) -> bool:
    return source.is_whole or source.whole is not None


def _without_identifiers(data: Table, about: ColumnOptions) -> tuple[Table, list[str]]:
    """Return a table of what passes once without identifiers, and words about them."""
    rows = identifiers(data, [name for name in data.names if not about.is_declared(name)], cut=True)
    kept = [v for v, name in enumerate(data.names) if name not in rows]
    if not rows or len(kept) < 2:
        return data, []
    return data.variables(kept), [f"left out {listing(rows)}: {ROWS_APART}"]


def _without_few_and_many(data: Table, odd: list[str], is_chosen: bool) -> Table:
    """Return a table without constants, and without columns of too many levels."""
    sizes = zip(data.names, data.cardinalities.tolist(), data.is_number.tolist(), strict=True)
    constant, many = [], []
    for v, (name, n_levels, is_number) in enumerate(sizes):
        if is_number:
            values = data.values_of(v)
            values = values[~np.isnan(values)]
            if (values == values[:1]).all():
                constant.append(name)
        elif n_levels < 2:
            constant.append(name)
        elif n_levels > MOST_LEVELS:
            many.append(name)
    kept = [v for v, name in enumerate(data.names) if name not in (*many, *([] if is_chosen else constant))]
    if len(kept) < 2:
        kept, constant, many = list(range(data.n_variables)), [], []
    if constant and not is_chosen:
        odd = [*odd, f"left out {listing(constant)}: the same value in all rows"]
    if many:
        its = "its" if len(many) == 1 else "their"
        labels = [data.levels[data.index(name)] for name in many]
        mend = next(filter(None, map(no_plain_numbers, labels)), f"group {its} values")
        odd = [*odd, f"left out {listing(many)}: more than {MOST_LEVELS} levels; {mend}"]
    found = data if len(kept) == data.n_variables else data.variables(kept)
    return found.with_description(warnings=(*data.warnings, *odd)) if odd else found


def _plain_matrix(source: Source, names: tuple[str, ...], about: ColumnOptions) -> Table | None:
    """Return a table of whole numbers of one type, for which there is a shorter way; None if it is none."""
    if source.matrix is None or not about.is_plain:
        return None
    encoded = encode_matrix(source.matrix(names))
    if encoded is None or (about.others == "auto" and max(map(len, encoded[1])) > MOST_WHOLE):
        return None
    encoded[0].flags.writeable = False  # nobody else has it: no copy is needed
    there = set(names)
    orders = tuple(name for name in about.orders if name in there)
    said = filter(None, [source.warning, too_many_levels(Schema(names, encoded[1], encoded[0].shape[1]))])
    few = [name for name, labels in zip(names, encoded[1], strict=True) if len(labels) > 2]
    undecided = tuple(name for name in few if about.others == "auto" and not about.is_declared(name))
    table = Table(encoded[0], names, encoded[1], {}, source.backend, tuple(said), orders)
    return table.with_description(undecided=undecided)


def _read(
    source: Source,
    names: tuple[str, ...],
    missing: str,
    discretize: str | None,
    bins: Bins,
    about: ColumnOptions,
) -> Table:
    """Read a table in batches; at once if it must be read as a whole."""
    edges: dict[str, Edges] = {}
    if discretize is not None or bins is not None:
        if source.column is None or missing == "drop":
            source = source.at_once()
            columns = list(map(about.column, source.columns(names)))
            check_finite(columns)
            columns = apply_policy(columns, missing)
            edges = _edges(columns, names, discretize, bins, about)
            there = {column.name: column for column in columns}
            about_it = {"warning": source.warning, "backend": source.backend}
            source = one_batch(names, lambda some: [there[name] for name in some], **about_it)
        else:
            edges = _edges(map(about.column, _columns(source, names)), names, discretize, bins, about)
    reader = Reader(names, missing, edges, about, source.is_whole, threads=n_threads())
    try:
        reader.take(source.batches(names, reader.most_rows))
    except ReadAgainError:
        return _read(source, names, missing, discretize, bins, about)
    except NotInBatchesError:
        return _read(source.at_once(), names, missing, discretize, bins, about)
    return reader.finish(source.warning, source.backend)


def _edges(
    columns: Iterable[Column],
    names: Sequence[str],
    discretize: str | None,
    bins: Bins,
    about: ColumnOptions,
) -> dict[str, Edges]:
    """Return the edges of the columns that are to be cut: of those that are not to stay numbers."""
    loose = (column for column in columns if column.name not in about.continuous)
    return edges_of_columns(loose, names, discretize, bins)


def _columns(source: Source, names: Sequence[str]) -> Iterator[Column]:
    """Yield one column after the other, with all its rows."""
    if source.column is not None:
        for name in names:
            column = source.column(name)
            check_finite([column])
            yield column


def n_threads() -> int:
    """Return how many threads read."""
    import polars as pl

    return pl.thread_pool_size()


def _check_coded(data: Table, missing: str, discretize: str | None, bins: Any, verb: str) -> None:
    """Refuse what could only be done when a table was packed or loaded, unless it was done then."""

    def plain(bins: Any) -> Any:
        if not isinstance(bins, Mapping):
            return bins
        return {name: tuple(entry) if np.iterable(entry) else entry for name, entry in bins.items()}

    known = data.reading.get("discretize"), plain(data.reading.get("bins"))
    was_cut = plain(bins) == dict(data.bin_edges) or (discretize, plain(bins)) == known
    if (discretize is not None or bins is not None) and not was_cut:
        raise RequestError(
            f"the table was {verb}ed already, and columns can only be cut then: pass discretize or bins there"
        )
    if missing in ("drop", "category") and data.has_missing:
        raise RequestError(
            f"the table was {verb}ed with its missing values: {verb} it again with missing={missing!r}"
        )


def _select_variables(data: Table, kept: list[int]) -> Table:
    if len(kept) == data.n_variables:
        return data
    check_shape(data.n_rows, tuple(data.names[i] for i in kept))
    return data.variables(kept)


def _with_options(data: Table, about: ColumnOptions) -> Table:
    """Return a table that is coded already with other orders of its levels."""
    if not about.is_plain:
        raise RequestError("the table is coded: say what is missing, and in which order, when it is loaded")
    for name in about.orders:
        check_order(name, data.levels[data.index(name)], name in data.ordinal)
    for name in about.continuous:
        if not data.is_number[data.index(name)]:
            raise RequestError(f"{name!r} was loaded with levels: pass continuous when the table is loaded")
    if about.others == "categories" and len(data.values):
        found = [name for name, is_number in zip(data.names, data.is_number, strict=True) if is_number]
        raise ContinuousError(f"{listing(found)}: numbers, and this needs levels", ADVICE)
    ordinal = {name for name in (*data.ordinal, *about.orders) if name not in about.nominal}
    return data if ordinal == set(data.ordinal) else data.with_ordinal(ordinal)


def rows_at_once(n_columns: int) -> int:
    """Return how many rows a batch has that is read with all columns at once.

    Examples
    --------
    >>> rows_at_once(2), rows_at_once(100), rows_at_once(100_000)
    (262144, 167744, 1024)
    """
    return max(LEAST, min(ROWS_AT_ONCE, WHOLE // max(n_columns, 1))) // 64 * 64


def columns_at_once(names: Sequence[str], n_rows: int, threads: int) -> list[Sequence[str]]:
    """Return the columns of a batch in groups of about equal size, each for a thread to read and pack.

    Examples
    --------
    >>> columns_at_once("abcde", 1 << 20, threads=2), columns_at_once("abcde", 100, threads=2)
    (['abc', 'de'], ['abcde'])
    """
    cells = len(names) * n_rows
    n_groups = threads * max(1, -(-cells // (threads * CELLS_AT_ONCE))) if cells >= WORTH else 1
    size = max(1, -(-len(names) // n_groups))
    return [names[k : k + size] for k in range(0, len(names), size)]


@dataclass
class PackedGroup:
    """What was found in some columns of a batch."""

    where: str
    is_last: bool  #: of the batch
    kinds: dict[str, str] = field(default_factory=dict)
    declared: dict[str, Labels] = field(default_factory=dict)
    ordinal: set[str] = field(default_factory=set)
    continuous: list[Column] = field(default_factory=list)
    absent: dict[str, int] = field(default_factory=dict)  #: missing values; only if a column is continuous
    packed: Part | DataError | None = None  #: or why there is none


@dataclass
class Reader:
    """What is known of a table while it passes."""

    names: tuple[str, ...]
    missing: str
    edges: dict[str, Edges]
    about: ColumnOptions = field(default_factory=ColumnOptions)
    is_whole: bool = False  #: whether there is one batch
    parts: list[Part] = field(default_factory=list)
    kinds: dict[str, tuple[str, str]] = field(default_factory=dict)  #: of each column, and where it was seen
    declared: dict[str, Labels] = field(default_factory=dict)
    ordinal: set[str] = field(default_factory=set)
    known: Any = 0  #: values of each column, before rows are dropped
    n_rows: int = 0  #: before rows are dropped
    threads: int = 1

    @property
    def most_rows(self) -> int:
        """How many rows a batch should have at most."""
        return rows_at_once(len(self.names)) if self.missing == "drop" else ROWS_AT_ONCE

    def take(self, batches: Iterable[Batch]) -> None:
        """Pack batches, some columns at a time: threads run ahead, and parts come in order."""
        found: list[PackedGroup] = []
        groups = self._groups(batches)
        for seen in in_order(
            lambda _, group: self._pack(*group), groups, self.threads, ahead=self.threads + 1
        ):
            for name, kind in seen.kinds.items():
                self.check_kind(name, kind, seen.where)
            if isinstance(seen.packed, DataError):
                raise seen.packed
            for name, levels in seen.declared.items():
                self.declare(name, levels, seen.where)
            self.ordinal |= seen.ordinal
            found.append(seen)
            if seen.is_last:
                self._refuse_continuous(found)
                parts = [one.packed for one in found if isinstance(one.packed, Part)]
                self.parts += [beside(parts)] if parts[0].n_rows else []
                found = []

    def _groups(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Sequence[str], bool]]:
        """Yield the columns of batches in groups, and whether it is the last one of a batch."""
        for batch in batches:
            self.n_rows += batch.n_rows
            kept = self._complete_rows(batch) if self.missing == "drop" else batch
            *others, last = columns_at_once(self.names, kept.n_rows, self.threads)
            yield from ((kept, names, False) for names in others)
            yield kept, last, True

    def _pack(self, batch: Batch, names: Sequence[str], is_last: bool) -> PackedGroup:
        """Pack some columns of a batch."""
        seen = PackedGroup(batch.where, is_last)
        read = batch.read(names)
        seen.kinds = {column.name: column.kind for column in read}
        try:
            columns = [self._column(column) for column in read]
            coded = [column for column in columns if isinstance(column, Coded)]
            seen.declared = {column.name: column.levels for column in coded if column.declared}
            seen.ordinal = {column.name for column in coded if column.ordinal}
            packed = list(map(self._packed, columns))
            seen.continuous = [c for c, done in zip(columns, packed, strict=True) if done is None]
            if seen.continuous:
                masks = {column.name: column.missing for column in columns}
                seen.absent = {name: int(mask.sum()) for name, mask in masks.items() if mask is not None}
            seen.packed = part_of([done for done in packed if done is not None], batch.n_rows)
        except DataError as error:  # first what is said of columns of several kinds
            seen.packed = error
        return seen

    def _packed(self, column: Column) -> PackedColumn | None:
        """Return a column by its labels, or as numbers; None if it is to be one of categories and cannot."""
        others = self.about.others
        if others == "categories" or isinstance(column, Coded):
            return pack_column(column)
        if others == ALL or column.name in self.about.continuous:
            return numbers_of(column)
        packed = pack_column(column)
        return numbers_of(column) if packed is None or len(packed.labels) > MOST_WHOLE else packed

    def _refuse_continuous(self, found: Sequence[PackedGroup]) -> None:
        """Refuse a batch with numbers that are not whole; say all that is wrong at once."""
        columns = [column for one in found for column in one.continuous]
        if not columns:
            return
        words = about_continuous(columns, "" if self.is_whole else found[0].where)
        if self.is_whole and not self.edges:
            absent = {name: count for one in found for name, count in one.absent.items()}
            try:
                check_counts(absent, self.n_rows, self.missing)
            except DataError as error:
                raise ContinuousError(f"{error}; {words}", ADVICE) from None
        raise ContinuousError(words, ADVICE)

    def _column(self, column: Column) -> Column:
        """Return a column with its options, in bins if it is to be cut."""
        column = self.about.column(column)
        edges = self.edges.get(column.name)
        return cut(column, edges) if edges is not None and isinstance(column, Numeric) else column

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
        if batch.frame is not None and not self.about.absent:  # the same, before text is encoded
            return self._complete_frame(batch.where, batch.frame(self.names))
        columns = list(map(self.about.with_missing, batch.read(self.names)))
        for column in columns:
            self.check_kind(column.name, column.kind, batch.where)
        check_finite(columns)
        masks = [column.missing for column in columns]
        absent = np.array([0 if mask is None else int(mask.sum()) for mask in masks], np.int64)
        self.known = self.known + (batch.n_rows - absent)
        some = [mask for mask in masks if mask is not None]
        if not some:
            there = {column.name: column for column in columns}
            return Batch(batch.where, batch.n_rows, lambda names: [there[name] for name in names])
        keep = ~np.logical_or.reduce(some)
        kept = {column.name: column.rows(keep) for column in columns}
        return Batch(batch.where, int(keep.sum()), lambda names: [kept[name] for name in names])

    def _complete_frame(self, where: str, frame: Any) -> Batch:
        """Return the rows of a polars frame without a missing value."""
        import polars as pl

        floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
        for name in floats:
            if frame[name].is_infinite().any():
                raise infinite(name)
        frame = frame.with_columns(pl.col(floats).fill_nan(None)) if floats else frame
        self.known = self.known + (len(frame) - np.array(frame.null_count().row(0), np.int64))
        return polars_batch(where, frame.drop_nulls())

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
        orders = [name for name in self.names if name in self.ordinal]
        for name in orders:  # words whose order nobody knows are refused
            words = tuple(label for label in found[name] if label is not None)
            check_order(name, words, name in self.declared)
        kept = tuple(name for name in orders if None not in found[name])
        return replace(plan, ordinal=kept, lost=lost_orders(orders, found))

    def finish(self, warning: str, backend: str | None = None) -> Table:
        """Put the parts together."""
        numbers, undecided = ({}, ()) if self.about.others == "categories" else self._numbers()
        plan = self.plan()
        bits, levels, extra = plan.put_together(self.parts, self.threads), plan.levels, plan.extra
        edges = {name: edges for name, edges in self.edges.items() if name in self.names}
        data = PackedData(bits, self.names, levels, edges)
        meant = set(self.declared)
        if self.about.others == "auto":  # those are left out
            meant |= {name for name, one in zip(self.names, levels, strict=True) if len(one) > MOST_LEVELS}
        odd = [too_many_levels(data, meant), missing_together(data) if any(extra) else "", plan.lost]
        about: dict[str, Any] = {"backend": backend, "warnings": tuple(filter(None, [warning, *odd]))}
        about |= {"bin_edges": edges, "undecided": undecided}
        if not numbers and self.about.others != ALL:
            return PackedData(bits, self.names, levels, ordinal=plan.ordinal, **about)
        if self.about.others == ALL:
            levels_stay = {*numbers, *self.about.nominal}
            rest = [v for v, name in enumerate(self.names) if name not in levels_stay]
            numbers |= {self.names[v]: _in_numbers(data, v, plan.ordinal, self.declared) for v in rest}
        of_levels = {name: one for name, one in numbers.items() if isinstance(one, Coded)}
        codes = [
            of_levels[name].codes if name in of_levels else data.codes_of(v)
            for v, name in enumerate(self.names)
            if name in of_levels or name not in numbers
        ]
        in_order = [numbers[name] for name in self.names if name in numbers]
        values = [one.values for one in in_order if isinstance(one, Numeric)]
        return Table(
            np.array(codes, np.int32).reshape(-1, bits.n_rows),
            self.names,
            tuple(
                of_levels[name].levels if name in of_levels else () if name in numbers else labels
                for name, labels in zip(self.names, levels, strict=True)
            ),
            ordinal=(*plan.ordinal, *(name for name, one in of_levels.items() if one.ordinal)),
            values=np.array(values, np.float64).reshape(-1, bits.n_rows),
            **about,
        )

    def _numbers(self) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Return columns of numbers that are not levels in all batches, and those of few whole numbers."""
        found: dict[str, Column] = {}
        undecided = []
        absent = counted(self.parts)[1].tolist() if self.parts else []
        for j, name in enumerate(self.names):
            is_named = name in self.about.continuous or self.about.others == ALL
            if self.kinds.get(name, ("",))[0] != Numeric.kind or name in self.edges or not self.parts:
                continue
            if self.about.is_declared(name) and not is_named:
                continue
            is_held = any(j in part.values for part in self.parts)
            n_labels = len({label for part in self.parts for label in part.labels[j]})
            if not is_held and n_labels <= MOST_WHOLE:
                undecided += [name] if n_labels > 2 else []
                continue
            if self.missing == "category" and absent[j]:
                raise DataError(
                    f"{name!r} holds numbers, and missing numbers cannot be a category: pass "
                    f"missing='testwise' "
                    "or 'drop'"
                )
            values = np.concatenate([part.take_numbers(j) for part in self.parts])
            gone = np.isnan(values)
            column = Numeric(name, values, gone if gone.any() else None)
            found[name] = column if is_named else with_kind(column)
        return found, tuple(undecided)

    def _labels(self, column: int) -> Labels:
        """Return the levels of a column, in order."""
        name = self.names[column]
        if name in self.declared:
            return self.declared[name]
        if self.is_whole and self.parts:
            return self.parts[0].labels[column]
        seen = {key_of(label): label for part in self.parts for label in part.labels[column]}
        if name in self.edges:
            return tuple(label for label in interval_labels(self.edges[name]) if label in seen)
        return tuple(sorted(seen.values(), key=sort_key))


def _in_numbers(data: Table, v: int, ordinal: Container[str], declared: Container[str]) -> Numeric:
    """Return the levels of a variable as numbers, if they have an order."""
    name, n_levels = data.names[v], len(data.levels[v])
    if n_levels > 2 and name not in ordinal and name not in declared:
        raise DataError(
            f"column {name!r} has {n_levels} levels without an order: declare one (ordinal=), drop it, or "
            "cut the numbers instead (discretize='quantile')"
        )
    codes = data.codes_of(v)
    gone = codes < 0
    return Numeric(name, np.where(gone, np.nan, codes), gone if gone.any() else None)


def _some(names: Sequence[str], counts: Any) -> dict[str, int]:
    """Return the counts that are not 0, by name."""
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}


# Pieces of a table, each read wherever there is place; what was seen in all of them says what labels mean


def read_piece(piece: Piece, names: tuple[str, ...], missing: str, about: ColumnOptions) -> Reader:
    """Read a piece, and pack it by the labels of its own rows."""
    known = {name: order for name, order in piece.where[0][0].orders.items() if name not in about.nominal}
    reader = Reader(names, missing, {}, replace(about, orders={**known, **about.orders}))
    try:
        reader.take(piece.batches(reader.most_rows))
    except NotInBatchesError:
        raise DataError(
            f"{str(piece.where[0][0].path)!r} has a column of a type that can only be read at once, such as "
            f"decimals: make it whole numbers or text, drop it, or use the engine 'memory'"
        ) from None
    except ContinuousError as error:  # its parts do not travel
        raise DataError(str(error)) from None
    return reader


def without_rows(reader: Reader) -> Reader:
    """Return what was seen of a piece: labels and how many values there are, but no rows."""
    n_columns = len(reader.names)
    labels = [
        tuple(dict.fromkeys(label for part in reader.parts for label in part.labels[j]))
        for j in range(n_columns)
    ]
    known = np.array([part.known for part in reader.parts], np.int64).reshape(-1, n_columns).sum(axis=0)
    n_rows = sum(part.n_rows for part in reader.parts)
    return replace(reader, parts=[Part(n_rows, labels, np.empty((0, 0), np.uint64), known=known.tolist())])


def plan_of(seen: Sequence[Reader]) -> Plan:
    """Return what all pieces have in common; refuse columns that differ between them, as one reader would."""
    whole = Reader(seen[0].names, seen[0].missing, {}, seen[0].about)
    for one in seen:
        for name, (kind, where) in one.kinds.items():
            whole.check_kind(name, kind, where)
        whole.parts += one.parts
        for name, levels in one.declared.items():
            whole.declare(name, levels, one.kinds[name][1])
        whole.ordinal |= one.ordinal
        whole.known = whole.known + one.known
        whole.n_rows += one.n_rows
    return whole.plan()


def apply_plan(reader: Reader, plan: Plan) -> PackedData:
    """Return the rows of a piece by the labels of all."""
    for name, meant, labels in zip(
        plan.names, plan.labels, without_rows(reader).parts[0].labels, strict=True
    ):
        if not set(labels) <= set(meant):
            where = reader.kinds[name][1]
            raise DataError(f"{where!r} has changed while it was in use: column {name!r} has new values")
    return PackedData(plan.put_together(reader.parts), plan.names, plan.levels)
