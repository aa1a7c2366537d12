"""Write a file whole or not at all, and never over another one by accident; read none that does not end.

A temporary file is made exclusively, never through a link, and is locked as long as its writer lives: what is
not locked was left behind by a run that was killed, and is swept away by the next one.
"""

import io
import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ibmap import _checks
from ibmap.errors import DataError, RequestError

PREFIX, SUFFIX = ".ibmap-", ".tmp"
TRIES, MOMENT = 20, 0.005  #: to claim a name, and seconds between them
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OLD = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

#: signals that ask a process to end, where the system has them
STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_unfinished: dict[Path, bool] = {}  #: files and folders to remove if this process must end at once
_swept: set[Path] = set()  #: folders that this process has looked at

MAX_BYTES = 1 << 32  #: of a table that is read at once, unless IBMAP_MAX_BYTES says otherwise
MOST = 1 << 28  #: bytes of a file that is read as one text, unless IBMAP_MAX_BYTES says otherwise
_BLOCK = 1 << 24


def read_whole(path: Path) -> bytes:
    """Return what a file holds, if it is not endless."""
    with path.open("rb") as file:
        return read_at_most(path, file, MOST)


def read_at_most(path: Path, file: io.BufferedIOBase, usual: int) -> bytes:
    """Return what is left in an open file, if that is not more than usual, or than IBMAP_MAX_BYTES."""
    limit = byte_limit(usual)
    parts: list[bytes] = []
    size = 0
    while part := file.read(min(_BLOCK, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise too_large(path, limit)
    return b"".join(parts)


def check_size(path: Path, usual: int) -> None:
    """Refuse a file that is not there, or larger than usual, or than IBMAP_MAX_BYTES."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    check_bytes(path, size, usual)


def check_bytes(path: Path, size: int, usual: int) -> None:
    """Refuse what would take more bytes than usual, or than IBMAP_MAX_BYTES, once it is read."""
    if size > (limit := byte_limit(usual)):
        raise too_large(path, limit)


def byte_limit(usual: int) -> int:
    """Return how many bytes of a file are read: IBMAP_MAX_BYTES, or as usual."""
    said = os.environ.get("IBMAP_MAX_BYTES", "")
    if said and not said.isdecimal():
        raise DataError(f"IBMAP_MAX_BYTES must be a whole number, not {said!r}")
    return int(said) if said else usual


def too_large(path: Path, limit: int) -> DataError:
    """Return the error about a file that is larger than it may be."""
    return DataError(
        f"{str(path)!r} holds more than {limit:,} bytes: if that is meant, set the environment variable "
        "IBMAP_MAX_BYTES to a larger number"
    )


def refuse_existing(path: Path, *, overwrite: bool, read: Iterable[Path] = ()) -> None:
    """Raise if there is something at ``path`` that may not be replaced: what is read never may."""
    if path.is_dir():
        raise RequestError(f"cannot write {str(path)!r}: it is a folder")
    for one in read if path.exists() else ():
        if one.exists() and (one.samefile(path) or one.resolve() in path.resolve().parents):
            raise RequestError(f"{str(path)!r} is the input, or a part of it: write to another file")
    if path.exists() and not _checks.flag(overwrite, "overwrite"):
        raise RequestError(f"{str(path)!r} exists: pass overwrite=True to replace it")


def write_whole(path: Path, content: str | bytes, *, overwrite: bool = True) -> None:
    """Write under a temporary name, then rename; into pipes and devices, at once."""
    write_parts(path, [encoded(content)], overwrite=overwrite)


def write_parts(path: Path, parts: Iterable[bytes | memoryview], *, overwrite: bool = True) -> None:
    """Write one part after the other, and all of them or nothing."""
    refuse_existing(path, overwrite=overwrite)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.writelines(parts)
            return
        if path.parent not in _swept:
            sweep(path.parent)
        with temporary(path.parent) as (file, name):
            for part in parts:
                write_all(file, part)
            os.fsync(file)
            _put(name, path, overwrite=overwrite)
    except FileExistsError:
        refuse_existing(path, overwrite=overwrite)
        raise
    except OSError as error:
        raise RequestError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def encoded(content: str | bytes) -> bytes:
    """Return what stands in the file."""
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = content[error.start : error.end]
        raise RequestError(f"no text file can hold {bad!r}, an unpaired surrogate") from None


def _put(name: Path, path: Path, *, overwrite: bool) -> None:
    """Rename; without ``overwrite`` only if there is still nothing, also for somebody else at this moment."""
    if overwrite:
        os.replace(name, path)
    else:
        try:
            os.link(name, path)
        except FileExistsError:
            raise
        except OSError:  # a disk without hard links
            os.replace(name, path)
    sync_folder(path.parent)


@contextmanager
def temporary(folder: Path) -> Iterator[tuple[int, Path]]:
    """Make a file under a name of its own, locked; what is left of it is removed at the end."""
    with undisturbed():
        file, name = _made(folder)
        remember(name)
    try:
        yield file, name
    finally:
        if name in _unfinished:  # unless somebody else will rename it
            with suppress(OSError):
                name.unlink()
            forget(name)
        os.close(file)


def _made(folder: Path) -> tuple[int, Path]:
    while True:
        name = folder / f"{PREFIX}{os.urandom(8).hex()}{SUFFIX}"
        try:
            file = os.open(name, _NEW, 0o666)
        except FileExistsError:  # a file, or a link that somebody has put there
            continue
        lock(file)
        if is_at(file, name):
            return file, name
        os.close(file)  # another run has swept it away before it was locked


def write_out(file: int, raw: bytes) -> None:
    """Write all of it, to the disk itself."""
    write_all(file, raw)
    os.fsync(file)


def write_all(file: int, raw: bytes | memoryview) -> None:
    """Write all of it, however little the system takes at a time."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


# Locks: the system lets go of them when a process ends, however it ends; containers on one disk share them.


def lock(file: int, *, wait: bool = True) -> bool:
    """Lock an open file or folder; tell whether it is ours. Where there are no locks, it is."""
    try:
        import fcntl
    except ImportError:  # not a Unix
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return wait
    return True


def is_at(file: int, name: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        there = os.stat(name, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(os.fstat(file), there)


def sweep(folder: Path) -> None:
    """Remove temporary files that nobody has locked: their runs were killed."""
    _swept.add(folder)
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(PREFIX) and name.endswith(SUFFIX):
                with suppress(OSError):
                    _remove_unlocked(folder / name)


def _remove_unlocked(name: Path) -> None:
    file = os.open(name, _OLD)
    try:
        if stat.S_ISREG(os.fstat(file).st_mode) and lock(file, wait=False) and is_at(file, name):
            name.unlink()
    finally:
        os.close(file)


@contextmanager
def claimed(name: Path) -> Iterator[bool]:
    """Claim a name for as long as the block runs; yields whether nobody else has.

    The name is that of a temporary file: if this process is killed, the next one may claim it.
    """
    with undisturbed():
        file = _claim(name)
        if file is not None:
            remember(name)
    if file is None:
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            name.unlink()
        forget(name)
        os.close(file)


def _claim(name: Path) -> int | None:
    """Return the file, open and locked, or None if somebody owns it; a sweep locks it for a moment only."""
    for _ in range(TRIES):
        file = os.open(name, _OLD | os.O_CREAT, 0o666)
        if lock(file, wait=False) and is_at(file, name):
            return file
        os.close(file)
        time.sleep(MOMENT)
    return None


# A process that must end at once


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and its relatives wait, so that none falls between two steps that belong together."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    answered = [number for number in STOPS if callable(signal.getsignal(number))]
    before = {number: signal.signal(number, lambda heard, _: pressed.append(heard)) for number in answered}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for heard in pressed[:1]:
            signal.raise_signal(heard)


def remember(path: Path, *, whole: bool = False) -> None:
    """Have a file or folder removed if this process must end before the result is there.

    A folder goes if nothing else is in it, or as a ``whole``.
    """
    _unfinished[path] = whole


def forget(path: Path) -> None:
    """Let it stay, or somebody else remove it."""
    _unfinished.pop(path, None)


def abandon() -> None:
    """Remove what is not finished: files, then the folders that were made for them."""
    names = list(_unfinished)
    for name in names:
        with suppress(OSError):
            shutil.rmtree(name, ignore_errors=True) if _unfinished.get(name) else name.unlink()
    for name in sorted(names, key=lambda path: -len(path.parts)):
        with suppress(OSError):
            name.rmdir()
