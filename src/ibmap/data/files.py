"""Files: which reader opens what, by how they begin and what they are called."""

from pathlib import Path

from ibmap.data.packed_file import is_packed, open_packed
from ibmap.data.parquet import ARROW_STREAM, kind_of_file, open_arrow_stream, open_folder, open_stored
from ibmap.data.sources import Source
from ibmap.data.statistics_files import KINDS as STATISTICS
from ibmap.data.statistics_files import open_statistics
from ibmap.data.table import PackedData
from ibmap.data.text import open_text
from ibmap.data.workbooks import KINDS as WORKBOOKS
from ibmap.data.workbooks import open_workbook, sheet_of
from ibmap.errors import DataError, RequestError


def open_file(path: Path) -> Source | PackedData:
    """Return what a file holds: delimited text, perhaps gzipped, Parquet, Arrow, or a packed table; or one of
    SPSS, Stata, SAS or Excel, by its suffix. ``file.xlsx#Sheet2`` is a sheet of a workbook.

    Large files, and folders of files, are not read at once.
    """
    path, sheet = sheet_of(path)
    if path.is_dir():
        return open_folder(path)
    if is_packed(path):
        packed = open_packed(path)
        if not packed.n_rows:
            raise DataError(f"{str(path)!r} has no rows: pack a table that has some")
        return packed
    if path.suffix.lower() in STATISTICS:
        return open_statistics(path)
    if path.suffix.lower() in WORKBOOKS:
        return open_workbook(path, sheet)
    kind = kind_of_file(path)
    if kind == ARROW_STREAM:
        return open_arrow_stream(path)
    return open_stored(path, kind) if kind else open_text(path)


def open_frame(path: Path) -> Source:
    """Return what a file holds, for what cannot be done with bits."""
    opened = open_file(path)
    if isinstance(opened, PackedData):
        raise RequestError(f"{str(path)!r} is a packed table: this needs the table that it was packed from")
    return opened.at_once()
