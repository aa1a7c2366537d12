"""Files that know their columns, Parquet and Arrow, and folders of them: read in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ibmap._text import listing
from ibmap.data.sources import Batch, Stream, duplicate_names
from ibmap.data.streaming import stream_of_frames
from ibmap.errors import DataError

LARGE = 1 << 24  #: cells from which on a file is read in batches
PARQUET, ARROW, ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"  #: how files begin
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  #: what a folder is called for a missing value


@dataclass(frozen=True)
class Stored:
    """One file: its columns and how many rows it has.

    ``keys`` are columns that its folders name (``year=2024``), with the value that all its rows have.
    """

    path: Path
    kind: bytes
    names: tuple[str, ...]
    n_rows: int
    keys: dict[str, Any] = field(default_factory=dict)

    def batches(self, first: int, size: int, most_rows: int) -> Iterator[Batch]:
        """Yield some rows, so many at a time."""
        scanned = _scanned(self.path, self.kind)  # one for all: it keeps what it has seen of the file
        for row in range(first, first + size, most_rows):
            n_rows = min(most_rows, first + size - row)
            yield Batch(str(self.path), n_rows, partial(self._read, scanned, row, n_rows))

    def whole(self, names: Sequence[str]) -> Any:
        """Return some columns as a polars frame."""
        return self._read(_scanned(self.path, self.kind), 0, self.n_rows, names)

    def _read(self, scanned: Any, first: int, size: int, names: Sequence[str]) -> Any:
        """Return some rows of some columns as a polars frame."""
        import polars as pl

        own = [name for name in names if name not in self.keys]
        lazy = scanned.slice(first, size)
        frame = _collected(self.path, self.kind, lazy.select(own) if own else lazy.select(pl.first()))
        if len(frame) != size:
            raise DataError(f"{str(self.path)!r} has changed while it was read: rows are gone")
        keys = [pl.lit(value).alias(name) for name, value in self.keys.items() if name in names]
        return frame.with_columns(keys).select(names)


def stored_file(path: Path, kind: bytes) -> Stored:
    """Look at a file: its columns and its rows, but no values."""
    import polars as pl

    lazy = _scanned(path, kind)
    n_rows = int(_collected(path, kind, lazy.select(pl.len())).item())
    try:
        names = tuple(lazy.collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, kind, error) from None
    return Stored(path, kind, names, n_rows)


def _scanned(path: Path, kind: bytes) -> Any:
    import polars as pl

    try:
        if kind == ARROW:
            return pl.scan_ipc(path)
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, kind, error) from None


def _collected(path: Path, kind: bytes, lazy: Any) -> Any:
    import polars as pl

    try:
        return lazy.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, kind, error) from None


def _unreadable(path: Path, kind: bytes, error: Exception) -> DataError:
    if not path.exists():
        return DataError(f"there is no file {str(path)!r} any more: it was there when reading began")
    line = str(error).partition("\n")[0]
    name = "Arrow" if kind == ARROW else "Parquet"
    return DataError(f"{str(path)!r} is not a readable {name} file: {line}")


def kind_of_file(path: Path) -> bytes:
    """Return how a file begins, if it is Parquet or Arrow; b"" if it is neither, or no plain file."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            start = file.read(len(ARROW))
    except OSError:
        return b""
    return next((kind for kind in (PARQUET, ARROW, ARROW_STREAM) if start.startswith(kind)), b"")


def open_arrow_stream(path: Path) -> Stream:
    """Return a file in Arrow's streaming format: batch by batch if pyarrow is there, otherwise at once."""
    import polars as pl

    def whole() -> Any:
        return _collected(path, ARROW, pl.LazyFrame(pl.read_ipc_stream(path)))

    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        return stream_of_frames(iter([whole()]))
    try:
        return replace(stream_of_frames(pa.ipc.open_stream(path)), whole=whole)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, ARROW, error) from None


def stream_of(files: Sequence[Stored]) -> Stream:
    """Return files with the same columns as one table."""
    names = (*files[0].names, *files[0].keys)
    if len(set(names)) < len(names):
        raise duplicate_names(names)

    def batches(_: Sequence[str], most_rows: int) -> Iterator[Batch]:
        for file in files:
            yield from file.batches(0, file.n_rows, most_rows)

    return Stream(names, batches, partial(_whole, files, names), partial(_one_column, files))


def _whole(files: Sequence[Stored], names: Sequence[str]) -> Any:
    import polars as pl

    frames = [file.whole(names) for file in files]
    try:
        return pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0]
    except pl.exceptions.PolarsError:
        raise _unlike(files, frames) from None


def _unlike(files: Sequence[Stored], frames: Sequence[Any]) -> DataError:
    """Return the error about the first column that differs between files."""
    import polars as pl

    for name in frames[0].columns:
        for file, frame in zip(files, frames, strict=True):
            try:
                pl.concat([frames[0].select(name), frame.select(name)], how="vertical_relaxed")
            except pl.exceptions.PolarsError:
                return DataError(
                    f"column {name!r} is of another type, or declares other categories, in "
                    f"{str(file.path)!r} than in {str(files[0].path)!r}: make them alike, or drop it"
                )
    return DataError(f"the columns of {str(files[0].path)!r} and the files beside it are of several types")


def _one_column(files: Sequence[Stored], name: str) -> Any:
    return _whole(files, [name])[name]


def open_folder(folder: Path) -> Stream:
    """Return the Parquet or Arrow files below a folder as one table, in the order of their names."""
    return stream_of(files_in(folder))


def files_in(folder: Path) -> list[Stored]:
    """Return the Parquet or Arrow files below a folder, in the order of their names.

    Folders called ``key=value`` add a column. Names that begin with a dot or an underscore are not looked at.
    """
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise DataError(f"{str(folder)!r} is a directory without Parquet or Arrow files")
    for path in found:
        if kind_of_file(path) not in (PARQUET, ARROW):
            raise DataError(
                f"{str(folder)!r} is a directory, and {str(path)!r} in it is neither Parquet nor Arrow"
            )
    files = [stored_file(path, kind_of_file(path)) for path in found]
    return _with_keys(folder, _same_columns(files))


def _same_columns(files: Sequence[Stored]) -> list[Stored]:
    """Refuse files that do not have the same columns, in any order."""
    first = files[0]
    for file in files[1:]:
        for one, other in ((first, file), (file, first)):
            if gone := [name for name in one.names if name not in set(other.names)]:
                raise DataError(
                    f"{str(other.path)!r} has no column {listing(gone)}, as {str(one.path)!r} has"
                )
    return list(files)


def _with_keys(folder: Path, files: Sequence[Stored]) -> list[Stored]:
    """Add the columns that the folders of files name; whole numbers where all values are."""
    keys = [_keys_of(file.path.relative_to(folder).parts[:-1]) for file in files]
    for file, mine in zip(files, keys, strict=True):
        if list(mine) != list(keys[0]):
            raise DataError(
                f"{str(file.path)!r} lies in folders for {listing(mine) or 'nothing'}, "
                f"{str(files[0].path)!r} in folders for {listing(keys[0]) or 'nothing'}"
            )
    numbers = {
        name
        for name in keys[0]
        if all(mine[name] is None or str(mine[name]).removeprefix("-").isdecimal() for mine in keys)
    }
    return [
        Stored(
            *(file.path, file.kind, tuple(name for name in file.names if name not in mine), file.n_rows),
            {name: int(v) if name in numbers and v is not None else v for name, v in mine.items()},
        )
        for file, mine in zip(files, keys, strict=True)
    ]


def _keys_of(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the keys and values that folders name.

    Examples
    --------
    >>> _keys_of(["year=2024", "data", "town=New%20York"])
    {'year': '2024', 'town': 'New York'}
    """
    pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
    return {unquote(key): None if value == NO_VALUE else unquote(value) for key, value in pairs}
