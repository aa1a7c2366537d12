"""Large text files, read in blocks of lines; what blocks cannot tell is left to reading at once."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ibmap.data.objects import EXACT
from ibmap.data.quality import names_like_values
from ibmap.data.sources import Batch, Stream
from ibmap.data.streaming import NotInBatchesError, ReadAgainError
from ibmap.data.text_numbers import MISSING
from ibmap.errors import DataError

LARGE = 1 << 26  #: bytes from which on a text file is read in blocks
SHRUNK = 8  #: how many times fewer a gzipped one has
BLOCK = 1 << 23  #: bytes of one block, and more to the end of a line


class TextFile:
    """A text file with a header, in blocks: each is read with the header before it, as a file of its own.

    Types are those of the first rows. Where a later value does not fit, all blocks are looked at, and read
    again with the types that all of them call for.
    """

    def __init__(self, path: Path, header: str, separator: str, names: tuple[str, ...]) -> None:
        self.path, self.names = path, names
        self._header, self._separator = header.encode() + b"\n", separator
        self._kinds: list[Any] | None = None

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of lines with the header before them, and how many lines were left out in between."""
        left_out = 0
        for k, block in enumerate(text_blocks(self.path)):
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
                yield Batch(self.path.name, len(rows), rows.select)

    def first_rows(self, raw: bytes) -> Any:
        """Return the rows of the first block."""
        return self._frame(raw, 0, self._first_kinds(raw))

    def _first_kinds(self, raw: bytes) -> list[Any]:
        """Return the types of the first rows, or of all blocks if some column is empty there."""
        from ibmap.data.files import SAMPLE, unseen

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
                    found[j] = _joined(found[j], column.dtype)
        return [pl.String if kind is None else kind for kind in found]

    def _frame(self, raw: bytes, left_out: int, kinds: Sequence[Any]) -> Any:
        """Return the rows of a block, without blank lines."""
        import polars as pl

        from ibmap.data.files import blank_lines

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

        from ibmap.data.files import check_lines

        source = io.BytesIO(raw)
        try:
            return pl.read_csv(source, separator=self._separator, **{"null_values": list(MISSING), **how})
        except pl.exceptions.PolarsError as error:
            if "schema" in how:
                raise _OtherKindsError from None
            check_lines(self.path, raw, self._separator, len(self.names), left_out)
            said = str(error).partition("\n")[0]
            raise DataError(f"cannot read {str(self.path)!r}: {said}") from None


class _OtherKindsError(Exception):
    """A block holds something that is not of the type that its column had before."""


def _joined(one: Any, other: Any) -> Any:
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


def is_large_text(path: Path) -> bool:
    """Whether a file is large enough to be read in blocks."""
    if not path.is_file():
        return False
    size = path.stat().st_size
    return size >= LARGE or (size >= LARGE // SHRUNK and _is_gzipped(path))


def _is_gzipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def text_blocks(path: Path) -> Iterator[bytes]:
    """Yield what a text file holds, unzipped, in blocks that end with a line, and not inside quotes."""
    from ibmap.data.files import BOM, with_plain_ends

    rest, done = b"", False
    try:
        with gzip.open(path) if _is_gzipped(path) else path.open("rb") as file:
            first = True
            while not done:
                more = file.read(BLOCK)
                done, rest = not more, rest + more
                rest, first = rest.removeprefix(BOM) if first else rest, False
                cut = len(rest) if done else _end_of_lines(rest)
                if cut:
                    yield with_plain_ends(rest[:cut])
                    rest = rest[cut:]
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r} any more") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {str(path)!r} to its end: {error}") from None


def _end_of_lines(raw: bytes) -> int:
    r"""Return where the last line ends that does not end inside quotes; 0 if there is none.

    Examples
    --------
    >>> _end_of_lines(b'a,b\n1,"two\nlines'), _end_of_lines(b"1,2")
    (4, 0)
    """
    end = raw.rfind(b"\n") + 1
    quotes = raw.count(b'"', 0, end)
    while end and quotes % 2:
        before = raw.rfind(b"\n", 0, end - 1) + 1
        quotes -= raw.count(b'"', before, end)
        end = before
    return end


def open_text(path: Path) -> Stream | None:
    """Return a large text file as a stream; None if it must be read at once."""
    from ibmap.data.files import OTHERS, UTF_16, header_of, names_of, sniff, text_frame

    first = next(text_blocks(path), b"")
    if first.startswith((*UTF_16, *OTHERS)) or b"\n" not in first or first[:1] in b"\r\n":
        return None
    header = header_of(path, first)
    separator = "\t" if ".tsv" in path.suffixes else sniff(header)
    names = names_of(path, header, separator)
    if len(names) < 2 or "" in names:
        return None
    text = TextFile(path, header, separator, names)
    sample = text.first_rows(first)
    if not len(sample) or sample.width != len(names):
        return None
    warning = names_like_values(sample, path.name)
    return Stream(names, text.batches, lambda: text_frame(path), warning=warning)
