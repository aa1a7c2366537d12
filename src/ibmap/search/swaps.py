"""Rounds, and then swaps: an edge gives way to a rival where that raises the score."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Bools, Floats
from ibmap.scores import LocalScore
from ibmap.search.gains import first_best
from ibmap.search.rivals import NOBODY, WithoutEdge, compare, summed_up
from ibmap.search.rounds import Matching
from ibmap.search.running import TIE, Flip, Pairs, require_additive

SWEEPS = 20  #: over all edges, at most
TRIES = 30  #: swaps of a sweep, the most promising ones
MANY = 1 << 62
KEPT = 8_000_000  #: numbers in rows that are kept for the next sweep, at most


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

    compared: WithoutEdge | None = None  #: every edge with its rivals, in the graph as it stands, if known
    _rows_before: dict[int, tuple[Floats, float]]  #: rows that have changed since a swap began

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        self._sweeps, self._rows_before = 0, {}
        self._row_without: dict[int, tuple[int, Floats]] = {}  # of x, before its newest neighbour came
        self._known = NOBODY  # from the last sweep
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
        known, new = self._known.of(same[self._known.x]), []
        found = [swap for swap in self._left if same[swap.x]]
        unknown = self.adjacency.copy()
        unknown[known.x, known.y] = False
        for each, rows in self._compared(unknown):
            new.append(each)
            fresh = ~same[each.x]  # others were known before a search was stopped
            self.n_tests += int(fresh.sum()) * (self.score.n - 1)
            found += self._promising(each.of(fresh), rows[fresh])
        self._seen, self._known = self.adjacency.copy(), known.and_more(new)
        self.compared = self._known
        return found

    def _compared(self, edges: Bools) -> Iterator[tuple[WithoutEdge, Floats]]:
        """Compare edges with their rivals: by rows that are at hand, and by new ones."""
        at_hand = [(x, y, row) for x, (y, row) in self._row_without.items() if edges[x, y]]
        if at_hand:
            x, y = np.array([each[:2] for each in at_hand]).T
            rows = np.array([row for _, _, row in at_hand])
            edges[x, y] = False
            yield summed_up(self.adjacency, x, y, rows), rows
        yield from compare(self.score, self.adjacency, edges)

    def _promising(self, ends: WithoutEdge, rows: Floats) -> list[Swap]:
        """Return the best swap of each of some ends, if it may be swapped and the score should rise."""
        x, y = ends.x, ends.y
        lost = (self.evidence[x, y] + self.evidence[y, x]) / 2
        gains = (rows + self.evidence[:, x].T) / 2 - lost[:, None]
        gains[self.adjacency[x] | self.closed[x]] = -np.inf
        z = first_best(gains)
        promised = gains[np.arange(len(x)), z]
        return [
            Swap(float(promised[k]), int(x[k]), int(y[k]), int(z[k]))
            for k in np.flatnonzero((promised > TIE) & ~self.closed[x, y])
        ]

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
            self._row_without.pop(v, None)
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

    def flip(self, pairs: Sequence[tuple[int, int]]) -> list[Flip]:
        """Flip pairs; keep the rows of ends that get a neighbour, which tell of its rivals."""
        for x, y in [*pairs, *((y, x) for x, y in pairs)]:
            self._row_without.pop(x, None)
            if not self.adjacency[x, y] and len(self._row_without) * self.score.n < KEPT:
                self._row_without[x] = (y, self.evidence[x].copy())
        return super().flip(pairs)

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges, in rows that are kept, too."""
        super().add_to_evidence(more)
        for x, (_, row) in self._row_without.items():
            row += more[x if len(more) > 1 else 0]
            row[x] = 0.0

    def score_rows(self, xs: Iterable[int]) -> None:
        """Score the rows of some x in the graph as it stands; remember what they were."""
        xs = list(xs)
        for v in xs:
            self._rows_before.setdefault(v, (self.evidence[v].copy(), float(self.values[v])))
        super().score_rows(xs)


def _was_adjacent(flips: list[Flip], x: int, y: int) -> bool:
    """Whether a pair was adjacent before some flips, of which it is one."""
    return not next(flip.added for flip in flips if (flip.x, flip.y) == (x, y))
