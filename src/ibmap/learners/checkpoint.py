"""Long searches survive: the flips so far, in a small file; rows of evidence follow from the blankets."""

import hashlib
import json
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ibmap._files import read_whole, write_whole
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
        The file. It is refused if it holds something else, or a search in another table or of other options.
    every : float
        Seconds between two savings.
    """

    path: str | PathLike[str]
    every: float = 10.0


class Keeper:
    """Saves a search, and takes it up where it was saved."""

    def __init__(self, checkpoint: Checkpoint, fingerprint: str, n: int) -> None:
        self._path, self._every = Path(checkpoint.path), checkpoint.every
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


def _is_whole(found: dict[str, Any], n: int) -> bool:
    """Whether everything is there; the core trusts the positions."""
    try:
        numbers = [float(found["seconds"]), int(found["n_tests"]), bool(found["finished"])]
        pairs = [(x, y) for x, y, _, _, _ in found["steps"]] + [(x, y) for x, y in found.get("tried", [])]
        numbers += [float(v) for *_, gain, value in found["steps"] for v in (gain, value)]
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    return bool(numbers) and all(type(v) is int and 0 <= v < n for pair in pairs for v in pair)


def _damaged(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is not a checkpoint, or a damaged one: delete it or name another file")
