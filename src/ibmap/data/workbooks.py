"""Workbooks of Excel and LibreOffice, read by fastexcel: the table on a sheet, as if it were a text file."""

import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ibmap._files import MAX_BYTES, check_bytes, check_size
from ibmap._text import listing
from ibmap.data.columns import EXACT
from ibmap.data.frames import source_of_polars
from ibmap.data.quality import names_like_values
from ibmap.data.sources import Source, duplicate_names
from ibmap.data.text import MISSING, typed
from ibmap.errors import DataError

KINDS = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".xlsb": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a LibreOffice workbook",
}  #: by suffix
NAMED = re.compile(rf"(.+?(?:{'|'.join(map(re.escape, KINDS))}))#(.*)", re.IGNORECASE | re.DOTALL)
WHOLE = {"header_row": None, "skip_rows": 0}  #: for fastexcel: leave out no row
STAMP = "%Y-%m-%d %H:%M:%S%.f"  #: how fastexcel writes dates, times and durations as text
EARLY = r"^(1899|1900)-\d\d-\d\d \d\d:"  #: how a time of day, or a duration, begins then
TRUTH = ("true", "false")


def sheet_of(path: Path) -> tuple[Path, str | None]:
    """Return a file and the sheet of it that a path like ``file.xlsx#Sheet2`` names, None if it names none.

    Examples
    --------
    >>> file, sheet = sheet_of(Path("trial.xlsx#week #2"))
    >>> file.name, sheet
    ('trial.xlsx', 'week #2')
    """
    named = None if path.exists() else NAMED.fullmatch(str(path))
    return (Path(named[1]), named[2]) if named else (path, None)


def open_workbook(path: Path, sheet: str | None = None) -> Source:
    """Return the table on a sheet of a workbook, by default the first one; others are not looked at."""
    what = KINDS[path.suffix.lower()]
    try:
        import fastexcel
    except ImportError:
        raise DataError(
            f"{path.name} is {what}: to read it, pip install fastexcel, or save the table as CSV or Parquet"
        ) from None
    check_size(path, MAX_BYTES)
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:  # what comes out of it
        check_bytes(path, sum(part.file_size for part in archive.infolist()), MAX_BYTES)
    try:
        book = fastexcel.read_excel(str(path))
        sheets = book.sheet_names
        name = sheet if sheet in sheets else sheets[0]
        cells = _cells(book, name)
    except (fastexcel.FastExcelError, OSError, ValueError, IndexError) as error:
        line = str(error).partition("\n")[0]
        raise DataError(f"{str(path)!r} is not {what} that can be read: {line}") from None
    if sheet not in (None, name):
        raise DataError(f"{path.name} has no sheet {sheet!r}: it has {listing(sheets)}")
    where = f"sheet {name!r} of {path.name}"
    found = _found(cells, where)
    frame = _with_types(found, cells, where, partial(_is_text, book, name, found.row + 1))
    said = [names_like_values(frame, path.name)]
    if found.above:
        if said[0]:
            raise found.no_names(where)
        said.append(f"{where}: left out {listing(found.above)}, above the names")
    if len(sheets) > 1 and sheet is None:
        said.append(f"{path.name}: read {name!r}, not {listing(sheets[1:])}; {path.name}#NAME reads another")
    return source_of_polars(frame, "; ".join(filter(None, said)))


def _cells(book: Any, sheet: str) -> Any:
    """Return all cells of a sheet as text; numbers with all their digits, of which fastexcel writes nine."""
    import polars as pl

    text = book.load_sheet(sheet, dtypes="string", **WHOLE).to_polars()
    floats = book.load_sheet(sheet, dtypes="float", **WHOLE).to_polars()
    cells = []
    for words, numbers in zip(text, floats, strict=True):
        is_rounded = (words.cast(pl.Float64, strict=False) != numbers).fill_null(value=False)
        words = numbers.cast(pl.String).zip_with(is_rounded, words).str.strip_chars()
        cells.append(words.set(words == "", None))
    return pl.DataFrame(cells)


@dataclass(frozen=True)
class Header:
    """Where the names of a table are, by the names of fastexcel's columns, and what is written above them."""

    row: int
    names: dict[str, str]
    above: tuple[str, ...]

    def no_names(self, where: str) -> DataError:
        """Return the error about a table whose names are not certain."""
        return DataError(
            f"row {self.row + 1} on {where} does not hold the names of all columns: write them into one row, "
            "a name above each column, and delete what is above that row"
        )


def _found(cells: Any, where: str) -> Header:
    """Find the row of names: the first one that is not empty, but for titles, which are single cells."""
    filled = np.column_stack([column.is_not_null().to_numpy() for column in cells] or [np.empty(0, bool)])
    used = np.flatnonzero(filled.any(axis=1))
    if len(used) < 2:
        raise DataError(f"there is no table on {where}: write names into one row, and values below")
    is_wide = filled[used].sum(axis=1) > 1
    n_titles = int(is_wide.argmax())  # 0 if there is one column only
    row = int(used[n_titles])
    columns = [cells.columns[j] for j in np.flatnonzero(filled[row:].any(axis=0))]
    names = {column: cells[column][row] or "" for column in columns}
    above = [value for k in used[:n_titles] for value in cells.row(int(k)) if value is not None]
    found = Header(row, names, tuple(above))
    first, *others = names.values()
    if "" in others or (above and not all(map(_is_word, filter(None, (first, *others))))):
        raise found.no_names(where)
    if len(set(names.values())) < len(names):
        raise duplicate_names(
            tuple(names.values()), f" in row {row + 1} on {where}, which must hold the names"
        )
    return found


def _is_word(text: str) -> bool:
    """Whether text is surely no number, date or truth value."""
    return any(map(str.isalpha, text)) and text.lower() not in TRUTH


def _with_types(found: Header, cells: Any, where: str, is_text: Callable[[str], bool]) -> Any:
    """Return the rows below the names that are not empty, with the types that all of them call for."""
    import polars as pl

    rows = cells[found.row + 1 :].select(list(found.names))
    rows = rows.filter(~pl.all_horizontal(pl.all().is_null()))
    columns = []
    for place, name in found.names.items():
        words = rows[place].set(rows[place].is_in(MISSING), None).alias(name)
        column = _typed(words)
        if column.dtype == pl.String and words.str.contains(EARLY).any():
            raise DataError(f"column {name!r} on {where} holds times beside other values: make them text")
        is_fraction = column.dtype == pl.Float64 and (column != column.floor()).any()
        is_large = (words.cast(pl.Float64, strict=False).abs() >= EXACT).any()
        if is_large and not is_fraction and not is_text(place):
            raise DataError(
                f"column {name!r} on {where} holds whole numbers from 2^53 on, which workbooks round: make "
                "all its cells text, or delete it"
            )
        columns.append(column)
    return pl.DataFrame(columns)


def _typed(words: Any) -> Any:
    """Return a column of text as truth values, times or numbers, if all of it are."""
    if words.null_count() == len(words):
        return words
    low = words.str.to_lowercase()
    if low.drop_nulls().is_in(TRUTH).all():
        return low == "true"
    times = words.str.to_datetime(STAMP, strict=False)
    if times.null_count() == words.null_count():
        return times  # to be refused, unless it is dropped
    return typed(words)


def _is_text(book: Any, sheet: str, first: int, column: str) -> bool:
    """Whether no cell of a column is a number: fastexcel refuses cells of several types, if it is strict."""
    import fastexcel
    import polars as pl

    how = {"header_row": None, "schema_sample_rows": None, "dtype_coercion": "strict"}
    try:
        found = book.load_sheet(sheet, skip_rows=first, use_columns=[column], **how)
    except fastexcel.UnsupportedColumnTypeCombinationError:
        return False
    return bool(found.to_polars().dtypes == [pl.String])
