"""Rounds, and then swaps: an edge gives way to a rival where that raises the score."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.local_score import NONE
from ibmap.search.gains import Gains, first_best
from ibmap.search.rivals import NOBODY, WithoutEdge, compare, summed_up
from ibmap.search.rounds import RoundSteps
from ibmap.search.running import TIE, Flip, Pairs, require_additive
from ibmap.search.wide_gains import is_wide

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

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "SwapSteps":
        """Score the graph with these edges; locked pairs are never flipped."""
        require_additive(self, score)
        if is_wide(score):
            from ibmap.search.wide_swaps import WideSwapping

            return WideSwapping(score, edges, locked)
        return Swapping(score, edges, locked)


class SwapSteps(RoundSteps):
    """The steps of rounds and swaps, with a matrix of all pairs or without."""

    _compared_last: WithoutEdge | None = None  #: every edge with its rivals, in the graph as it stands
    _rows_before: dict[int, Any] | None = None  #: rows that have changed since a swap began

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        self._sweeps = 0
        self._row_without: dict[int, tuple[int, Any]] = {}  # of x, before its newest neighbour came
        self._known = NOBODY  # from the last sweep
        self._left: list[Swap] = []  # swaps that it did not try
        self._seen: list[Ints] | None = None  # the blankets at the last sweep
        super().__init__(score, edges, locked)

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
            self._compared_last = None
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
        return flips

    def _candidates(self) -> list[Swap]:
        """Return, for both ends of every edge, the best rival, if the score should rise.

        What x says depends on its blanket alone; while that is the same, only what was not tried is left.
        """
        n, blankets = self.score.n, self.blankets(np.arange(self.score.n))
        same = np.zeros(n, bool)
        if self._seen is not None:
            same[:] = [np.array_equal(*pair) for pair in zip(self._seen, blankets, strict=True)]
        known, new = self._known.of(same[self._known.x]), []
        found = [swap for swap in self._left if same[swap.x]]
        x, y = (
            np.repeat(np.arange(n), [len(blanket) for blanket in blankets]),
            np.concatenate([NONE, *blankets]),
        )
        unknown = ~np.isin(x * n + y, known.x * n + known.y)
        for each, rows in self._compared(x[unknown], y[unknown]):
            new.append(each)
            fresh = ~same[each.x]  # others were known before a search was stopped
            self.n_tests += int(fresh.sum()) * (n - 1)
            found += self._promising(each, rows, fresh)
        self._seen, self._known = blankets, known.and_more(new)
        self._compared_last = self._known
        return found

    @abstractmethod
    def _compared(self, xs: Ints, ys: Ints) -> Iterator[tuple[WithoutEdge, Any]]:
        """Compare ends of edges with their rivals: by rows that are at hand, and by new ones."""

    @abstractmethod
    def _promising(self, ends: WithoutEdge, rows: Any, which: Bools) -> list[Swap]:
        """Return the best swap of some ends, if it may be swapped and the score should rise."""

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place."""
        if self._compared_last is None:
            return super().without_edges()  # type: ignore[safe-super]
        return self._compared_last

    def _swap(self, swap: Swap) -> list[Flip]:
        """Do a swap and the rounds that follow; take all of it back if the score has not risen."""
        before, kept = self.total, (self.partner.copy(), self.best.copy(), self._flipped)
        rows_before: dict[int, Any] = {}
        self._rows_before = rows_before
        self._count_from(Counter())
        flips: list[Flip] = []
        for v in (swap.y, swap.z):
            pair = (min(swap.x, v), max(swap.x, v))
            self._count([pair])
            flips += self.flip([pair])
        self.finished = False
        flips += super().advance(MANY)
        self._rows_before = None
        if self.total > before + TIE * max(1.0, abs(before)):
            return flips
        for x, y in {(flip.x, flip.y) for flip in flips}:
            if self.is_edge(x, y) != _was_adjacent(flips, x, y):
                self.turn(x, y)
        for v, row in rows_before.items():
            self.put_row(v, row)
            self._row_without.pop(v, None)
        self.partner, self.best = kept[:2]
        self._count_from(kept[2])
        return []

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips."""
        seen = [[x, int(y)] for x, ys in enumerate(self._seen or ()) for y in ys if x < y]
        return {**super().saved(), "sweeps": self._sweeps, "seen": seen, "left": [[*s] for s in self._left]}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved."""
        super().restore(flips, saved)
        self._sweeps = int(saved["sweeps"])
        if self._sweeps:
            blankets: list[list[int]] = [[] for _ in range(self.score.n)]
            for x, y in saved["seen"]:
                blankets[x].append(y)
                blankets[y].append(x)
            self._seen = [np.array(sorted(blanket), np.int64) for blanket in blankets]
            self._left = [Swap(float(g), int(x), int(y), int(z)) for g, x, y, z in saved["left"]]

    def flip(self, pairs: Sequence[tuple[int, int]]) -> list[Flip]:
        """Flip pairs; keep the rows of ends that get a neighbour, which tell of its rivals."""
        for x, y in [*pairs, *((y, x) for x, y in pairs)]:
            self._row_without.pop(x, None)
            if not self.is_edge(x, y) and len(self._row_without) < self.rows_to_keep:
                self._row_without[x] = (y, self.row_of(x))
        return super().flip(pairs)

    def score_rows(self, xs: Iterable[int], wanted: Mapping[int, Iterable[int]] | None = None) -> None:
        """Score the rows of some x in the graph as it stands; remember what they were."""
        xs = list(xs)
        if self._rows_before is not None:
            for v in xs:
                if v not in self._rows_before:
                    self._rows_before[v] = self.row_of(v)
        super().score_rows(xs, wanted)  # type: ignore[safe-super]


class Swapping(SwapSteps, Gains):
    """Rounds and swaps that have begun."""

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        super().__init__(score, edges, locked)
        self.rows_to_keep = KEPT // max(score.n, 1)

    def _compared(self, xs: Ints, ys: Ints) -> Iterator[tuple[WithoutEdge, Floats]]:
        """Compare ends of edges with their rivals: by rows that are at hand, and by new ones."""
        at_hand = np.array([self._row_without.get(x, (-1,))[0] for x in xs.tolist()], np.int64) == ys
        if at_hand.any():
            rows = np.array([self._row_without[x][1][0] for x in xs[at_hand].tolist()])
            yield summed_up(self.adjacency, xs[at_hand], ys[at_hand], rows), rows
        yield from compare(self.score, self.adjacency, xs[~at_hand], ys[~at_hand])

    def _promising(self, ends: WithoutEdge, rows: Floats, which: Bools) -> list[Swap]:
        """Return the best swap of some ends, if it may be swapped and the score should rise."""
        x, y, rows = ends.x[which], ends.y[which], rows[which]
        lost = (self.evidence[x, y] + self.evidence[y, x]) / 2
        gains = (rows + self.evidence[:, x].T) / 2 - lost[:, None]
        gains[self.adjacency[x] | self.closed[x]] = -np.inf
        z = first_best(gains)
        promised = gains[np.arange(len(x)), z]
        return [
            Swap(float(promised[k]), int(x[k]), int(y[k]), int(z[k]))
            for k in np.flatnonzero((promised > TIE) & ~self.closed[x, y])
        ]

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges, in rows that are kept, too."""
        super().add_to_evidence(more)
        for x, (_, (row, _)) in self._row_without.items():
            row += more[x if len(more) > 1 else 0]
            row[x] = 0.0


def _was_adjacent(flips: list[Flip], x: int, y: int) -> bool:
    """Whether a pair was adjacent before some flips, of which it is one."""
    return not next(flip.added for flip in flips if (flip.x, flip.y) == (x, y))
