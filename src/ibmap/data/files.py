"""Files: delimited text and Parquet, read by polars after the checks that polars leaves out."""

import csv
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

from ibmap._files import read_at_most
from ibmap.data.packed_file import is_packed, open_packed
from ibmap.data.quality import names_like_values
from ibmap.data.sources import OpenedFile, Stream, duplicate_names
from ibmap.data.statistics_files import KINDS as STATISTICS
from ibmap.data.statistics_files import open_statistics
from ibmap.data.stored import (
    ARROW,
    ARROW_STREAM,
    LARGE,
    kind_of_file,
    open_arrow_stream,
    open_folder,
    stored_file,
    stream_of,
)
from ibmap.data.table import CategoricalData
from ibmap.data.text_numbers import MISSING, exact_numbers, without_blanks
from ibmap.data.text_stream import is_large_text, open_text
from ibmap.data.workbooks import KINDS as WORKBOOKS
from ibmap.data.workbooks import open_workbook, sheet_of
from ibmap.errors import DataError, RequestError

SEPARATORS = ",;\t|"
SAMPLE = 10_000  # rows
MAX_BYTES = 1 << 32  # of a file, unless the environment variable IBMAP_MAX_BYTES says otherwise
BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: how files begin that hold no delimited text, and what they are
OTHERS = {
    b"PK\x03\x04": "an Excel workbook, which is read if it is called .xlsx, or another zip archive",
    b"\xd0\xcf\x11\xe0": "an Excel workbook, which is read if it is called .xls",
    b"%PDF": "a PDF document",
    b"<!": "HTML or XML",
    b"<?": "XML",
    b"<html": "HTML",
    b"$FL2": "an SPSS file, which is read if it is called .sav",
    b"$FL3": "an SPSS file, which is read if it is called .zsav",
    b"<stata_dta>": "a Stata file, which is read if it is called .dta",
    b"FEA1": "a Feather file of version 1",
    b"[{": "JSON",
    b'{"': "JSON",
}


def open_file(path: Path) -> OpenedFile | Stream | CategoricalData:
    """Return what a file holds: delimited text, perhaps gzipped, Parquet, Arrow, or a packed table; or one of
    SPSS, Stata, SAS or Excel, by its suffix. ``file.xlsx#Sheet2`` is a sheet of a workbook.

    Large files, and folders of files, are not read at once: they are streams.
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
        return open_statistics(path, MAX_BYTES)
    if path.suffix.lower() in WORKBOOKS:
        return open_workbook(path, MAX_BYTES, sheet)
    if (kind := kind_of_file(path)) == ARROW_STREAM:
        return open_arrow_stream(path)
    if kind:
        stored = stored_file(path, kind)
        if kind == ARROW or stored.n_rows * len(stored.names) >= LARGE:
            return stream_of([stored])
    elif is_large_text(path) and (text := open_text(path)) is not None:
        return text
    raw = read_bytes(path)
    if raw.startswith(b"PAR1"):
        return OpenedFile(_parquet(path, raw))
    frame = _text(path, with_plain_ends(raw))
    return OpenedFile(frame, names_like_values(frame, path.name))


def open_frame(path: Path) -> OpenedFile:
    """Return what a file holds as one frame, for what cannot be done with bits."""
    opened = open_file(path)
    if isinstance(opened, CategoricalData):
        raise RequestError(f"{str(path)!r} is a packed table: this needs the table that it was packed from")
    return opened if isinstance(opened, OpenedFile) else OpenedFile(opened.frame, opened.warning)


def text_frame(path: Path) -> Any:
    """Return all of a text file."""
    return _text(path, with_plain_ends(read_bytes(path)))


def _parquet(path: Path, raw: bytes) -> Any:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{str(path)!r} is not a readable Parquet file: {_first_line(error)}") from None


def _text(path: Path, raw: bytes) -> Any:
    import polars as pl

    header = header_of(path, raw)
    separator = "\t" if ".tsv" in path.suffixes else sniff(header)
    names = names_of(path, header, separator)
    try:
        frame = _scan(raw, separator)
    except pl.exceptions.PolarsError as error:
        check_lines(path, raw, separator, len(names))
        raise DataError(f"cannot read {str(path)!r}: {_first_line(error)}") from None
    if not len(frame):
        raise DataError(
            f"{path.name} has a header but no rows: found 0 sample(s) while a minimum of 1 is required"
        )
    blank = blank_lines(path, raw, separator, len(names), frame)
    if len(names) == 1:
        raise DataError(
            f"{path.name} has 1 feature(s), {names[0]!r}: structure learning needs at least two variables, "
            "with a comma, a semicolon, a tab or | between them"
        )
    frame = exact_numbers(frame, lambda column: _read_as_text(raw, separator, column))
    if blank:
        frame = frame.filter([row not in blank for row in range(len(frame))])
    if not names[-1] and frame[frame.columns[-1]].null_count() == len(frame):
        frame = frame[:, :-1]  # every line ends with a separator
    return without_blanks(_unquoted(frame, names))


def blank_lines(
    path: Path, raw: bytes, separator: str, n_columns: int, frame: Any, left_out: int = 0
) -> set[int]:
    """Return which rows are blank lines, after a count of fields and rows that does not trust polars.

    It fills short rows with nulls; without quotes, as many separators as there should be are proof enough.
    """
    n_marks = (len(frame) + 1) * (n_columns - 1)
    if b'"' not in raw and raw.count(separator.encode()) == n_marks and frame.width == n_columns:
        return set()
    n_rows, blank = check_lines(path, raw, separator, n_columns, left_out)
    if (n_rows, frame.width) != (len(frame), n_columns):
        raise DataError(
            f"{path.name} holds {n_rows} rows, of which {len(frame)} can be told apart: are there quotes "
            "inside of values, or several kinds of line ends?"
        )
    return blank


def names_of(path: Path, header: str, separator: str) -> tuple[str, ...]:
    """Return the names in the first line."""
    try:
        first = next(csv.reader(io.StringIO(header, newline=""), delimiter=separator))
    except csv.Error as error:
        raise DataError(f"the first line of {path.name} {_in_words(error)}") from None
    names = tuple(name.strip() for name in first)
    _check_names(path, names)
    return names


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    """Refuse a first line that cannot hold the names of a table's columns."""
    where = f"in the first line of {path.name}, which must hold the names"
    if names.count("") > 1:
        raise DataError(f"{names.count('')} columns have no name {where}")
    if len(set(names)) < len(names):
        raise duplicate_names(names, f" {where}")


def _unquoted(frame: Any, names: tuple[str, ...]) -> Any:
    """Give columns with quotes in their names their names: polars leaves them doubled, as in the file."""
    pairs = zip(frame.columns, names, strict=False)
    return frame.rename({old: new for old, new in pairs if new != old.strip() == new.replace('"', '""')})


def _scan(raw: bytes, separator: str) -> Any:
    """Read text with the types that the whole of it calls for, found from a sample where that is safe."""
    import polars as pl

    try:  # polars infers types ten times slower than it reads; a value that does not fit its type is an error
        frame = _read(raw, separator, SAMPLE)
    except pl.exceptions.ComputeError:
        frame = None
    if frame is not None and (len(frame) < SAMPLE or not unseen(frame)):
        return frame
    return _read(raw, separator, None)


def _read(raw: bytes, separator: str, sample: int | None) -> Any:
    import polars as pl

    return pl.read_csv(
        io.BytesIO(raw), separator=separator, infer_schema_length=sample, null_values=list(MISSING)
    )


def _read_as_text(raw: bytes, separator: str, column: int) -> Any:
    """Return a column as it stands in the file, blank lines aside."""
    import polars as pl

    frame = pl.read_csv(
        io.BytesIO(raw),
        separator=separator,
        infer_schema_length=0,
        null_values=list(MISSING),
        columns=[column],
    )
    return frame.to_series()


def unseen(frame: Any) -> bool:
    """Whether some column had no value in the sample, so that its type was a guess."""
    head = frame.head(SAMPLE // 2)
    return any(count == len(head) for count in head.null_count().row(0))


def header_of(path: Path, raw: bytes) -> str:
    """Return the first line that is not blank; a line that ends inside quotes goes on."""
    start = done = len(raw) - len(raw.lstrip(b"\r\n"))
    quotes = 0
    for end in re.compile(rb"[\r\n]|\Z").finditer(raw, start):
        quotes += raw.count(b'"', done, end.start())
        done = end.start()
        if quotes % 2 == 0:
            return _decoded(path, raw[start:done])
    raise DataError(f"the header of {path.name} opens a quote that is never closed")


def sniff(header: str) -> str:
    """Return the separator that a header line most likely uses.

    Examples
    --------
    >>> sniff("age;sex;weight, kg")
    ';'
    """
    counts = Counter(re.sub('"[^"]*"', "", header))
    return max(SEPARATORS, key=lambda mark: counts[mark])


def check_lines(
    path: Path, raw: bytes, separator: str, n_columns: int, left_out: int = 0
) -> tuple[int, set[int]]:
    """Refuse the first line with too few or too many fields; ``left_out`` of them are not in ``raw``.

    Returns
    -------
    n_rows : int
        Lines below the header, blank ones included, as polars should count them.
    blank : set of int
        Which of them are blank.
    """
    text = _decoded(path, raw).lstrip("\r\n")
    line = 1 + raw.count(b"\n", 0, len(raw) - len(raw.lstrip(b"\r\n")))
    skipped = line - 1
    # as for polars, a line ends with \n and with nothing else
    lines = (re.sub("\r+\n$", "\n", one) for one in io.StringIO(text, newline="\n"))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    blank, n_lines = set(), 0
    try:
        for i, row in enumerate(reader):
            if row and len(row) != n_columns:
                said = f"line {line + left_out} of {path.name} has {len(row)} field{'s' * (len(row) > 1)} "
                said += f"where the header has {n_columns}"
                if skipped + reader.line_num > line:
                    said += ": is a quote not closed?"
                raise DataError(said + "; the first line must hold the names" * (n_columns == 1))
            if not row:
                blank.add(i - 1)
            line, n_lines = skipped + reader.line_num + 1, i + 1
    except csv.Error as error:
        raise DataError(f"line {line + left_out} of {path.name} {_in_words(error)}") from None
    return n_lines - 1, blank


def _in_words(error: csv.Error) -> str:
    """Return what Python's reader finds wrong with a line."""
    said = str(error)
    if "unexpected end" in said:
        return "opens a quote that is never closed: is the file cut off?"
    if "expected after" in said:
        return "goes on behind a closing quote: quotes inside of values must be doubled"
    if "new-line" in said:
        return "holds a carriage return that ends no line: save the file with line ends of one kind"
    if "field larger" in said:
        return f"has a field of more than {csv.field_size_limit():,} characters: is a quote not closed?"
    return f"cannot be read: {said}"


def _decoded(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise DataError(
            f"{path.name} is not UTF-8 text (line {line}, byte 0x{raw[error.start]:02x}): save it as UTF-8"
        ) from None


def with_plain_ends(raw: bytes) -> bytes:
    r"""Return text whose lines end as usual, where Windows wrote ``\r\r\n``; what is in quotes stays.

    Examples
    --------
    >>> with_plain_ends(b'a,b\r\r\n"1\r\r\n",2\r\r\n')
    b'a,b\n"1\r\r\n",2\n'
    """
    if b"\r\r\n" not in raw:
        return raw
    return re.sub(rb'("[^"]*")|\r+\n', lambda found: found[1] or b"\n", raw)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def read_bytes(path: Path) -> bytes:
    """Return what a file holds: Parquet as it is, text without byte order mark, unzipped."""
    try:
        with path.open("rb") as file:
            raw = read_at_most(path, file, MAX_BYTES)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a directory, not a file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
    raw = _unzipped(path, raw)
    if raw.startswith(UTF_16):
        raw = _from_utf_16(path, raw)
    raw = raw.removeprefix(BOM)
    if not raw.strip():
        raise DataError(f"{str(path)!r} is empty")
    for start, kind in OTHERS.items():
        if raw.startswith(start):
            raise DataError(f"{path.name} is {kind}: save the table as CSV or Parquet")
    if b"\n" not in raw and not raw.startswith(b"PAR1"):
        raw = raw.replace(b"\r", b"\n")  # lines as old Macs end them
    return raw


def _unzipped(path: Path, raw: bytes) -> bytes:
    """Undo gzip, whatever the file is called."""
    if not raw.startswith(GZIP):
        return raw
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            return read_at_most(path, file, MAX_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{str(path)!r} is not a whole gzip file: {error}") from None


def _from_utf_16(path: Path, raw: bytes) -> bytes:
    try:
        return raw.decode("utf-16").encode()
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8 text, nor UTF-16: save it as UTF-8") from None
