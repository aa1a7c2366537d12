"""Compiled code on disk: a help, never a condition. What cannot be read, or kept, is compiled again.

Numba takes what stands in its files for granted. Here each is sealed with a digest of its content, of the
function and of all kernels, so that code that is cut off, of another function or of an older version is not
run; and whatever goes wrong with a file is one line on stderr (of the logger ``ibmap``), once per process.
"""

import hashlib
import logging
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
)
from numba.core.serialize import dumps

USERS = "UserWideCacheLocator"  #: older versions of Numba have a _ before it
_said: set[str] = set()


def code_cache(function: Callable[..., Any]) -> Any:
    """Return where the machine code of a function is kept; nowhere if no folder can be written to."""
    try:
        return _Cache(function)
    except (RuntimeError, OSError):
        _say("no folder for compiled code can be written to", "every run compiles; set NUMBA_CACHE_DIR")
        return NullCache()


def _say(problem: str, consequence: str) -> None:
    """Say it, unless it was said before; the first problem of a kind stands for all of them."""
    if consequence not in _said:
        _said.add(consequence)
        logging.getLogger("ibmap").warning("ibmap: note: %s: %s", problem, consequence)


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's places for code; the folder of the user only if there is one, not one that is named ``~``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not os.path.isabs(os.path.expanduser("~")):
            places: list[Any] = CompileResultCacheImpl._locator_classes
            self._locator_classes = [one for one in places if not one.__name__.endswith(USERS)]
        super().__init__(function)


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, without whom everything works, slowly."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, _source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a file may hold anything, and so may what it is unpickled to
            _say_unreadable(self._cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            problem = f"compiled code cannot be written to {self._cache_path!r} ({_reason(error)})"
            _say(problem, "the next run compiles again; set NUMBA_CACHE_DIR to use another folder")


def _say_unreadable(folder: str, error: Exception) -> None:
    _say(f"compiled code in {folder!r} cannot be used ({_reason(error)})", "it is compiled again")


def _reason(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return " ".join(str(strerror or error or type(error).__name__).split())[:100]


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The index and the data of one function, sealed."""

    def save(self, key: Any, data: Any) -> None:
        """Write data with their seal."""
        raw = dumps(data)
        super().save(key, (self._seal(key, raw), raw))

    def load(self, key: Any) -> Any:
        """Return the data, or None if there are none."""
        found = super().load(key)
        if found is None:
            return None
        seal, raw = found
        if seal != self._seal(key, raw):
            raise ValueError("it was damaged, or belongs to something else")
        return pickle.loads(raw)

    def _load_index(self) -> Any:
        """Return the names of the files by key; an index that is none is begun anew."""
        try:
            return dict(super()._load_index())
        except Exception as error:  # also code of an older version, which may name records that are gone
            _say_unreadable(self._cache_path, error)
            return {}

    def _seal(self, key: Any, raw: bytes) -> str:
        about = repr((self._version, self._source_stamp, self._index_name, key)).encode()
        return hashlib.sha256(about + b"\n" + raw).hexdigest()


@cache
def _source_stamp() -> str:
    """Digest of this package: a change in any kernel makes all compiled code stale, and nothing else does."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
