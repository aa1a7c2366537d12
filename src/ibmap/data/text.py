"""Delimited text, read by polars after the checks that polars leaves out: at once, or in blocks if large.

What blocks cannot decide is left to reading at once.
"""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from ibmap._files import MAX_BYTES, byte_limit, read_at_most
from ibmap.data.columns import EXACT, in_one_way, is_merged
from ibmap.data.frames import polars_batch, source_of_polars
from ibmap.data.parquet import parquet_frame
from ibmap.data.quality import names_like_values
from ibmap.data.sources import Batch, NotInBatchesError, ReadAgainError, Source, duplicate_names
from ibmap.errors import DataError

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
SEPARATORS = ",;\t|"
SAMPLE = 10_000  # rows
LARGE = 1 << 26  #: bytes from which on a text file is read in blocks
SHRUNK = 8  #: how many times fewer a gzipped one has
BYTES_AT_ONCE = 1 << 23  #: bytes of one block, and more to the end of a line
LONGEST = 1 << 28  #: bytes of a line, unless IBMAP_MAX_BYTES says otherwise
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


def open_text(path: Path) -> Source:
    """Return a text file with a header; a large one is read in blocks, if that is possible.

    One that is small but not unzipped, or comes through a pipe, is in memory before its size is known.
    """
    raw = None if _is_large(path) else read_bytes(path)
    if raw is not None and raw.startswith(b"PAR1"):  # gzipped, or through a pipe
        return source_of_polars(parquet_frame(path, raw))
    if (raw is None or len(raw) >= LARGE) and (text := _in_blocks(path, raw)) is not None:
        return text
    raw = read_bytes(path) if raw is None else raw
    frame = text_frame(path, raw)
    return source_of_polars(frame, names_like_values(frame, path.name))


def text_frame(path: Path, raw: bytes) -> Any:
    """Return all of a text file."""
    import polars as pl

    raw = _plain_text(path, raw)
    _, separator, names = _header(path, raw)
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
    text = {"infer_schema_length": 0}
    frame = exact_numbers(frame, lambda j: _read(raw, separator, columns=[j], **text).to_series())
    if blank:
        frame = frame.filter([row not in blank for row in range(len(frame))])
    if not names[-1] and frame[frame.columns[-1]].null_count() == len(frame):
        frame = frame[:, :-1]  # every line ends with a separator
    return without_blanks(_unquote_names(frame, names))


def _header(path: Path, raw: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Return the first line of a file, its separator, and its names."""
    header = header_of(path, raw)
    separator = "\t" if ".tsv" in path.suffixes else sniff(header)
    return header, separator, names_of(path, header, separator)


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


def _unquote_names(frame: Any, names: tuple[str, ...]) -> Any:
    """Give columns with quotes in their names their names: polars leaves them doubled, as in the file."""
    pairs = zip(frame.columns, names, strict=False)
    return frame.rename({old: new for old, new in pairs if new != old.strip() == new.replace('"', '""')})


def _scan(raw: bytes, separator: str) -> Any:
    """Read text with the types that the whole of it calls for, found from a sample where that is safe."""
    import polars as pl

    try:  # polars infers types ten times slower than it reads; a value that does not fit its type is an error
        frame = _read(raw, separator, infer_schema_length=SAMPLE)
    except pl.exceptions.ComputeError:
        frame = None
    if frame is not None and not unseen(frame):
        return frame
    return _read(raw, separator, infer_schema_length=None)


def _read(raw: bytes, separator: str, **how: Any) -> Any:
    import polars as pl

    return pl.read_csv(io.BytesIO(raw), separator=separator, **{"null_values": list(MISSING), **how})


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
            return _decode(path, raw[start:done])
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
    text = _decode(path, raw).lstrip("\r\n")
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


def _decode(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise DataError(
            f"{path.name} is not UTF-8 text (line {line}, byte 0x{raw[error.start]:02x}): save it as UTF-8"
        ) from None


def _plain_text(path: Path, raw: bytes) -> bytes:
    """Return text whose lines end as usual; refuse bytes of zero, which polars leaves out of values."""
    if b"\0" in raw:
        raise DataError(
            f"{path.name} holds zero bytes: it is not text, or UTF-16 without a byte order mark; save it as "
            f"UTF-8"
        )
    return with_plain_ends(raw)


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
    raw = _unzip(path, raw)
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


def _unzip(path: Path, raw: bytes) -> bytes:
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


# In blocks


class TextFile:
    """A text file with a header, in blocks: each is read with the header before it, as a file of its own.

    Types are those of the first rows. Where a later value does not fit, all blocks are looked at, and read
    again with the types that all of them call for. ``raw`` is what the file holds, if that is in memory.
    """

    def __init__(
        self, path: Path, raw: bytes | None, header: str, separator: str, names: tuple[str, ...]
    ) -> None:
        self.path, self._raw, self.names = path, raw, names
        self._header, self._separator = header.encode() + b"\n", separator
        self._kinds: list[Any] | None = None

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of lines with the header before them, and how many lines were left out in between."""
        left_out = 0
        for k, block in enumerate(text_blocks(self.path, self._raw)):
            yield left_out, self._header + block if k else block
            left_out += block.count(b"\n") - (k == 0)

    def batches(self, names: Sequence[str], most_rows: int) -> Iterator[Batch]:
        """Yield some columns of one block after the other, in pieces if it has too many rows."""
        for left_out, raw in self.blocks():
            if self._kinds is None:
                self._kinds = self._first_kinds(raw)
            try:
                frame = self._frame(raw, left_out, self._kinds)
            except _OtherKindsError:
                self._kinds = self._all_kinds()
                raise ReadAgainError from None
            for rows in _plain(frame.select(names)).iter_slices(most_rows):
                yield polars_batch(self.path.name, rows)

    def first_rows(self, raw: bytes) -> Any:
        """Return the rows of the first block."""
        return self._frame(raw, 0, self._first_kinds(raw))

    def _first_kinds(self, raw: bytes) -> list[Any]:
        """Return the types of the first rows, or of all blocks if some column is empty there."""
        frame = self._read(raw, 0, infer_schema_length=SAMPLE, n_rows=SAMPLE)
        return self._all_kinds() if unseen(frame) else list(frame.dtypes)

    def _all_kinds(self) -> list[Any]:
        """Return the types that all blocks together call for."""
        import polars as pl

        found: list[Any] = [None] * len(self.names)
        for left_out, raw in self.blocks():
            frame = self._read(raw, left_out, infer_schema_length=None)
            for j, column in enumerate(frame):
                if column.null_count() < len(frame):
                    found[j] = _common_type(found[j], column.dtype)
        return [pl.String if kind is None else kind for kind in found]

    def _frame(self, raw: bytes, left_out: int, kinds: Sequence[Any]) -> Any:
        """Return the rows of a block, without blank lines."""
        import polars as pl

        schema = dict(zip(self.names, kinds, strict=True))
        try:  # to look for all words for "missing" takes as long as to read the numbers
            frame = (
                self._read(raw, left_out, schema=schema, null_values=[""]) if pl.String not in kinds else None
            )
        except _OtherKindsError:
            frame = None
        if frame is None:
            frame = self._read(raw, left_out, schema=schema)
        blank = blank_lines(self.path, raw, self._separator, len(self.names), frame, left_out)
        return frame.filter([row not in blank for row in range(len(frame))]) if blank else frame

    def _read(self, raw: bytes, left_out: int, **how: Any) -> Any:
        import polars as pl

        try:
            return _read(raw, self._separator, **how)
        except pl.exceptions.PolarsError as error:
            if "schema" in how:
                raise _OtherKindsError from None
            check_lines(self.path, raw, self._separator, len(self.names), left_out)
            raise DataError(f"cannot read {str(self.path)!r}: {_first_line(error)}") from None


class _OtherKindsError(Exception):
    """A block holds something that is not of the type that its column had before."""


def _common_type(one: Any, other: Any) -> Any:
    """Return the type of a column whose values are of two types."""
    import polars as pl

    if one is None or one == other:
        return other
    return pl.Float64 if {one, other} <= {pl.Int64, pl.Float64} else pl.String


def _plain(frame: Any) -> Any:
    """Return a frame, unless values depend on others: whole numbers that floats merge, blanks around text."""
    import polars as pl

    for column in frame:
        if column.dtype == pl.String:
            if (column.str.strip_chars() != column).any():
                raise NotInBatchesError
        elif column.dtype == pl.Float64:
            if (column.abs() >= EXACT).any():
                raise NotInBatchesError
        elif column.dtype not in (pl.Int64, pl.Boolean):
            raise NotInBatchesError
    return frame


def _is_large(path: Path) -> bool:
    """Whether a file is large enough to be read in blocks."""
    if not path.is_file():
        return False
    size = path.stat().st_size
    return size >= LARGE or (size >= LARGE // SHRUNK and _is_gzipped(path))


def _is_gzipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == GZIP


def _unzipped(path: Path) -> Any:
    return gzip.open(path) if _is_gzipped(path) else path.open("rb")


def text_blocks(path: Path, raw: bytes | None = None) -> Iterator[bytes]:
    """Yield what a text file holds, unzipped, in blocks that end with a line, and not inside quotes."""
    rest, quotes = bytearray(), 0  # what has no end of a line outside of quotes yet, and how many of them
    limit = byte_limit(LONGEST)
    try:
        with _unzipped(path) if raw is None else io.BytesIO(raw) as file:
            more = file.read(BYTES_AT_ONCE).removeprefix(BOM)
            while more:
                end = _end_of_lines(more, quotes)
                if end:
                    yield _plain_text(path, bytes(rest) + more[:end])
                    rest, quotes, more = bytearray(), 0, more[end:]
                rest += more
                quotes += more.count(b'"')
                if len(rest) > limit:
                    raise DataError(f"{path.name} has no line end in {limit:,} bytes: is it a table?")
                more = file.read(BYTES_AT_ONCE)
            if rest:
                yield _plain_text(path, bytes(rest))
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r} any more") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {str(path)!r} to its end: {error}") from None


def _end_of_lines(raw: bytes, quotes: int = 0) -> int:
    r"""Return where the last line ends that does not end inside quotes, of which some come before; else 0.

    Examples
    --------
    >>> _end_of_lines(b'a,b\n1,"two\nlines'), _end_of_lines(b"1,2"), _end_of_lines(b'a\nb"\n', 1)
    (4, 0, 5)
    """
    end = raw.rfind(b"\n") + 1
    quotes += raw.count(b'"', 0, end)
    while end and quotes % 2:
        before = raw.rfind(b"\n", 0, end - 1) + 1
        quotes -= raw.count(b'"', before, end)
        end = before
    return end


def _in_blocks(path: Path, raw: bytes | None = None) -> Source | None:
    """Return a large text file in blocks; None if it must be read at once."""
    first = next(text_blocks(path, raw), b"")
    if first.startswith((*UTF_16, *OTHERS)) or b"\n" not in first or first[:1] in b"\r\n":
        return None
    header, separator, names = _header(path, first)
    if len(names) < 2 or "" in names:
        return None
    text = TextFile(path, raw, header, separator, names)
    sample = text.first_rows(first)
    if not len(sample) or sample.width != len(names):
        return None
    warning = names_like_values(sample, path.name)

    def whole() -> Any:
        return text_frame(path, read_bytes(path) if raw is None else raw)

    return Source(names, text.batches, whole=whole, warning=warning)


# Numbers in text: with blanks around them, and whole ones that floats would merge


def exact_numbers(frame: Any, text_of: Callable[[int], Any]) -> Any:
    """Read columns again in which floats merge whole numbers; ``text_of(j)`` is column j of the file."""
    import polars as pl

    columns = list(frame)
    for j, column in enumerate(columns):
        if column.dtype == pl.Float64 and (column.abs() >= EXACT).any():
            columns[j] = _exact(column, text_of(j).str.strip_chars().alias(column.name))
    return pl.DataFrame(columns)


def _exact(floats: Any, text: Any) -> Any:
    """Return the floats if they are what the text says; whole numbers, or text, if they are not."""
    import polars as pl

    distinct = text.drop_nulls().unique().to_list()
    try:
        numbers = [Decimal(word) for word in distinct]
    except InvalidOperation:
        return floats
    if not is_merged(numbers, floats.drop_nulls().unique().to_numpy()):
        return floats
    one_way = [str(in_one_way(number)) for number in numbers]
    words = text.replace_strict(distinct, one_way, return_dtype=pl.String)
    return next((typed for kind in _integers() if (typed := _cast(words, kind)) is not None), words)


def without_blanks(frame: Any) -> Any:
    """Strip blanks around names and values; a column that only blanks made text gets its type back."""
    import polars as pl

    columns = []
    for column in frame:
        if column.dtype == pl.String:
            bare = column.str.strip_chars()
            if not bare.equals(column, null_equal=True):
                column = typed(bare.set(bare.is_in(MISSING), None))
        columns.append(column.rename(column.name.strip()))
    return pl.DataFrame(columns)


def typed(text: Any) -> Any:
    """Return a column of text as numbers, if all of it are numbers."""
    import polars as pl

    for kind in _integers():
        if (found := _cast(text, kind)) is not None:
            return found
    floats = _cast(text, pl.Float64)
    if floats is None:
        return text
    return _exact(floats, text) if (floats.abs() >= EXACT).any() else floats


def _integers() -> list[Any]:
    """Return polars' types for whole numbers; older versions know nothing beyond 64 bits."""
    import polars as pl

    return [pl.Int64, *([pl.Int128] if hasattr(pl, "Int128") else [])]


def _cast(column: Any, kind: Any) -> Any:
    found = column.cast(kind, strict=False)
    return found if found.null_count() == column.null_count() else None
