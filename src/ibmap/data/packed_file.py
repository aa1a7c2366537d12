"""A packed table in a file, as the core reads it.

The file begins with ``MAGIC``, a version, the length of a header and its SHA-256. The header is JSON: names,
levels and the digest of the table, and where the arrays stand. Each of these begins at a multiple of 4096.

The header is anybody's JSON: every field is looked at. The rows are passed once, block by block. Left for the
digest (:func:`check_packed`) are rows that make sense, but were not packed: codes of a wide variable, bits
that have moved in a variable with missing values, or in all copies.
"""

import ctypes
import hashlib
import json
import math
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._files import byte_limit, write_parts
from ibmap.data.table import WIDE, LevelBits, Levels, PackedData, digest_of
from ibmap.errors import DataError

MAGIC, VERSION, SUFFIX = b"IBMAPTAB", 1, ".ibmap"
MOST_READ = 1 << 32  #: bytes of a file that is read, not mapped, unless IBMAP_MAX_BYTES says otherwise
_START = struct.Struct("<8sIQ32s")  # magic, version, length of the header, its SHA-256
ALIGNED = 4096
AT_ONCE = 1 << 24  #: bytes that are written at a time
ARRAYS = {"bits": np.uint64, "columns": np.uint64, "wide_codes": np.int32, "level_sizes": np.int64}

AT_ONCE_WORDS = 1 << 17  #: words of bits that are looked at together: they stay in a cache
FEWEST = 16  #: words of a row of bits among them: two lines of the cache


def write_packed(data: PackedData, path: Path, *, overwrite: bool = True) -> None:
    """Write a packed table, whole or not at all.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> bits = np.array([[0b101], [0b010]], np.uint64)
    >>> table = LevelBits(3, np.array([2]), bits, np.empty((0, 3), np.int32), np.array([2, 1]))
    >>> with TemporaryDirectory() as folder:
    ...     write_packed(PackedData(table, ("wet",), (("no", "yes"),)), Path(folder) / "t.ibmap")
    ...     open_packed(Path(folder) / "t.ibmap").codes_of(0).tolist()
    [0, 1, 0]
    """
    table = data.bits
    arrays = {name: np.ascontiguousarray(getattr(table, name), kind) for name, kind in ARRAYS.items()}
    header = {
        "names": data.names,
        "levels": data.levels,
        "n_rows": data.n_rows,
        "bin_edges": data.bin_edges,
        "warnings": data.warnings,
        "ordinal": data.ordinal,
        "digest": data.known_digest or digest_of(table, data.names, data.levels, data.ordinal, data.dtype),
        "shapes": {name: array.shape for name, array in arrays.items()},
    }
    write_parts(path, _parts(json.dumps(header).encode(), list(arrays.values())), overwrite=overwrite)


def _parts(header: bytes, arrays: list[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield what stands in the file, piece by piece."""
    yield _START.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()) + header
    at = _START.size + len(header)
    for array in arrays:
        yield bytes(-at % ALIGNED)
        flat = array.reshape(-1).view(np.uint8)
        for first in range(0, flat.size, AT_ONCE):
            yield flat[first : first + AT_ONCE].data
        at += -at % ALIGNED + flat.size


def is_packed(path: Path) -> bool:
    """Whether a file begins like a packed table, or is called like one."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return path.suffix.lower() == SUFFIX or file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def open_packed(path: Path, mapped: bool = False) -> PackedData:
    """Open a packed table; one that contradicts itself is refused.

    Its rows are read into memory, where nobody else can change them or cut them off. They are mapped if they
    are more than ``MOST_READ`` (or IBMAP_MAX_BYTES), or if ``mapped`` says that the file is nobody else's.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            mapped = mapped or size > byte_limit(MOST_READ)
            raw = _raw_header(path, file, size)
            try:
                return _opened(path, file, size, raw, mapped)
            except DataError as error:
                raise DataError(f"{str(path)!r} is damaged: {error}; pack the table again") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def check_packed(path: Path) -> PackedData:
    """Open a packed table, and compare its rows with its digest.

    Only this finds rows that make sense, but are others than were packed.
    """
    data = open_packed(path)
    if digest_of(data.bits, data.names, data.levels, data.ordinal, data.dtype) != data.known_digest:
        raise DataError(f"{str(path)!r} is damaged: its rows have another digest; pack the table again")
    return data


def _raw_header(path: Path, file: BufferedReader, size: int) -> bytes:
    """Return the header of a packed table as it stands there."""
    start = file.read(_START.size)
    if len(start) < _START.size or not start.startswith(MAGIC):
        raise DataError(
            f"{str(path)!r} is not a packed table, or its beginning is damaged: ibmap pack makes one"
        )
    _, version, length, digest = _START.unpack(start)
    if version != VERSION:
        raise DataError(
            f"{str(path)!r} was packed by another version of ibmap (format {version}, here {VERSION}): "
            "pack the table again"
        )
    raw = file.read(min(length, size))
    if hashlib.sha256(raw).digest() != digest:
        raise DataError(f"{str(path)!r} is damaged or cut off: pack the table again")
    return raw


def _opened(path: Path, file: BufferedReader, size: int, raw: bytes, mapped: bool) -> PackedData:
    """Return the table of an open file, checked."""
    header = header_of(raw)
    first, places = _START.size + len(raw), []
    for name, kind in ARRAYS.items():
        places.append(first + -first % ALIGNED)
        first = places[-1] + math.prod(header.shapes[name]) * np.dtype(kind).itemsize
    if first != size:
        raise DataError(f"it is cut off, or too long: it has {size:,} bytes, not {first:,}")
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if mapped else _read(file, size)
    arrays: dict[str, NDArray[Any]] = {}
    for (name, kind), at in zip(ARRAYS.items(), places, strict=True):
        shape = header.shapes[name]
        arrays[name] = np.frombuffer(content, kind, math.prod(shape), at).reshape(shape)
    sizes = np.array([len(labels) for labels in header.levels], np.int64)
    parts = (arrays["bits"], arrays["wide_codes"], arrays["level_sizes"].copy(), arrays["columns"])
    table = LevelBits(header.n_rows, sizes, *parts)
    check_rows(table)
    about = (header.bin_edges, None, header.warnings, header.digest, path if mapped else None, header.ordinal)
    return PackedData(table, header.names, header.levels, *about)


def _read(file: BufferedReader, size: int) -> NDArray[np.uint8]:
    """Return what a file holds, in memory of our own."""
    content = np.empty(size, np.uint8)
    file.seek(0)
    if file.readinto(content.data) != size:
        raise DataError("it was cut off while it was read")
    return content


def release_pages(data: PackedData) -> None:
    """Let the rows of a mapped table leave the memory of this process; they come back when they are read.

    They stay in the memory that the system has to spare. Where the system cannot do that, nothing happens.
    """
    if data.path is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    for array in (data.bits.bits, data.bits.columns, data.bits.wide_codes):
        if array.nbytes:
            _libc().madvise(
                ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), mmap.MADV_DONTNEED
            )


@cache
def _libc() -> Any:
    return ctypes.CDLL(None)


@dataclass(frozen=True)
class Header:
    """What a header says, checked."""

    names: tuple[str, ...]
    levels: Levels
    n_rows: int
    bin_edges: dict[str, tuple[float, ...]]
    warnings: tuple[str, ...]
    ordinal: tuple[str, ...]
    digest: str
    shapes: dict[str, tuple[int, ...]]


def header_of(raw: bytes) -> Header:
    """Read a header; a DataError says what is wrong with it.

    Examples
    --------
    >>> header_of(b'{"names": 5}')
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: 'names' must be a list of words
    """
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise DataError("its header is not JSON") from None
    if not isinstance(found, dict):
        raise DataError("its header has no fields")
    found = {"ordinal": [], **found}  # older files have none
    for key, (is_right, words) in _FIELDS.items():
        if key not in found:
            raise DataError(f"its header has no {key!r}")
        if not is_right(found[key]):
            raise DataError(f"{key!r} must be {words}")
    names = found["names"]
    if len(set(names)) < len(names) or len(found["levels"]) != len(names):
        raise DataError("its header does not have one name and one list of levels for each variable")
    if not {*found["ordinal"], *found["bin_edges"]} <= set(names):
        raise DataError("its header names variables that it does not have")
    sizes = [len(labels) for labels in found["levels"]]
    n_bits, n_wide = sum(size for size in sizes if size <= WIDE), sum(size > WIDE for size in sizes)
    n_rows, shapes = found["n_rows"], found["shapes"]
    n_words = max(1, -(-n_rows // 64))
    right = {"bits": [n_bits, n_words], "wide_codes": [n_wide, n_rows], "level_sizes": [n_bits]}
    right["columns"] = [n_words, *shapes["columns"][1:2]]  # how many: check_rows
    if shapes != right or not n_bits + n_wide:
        raise DataError("its header has sizes that do not fit together")
    return Header(
        tuple(names),
        tuple(map(tuple, found["levels"])),
        n_rows,
        {name: tuple(edges) for name, edges in found["bin_edges"].items()},
        tuple(found["warnings"]),
        tuple(found["ordinal"]),
        found["digest"],
        {name: tuple(shape) for name, shape in shapes.items()},
    )


def check_rows(table: LevelBits) -> None:
    """Refuse arrays that contradict each other, in one pass over them.

    Levels of a variable are disjoint if together they have as many rows as their union.

    Examples
    --------
    >>> bits = np.array([[0b101], [0b011]], np.uint64)
    >>> check_rows(LevelBits(3, np.array([2]), bits, np.empty((0, 3), np.int32), np.array([2, 2])))
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: a row has two levels of one variable
    """
    for codes, n_levels in zip(table.wide_codes, table.levels[~table.narrow], strict=True):
        if codes.size and (codes.min() < -1 or codes.max() >= n_levels):
            raise DataError("a code is outside the levels of its variable")
    n_bits, n_words = table.bits.shape
    rows, columns = table.blocks[1], table.columns
    if columns.shape != (n_words, len(rows)):
        raise DataError("its two copies of the rows differ")
    first = table.first[table.narrow & (table.levels > 0)]
    sizes, known = np.zeros(n_bits, np.int64), 0
    step = max(FEWEST, AT_ONCE_WORDS // max(1, n_bits))
    for some in (slice(word, word + step) for word in range(0, n_words, step)):
        bits = table.bits[:, some]
        sizes += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        known += int(np.bitwise_count(np.bitwise_or.reduceat(bits, first)).sum()) if first.size else 0
        if not np.array_equal(columns[some], bits[rows].T):
            raise DataError("its two copies of the rows differ")
    if not np.array_equal(sizes, table.level_sizes):
        raise DataError("a level has more or fewer rows than were counted")
    if known != sizes.sum():
        raise DataError("a row has two levels of one variable")
    in_last = table.n_rows - 64 * (n_words - 1)
    if in_last < 64 and (table.bits[:, -1] >> np.uint64(in_last)).any():
        raise DataError("there are levels beyond the last row")


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _dict_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(is_right, value.values()))


def _is_shapes(value: Any) -> bool:
    return _dict_of(_list_of(_is_whole))(value) and "columns" in value


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "names": (_list_of(_is_word), "a list of words"),
    "levels": (_list_of(_list_of(_is_label)), "a list of labels for each variable"),
    "n_rows": (_is_whole, "a whole number"),
    "bin_edges": (_dict_of(_list_of(_is_number)), "a list of numbers for each variable that was cut"),
    "warnings": (_list_of(_is_word), "a list of words"),
    "ordinal": (_list_of(_is_word), "a list of words"),
    "digest": (_is_digest, "64 hexadecimal digits"),
    "shapes": (_is_shapes, "the sizes of the arrays"),
}
