"""Long searches survive: the flips so far, in a small file; rows of evidence follow from the blankets."""

import hashlib
import json
import warnings
from dataclasses import dataclass
from math import inf
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ibmap._checks import file_path, is_number
from ibmap._files import read_whole, write_whole
from ibmap._text import in_short
from ibmap.data import Schema
from ibmap.errors import DataError, DataWarning, RequestError
from ibmap.results.learned import Step
from ibmap.results.provenance import Provenance
from ibmap.search import Running

FORMAT = "ibmap-checkpoint"
VERSION = 2


@dataclass(frozen=True)
class Checkpoint:
    """Where, and how often, a search is saved.

    Attributes
    ----------
    path : path
        The file. It is refused if it holds something else, or a search in another table or with other
        options.
    every : float
        Seconds between two saves.
    """

    path: str | PathLike[str]
    every: float = 10.0


class Keeper:
    """Saves a search, and takes it up where it was saved."""

    def __init__(self, checkpoint: Checkpoint, fingerprint: str, n: int) -> None:
        self._path, self._every = file_path(checkpoint.path, "checkpoint"), checkpoint.every
        if not is_number(self._every):
            raise RequestError(f"every must be a number of seconds, not {in_short(self._every)}")
        if not self._path.parent.is_dir():
            raise RequestError(f"cannot write {str(self._path)!r}: there is no such folder")
        self._fingerprint = fingerprint
        self._found = _read(self._path, fingerprint, n)
        self._warned = False
        self._due = perf_counter()
        self._began = perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds that earlier runs have spent."""
        return float(self._found["seconds"]) if self._found else 0.0

    def restore(self, running: Running, history: list[Step], names: tuple[str, ...]) -> bool:
        """Do the flips of earlier runs at once; tell whether the search had come to its end."""
        if self._found is None:
            return False
        if not _is_of(self._found, running.saved()):
            raise _damaged(self._path)
        for x, y, added, gain, value in self._found["steps"]:
            history.append(Step(len(history) + 1, names[x], names[y], bool(added), gain, value))
        running.restore([(x, y) for x, y, *_ in self._found["steps"]], self._found)
        return bool(self._found["finished"])

    def save(self, running: Running, history: list[Step], index: Any, *, at_once: bool) -> None:
        """Save the search if it is time, or at once."""
        if not at_once and perf_counter() < self._due:
            return
        content = {
            "format": FORMAT,
            "version": VERSION,
            "fingerprint": self._fingerprint,
            "finished": running.finished,
            "seconds": self.seconds + perf_counter() - self._began,
            **running.saved(),
            "steps": [[index(s.x), index(s.y), s.added, s.gain, s.score] for s in history],
        }
        try:
            write_whole(self._path, json.dumps(content) + "\n")
        except RequestError as error:
            self._warn(error)
        self._due = perf_counter() + self._every

    def _warn(self, error: RequestError) -> None:
        """Say once that a search goes on although it cannot be saved."""
        if not self._warned:
            self._warned = True
            warnings.warn(f"the search goes on, but is not saved: {error}", DataWarning, stacklevel=2)


def keeper_of(
    checkpoint: Checkpoint | str | PathLike[str] | None,
    schema: Schema,
    provenance: Provenance,
    *more: Any,
) -> Keeper | None:
    """Return who saves the search in this table by these means; None if nobody was asked to."""
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    return Keeper(checkpoint, fingerprint(schema, provenance, *more), schema.n_variables)


def fingerprint(schema: Schema, provenance: Provenance, *more: Any) -> str:
    """Return a digest of all that decides the search; tests of your own are known by their names.

    Priors by pair enter as their values: how a file shows them is no part of it.
    """
    how = provenance.to_dict(schema.names)
    digest = hashlib.sha256(json.dumps([schema.digest, how, more], default=_plain).encode())
    for part in (provenance.test, provenance.score):
        prior = getattr(part, "prior", None)
        digest.update(b"none" if prior is None else np.asarray(prior, dtype=np.float64).tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Return a number or an array of NumPy as JSON can hold it; the name of anything else."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _read(path: Path, fingerprint: str, n: int) -> dict[str, Any] | None:
    """Return what an earlier run has saved; None if there is no file."""
    try:
        found: Any = json.loads(read_whole(path).decode("utf-8"))
    except FileNotFoundError:
        return None
    except DataError:  # it is endless
        raise
    except (ValueError, RecursionError):
        found = None
    except IsADirectoryError:
        raise RequestError(f"cannot write {str(path)!r}: it is a folder") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _damaged(path)
    if found.get("version") != VERSION:
        raise DataError(f"{str(path)!r} is a checkpoint of another version of ibmap: delete it")
    if found.get("fingerprint") != fingerprint:
        raise RequestError(
            f"{str(path)!r} belongs to another table or to other options: delete it or name another file"
        )
    if not _is_whole(found, n):
        raise _damaged(path)
    return found


#: what stands in a checkpoint: a value, or rows of values, each a position (x), a whole number (n), a finite
#: number (t) or a truth (b); what a search of your own saves beside these is its own affair
VALUES = {"seconds": "t", "n_tests": "n", "sweeps": "n", "finished": "b"}
ROWS = {"steps": "xxbtt", "tried": "xx", "flipped": "xxn", "seen": "xx", "left": "txxx", "triples": "xxx"}


def _is_whole(found: dict[str, Any], n: int) -> bool:
    """Whether all that is there is what it should be: the core trusts the positions, and pairs are pairs."""

    def fits(value: Any, kind: str) -> bool:
        if kind == "b":
            return isinstance(value, bool)
        if kind == "t":
            return is_number(value) and abs(value) < inf
        return type(value) is int and 0 <= value < (n if kind == "x" else 2**63)

    def is_row(row: Any, kinds: str) -> bool:
        if not isinstance(row, list) or len(row) != len(kinds) or not all(map(fits, row, kinds)):
            return False
        positions = [value for value, kind in zip(row, kinds, strict=True) if kind == "x"]
        return len(set(positions)) == len(positions)

    found = {name: value for name, value in found.items() if (name, value) != ("triples", None)}  # none yet
    rows = {name: found[name] for name in ROWS if name in found}
    return (
        all(fits(found[name], kind) for name, kind in VALUES.items() if name in found)
        and all(isinstance(listed, list) for listed in rows.values())
        and all(is_row(row, ROWS[name]) for name, listed in rows.items() for row in listed)
    )


def _is_of(found: dict[str, Any], saved: dict[str, Any]) -> bool:
    """Whether all is there that a search saves, and its prior is one."""
    prior, mine = found.get("prior"), saved.get("prior")
    if mine is not None:
        if not isinstance(prior, list) or len(prior) != len(mine):
            return False
        if not all(is_number(value) and 0 <= value < inf for value in prior) or not all(prior[:1]):
            return False
    return {"seconds", "finished", "steps", *saved} <= set(found)


def _damaged(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is not a checkpoint, or a damaged one: delete it or name another file")
