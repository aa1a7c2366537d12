"""Result files: all of them or none, and never half of one."""

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ibmap._files import refuse_existing
from ibmap.errors import RequestError


@contextmanager
def output_folder(path: Path | None, names: Sequence[str] = (), force: bool = True) -> Iterator[None]:
    """Make sure that files can be written to a folder before the work begins.

    Files of these names that are there already are replaced by force only. If the work fails or is
    interrupted, folders that were made for it are removed again.
    """
    if path is None:
        yield
        return
    for name in names:
        refuse_existing(path / name, overwrite=force)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        _try_to_write(path)
        yield
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _try_to_write(path: Path) -> None:
    probe = _temporary(path, "probe")
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except (FileExistsError, NotADirectoryError):
        raise RequestError(f"cannot write to {str(path)!r}: it is, or lies in, a file") from None
    except OSError as error:
        raise RequestError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None


def write_together(path: Path, files: Mapping[str, str | bytes]) -> None:
    """Write texts (or bytes) under temporary names and rename them only when all of them are on the disk."""
    for name in files:
        if (path / name).is_dir():
            raise RequestError(f"cannot write {str(path / name)!r}: it is a folder")
    temporaries = {name: _temporary(path, name) for name in files}
    try:
        for name, content in files.items():
            temporaries[name].write_bytes(content if isinstance(content, bytes) else content.encode())
        with _undisturbed():
            for name, temporary in temporaries.items():
                os.replace(temporary, path / name)
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


def _temporary(path: Path, name: str) -> Path:
    return path / f".{name}.{os.getpid()}.tmp"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait for a moment, so that it does not fall between two renames."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
