"""Tables of any columns on a cluster: every worker holds the table, and looks at its rows for some variables.

Normal scores need the rank of every value, and the kind of a column is decided from all rows; Newton's method
passes over the rows some ten times for each of six scales. Partitions would add up sums that differ in the
last bits after many trips. So the table must fit into the memory of this process and of each worker, and what
is shared out is the work: a row of evidence is the same, to the last bit, whoever makes it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Ints
from ibmap.data import Table
from ibmap.engines.dask.client import OnCluster, check_versions, connected
from ibmap.engines.mixed import Filled, MixedEngine
from ibmap.engines.model import Model
from ibmap.engines.rows import Lists, ManyVariables, Rows, as_lists, joined_rows, no_lists

FEW = 8  #: rows that are made sooner here than elsewhere
MOST_LOSSES = 3  #: times that workers are asked again after some were lost
TURNS = 4  #: shares of each thread of a worker, as some rows take longer than others


class RowWorkers:
    """The workers that make rows, for a table and for all that are made of it."""

    def __init__(self, client: Any) -> None:
        self.client, self._owned = connected(client)
        self.shared = 0  #: rows that they have made
        self.losses = 0  #: how often they have not answered
        try:
            check_versions(self.client)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End a cluster that was started here."""
        for thing in self._owned:
            thing.close()
        self._owned = []


class DaskRows(OnCluster, MixedEngine):
    """A table of categories, numbers and missing values; the workers of a Dask cluster score it.

    The table is in the memory of this process and of every worker. Results are those of memory, to the last
    bit; if a worker is lost, others, or this process, do its work.

    Parameters
    ----------
    client : distributed.Client or str
        A client of the cluster, or the address of its scheduler.
    data : Table
        The table: ``load(folder, continuous="auto", missing="auto")``.
    filled : Filled or None
        Copies of it without missing values, see :class:`ibmap.engines.mixed.MixedEngine`.
    """

    def __init__(self, client: Any, data: Table, filled: Filled | None = None) -> None:
        super().__init__(data, filled)
        self._makers = client if isinstance(client, RowWorkers) else RowWorkers(client)

    @property
    def shared(self) -> int:
        """Number of rows of evidence that workers made, for this table and those derived from it."""
        return self._makers.shared

    def of(self, data: Table, filled: Filled | None = None) -> "DaskRows":
        """Return the engine of another table on the same workers."""
        return DaskRows(self._makers, data, filled)

    def rows(
        self,
        model: Model,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets; see :class:`ibmap.engines.Engine`."""
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        if model.family == "mixed" and len(xs) >= FEW and self._makers.losses <= MOST_LOSSES:
            options = {"floor": floor, "exact": exact}
            found = self._shared_rows(model, np.asarray(xs, np.int64), given, others, options)
            if found is not None:
                return found
        return super().rows(model, xs, given, floor=floor, also=others, exact=exact)

    def _shared_rows(
        self, model: Model, xs: Ints, given: Lists, others: Lists, options: dict[str, Any]
    ) -> Rows | None:
        """Return rows that workers have made; None if that has failed, whatever it was."""
        model, client = replace(model, n_threads=1), self._makers.client
        try:
            threads = sum(client.nthreads().values())
            step = max(1, -(-len(xs) // max(1, TURNS * threads)))
            shares = [slice(first, first + step) for first in range(0, len(xs), step)]
            waiting = [
                client.submit(
                    _some_rows, self._there, model, xs[s], given.some(s), others.some(s), options, pure=False
                )
                for s in shares
            ]
            found = client.gather(waiting)
        except Exception:  # a worker or the scheduler is gone: this process has the table, too
            self.__dict__.pop("_there", None)
            self._makers.losses += 1
            return None
        self._makers.shared += len(xs)
        return joined_rows(found)

    @cached_property
    def _there(self) -> Any:
        """The table as the workers have it."""
        table = MixedEngine(self.data, self.filled)
        return self._makers.client.scatter(table, broadcast=True, hash=False)

    def close(self) -> None:
        """Free the table on the workers, and close a cluster that was started for it."""
        self.__dict__.pop("_there", None)
        self._makers.close()


def _some_rows(
    engine: MixedEngine, model: Model, xs: Ints, given: Lists, others: Lists, options: dict[str, Any]
) -> Rows:
    """Make rows where the table is; called on a worker."""
    return engine.rows(model, xs, given, also=others, **options)
