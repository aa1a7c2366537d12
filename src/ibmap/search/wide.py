"""The climb for very many variables: the same steps as in ``climb.py``, without a matrix of all pairs.

σ_x depends on the blanket of x alone, so rows can be scored, summed and forgotten. What is kept:

- the least credible pairs of the graph without edges, exact, and a floor for all others;
- of every variable that an ascent has touched, its blanket with its σ, and the lowest values of its row;
- a pair belongs to the end that changed last. The lowest pairs that v owns stand in a heap, as (bound, i, j,
  when i and j changed, whether the bound is the value), and F_v is a floor for the others.

A bound that comes to the top is made exact; a floor that does makes its owner list four times as many pairs;
the floor of the graph without edges has all pairs scored again, and four times as many listed.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.kernels.ib_ascent import TIE, sum_of
from ibmap.kernels.rows import fill_row
from ibmap.scores.local_score import NONE, ListedScore
from ibmap.search.running import Flip, Pairs
from ibmap.search.wide_lists import LowRows, lowest, unconditional

LISTED = 50  #: pairs of the graph without edges that are listed, for every variable
AT_LEAST = 100_000  #: of them
PER_ROW, PER_OWNER = 256, 16  #: values of a touched row that are listed, and pairs of its own in the heap
INF = float("inf")


class Entry(NamedTuple):
    """A pair in the heap."""

    bound: float  #: σ_ij + σ_ji is not below it
    i: int
    j: int
    changed_i: int  #: when i and j had last changed; if they have since, the entry is void
    changed_j: int
    exact: bool  #: whether the bound is the value


class WideClimbing:
    """A climb that has begun; it has no ``pair_scores``, but :meth:`listed`."""

    pair_scores = None

    def __init__(self, score: ListedScore, patience: int, edges: Pairs = (), locked: Pairs = ()) -> None:
        n = score.n
        self.score, self._n = score, n
        self.n_tests, self.finished = n * (n - 1), False
        self._patience = min(patience, n * (n - 1) // 2)
        self._locked = {(min(pair), max(pair)) for pair in locked}
        self._tried: dict[tuple[int, int], None] = {}
        self._members: dict[int, Ints] = {}
        self._of_members: dict[int, Floats] = {}  # σ_xy of the members of the blanket of x
        self._changed, self._clock = np.zeros(n, np.int64), 0  # when each variable was touched; 0: never
        self._rows = LowRows(n, PER_ROW)
        self._heap: list[Entry] = []
        self._aside: list[Entry] = []  # entries of pairs that were tried in vain
        self._floors: list[tuple[float, int, int]] = []  # F_v, v, when v had changed
        self._n_owned: dict[int, int] = {}
        self._n_listed = min(max(AT_LEAST, LISTED * n), n * (n - 1) // 2)
        self._empty = unconditional(score, self._n_listed)
        self._row_sum, self._at = self._empty.row_sum, 0
        blankets: dict[int, list[int]] = {}
        for x, y in dict.fromkeys((min(pair), max(pair)) for pair in edges):
            blankets.setdefault(x, []).append(y)
            blankets.setdefault(y, []).append(x)
        self._touch({x: np.array(sorted(ys), np.int64) for x, ys in blankets.items()})

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(sum_of(self._row_sum))

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        found = sorted((x, y) for x, ys in self._members.items() for y in ys.tolist() if x < y)
        return np.array(found, np.int64).reshape(-1, 2)

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        return self._members.get(x, NONE)

    def saved(self) -> dict[str, Any]:
        """Return the pairs that were proposed in vain since the last ascent."""
        return {"tried": [list(pair) for pair in self._tried], "n_tests": self.n_tests}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Flip pairs without asking whether they pay, as a search that was saved did."""
        blankets: dict[int, Ints] = {}
        for x, y in flips:
            for one, other in ((x, y), (y, x)):
                blankets[one] = flipped(blankets.get(one, self.blanket(one)), other)
        self._touch(blankets)
        self._tried = dict.fromkeys((x, y) for x, y in saved.get("tried", ()))
        self.n_tests = int(saved["n_tests"])

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do up to ``limit`` ascents, by up to ``budget`` proposals."""
        ascents: list[Flip] = []
        rows = np.empty((2, self._n))
        while len(ascents) < limit and (budget is None or budget > 0):
            pair = self._propose() if len(self._tried) <= self._patience else None  # Algorithm 2
            if pair is None:
                self._forgive()
                self.finished = True
                break
            x, y = pair
            blankets = flipped(self.blanket(x), y), flipped(self.blanket(y), x)
            for v, blanket, row in zip(pair, blankets, rows, strict=True):
                fill_row(*self.score.row(0), v, blanket, row)
            self.n_tests += 2 * (self._n - 1)
            budget = None if budget is None else budget - 1
            gain = float(sum_of(rows[0]) + sum_of(rows[1]) - (self._row_sum[x] + self._row_sum[y]))
            if gain > TIE:
                added = len(blankets[0]) > len(self.blanket(x))
                self._forgive()
                self._keep(dict(zip(pair, blankets, strict=True)), dict(zip(pair, rows, strict=True)))
                ascents.append(Flip(x, y, added, gain, self.total))
            else:
                self._tried[x, y] = None
        return ascents

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and so the pairs without one that look most like edges.

        The latter are those that the lists of the search know to be least credible.
        """
        edges, near = self.pairs, self._near(wanted)
        joined = {(x, y) for x, y in edges.tolist()}
        absent = np.array([pair for pair in near if pair not in joined], np.int64).reshape(-1, 2)
        return edges, self._both_ways(edges), absent, self._both_ways(absent)

    def _near(self, wanted: int) -> list[tuple[int, int]]:
        """Return the pairs that are least credible: of the heap, and of the graph without edges."""
        found = [(entry.bound, entry.i, entry.j) for entry in self._heap if self._is_valid(entry)]
        at = self._at
        while at < len(self._empty.values) and len(found) < 4 * wanted:
            i, j = self._empty.pairs[at].tolist()
            if not self._changed[i] and not self._changed[j]:
                found.append((2.0 * float(self._empty.values[at]), i, j))
            at += 1
        return list(dict.fromkeys((i, j) for _, i, j in sorted(found)[: 2 * wanted]))[:wanted]

    def _both_ways(self, pairs: Ints) -> Floats:
        found = [(self._value(i, j), self._value(j, i)) for i, j in pairs.tolist()]
        return np.array(found).reshape(-1, 2)

    # Rows

    def _touch(self, blankets: Mapping[int, Ints]) -> None:
        """Give variables new blankets."""
        rows = {x: np.empty(self._n) for x in blankets}
        for x, blanket in blankets.items():
            fill_row(*self.score.row(0), x, blanket, rows[x])
        self._keep(blankets, rows)

    def _keep(self, blankets: Mapping[int, Ints], rows: Mapping[int, Floats]) -> None:
        """Make blankets and their rows the current ones."""
        self._clock += 1
        for x, blanket in blankets.items():
            self._members[x], self._of_members[x] = blanket, rows[x][blanket]
            self._changed[x], self._row_sum[x] = self._clock, sum_of(rows[x])
            self._rows.put(x, rows[x])
        for x in blankets:
            self._own(x, rows[x], PER_OWNER)

    def _own(self, v: int, row: Floats, wanted: int) -> None:
        """List the lowest pairs that v owns; the others are not below F_v."""
        back, exact = np.full(self._n, self._empty.floor), np.zeros(self._n, bool)
        listed, values = self._empty.row(v)
        back[listed], exact[listed] = values, True
        self._rows.column(v, back, exact)
        for i in self.blanket(v).tolist():
            back[i], exact[i] = self._value(i, v), True
        bound = row + back
        together = np.flatnonzero(self._changed == self._changed[v])
        bound[self._changed > self._changed[v]] = INF
        bound[together[together <= v]] = INF  # of two that changed together the first is the owner
        for pair in self._locked:
            if v in pair:
                bound[pair[0] + pair[1] - v] = INF
        low, floor = lowest(bound, wanted)
        for i in low.tolist():
            a, b = min(v, i), max(v, i)
            when = int(self._changed[a]), int(self._changed[b])
            heappush(self._heap, Entry(float(bound[i]), a, b, *when, bool(exact[i])))
        self._n_owned[v] = wanted
        if floor < INF:
            heappush(self._floors, (floor, v, int(self._changed[v])))

    def _value(self, x: int, y: int) -> float:
        """Return σ_xy as it stands."""
        members = self.blanket(x)
        at = int(np.searchsorted(members, y))
        if at < len(members) and members[at] == y:
            return float(self._of_members[x][at])
        return self.score.value_of(x, members, y)

    # Proposals

    def _propose(self) -> tuple[int, int] | None:
        """Return the first pair among those with the smallest σ_xy + σ_yx; None if there is none."""
        while True:
            alone, top = self._untouched(None), self._top()
            best = min(alone[0][0] if alone else INF, top.bound if top else INF)
            limit = best + TIE * max(1.0, abs(best)) if best < INF else INF
            while self._floors and self._changed[self._floors[0][1]] != self._floors[0][2]:
                heappop(self._floors)
            if top is not None and not top.exact and top.bound <= limit:
                self._refine()
            elif 2.0 * self._empty.floor <= limit and self._empty.floor < INF:
                self._list_more()
            elif self._floors and self._floors[0][0] <= limit:
                self._own_more(self._floors[0][1])
            elif best == INF:
                return None
            elif (found := self._within(limit)) is not None:
                return found

    def _within(self, limit: float) -> tuple[int, int] | None:
        """Return the first pair that is not above the limit; None if a bound had to be made exact."""
        found, passed = [(i, j) for _, i, j in self._untouched(limit)], []
        whole = True
        while whole and (top := self._top()) is not None and top.bound <= limit:
            if top.exact:
                passed.append(heappop(self._heap))
                found.append((top.i, top.j))
            else:
                self._refine()
                whole = False
        for entry in passed:
            heappush(self._heap, entry)
        return min(found) if whole else None

    def _untouched(self, limit: float | None) -> list[tuple[float, int, int]]:
        """Return pairs that nothing has touched, with σ_xy + σ_yx up to a limit; without one, the lowest."""
        pairs, values, changed = self._empty.pairs, self._empty.values, self._changed
        while self._at < len(values) and changed[pairs[self._at]].any():
            self._at += 1
        found, at = [], self._at
        while at < len(values) and (limit is None or 2.0 * values[at] <= limit):
            i, j = pairs[at].tolist()
            if not (changed[i] or changed[j] or (i, j) in self._tried or (i, j) in self._locked):
                found.append((2.0 * float(values[at]), i, j))
                if limit is None:
                    break
            at += 1
        return found

    def _top(self) -> Entry | None:
        """Return the lowest entry of the heap that still holds and was not tried."""
        while self._heap:
            entry = self._heap[0]
            if not self._is_valid(entry):
                heappop(self._heap)
            elif (entry.i, entry.j) in self._tried:
                self._aside.append(heappop(self._heap))
            else:
                return entry
        return None

    def _is_valid(self, entry: Entry) -> bool:
        return bool(self._changed[entry.i] == entry.changed_i and self._changed[entry.j] == entry.changed_j)

    def _refine(self) -> None:
        """Make the bound of the lowest entry exact."""
        entry = heappop(self._heap)
        exact = self._value(entry.i, entry.j) + self._value(entry.j, entry.i)
        heappush(self._heap, entry._replace(bound=exact, exact=True))

    def _own_more(self, v: int) -> None:
        """List four times as many pairs of the one whose floor is lowest."""
        heappop(self._floors)
        row = np.empty(self._n)
        fill_row(*self.score.row(0), v, self.blanket(v), row)
        self._own(v, row, 4 * self._n_owned[v])

    def _list_more(self) -> None:
        """List four times as many pairs of the graph without edges."""
        self._n_listed = min(4 * self._n_listed, self._n * (self._n - 1) // 2)
        self._empty = unconditional(self.score, self._n_listed)
        self._at = 0

    def _forgive(self) -> None:
        """Let the pairs that were tried in vain be proposed again."""
        self._tried = {}
        for entry in self._aside:
            heappush(self._heap, entry)
        self._aside = []


def flipped(members: Ints, y: int) -> Ints:
    """Return a blanket with y, if it was without; without, if it was with.

    Examples
    --------
    >>> flipped(np.array([2, 5]), 3).tolist(), flipped(np.array([2, 5]), 5).tolist()
    ([2, 3, 5], [2])
    """
    at = int(np.searchsorted(members, y))
    if at < len(members) and members[at] == y:
        return np.asarray(members[members != y])
    return np.insert(members, at, y)
