"""Write a file whole or not at all, and never over another one by accident."""

import os
from pathlib import Path

from ibmap.errors import RequestError


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise if there is something at ``path`` that may not be replaced."""
    if path.is_dir():
        raise RequestError(f"cannot write {str(path)!r}: it is a folder")
    if path.exists() and not overwrite:
        raise RequestError(f"{str(path)!r} exists: pass overwrite=True to replace it")


def write_whole(path: Path, content: str | bytes, *, overwrite: bool = True) -> None:
    """Write under a temporary name, then rename."""
    refuse_existing(path, overwrite=overwrite)
    temporary = path.with_name(f".ibmap-{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content if isinstance(content, bytes) else _encoded(content))
        os.replace(temporary, path)
    except OSError as error:
        raise RequestError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise RequestError(f"no text file can hold {bad!r}, an unpaired surrogate") from None
