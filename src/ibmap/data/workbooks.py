"""Workbooks of Excel and LibreOffice, read by fastexcel: the table on the first sheet."""

from pathlib import Path
from typing import Any

from ibmap._files import check_size
from ibmap._text import listing
from ibmap.data.quality import names_like_values
from ibmap.data.sources import OpenedFile
from ibmap.data.text_numbers import MISSING, typed
from ibmap.errors import DataError

KINDS = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".xlsb": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a LibreOffice workbook",
}  #: by suffix


def open_workbook(path: Path, max_bytes: int) -> OpenedFile:
    """Return the table on the first sheet of a workbook; other sheets are not looked at."""
    what = KINDS[path.suffix.lower()]
    try:
        import fastexcel
    except ImportError:
        raise DataError(
            f"{path.name} is {what}: to read it, pip install fastexcel, or save the table as CSV or Parquet"
        ) from None
    check_size(path, max_bytes)
    try:
        book = fastexcel.read_excel(str(path))
        frame = book.load_sheet(0).to_polars()
    except (fastexcel.FastExcelError, OSError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise DataError(f"{str(path)!r} is not {what} that can be read: {said}") from None
    frame = _with_numbers(_without_empty(frame))
    if not frame.width or not len(frame):
        raise DataError(f"there is no table on the first sheet of {path.name}, {book.sheet_names[0]!r}")
    warning = names_like_values(frame, path.name)
    if len(book.sheet_names) > 1:
        others = listing(book.sheet_names[1:])
        warning = "; ".join(
            filter(None, [warning, f"{path.name}: read {book.sheet_names[0]!r}, not {others}"])
        )
    return OpenedFile(frame, warning)


def _without_empty(frame: Any) -> Any:
    """Return a frame without the rows and the nameless columns in which there is nothing."""
    import polars as pl

    named = [
        name
        for name in frame.columns
        if not (name.startswith("__UNNAMED__") and frame[name].null_count() == len(frame))
    ]
    frame = frame.select(named)
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame


def _with_numbers(frame: Any) -> Any:
    """Return a frame without words for "missing"; what is left of a column may be numbers."""
    import polars as pl

    done = []
    for column in frame:
        if column.dtype == pl.String:
            words = column.str.strip_chars()
            column = typed(words.set(words.is_in(MISSING), None))
        done.append(column.rename(column.name.strip()))
    return pl.DataFrame(done)
