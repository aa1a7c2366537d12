"""A packed table in a file: mapped into memory when it is opened, and shared by processes.

The file begins with ``MAGIC``, a version, the length of a header and its SHA-256. The header is JSON: names,
levels and the digest of the table, and where the arrays stand. Each of these begins at a multiple of 4096.
"""

import ctypes
import hashlib
import json
import mmap
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._files import write_parts
from ibmap.data.packed import WIDE, LevelBits, PackedData, digest_of
from ibmap.errors import DataError

MAGIC, VERSION = b"IBMAPTAB", 1
_START = struct.Struct("<8sIQ32s")  # magic, version, length of the header, its SHA-256
ALIGNED = 4096
AT_ONCE = 1 << 24  #: bytes that are written at a time
ARRAYS = {"bits": np.uint64, "columns": np.uint64, "wide_codes": np.int32, "level_sizes": np.int64}


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
    """Whether a file begins like a packed table."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def open_packed(path: Path) -> PackedData:
    """Map a packed table into memory: its rows are read when they are needed."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if mapped is None or size < _START.size or mapped[: len(MAGIC)] != MAGIC:
        raise DataError(f"{str(path)!r} is not a packed table: ibmap pack makes one")
    header, first = _header(path, mapped)
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind in ARRAYS.items():
        first += -first % ALIGNED
        shape = tuple(header["shapes"][name])
        count = int(np.prod(shape))
        if first + count * np.dtype(kind).itemsize > size:
            raise DataError(f"{str(path)!r} is cut off: {size:,} bytes are there; pack the table again")
        arrays[name] = np.frombuffer(mapped, kind, count, first).reshape(shape)
        first += arrays[name].nbytes
    levels = tuple(tuple(labels) for labels in header["levels"])
    sizes = np.array([len(labels) for labels in levels], np.int64)
    parts = (arrays["bits"], arrays["wide_codes"], arrays["level_sizes"].copy(), arrays["columns"])
    table = LevelBits(header["n_rows"], sizes, *parts)
    _check(path, table)
    edges = {name: tuple(edges) for name, edges in header["bin_edges"].items()}
    about = (edges, None, tuple(header["warnings"]), header["digest"], path, header.get("ordinal", ()))
    return PackedData(table, tuple(header["names"]), levels, *about)


def let_go(data: PackedData) -> None:
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


def _header(path: Path, mapped: mmap.mmap) -> tuple[dict[str, Any], int]:
    """Return the header of a packed table, and where it ends."""
    _, version, length, digest = _START.unpack(mapped[: _START.size])
    if version != VERSION:
        raise DataError(
            f"{str(path)!r} was packed by another version of ibmap (format {version}, here {VERSION}): "
            "pack the table again"
        )
    raw = mapped[_START.size : _START.size + length]
    if hashlib.sha256(raw).digest() != digest:
        raise DataError(f"{str(path)!r} is damaged or cut off: pack the table again")
    header: dict[str, Any] = json.loads(raw)
    return header, _START.size + length


def _check(path: Path, table: LevelBits) -> None:
    """Refuse arrays that do not fit together: kernels trust them and check no bounds."""
    n_words, n_wide = max(1, -(-table.n_rows // 64)), int((table.levels > WIDE).sum())
    n_bits = int(table.levels[table.narrow].sum())
    fits = table.bits.shape == (n_bits, n_words) and table.wide_codes.shape == (n_wide, table.n_rows)
    fits = fits and table.level_sizes.shape == (n_bits,) and table.turned is not None
    fits = fits and table.columns.shape == (n_words, len(table.blocks[1]))
    most = table.levels[~table.narrow]
    if not fits or any(
        bool((codes < -1).any() or (codes >= levels).any())
        for codes, levels in zip(table.wide_codes, most, strict=True)
    ):
        raise DataError(f"{str(path)!r} is damaged: pack the table again")
