"""Warnings about tables that can be used, but are probably not meant like this."""

import re
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np

from ibmap._text import first_few, listing
from ibmap.data.columns import EXACT, Coded, Column, Numeric
from ibmap.data.kinds import MOST_WHOLE
from ibmap.data.schema import Schema
from ibmap.data.sources import Batch, NotInBatchesError, ReadAgainError, Source
from ibmap.data.table import Table
from ibmap.errors import DataError, TimeColumnError

FEW_ROWS = 5  # per level: with fewer of them on average, conditioning on a column leaves next to no rows
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
NUMBER = re.compile(rf"\W?\s?[-+]?\d[\d.,' ]*\s?\W?|{PLAIN.pattern}", re.IGNORECASE)  # 12,345 and $5 and 7 %
UNNAMED = re.compile(r"|column_\d+|Unnamed: \d+|rownames")  # names of rows, as R and pandas write them
AT_MOST = 10_000  # rows that are looked at, to see what is missing in the same of them
LOOK = 1 << 10  # rows in which a column that may be an identifier is looked at first
SMALL = 10  # rows up to which all values may well be different


def too_many_levels(data: Table | Schema, declared: Collection[str] = ()) -> str:
    """Return the warning about columns with hardly any rows per level, "" if there is none.

    Numbers that were not cut, identifiers, names and times look like that. Levels that were declared are
    meant.

    Examples
    --------
    >>> codes = np.array([np.arange(100), np.arange(100) % 2])
    >>> too_many_levels(Table(codes, ("pay", "sex"), (tuple(range(100)), ("f", "m"))))
    "too many levels for 100 rows: 'pay' (100); cut numbers with discretize='equal-width' or 'quantile', \
or drop it"
    """
    levels, rows = data.cardinalities, data.n_rows
    many = (levels > MOST_WHOLE) & (FEW_ROWS * levels > rows)
    many |= (levels >= rows) & (rows >= SMALL)
    found = [i for i in np.flatnonzero(many).tolist() if data.names[i] not in declared]
    if not found:
        return ""
    it, its = ("it", "its") if len(found) == 1 else ("them", "their")
    labels = [data.levels[i] for i in found]
    mend = next(filter(None, map(no_plain_numbers, labels)), f"group {its} values")
    if any(type(column[0]) is int for column in labels):
        mend = "cut numbers with discretize='equal-width' or 'quantile'"
    columns = first_few([f"{data.names[i]!r} ({levels[i]})" for i in found])
    return f"too many levels for {rows} rows: {columns}; {mend}, or drop {it}"


def identifiers(source: Source | Table, names: Sequence[str], cut: bool = False) -> list[str]:
    """Return the columns that tell rows apart and nothing else: an index, names, numbers.

    Every row has another value. Of whole numbers that are to be ``cut`` only those that count the rows are.
    Only columns that have no value twice in the first rows are read to their end.

    Examples
    --------
    >>> from ibmap.data.frames import open_source
    >>> source = open_source({"": range(30), "pay": [7 * i % 31 for i in range(30)], "sex": ["f", "m"] * 15})
    >>> identifiers(source, source.names), identifiers(source, source.names, cut=True)
    (['', 'pay'], [''])
    """
    if isinstance(source, Table):
        some = [_as_column(source, v) for v in source.indices(names)]
        parts = {column.name: [column] for column in some if column is not None}
    else:
        try:
            parts = _distinct_columns(source, names)
        except ReadAgainError:
            return identifiers(source, names, cut)
        except NotInBatchesError:
            return identifiers(source.at_once(), names, cut)
    kept = [name for name, columns in parts.items() if _all_differ(columns, MOST_WHOLE)]
    kept = [name for name in kept if not _are_numbers_but_some(parts[name])]
    return [
        name
        for name in kept
        if not (
            cut
            and isinstance(parts[name][0], Numeric)
            and _jumps(parts[name])
            and not UNNAMED.fullmatch(name)
        )
    ]


def _are_numbers_but_some(columns: Sequence[Column]) -> bool:
    """Whether a column of text holds numbers, and a few words: it is no identifier."""
    labels = [label for column in columns if isinstance(column, Coded) for label in column.levels]
    return bool(no_plain_numbers(tuple(labels)))


def _as_column(table: Table, variable: int) -> Column | None:
    """Return a column of a table that was read, if it may tell rows apart: whole numbers, or many levels."""
    name, labels = table.names[variable], table.levels[variable]
    if table.is_number[variable]:
        values = table.values_of(variable)
        whole = np.isfinite(values).all() and (np.abs(values) < EXACT).all() and (values % 1 == 0).all()
        return Numeric(name, values.astype(np.int64)) if whole else None
    if len(labels) < max(MOST_WHOLE, table.n_rows):
        return None
    if all(type(label) is int for label in labels):
        return Numeric(name, np.array(labels)[table.codes_of(variable)])
    return Coded(name, table.codes_of(variable), labels)


def _distinct_columns(source: Source, names: Sequence[str]) -> dict[str, list[Column]]:
    """Return the columns that have no value twice in any batch."""
    first = {column.name: column for column in _readable(source.head(names, LOOK), names)}
    parts: dict[str, list[Column]] = {name: [] for name, column in first.items() if _all_differ([column])}
    for batch in source.batches(list(parts), LOOK << 8) if parts else ():
        for column in batch.read(list(parts)):
            parts[column.name].append(column)
        parts = {name: columns for name, columns in parts.items() if _all_differ(columns[-1:])}
    return parts


def _readable(batch: Batch, names: Sequence[str]) -> list[Column]:
    """Return those columns that can be read; others are refused later, if they are not left out."""
    try:
        return batch.read(names)
    except (DataError, NotInBatchesError):
        middle = len(names) // 2
        return _readable(batch, names[:middle]) + _readable(batch, names[middle:]) if middle else []


def columns_of_times(source: Source, names: Sequence[str]) -> list[str]:
    """Return the columns of dates, times and durations, by the first rows.

    Examples
    --------
    >>> from ibmap.data.frames import open_source
    >>> columns_of_times(open_source({"when": np.array(["2026-11-18"], "M8[D]"), "x": [1]}), ["when", "x"])
    ['when']
    """
    try:
        source.head(names, LOOK).read(names)
        return []
    except (DataError, NotInBatchesError, ReadAgainError) as error:
        if len(names) == 1:  # what is wrong with others is said by whoever reads them
            return list(names) if isinstance(error, TimeColumnError) else []
    middle = len(names) // 2
    return columns_of_times(source, names[:middle]) + columns_of_times(source, names[middle:])


def _all_differ(columns: Sequence[Column], fewest: int = 1) -> bool:
    """Whether all rows of some batches have another whole number, or another text."""
    if all(isinstance(column, Numeric) and column.values.dtype.kind in "iu" for column in columns):
        values = _numbers(columns)
        if len(values) < max(1, fewest) or int(values.max()) - int(values.min()) < len(values) - 1:
            return False  # fewer whole numbers than rows
        return len(np.unique(values)) == len(values)
    if not all(isinstance(column, Coded) and column.kind == "text" for column in columns):
        return False
    labels = [column.levels for column in columns if isinstance(column, Coded)]
    n_rows = sum(len(column.codes) for column in columns if isinstance(column, Coded))
    return n_rows >= fewest and len(set().union(*labels)) == n_rows


def _jumps(columns: Sequence[Column]) -> bool:
    """Whether whole numbers do anything but number the rows: they neither rise nor fall, and leave gaps."""
    numbers = _numbers(columns)
    steps = np.diff(numbers)
    return not ((steps > 0).all() or (steps < 0).all() or (np.diff(np.sort(numbers)) == 1).all())


def _numbers(columns: Sequence[Column]) -> Any:
    """Return the numbers of some batches; none if a value is missing."""
    numbers = [column for column in columns if isinstance(column, Numeric)]
    if not numbers or any(column.missing is not None for column in numbers):
        return np.empty(0)
    return np.concatenate([column.values for column in numbers])


def missing_together(data: Table) -> str:
    """Return the warning about columns that are missing in the same rows, "" if there are none.

    As a category of its own, "missing" then makes them look dependent, whatever their values are.

    Examples
    --------
    >>> codes = np.zeros((2, 40), int)
    >>> codes[:, :20] = 1
    >>> missing_together(Table(codes, ("pay", "job"), ((1, None), (2, None))))
    "missing values are a category, and 'job', 'pay' are missing in the same rows: edges between them may \
say no more than that; missing='testwise' or 'drop' leaves such rows out"
    """
    absent = [i for i, levels in enumerate(data.levels) if levels and levels[-1] is None]
    step = max(1, data.n_rows // AT_MOST)
    masks = np.array([data.codes_of(i)[::step] == len(data.levels[i]) - 1 for i in absent], np.float32)
    if len(absent) < 2:
        return ""
    return of_missing_together([data.names[i] for i in absent], masks @ masks.T, masks.shape[1])


def of_missing_together(names: Sequence[str], counts: Any, n_rows: int) -> str:
    """Return the same warning; ``counts`` are the rows in which each two are missing, or one on the diagonal.

    Examples
    --------
    >>> of_missing_together(("job", "pay"), np.array([[20, 4], [4, 20]]), 40)
    ''
    """
    both = counts / n_rows
    shares = np.diagonal(both)
    spread = np.sqrt(np.maximum(shares * (1 - shares), 1e-12))
    correlation = (both - np.outer(shares, shares)) / np.outer(spread, spread)
    often = (correlation > 0.5) & (counts >= FEW_ROWS)
    np.fill_diagonal(often, val=False)
    found = sorted(names[i] for i in np.flatnonzero(often.any(axis=1)).tolist())
    if not found:
        return ""
    return (
        f"missing values are a category, and {listing(found)} are missing in the same rows: edges between "
        "them may say no more than that; missing='testwise' or 'drop' leaves such rows out"
    )


def no_plain_numbers(labels: tuple[Hashable, ...]) -> str:
    """Return how to write numbers that came as text, "" if labels are no such numbers.

    Examples
    --------
    >>> no_plain_numbers(("1,250", "2,500", "750"))
    "write numbers such as '1,250' with digits and a decimal point only"
    >>> no_plain_numbers((*map(str, range(1500, 1550)), "unknown"))
    "'unknown' is not a number: leave such cells empty"
    >>> no_plain_numbers(("2020-01-01", "2020-01-02"))
    ''
    """
    texts = [label for label in labels if isinstance(label, str)]
    words = [text for text in texts if not NUMBER.fullmatch(text)]
    dressed = [text for text in texts if not PLAIN.fullmatch(text)]
    if len(words) > len(texts) // 10 or not dressed:
        return ""
    if not words:
        return f"write numbers such as {dressed[0]!r} with digits and a decimal point only"
    are = "is not a number" if len(words) == 1 else "are not numbers"
    return f"{listing(words, at_most=3)} {are}: leave such cells empty"


def names_like_values(frame: Any, file: str) -> str:
    """Return the warning about a text file whose first line seems to be a row, "" if it holds names.

    Half of the names, and two, must look like values of their columns: texts that are there again, numbers
    that are there again or have a fraction. Numbered columns (0, 1, 2, ...) are named so.

    Examples
    --------
    >>> import polars as pl
    >>> names_like_values(pl.DataFrame({"39": [50, 39], "Private": ["State-gov", "Private"]}), "p.csv")
    "the first line of p.csv looks like values, not names: '39', 'Private'; write the names above it"
    >>> names_like_values(pl.DataFrame({"age": [50, 38], "job": ["State-gov", "Private"]}), "p.csv")
    ''
    """
    names = frame.columns
    if any(names == [str(i + start) for i in range(len(names))] for start in (0, 1)):
        return ""
    found = [name for name in names if _is_value(name, frame[name])]
    if len(found) < max(2, len(names) / 2):
        return ""
    said = f"the first line of {file} looks like values, not names: {listing(found)}"
    return f"{said}; write the names above it"


def _is_value(name: str, column: Any) -> bool:
    """Whether the name of a column looks like one of its values."""
    if not column.dtype.is_numeric():
        return bool((column.cast(str) == name).any())
    try:
        number = float(name)
    except ValueError:
        return False
    return number != np.floor(number) or bool((column == number).any())
