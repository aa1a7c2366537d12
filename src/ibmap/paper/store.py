"""Rows on disk: one JSON object a line, appended and flushed as soon as a cell has been run.

The first line says what the rows are about. A run that was killed leaves at most one torn line, the last one,
which is dropped; anything else that cannot be read is an error, and nothing is overwritten.
"""

import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ibmap import __version__
from ibmap._files import read_whole
from ibmap.errors import DataError, RequestError
from ibmap.paper.experiment import Study
from ibmap.paper.results import Row, Value

FORMAT = "ibmap experiment rows, 1"
_BEGINNING = f'{{"format":"{FORMAT}"'.encode()


class Content(NamedTuple):
    """What a file of rows holds."""

    header: dict[str, Any]  #: format, study, factors, settings
    rows: list[Row]
    origins: list[dict[str, str]]  #: versions and machines that made the rows
    size: int  #: bytes up to the end of the last complete line


def path_of(folder: Path, study: Study) -> Path:
    """Return where the rows of a study are kept."""
    return folder / f"{study.name}.jsonl"


def read(path: Path) -> Content | None:
    """Read a file of rows; None if there is none, or nothing complete in it. Nothing is changed."""
    try:
        raw = read_whole(path)
    except FileNotFoundError:
        return None
    lines = raw.split(b"\n")
    content: Content | None = None
    seen: dict[tuple[Any, ...], int] = {}
    for number, line in enumerate(lines[:-1], start=1):
        entry = _entry(path, number, line)
        if "format" in entry:
            content = _with_header(path, number, entry, content)
        elif content is None:
            raise _foreign(path)
        else:
            row = _row(path, number, entry, content.header)
            if row.key in seen:
                raise _damaged(path, number, f"it repeats line {seen[row.key]}")
            seen[row.key] = number
            content.rows.append(row)
    if content is None:
        _begins_like_rows(path, lines[-1])
        return None
    return content._replace(size=len(raw) - len(lines[-1]))


class Store:
    """A file of rows that is being added to; use it as a context.

    Parameters
    ----------
    path : Path
        The file; it is made if it does not exist.
    study : Study
        Whose rows these are.
    settings : mapping
        What the rows depend on beside their cell. A file with other settings is refused.
    """

    def __init__(self, path: Path, study: Study, settings: Mapping[str, Value]) -> None:
        self.path = path
        self.rows: list[Row] = []
        header = {
            "format": FORMAT,
            "study": study.name,
            "factors": list(study.grid),
            "settings": dict(settings),
        }
        self._file = _opened(path)
        try:
            content = read(path)
            if content is not None:
                _same(path, content.header, header)
                self.rows = content.rows
            os.ftruncate(self._file, content.size if content else 0)
            if content is None or made_with() not in content.origins:
                self._write({**header, "made_with": made_with()})
        except BaseException:
            self.close()
            raise

    def append(self, row: Row) -> None:
        """Add a row; when this returns it is on the disk."""
        self._write({"cell": row.cell, "repetition": row.repetition, "measures": row.measures})
        self.rows.append(row)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, RequestError) and not self.rows:  # settings that cannot be run bind nobody
            with suppress(OSError):
                self.path.unlink()
        self.close()

    def _write(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        rest = memoryview(line.encode())
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise RequestError(
                f"cannot write to {str(self.path)!r}: {error.strerror or error}; the {len(self.rows):,} "
                "rows in it are kept: mend this and run the same command again"
            ) from None


def _opened(path: Path) -> int:
    """Open a file for one writer at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except (FileExistsError, NotADirectoryError):
        raise RequestError(f"cannot write to {str(path.parent)!r}: it is, or lies in, a file") from None
    except OSError as error:
        raise RequestError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not a Unix
        pass
    except OSError:
        os.close(file)
        raise RequestError(
            f"another run is writing to {str(path)!r}: wait for it, or use another --out"
        ) from None
    return file


def _entry(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        raise _damaged(path, number, "it is no JSON") from None
    if not isinstance(entry, dict):
        raise _damaged(path, number, "it is no row")
    return entry


def _with_header(path: Path, number: int, entry: dict[str, Any], before: Content | None) -> Content:
    """Take in a line that says what the rows are about; there is one for each version that made rows."""
    origin = entry.pop("made_with", None)
    if entry.get("format") != FORMAT or set(entry) != {"format", "study", "factors", "settings"}:
        raise _foreign(path)
    if before is None:
        return Content(entry, [], [origin], 0)
    if entry != before.header:
        raise _damaged(path, number, "its settings are not those of line 1")
    return before._replace(origins=[*before.origins, origin])


def _begins_like_rows(path: Path, torn: bytes) -> None:
    """Refuse to drop what is not the torn first line of a file of rows."""
    shorter = min(len(torn), len(_BEGINNING))
    if torn[:shorter] != _BEGINNING[:shorter]:
        raise _foreign(path)


def _row(path: Path, number: int, entry: dict[str, Any], header: dict[str, Any]) -> Row:
    cell, repetition, measures = (entry.get(part) for part in ("cell", "repetition", "measures"))
    if not (isinstance(cell, dict) and isinstance(repetition, int) and isinstance(measures, dict)):
        raise _damaged(path, number, "it is no row")
    if sorted(cell) != sorted(header["factors"]):
        raise _damaged(path, number, f"its factors are not {', '.join(header['factors'])}")
    return Row(cell, repetition, measures)


def _same(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse to mix rows that were made in different ways."""
    for part in ("study", "factors"):
        if there[part] != here[part]:
            raise RequestError(
                f"{str(path)!r} holds rows of another {part[:5]}, {there[part]!r} and not {here[part]!r}: "
                "use another --out"
            )
    before, now = there["settings"], here["settings"]
    changed = [
        f"{name} is {before.get(name, 'absent')!r} there and {now.get(name, 'absent')!r} here"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    if changed:
        raise RequestError(
            f"{str(path)!r} holds rows of other settings: {'; '.join(changed)}. "
            "Use another --out, or the settings of the rows that are there"
        )


def _damaged(path: Path, number: int, why: str) -> DataError:
    return DataError(
        f"{str(path)!r} is damaged in line {number}: {why}. Nothing was changed; mend or remove that line, "
        "or use another --out"
    )


def _foreign(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is no file of rows that this version can read: it is left alone")


@cache
def _origin() -> tuple[tuple[str, str], ...]:
    found = [("ibmap", __version__), ("python", platform.python_version())]
    found.append(("numpy", version("numpy")))
    return (*found, ("machine", f"{os.cpu_count()} × {_processor()}"))


def made_with() -> dict[str, str]:
    """Return the versions that matter and the processor (for the wall times)."""
    return dict(_origin())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
