"""Rounds, and then swaps: an edge gives way to a rival where that raises the score."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Floats
from ibmap.scores import LocalScore
from ibmap.search.gains import first_best
from ibmap.search.rivals import Compared, rows_without, without_edge
from ibmap.search.rounds import Matching
from ibmap.search.running import TIE, Flip, Pairs, require_additive

SWEEPS = 20  #: over all edges, at most
TRIES = 30  #: swaps of a sweep, the most promising ones
MANY = 1 << 62


class Swap(NamedTuple):
    """The edge (x, y) gives way to (x, z)."""

    promised: float  #: by how much the score should rise
    x: int
    y: int
    z: int


class Swaps:
    """Rounds to the end; then every edge is compared with its rivals, and the rounds go on.

    A rival of the edge (x, y), seen from x, is a variable z that would be adjacent to x if y were not. It may
    have been hidden by y since y came first: no single flip finds it, as y and z say nearly the same.
    """

    name = "swaps"

    def options(self) -> Mapping[str, Any]:
        """Return the options: there are none."""
        return {}

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "Swapping":
        """Score the graph with these edges; locked pairs are never flipped."""
        require_additive(self, score)
        return Swapping(score, edges, locked)


class Swapping(Matching):
    """Rounds and swaps that have begun."""

    compared: Compared | None = None  #: every edge with its rivals, in the graph as it stands, if known
    _rows_before: dict[int, tuple[Floats, float]]  #: rows that have changed since a swap began

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        self._sweeps, self._rows_before = 0, {}
        self._known: Compared = {}  # from the last sweep
        self._left: list[Swap] = []  # swaps that it did not try
        super().__init__(score, edges, locked)
        self._seen = ~self.adjacency  # the graph at the last sweep; nothing was seen yet

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do rounds, and sweeps of swaps, until there are ``limit`` flips; neither is cut in two."""
        flips: list[Flip] = []
        while len(flips) < limit and not self.finished:
            flips += super().advance(limit - len(flips))
            flips += self._sweep_if_due()
        return flips

    def _sweep_if_due(self) -> list[Flip]:
        """Sweep when the rounds have come to their end; if nothing was swapped, so has the search."""
        if not self.finished or self._sweeps == SWEEPS:
            return []
        self._sweeps += 1
        swapped = self._sweep()
        self.finished = not swapped
        if swapped:
            self.compared = None
        return swapped

    def _sweep(self) -> list[Flip]:
        """Try the most promising swaps, none with a variable that has changed since; keep what pays."""
        flips: list[Flip] = []
        changed: set[int] = set()
        best = sorted(self._candidates(), key=lambda swap: (-swap.promised, swap.x, swap.y))
        self._left = best[TRIES:]
        for swap in best[:TRIES]:
            if not changed.isdisjoint(swap[1:]):
                self._left.append(swap)
            elif done := self._swap(swap):
                flips += done
                changed.update(v for flip in done for v in flip[:2])
        self._rows_before = {}
        return flips

    def _candidates(self) -> list[Swap]:
        """Return, for both ends of every edge, the best rival, if the score should rise.

        What x says depends on its blanket alone; while that is the same, only what was not tried is left.
        """
        same = (self._seen == self.adjacency).all(axis=1)
        compared = {ends: found for ends, found in self._known.items() if same[ends[0]]}
        found = [swap for swap in self._left if same[swap.x]]
        unknown = self.adjacency.copy()
        for ends in compared:
            unknown[ends] = False
        for x, y, row in rows_without(self.score, self.adjacency, unknown):
            compared[x, y] = without_edge(row, ~self.adjacency[x], x)
            if same[x]:  # known before a search was stopped
                continue
            self.n_tests += self.score.n - 1
            if self.closed[x, y]:
                continue
            gains = (row + self.evidence[:, x]) / 2 + self.gain(x, y)
            gains[self.adjacency[x] | self.closed[x]] = -np.inf
            z = int(first_best(gains))
            if gains[z] > TIE:
                found.append(Swap(float(gains[z]), x, y, z))
        self._seen, self._known, self.compared = self.adjacency.copy(), compared, compared
        return found

    def _swap(self, swap: Swap) -> list[Flip]:
        """Do a swap and the rounds that follow; take all of it back if the score has not risen."""
        before, kept = self.total, (self.partner.copy(), self.best.copy(), self._flipped)
        self._rows_before = {}
        self._count_from(Counter())
        flips: list[Flip] = []
        for v in (swap.y, swap.z):
            pair = (min(swap.x, v), max(swap.x, v))
            self._count([pair])
            flips += self.flip([pair])
        self.finished = False
        flips += super().advance(MANY)
        if self.total > before + TIE * max(1.0, abs(before)):
            return flips
        for x, y in {(flip.x, flip.y) for flip in flips}:
            self.adjacency[x, y] = self.adjacency[y, x] = _was_adjacent(flips, x, y)
        for v, (row, value) in self._rows_before.items():
            self.evidence[v], self.values[v] = row, value
        self.partner, self.best = kept[:2]
        self._count_from(kept[2])
        return []

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips."""
        seen = [] if self._sweeps == 0 else np.argwhere(np.triu(self._seen)).tolist()
        return {**super().saved(), "sweeps": self._sweeps, "seen": seen, "left": [[*s] for s in self._left]}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved."""
        super().restore(flips, saved)
        self._sweeps = int(saved["sweeps"])
        if self._sweeps:
            self._seen[:] = False
            for x, y in saved["seen"]:
                self._seen[x, y] = self._seen[y, x] = True
            self._left = [Swap(float(g), int(x), int(y), int(z)) for g, x, y, z in saved["left"]]

    def score_rows(self, xs: Iterable[int]) -> None:
        """Score the rows of some x in the graph as it stands; remember what they were."""
        xs = list(xs)
        for v in xs:
            self._rows_before.setdefault(v, (self.evidence[v].copy(), float(self.values[v])))
        super().score_rows(xs)


def _was_adjacent(flips: list[Flip], x: int, y: int) -> bool:
    """Whether a pair was adjacent before some flips, of which it is one."""
    return not next(flip.added for flip in flips if (flip.x, flip.y) == (x, y))
