"""Files that know their columns, Parquet and Arrow, and folders of them: read in batches."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ibmap._files import MAX_BYTES, check_bytes
from ibmap._text import listing
from ibmap.data.columns import Column
from ibmap.data.frames import (
    column_of_polars,
    columns_in_batches,
    orders_in_arrow,
    source_of_frames,
    source_of_polars,
)
from ibmap.data.sources import Batch, Source, duplicate_names
from ibmap.errors import DataError

PARQUET, ARROW, ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"  #: how files begin
ROWS = 1 << 20  #: of a piece: with fewer, waiting for answers would take longer than counting
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  #: what a folder is called for a missing value


@dataclass(frozen=True)
class StoredFile:
    """One file: its columns and how many rows it has.

    ``keys`` are columns that its folders name (``year=2024``), with the value that all its rows have.
    """

    path: Path
    kind: bytes
    widths: dict[str, int]  #: bytes of a value, by column
    n_rows: int
    keys: dict[str, Any] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)  #: of text, where the file declares one

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that stand in the file."""
        return tuple(self.widths)

    def batches(self, first: int, size: int, most_rows: int) -> Iterator[Batch]:
        """Yield some rows, so many at a time."""
        scanned = _scan_file(self.path, self.kind)  # one for all: it keeps what it has seen of the file
        for row in range(first, first + size, most_rows):
            n_rows = min(most_rows, first + size - row)
            where = (scanned, row, n_rows)
            yield Batch(str(self.path), n_rows, partial(self._columns, *where), partial(self._read, *where))

    def _columns(self, scanned: Any, first: int, size: int, names: Sequence[str]) -> list[Column]:
        return columns_in_batches(self._read(scanned, first, size, names))

    def whole(self, names: Sequence[str]) -> Any:
        """Return some columns as a polars frame."""
        return self._read(_scan_file(self.path, self.kind), 0, self.n_rows, names)

    def _read(self, scanned: Any, first: int, size: int, names: Sequence[str]) -> Any:
        """Return some rows of some columns as a polars frame."""
        import polars as pl

        own = [name for name in names if name not in self.keys]
        lazy = scanned.slice(first, size)
        some = lazy.select(own) if own else lazy.select(pl.first())
        frame = _collect(self.path, self.kind, some.collect)
        if len(frame) != size:
            raise DataError(f"{str(self.path)!r} has changed while it was read: rows are gone")
        keys = [pl.lit(value).alias(name) for name, value in self.keys.items() if name in names]
        return frame.with_columns(keys).select(names)


def stored_file(path: Path, kind: bytes) -> StoredFile:
    """Look at a file: its columns and its rows, but no values."""
    import polars as pl

    lazy = _scan_file(path, kind)
    n_rows = int(_collect(path, kind, lazy.select(pl.len()).collect).item())
    schema = _collect(path, kind, lazy.collect_schema)
    orders = _orders(path, kind) if n_rows and pl.Categorical in schema.dtypes() else {}
    widths = {name: _width(dtype) for name, dtype in schema.items()}
    return StoredFile(path, kind, widths, n_rows, orders=orders)


def _width(dtype: Any) -> int:
    """Return how many bytes a value takes in memory."""
    bits = re.search(r"Int(\d+)|Float(\d+)", str(dtype))
    return max(1, int(bits[1] or bits[2]) // 8) if bits else 1 if str(dtype) == "Boolean" else 16


def _orders(path: Path, kind: bytes) -> dict[str, tuple[str, ...]]:
    """Return the columns of text that have an order, which pandas declares; only pyarrow knows them."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        return {}
    try:
        if kind == ARROW:
            with pa.OSFile(str(path)) as file:
                return orders_in_arrow(pa.Table.from_batches([pa.ipc.open_file(file).get_batch(0)]))
        with pq.ParquetFile(path) as file:
            fields = [field for field in file.schema_arrow if pa.types.is_dictionary(field.type)]
            names = [field.name for field in fields if field.type.ordered]
            return orders_in_arrow(file.read_row_group(0, columns=names)) if names else {}
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, kind, error) from None


def common_orders(files: Sequence[StoredFile]) -> dict[str, tuple[str, ...]]:
    """Return the orders that files declare; refuse files that declare others."""
    for file in files:
        for name in {**files[0].orders, **file.orders}:
            if file.orders.get(name) != files[0].orders.get(name):
                raise DataError(
                    f"column {name!r} declares other categories in {str(file.path)!r} than in "
                    f"{str(files[0].path)!r}: declare the same ones in the same order, or drop it"
                )
    return files[0].orders


def open_stored(path: Path, kind: bytes) -> Source:
    """Return one file as a table."""
    return source_of_files([stored_file(path, kind)])


def parquet_frame(path: Path, raw: bytes) -> Any:
    """Return the table in the content of a Parquet file."""
    import polars as pl

    return _collect(path, PARQUET, lambda: pl.read_parquet(io.BytesIO(raw)))


def _scan_file(path: Path, kind: bytes) -> Any:
    import polars as pl

    if kind == ARROW:
        return _collect(path, kind, lambda: pl.scan_ipc(path))
    return _collect(path, kind, lambda: pl.scan_parquet(path, glob=False, hive_partitioning=False))


def _collect(path: Path, kind: bytes, read: Callable[[], Any]) -> Any:
    import polars as pl

    try:
        return read()
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


def open_arrow_stream(path: Path) -> Source:
    """Return a file in Arrow's streaming format: batch by batch if pyarrow is there, otherwise at once."""
    import polars as pl

    def whole() -> Any:
        return _collect(path, ARROW, lambda: pl.read_ipc_stream(path))

    try:
        import pyarrow as pa
    except ImportError:
        return source_of_polars(whole())

    def opened() -> Source:
        try:
            return source_of_frames(pa.ipc.open_stream(path))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, ARROW, error) from None

    def batches(names: Sequence[str], most_rows: int) -> Iterator[Batch]:
        try:
            yield from opened().batches(names, most_rows)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, ARROW, error) from None

    first = opened()
    return Source(first.names, batches, whole=whole, ordinal=first.ordinal)


def source_of_files(files: Sequence[StoredFile]) -> Source:
    """Return files with the same columns as one table."""
    names = (*files[0].names, *files[0].keys)
    if len(set(names)) < len(names):
        raise duplicate_names(names)

    def batches(_: Sequence[str], most_rows: int) -> Iterator[Batch]:
        for file in files:
            yield from file.batches(0, file.n_rows, most_rows)

    return Source(
        names,
        batches,
        whole=partial(_whole, files, names),
        column=partial(_one_column, files),
        ordinal=common_orders(files),
    )


def _whole(files: Sequence[StoredFile], names: Sequence[str]) -> Any:
    import polars as pl

    size = sum(file.n_rows * sum(file.widths.get(name, 1) for name in names) for file in files)
    check_bytes(files[0].path, size, MAX_BYTES)
    frames = [file.whole(names) for file in files]
    try:
        return pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0]
    except pl.exceptions.PolarsError:
        raise _unlike(files, frames) from None


def _unlike(files: Sequence[StoredFile], frames: Sequence[Any]) -> DataError:
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


def _one_column(files: Sequence[StoredFile], name: str) -> Column:
    return column_of_polars(name, _whole(files, [name])[name])


def open_folder(folder: Path) -> Source:
    """Return the Parquet or Arrow files below a folder as one table, in the order of their names."""
    return source_of_files(files_in(folder))


def files_in(folder: Path) -> list[StoredFile]:
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


def _same_columns(files: Sequence[StoredFile]) -> list[StoredFile]:
    """Refuse files that do not have the same columns, in any order."""
    first = files[0]
    for file in files[1:]:
        for one, other in ((first, file), (file, first)):
            if gone := [name for name in one.names if name not in set(other.names)]:
                raise DataError(
                    f"{str(other.path)!r} has no column {listing(gone)}, unlike {str(one.path)!r}"
                )
    return list(files)


def _with_keys(folder: Path, files: Sequence[StoredFile]) -> list[StoredFile]:
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
        replace(
            file,
            widths={name: width for name, width in file.widths.items() if name not in mine},
            keys={name: int(v) if name in numbers and v is not None else v for name, v in mine.items()},
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


# Pieces of so many rows, for a cluster


@dataclass(frozen=True)
class Piece:
    """Some rows of a table, wherever in its files they stand: (file, first row, rows)."""

    number: int
    where: tuple[tuple[StoredFile, int, int], ...]

    def batches(self, most_rows: int) -> Iterator[Batch]:
        """Yield the rows, so many at a time."""
        for file, first, size in self.where:
            yield from file.batches(first, size, most_rows)


def pieces_of(path: Path, rows: int = ROWS) -> tuple[tuple[str, ...], list[Piece]]:
    """Return the columns of a folder of Parquet or Arrow files, or of one such file, and its pieces.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> with TemporaryDirectory() as folder:
    ...     for k in range(2):
    ...         pl.DataFrame({"a": range(5), "b": range(5)}).write_parquet(f"{folder}/{k}.parquet")
    ...     names, pieces = pieces_of(Path(folder), rows=4)
    >>> names, [[(first, size) for _, first, size in piece.where] for piece in pieces]
    (('a', 'b'), [[(0, 4)], [(4, 1), (0, 3)], [(3, 2)]])
    """
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    files = files_in(path) if path.is_dir() else [_one_file(path)]
    names = (*files[0].names, *files[0].keys)
    if len(set(names)) < len(names):
        raise duplicate_names(names)
    common_orders(files)
    pieces: list[list[tuple[StoredFile, int, int]]] = [[]]
    place = rows
    for file in files:
        first = 0
        while first < file.n_rows:
            size = min(place, file.n_rows - first)
            pieces[-1].append((file, first, size))
            first, place = first + size, place - size
            if not place:
                pieces.append([])
                place = rows
    return names, [Piece(k, tuple(where)) for k, where in enumerate(filter(None, pieces))]


def _one_file(path: Path) -> StoredFile:
    """Return a file that can be read from anywhere in it."""
    kind = kind_of_file(path)
    if kind not in (PARQUET, ARROW):
        raise DataError(
            f"{str(path)!r} is neither a folder nor a Parquet or Arrow file, and other files cannot be "
            f"divided among workers: write it as Parquet, or use the engine 'memory'"
        )
    return stored_file(path, kind)
