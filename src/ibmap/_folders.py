"""Several files as one: a folder holds the files of one result, all old or all new, whenever a run is killed.

New files are written beside the old ones. A list of what is to be renamed (and removed) is then renamed into
place, and from that moment the new result is the one that counts: whoever writes or reads there next does
what is left of the list.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ibmap._files import (
    PREFIX,
    SUFFIX,
    encoded,
    forget,
    lock,
    refuse_existing,
    remember,
    sweep,
    sync_folder,
    temporary,
    undisturbed,
    write_out,
)
from ibmap.errors import DataError, RequestError

LIST = ".ibmap-commit"
at_work = threading.Lock()  #: held while files are renamed: a process that must end waits for it


def write_together(
    folder: Path, files: Mapping[str, str | bytes], *, overwrite: bool = True, stale: Iterable[str] = ()
) -> None:
    """Write texts (or bytes) to a folder, all or none; ``stale`` files, of an older result, are removed."""
    raw = {name: encoded(content) for name, content in files.items()}
    try:
        _write_together(folder, raw, overwrite, stale)
    except OSError as error:
        raise RequestError(f"cannot write to {str(folder)!r}: {error.strerror or error}") from None


def _write_together(folder: Path, raw: Mapping[str, bytes], overwrite: bool, stale: Iterable[str]) -> None:
    with _locked(folder), ExitStack() as stack:
        _finish(folder)
        sweep(folder)
        for name in raw:
            refuse_existing(folder / name, overwrite=overwrite)
        new: dict[str, str] = {}
        for name, content in raw.items():
            file, made = stack.enter_context(temporary(folder))
            write_out(file, content)
            new[made.name] = name
        gone = [name for name in stale if name not in raw and (folder / name).is_file()]
        file, made = stack.enter_context(temporary(folder))
        write_out(file, json.dumps({"rename": new, "remove": gone}).encode())
        with undisturbed(), at_work:
            os.replace(made, folder / LIST)
            for name in new:  # from here on they belong to the list
                forget(folder / name)
            sync_folder(folder)
            _finish(folder)


def settle(folder: Path) -> None:
    """Finish what a run that was killed had begun to rename; readers call it first."""
    if not os.path.lexists(folder / LIST):
        return
    try:
        with _locked(folder), at_work:
            _finish(folder)
    except OSError as error:
        raise DataError(
            f"{str(folder)!r} holds a half-written result of a run that was killed, and it cannot be "
            f"completed: {error.strerror or error}"
        ) from None


def _finish(folder: Path) -> None:
    """Do what is left of the list, if there is one."""
    try:
        found = json.loads((folder / LIST).read_bytes())
        new = [(str(made), str(name)) for made, name in found["rename"].items()]
        gone = [str(name) for name in found["remove"]]
    except FileNotFoundError:
        return
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _foreign(folder) from None
    for made, name in new:
        if not (made.startswith(PREFIX) and made.endswith(SUFFIX) and _is_plain(made) and _is_plain(name)):
            raise _foreign(folder)
        with suppress(FileNotFoundError):  # it has its name already
            os.replace(folder / made, folder / name)
    for name in gone:
        if not _is_plain(name):
            raise _foreign(folder)
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)
    (folder / LIST).unlink(missing_ok=True)


def _is_plain(name: str) -> bool:
    return os.path.basename(name) == name and name not in ("", ".", "..")


def _foreign(folder: Path) -> RequestError:
    return RequestError(f"{str(folder / LIST)!r} was not written by ibmap: remove it")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time write to a folder."""
    try:
        opened = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except PermissionError:  # not a Unix, or a folder that cannot be listed
        yield
        return
    try:
        lock(opened)
        yield
    finally:
        os.close(opened)


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder, and its parents, for the block; those that were made go again if it fails."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in new:
        remember(one)
    try:
        _make(folder)
        yield
    except BaseException:
        with suppress(OSError):  # one that cannot go yet is still remembered
            for one in new:
                one.rmdir()
                forget(one)
        raise
    for one in new:
        forget(one)


def _make(folder: Path) -> None:
    """Make a folder, and try to write there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        with temporary(folder):
            pass
    except (FileExistsError, NotADirectoryError):
        raise RequestError(f"cannot write to {str(folder)!r}: it is, or lies in, a file") from None
    except OSError as error:
        raise RequestError(f"cannot write to {str(folder)!r}: {error.strerror or error}") from None
