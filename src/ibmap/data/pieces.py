"""A folder of files in pieces of so many rows: each is read and packed by itself, wherever there is place.

A piece is packed by the labels of its own rows. What was seen in all pieces is put together without the rows,
and tells each piece what its labels mean (``Plan``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ibmap.data.packed import PackedData
from ibmap.data.parts import Part, Plan
from ibmap.data.sources import Batch, duplicate_names
from ibmap.data.stored import ARROW, PARQUET, Stored, files_in, kind_of_file, stored_file
from ibmap.data.streaming import NotInBatchesError, Passing
from ibmap.data.told import Told
from ibmap.errors import DataError

ROWS = 1 << 20  #: of a piece: with fewer, waiting for answers would take longer than counting


@dataclass(frozen=True)
class Piece:
    """Some rows of a table, wherever in its files they stand: (file, first row, rows)."""

    number: int
    where: tuple[tuple[Stored, int, int], ...]

    def batches(self, most_rows: int) -> Iterator[Batch]:
        """Yield the rows, so many at a time."""
        for file, first, size in self.where:
            yield from file.batches(first, size, most_rows)


def pieces_of(path: Path, rows: int = ROWS) -> tuple[tuple[str, ...], list[Piece]]:
    """Return the columns of a folder of Parquet or Arrow files, or of one such file, and its pieces.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> with TemporaryDirectory() as folder:
    ...     for k in range(2):
    ...         pl.DataFrame({"a": range(5), "b": range(5)}).write_parquet(f"{folder}/{k}.parquet")
    ...     names, pieces = pieces_of(Path(folder), rows=4)
    >>> names, [[(first, size) for _, first, size in piece.where] for piece in pieces]
    (('a', 'b'), [[(0, 4)], [(4, 1), (0, 3)], [(3, 2)]])
    """
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}")
    files = files_in(path) if path.is_dir() else [_one_file(path)]
    names = (*files[0].names, *files[0].keys)
    if len(set(names)) < len(names):
        raise duplicate_names(names)
    pieces: list[list[tuple[Stored, int, int]]] = [[]]
    place = rows
    for file in files:
        first = 0
        while first < file.n_rows:
            size = min(place, file.n_rows - first)
            pieces[-1].append((file, first, size))
            first, place = first + size, place - size
            if not place:
                pieces.append([])
                place = rows
    return names, [Piece(k, tuple(where)) for k, where in enumerate(filter(None, pieces))]


def _one_file(path: Path) -> Stored:
    """Return a file that can be read from anywhere in it."""
    kind = kind_of_file(path)
    if kind not in (PARQUET, ARROW):
        raise DataError(
            f"{str(path)!r} is neither a folder nor a Parquet or Arrow file, and others cannot be shared "
            "out: write it as Parquet, or use the engine 'memory'"
        )
    return stored_file(path, kind)


def read_piece(piece: Piece, names: tuple[str, ...], missing: str, about: Told) -> Passing:
    """Read a piece, and pack it by the labels of its own rows."""
    passing = Passing(names, missing, {}, about)
    try:
        passing.take(piece.batches(passing.most_rows))
    except NotInBatchesError:
        raise DataError(
            f"{str(piece.where[0][0].path)!r} has a column of a type that must be read as a whole, such as "
            "decimals: make it whole numbers or text, drop it, or use the engine 'memory'"
        ) from None
    return passing


def without_rows(passing: Passing) -> Passing:
    """Return what was seen of a piece: labels and how many values there are, but no rows."""
    n_columns = len(passing.names)
    labels = [
        tuple(dict.fromkeys(label for part in passing.parts for label in part.labels[j]))
        for j in range(n_columns)
    ]
    known = np.array([part.known for part in passing.parts], np.int64).reshape(-1, n_columns).sum(axis=0)
    n_rows = sum(part.n_rows for part in passing.parts)
    return replace(passing, parts=[Part(n_rows, labels, np.empty((0, 0), np.uint64), known=known.tolist())])


def plan_of(seen: Sequence[Passing]) -> Plan:
    """Return what all pieces have in common; refuse columns that differ between them, as one reader would."""
    whole = Passing(seen[0].names, seen[0].missing, {}, seen[0].about)
    for one in seen:
        for name, (kind, where) in one.kinds.items():
            whole.check_kind(name, kind, where)
        whole.parts += one.parts
        for name, levels in one.declared.items():
            whole.declare(name, levels, one.kinds[name][1])
        whole.known = whole.known + one.known
        whole.n_rows += one.n_rows
    return whole.plan()


def settled(passing: Passing, plan: Plan) -> PackedData:
    """Return the rows of a piece by the labels of all."""
    for name, meant, labels in zip(
        plan.names, plan.labels, without_rows(passing).parts[0].labels, strict=True
    ):
        if not set(labels) <= set(meant):
            where = passing.kinds[name][1]
            raise DataError(f"{where!r} has changed while it was in use: column {name!r} has new values")
    return PackedData(plan.put_together(passing.parts), plan.names, plan.levels)
