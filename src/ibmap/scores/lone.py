"""Likely rows of binary variables without neighbours: pairs with the same counts have the same evidence.

t_xy is a matter of three counts there: of x, of y, and of both. For all x of one count there is a table of
e^t, with a row for every count of y, as wide as the counts of both may come out by chance. Nearly all pairs
of very many variables are looked up in it; what is listed is computed.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ibmap._parallel import spread
from ibmap._types import Floats, Ints
from ibmap.engines import MemoryEngine
from ibmap.engines.memory import new_sets
from ibmap.kernels.context import counting_context
from ibmap.kernels.lone import list_likely

DEVIATIONS = 6.0  #: from what independence says to either end of a row of the table
AT_ONCE = 16  #: variables that are counted together
WORTH = 16  #: entries that a table may have, for every variable
SMALLEST = 64  #: rows of data, so that a full table of two variables has fewer cells

#: t of pairs, with the prior, given the ones of x, those of some y, and the rows where both are one
OfCounts = Callable[[int, Ints, Ints], Floats]
#: who is listed, t of these, Σ e^t of all others
Listed = tuple[Any, Floats, float]


class LoneRows:
    """Likely rows of variables without neighbours.

    Parameters
    ----------
    engine : MemoryEngine
        Where the rows are; :meth:`fits` tells whether it is worth it.
    n_threads : int
        Threads.
    """

    def __init__(self, engine: MemoryEngine, n_threads: int = 1) -> None:
        packed = engine.packed
        self.n_rows, self._n, self._n_threads = packed.n_rows, len(packed.levels), n_threads
        self._ones = packed.level_sizes[packed.first + 1]
        self._counts, self._rank = ranked(self._ones)
        self._half = half_width(self.n_rows)
        self._words = np.arange(packed.level_bits.shape[1], dtype=np.uint32)
        self._contexts = [counting_context(packed, new_sets(0)) for _ in range(n_threads)]
        self._place = [
            (
                np.empty((AT_ONCE, packed.blocks[:, 4].max()), np.int32),
                np.zeros((AT_ONCE, self._n), bool),
                *np.empty((2, AT_ONCE, self._n), np.int32),
            )
            for _ in range(n_threads)
        ]

    @staticmethod
    def fits(engine: MemoryEngine) -> bool:
        """Whether all variables are binary, and many pairs have the same counts."""
        packed = engine.packed
        if packed.n_rows < SMALLEST or packed.irregular.size or not (packed.levels == 2).all():
            return False
        n_counts = len(ranked(packed.level_sizes[packed.first + 1])[0])
        return n_counts * (2 * half_width(packed.n_rows) + 1) <= WORTH * len(packed.levels)

    def likely(
        self, xs: Sequence[int], of_counts: OfCounts, floor: float, wanted: Sequence[Any]
    ) -> list[Listed]:
        """Return what is above a floor, or wanted, in the row of each of some x."""
        which = np.argsort(self._ones[list(xs)], kind="stable")
        ones = self._ones[list(xs)][which]
        same = np.split(which, np.flatnonzero(np.diff(ones)) + 1)
        tasks = [some[first : first + AT_ONCE] for some in same for first in range(0, len(some), AT_ONCE)]
        found: list[Any] = [None] * len(xs)
        table_of = lru_cache(2 * self._n_threads)(lambda n: self._table(n, of_counts, floor))

        def take(thread: int, some: Ints) -> None:
            mine = np.array([xs[q] for q in some.tolist()], np.int64)
            n = int(self._ones[mine[0]])
            rows = self._counted(thread, mine, *table_of(n), [wanted[q] for q in some.tolist()])
            every = of_counts(n, *(np.concatenate([row[k] for row in rows]) for k in (1, 2)))
            ends = np.cumsum([len(row[0]) for row in rows])[:-1]
            for q, (ys, _, _, elsewhere), ts in zip(some.tolist(), rows, np.split(every, ends), strict=True):
                kept = (ts > floor) | np.isin(ys, wanted[q])
                found[q] = ys[kept], ts[kept], elsewhere + float(np.exp(ts[~kept]).sum())

        spread(take, tasks, min(self._n_threads, len(tasks)))
        return found

    def _table(self, n: int, of_counts: OfCounts, floor: float) -> tuple[Floats, Any]:
        """Return e^t by count of y and of both, for x with n ones; and where rows begin."""
        expected = np.rint(n * self._counts / self.n_rows).astype(np.int64)
        lowest = np.maximum(expected - self._half, np.maximum(n + self._counts - self.n_rows, 0))
        both = lowest[:, None] + np.arange(2 * self._half + 1)
        possible = both <= np.minimum(n, self._counts)[:, None]
        table = np.full(both.shape, np.inf)
        ts = of_counts(n, np.broadcast_to(self._counts[:, None], both.shape)[possible], both[possible])
        table[possible] = np.where(ts > floor, np.inf, np.exp(np.minimum(ts, 0.0)))
        return table, lowest[self._rank].astype(np.int32)

    def _counted(
        self, thread: int, xs: Ints, table: Floats, lowest: Any, wanted: Sequence[Any]
    ) -> list[tuple[Any, Ints, Ints, float]]:
        """Return who may be listed in the row of each x, their ones, those in common, Σ e^t of others."""
        counted, marks, listed, common = self._place[thread]
        n_listed, elsewhere = np.empty(len(xs), np.int64), np.empty(len(xs))
        for i, (x, also) in enumerate(zip(xs.tolist(), wanted, strict=True)):
            marks[i, [x, *also]] = True
        list_likely(
            *(self._contexts[thread][0], self._words, xs, counted, lowest, self._rank),
            *(table, marks, listed, common, n_listed, elsewhere),
        )
        rows = []
        for i, (x, also) in enumerate(zip(xs.tolist(), wanted, strict=True)):
            marks[i, [x, *also]] = False
            others = np.flatnonzero(listed[i, : n_listed[i]] != x)
            ys, both = listed[i, others], common[i, others].astype(np.int64)
            rows.append((ys, self._ones[ys], both, float(elsewhere[i])))
        return rows


def ranked(ones: Ints) -> tuple[Ints, Any]:
    """Return the counts that there are, and which of them each variable has."""
    counts, rank = np.unique(ones, return_inverse=True)
    return counts, rank.astype(np.int32)


def half_width(n_rows: int) -> int:
    """Return by how much the rows where two variables are 1 may differ from what independence says."""
    return int(np.ceil(DEVIATIONS * np.sqrt(n_rows) / 4))
