"""The engine of a Dask cluster: pieces of a table are packed once on the workers, and stay there."""

import hashlib
import json
import warnings
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ibmap.data.declared import MissingValues, Ordinal
from ibmap.data.declared import column_options as said_about
from ibmap.data.missing import check_policy
from ibmap.data.parquet import ROWS, pieces_of
from ibmap.data.quality import of_missing_together, too_many_levels
from ibmap.data.reader import plan_of
from ibmap.data.schema import PARTS, Schema, kinds_of
from ibmap.data.sources import check_shape
from ibmap.data.sources import list_names as listed_names
from ibmap.data.sources import select_columns as chosen
from ibmap.engines.dask.client import OnCluster, check_versions, connected
from ibmap.engines.dask.wire import pack_questions, unpack_tables
from ibmap.engines.dask.workers import LostWorkerError, Told, Workers
from ibmap.engines.partitioned import PartitionedEngine
from ibmap.engines.questions import Questions
from ibmap.errors import DataError, DataWarning, EngineError


class DaskEngine(OnCluster, PartitionedEngine):
    """Count on the workers of a Dask cluster; graphs, scores and histories are those of rows in memory.

    Questions are sent as indices; each worker answers with small tables of integers for its own pieces, and
    these are added here. If a worker is lost, others pack its pieces again, and the result is the same.

    Parameters
    ----------
    client : distributed.Client or str
        A client of the cluster, or the address of its scheduler.
    path : str or path
        A folder of Parquet or Arrow files, or one such file, which this process and all workers can read.
    missing : {"error", "drop", "category", "testwise"}
        What becomes of missing values, see :func:`ibmap.load`.
    drop, only : iterable of str, optional
        Columns to leave out; the columns to use.
    nominal, ordinal, missing_values
        What is known about single columns, see :func:`ibmap.load`.
    piece_rows : int
        Rows that are packed together.
    told : callable, optional
        Called with how many steps of packing are done, and how many there are.

    Attributes
    ----------
    trips, shipped : int
        Number of requests sent to the workers, and of bytes sent for them, both ways.
    """

    def __init__(
        self,
        client: Any,
        path: str | PathLike[str],
        *,
        missing: str = "error",
        drop: Iterable[str] | None = None,
        only: Iterable[str] | None = None,
        ordinal: Ordinal = None,
        nominal: Iterable[str] | None = None,
        missing_values: MissingValues = None,
        piece_rows: int = ROWS,
        told: Told | None = None,
    ) -> None:
        check_policy(missing)
        self.path = Path(path)
        columns, self._pieces = pieces_of(self.path.absolute(), piece_rows)
        drop, only = listed_names(drop), listed_names(only)
        names = tuple(columns[i] for i in chosen(columns, drop, only))
        about = said_about(columns, ordinal, nominal, missing_values=missing_values)
        self._how = missing, about  # all that a worker must know to read a piece
        self._reading = {"missing": missing, "drop": drop, "only": only, **about.arguments(names)}
        check_shape(len(self._pieces), names)
        self.client, self._owned = connected(client)
        try:
            check_versions(self.client)
            self._workers = Workers(self.client)
            self._pack(names, told)
        except BaseException:
            self.close()
            raise

    def _pack(self, names: tuple[str, ...], told: Told | None) -> None:
        """Have all pieces read and packed."""
        n = len(self._pieces)
        later = None if told is None else lambda done, _: told(done + n, 2 * n)
        first = None if told is None else lambda done, _: told(done, 2 * n)
        jobs: dict[int, Any] = {piece.number: (piece, names, *self._how) for piece in self._pieces}
        seen = self._workers.for_each("read", jobs, first)
        self._plan = plan_of(seen)
        self._digests: dict[int, str] = {}
        found = self._settle(self._pieces, later)
        sizes = [sum(each[1][v] for each in found) for v in range(len(names))]
        n_rows = sum(each[0] for each in found)
        kinds = kinds_of(names, self._plan.ordinal)
        has_missing = any(sum(counts) < n_rows for counts in sizes)
        about: dict[str, Any] = {"reading": self._reading, "has_missing": has_missing}
        schema = Schema(names, self._plan.levels, n_rows, kinds, **about)
        schema = replace(schema, digest_of_rows=self._digest(schema))
        super().__init__(schema)
        declared = {name for one in seen for name in one.declared}
        odd = too_many_levels(schema, declared), self._missing_together(sizes), self._plan.lost
        said = tuple(filter(None, odd))
        for words in said:
            warnings.warn(words, DataWarning, stacklevel=3)
        self.schema = replace(schema, warnings=said)

    def _missing_together(self, sizes: list[Any]) -> str:
        """Return the warning about columns that are missing in the same rows, "" if there are none."""
        absent = np.flatnonzero(self._plan.extra)
        if len(absent) < 2:
            return ""
        counts = np.diag([int(sizes[v][-1]) for v in absent.tolist()])
        place = np.full(self.schema.n_variables, -1)
        place[absent] = np.arange(len(absent))
        for tables in self.pairs():
            pair = np.repeat(np.arange(len(tables)), np.diff(tables.start))
            x, y, last = tables.x[pair], tables.y[pair], tables.levels - 1
            both = (place[x] >= 0) & (place[y] >= 0) & (tables.cells[1:3] == last[[x, y]]).all(axis=0)
            x, y = place[x[both]], place[y[both]]
            counts[x, y] = counts[y, x] = tables.cells[3, both]
        return of_missing_together([self.schema.names[v] for v in absent], counts, self.schema.n_rows)

    def _settle(self, pieces: Any, told: Told | None = None) -> list[Any]:
        """Have pieces packed by the labels of all; make sure that they are what they were before."""
        jobs: dict[int, Any] = {piece.number: (piece, self._plan, *self._how) for piece in pieces}
        found = self._workers.for_each("settle", jobs, told)
        for piece, (_, _, digest) in zip(pieces, found, strict=True):
            if self._digests.setdefault(piece.number, digest) != digest:
                self._workers.forget(piece)
                where = str(piece.where[0][0].path)
                raise DataError(f"{where!r} has changed while it was in use: start again")
        return found

    def _digest(self, schema: Schema) -> str:
        digests = [self._digests[piece.number] for piece in self._pieces]
        ordinal = [{"ordinal": self._plan.ordinal}] if self._plan.ordinal else []
        said = json.dumps([schema.names, schema.cardinalities.tolist(), digests, *ordinal])
        return PARTS + hashlib.sha256(said.encode()).hexdigest()

    @property
    def trips(self) -> int:
        """Number of requests sent to the workers."""
        return self._workers.trips

    @property
    def shipped(self) -> int:
        """Number of bytes sent, both ways."""
        return self._workers.shipped

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of the workplace of every worker; pieces of those that are lost are packed again."""
        while True:
            if gone := self._workers.unassigned(self._pieces):
                self._settle(gone)
            try:
                return self._asked(method, arguments)
            except LostWorkerError:
                continue

    def _asked(self, method: str, arguments: tuple[Any, ...]) -> list[Any]:
        if method == "tables":
            asked: Questions = arguments[0]
            found = self._workers.ask(method, (pack_questions(asked),))
            return [unpack_tables(message, asked, self.schema.cardinalities) for message in found]
        if method == "colour_sums":
            return self._workers.ask(method, arguments)
        raise EngineError(f"nobody can be asked for {method!r}")

    def close(self) -> None:
        """Free the table on the workers, and close a cluster that was started for it."""
        if hasattr(self, "_workers"):
            self._workers.close()
        for thing in self._owned:
            thing.close()
        self._owned = []
