"""What flipping pairs would gain, for very many variables: ``gains.py`` without a matrix of all pairs.

Only a pair whose evidence is above zero at one end can gain. So of every row those above a floor are kept,
with the sum of the rest. Where one end is above zero and the other is not listed, it is not above the floor;
if the pair could still gain, the other end is scored.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.likely import LikelyRow, likely_rows
from ibmap.scores.local_score import NONE
from ibmap.search import climb
from ibmap.search.gains import AnyGains
from ibmap.search.rivals import NOBODY, WithoutEdge
from ibmap.search.running import TIE, Pairs
from ibmap.search.wide import flipped

LISTED = -6.0  #: evidence above which a pair is listed: a posterior of 1 in 400
HIGHEST = -4.6  #: what a prior may raise that to, as rivals of probability 0.01 must be listed


class WideGains(AnyGains):
    """A graph and what is likely in its rows; it has no ``pair_scores``, but :meth:`listed`."""

    pair_scores = None

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        n = score.n
        self.score, self.finished, self.floor = score, False, LISTED
        self._locked = {ordered(*pair) for pair in locked}
        self.closed = self._locked.copy()  # pairs that may not be flipped
        self._members: dict[int, Ints] = {}
        for x, y in dict.fromkeys(ordered(*pair) for pair in edges):
            self.turn(x, y)
        self._rows: list[LikelyRow] = [LikelyRow(NONE.astype(np.int32), np.empty(0), 0.0, 0.0)] * n
        self._met: dict[int, set[int]] = {}  # of x: the y with t_yx > 0
        self.n_tests = n * (n - 1)
        self.partner, self.best = np.zeros(n, np.int64), np.full(n, -np.inf)
        self.score_rows(range(n))
        self.choose(range(n))

    # The graph

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        return self._members.get(x, NONE)

    def blankets(self, xs: Ints) -> list[Ints]:
        """Neighbours of some x."""
        return [self.blanket(x) for x in xs.tolist()]

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        found = sorted((x, y) for x, ys in self._members.items() for y in ys.tolist() if x < y)
        return np.array(found, np.int64).reshape(-1, 2)

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(np.sum([row.value for row in self._rows]))

    def is_edge(self, x: int, y: int) -> bool:
        """Whether two variables are adjacent."""
        members = self.blanket(x)
        at = int(members.searchsorted(y))
        return at < len(members) and bool(members[at] == y)

    def turn(self, x: int, y: int) -> None:
        """Flip a pair, and score nothing."""
        self._members[x], self._members[y] = flipped(self.blanket(x), y), flipped(self.blanket(y), x)

    def close(self, pairs: Pairs) -> None:
        """Let pairs not be flipped any more."""
        self.closed.update(ordered(*pair) for pair in pairs)

    def reopen(self) -> None:
        """Let all pairs be flipped again, but those that were locked from the start."""
        self.closed = self._locked.copy()

    # Rows

    def evidence_of(self, xs: Ints, ys: Ints) -> Floats:
        """Return t_xy of some pairs that are listed."""
        found = [self._rows[x].find(y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
        return np.array([np.nan if t is None else t for t in found])

    def score_rows(self, xs: Iterable[int], wanted: Mapping[int, Iterable[int]] | None = None) -> None:
        """Score the rows of some x in the graph as it stands."""
        xs = list(dict.fromkeys(xs))
        also = [self._wanted(x, () if wanted is None else wanted.get(x, ())) for x in xs]
        blankets = [self.blanket(x) for x in xs]
        for x, row in zip(xs, likely_rows(self.score, xs, blankets, self.floor, also), strict=True):
            self.put_row(x, row)

    def row_of(self, x: int) -> LikelyRow:
        """Return the row of x as it stands."""
        return self._rows[x]

    def put_row(self, x: int, row: LikelyRow) -> None:
        """Make a row the current one, and let those whom it likes know."""
        for y in self._liked(x):
            self._met[y].discard(x)
        self._rows[x] = row
        for y in self._liked(x):
            self._met.setdefault(y, set()).add(x)

    def _liked(self, x: int) -> list[int]:
        """Return the y with t_xy > 0."""
        row = self._rows[x]
        return row.ys[row.ts > 0].tolist()  # type: ignore[no-any-return]

    def _wanted(self, x: int, more: Iterable[int] = ()) -> list[int]:
        """Return whom the row of x must list, beside members: those who like x."""
        return [*self._met.get(x, ()), *more]

    # Gains

    def gain(self, x: int, y: int) -> float:
        """What flipping one pair would gain, if both ends list it; else more than it would gain."""
        one, other = self._rows[x].find(y), self._rows[y].find(x)
        mean = ((self.floor if one is None else one) + (self.floor if other is None else other)) / 2
        return -mean if self.is_edge(x, y) else mean

    def candidates(self, x: int) -> set[int]:
        """Return all y for which flipping (x, y) could gain: one end is for an edge, or there is one."""
        return {*self._liked(x), *self._met.get(x, ()), *self.blanket(x).tolist()}

    def choose(self, xs: Iterable[int]) -> None:
        """Find with whom flipping gains most, for some x."""
        xs = list(xs)
        gains = [self._gains(x) for x in xs]
        hopeful = [(x, y) for x, (ys, found) in zip(xs, gains, strict=True) for y in ys[found > TIE].tolist()]
        if self.make_known([*hopeful, *((y, x) for x, y in hopeful)]):
            gains = [self._gains(x) for x in xs]
        for x, (ys, found) in zip(xs, gains, strict=True):
            best = float(found.max(initial=-np.inf))
            tied = found >= best - TIE * max(1.0, abs(best))
            self.best[x], self.partner[x] = best, ys[tied].min(initial=self.score.n)

    def _gains(self, x: int) -> tuple[Ints, Floats]:
        """Return with whom x could flip, and what that gains at most."""
        ys = [y for y in self.candidates(x) if not self.closed or ordered(x, y) not in self.closed]
        return np.array(ys, np.int64), np.array([self.gain(x, y) for y in ys])

    def make_known(self, ends: Iterable[tuple[int, int]]) -> bool:
        """Score each x that does not list some y, so that it does; tell whether there were any."""
        unknown: dict[int, set[int]] = {}
        for x, y in ends:
            if self._rows[x].find(y) is None:
                unknown.setdefault(x, set()).add(y)
        self.score_rows(unknown, unknown)
        return bool(unknown)

    def turn_and_score(self, pairs: Sequence[tuple[int, int]], touched: Sequence[int]) -> None:
        """Flip pairs, score the rows of their ends, and let all choose again whose choice may be another."""
        again = {*touched}.union(*(self.candidates(v) for v in touched))
        for x, y in pairs:
            self.turn(x, y)
        self.score_rows(touched)
        self.choose(sorted(again.union(*(self.candidates(v) for v in touched))))

    # The prior of edges

    def posterior_degree(self) -> float:
        """Return the mean posterior number of neighbours; ends that are not listed count as the floor."""
        n, rows = self.score.n, self._rows
        owner = np.repeat(np.arange(n), [len(row.ys) for row in rows])
        ys, ts = (np.concatenate([np.empty(0), *column]) for column in list(zip(*rows, strict=True))[:2])
        other, own = ys.astype(np.int64) * n + owner, owner * n + ys.astype(np.int64)
        at = np.minimum(own.searchsorted(other), max(len(own) - 1, 0))
        odds = (ts + np.where(own[at] == other, ts[at], self.floor)) / 2
        listed = (1 / (1 + np.exp(-np.clip(odds, -700, 700)))).sum()
        return float(listed + sum(row.elsewhere for row in rows)) / max(n, 1)

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of all edges."""
        self.floor += float(more[0, 0])
        if self.floor > HIGHEST:
            self.floor = LISTED
            self.score_rows(range(self.score.n))
            return
        for x, row in enumerate(self._rows):
            self.put_row(x, row.shifted(float(more[0, 0]), len(self.blanket(x))))

    # Rivals

    def log_sums(self) -> Floats:
        """Return log(1 + Σ_z e^{S_z}) over the variables outside the blanket of every x."""
        return np.array([log_sum(self._outside(x, row)[1], row) for x, row in enumerate(self._rows)])

    def _outside(self, x: int, row: LikelyRow) -> tuple[NDArray[np.int32], Floats]:
        """Return who is listed outside the blanket of x, with their evidence."""
        outside = ~np.isin(row.ys, self.blanket(x))
        return row.ys[outside], row.ts[outside]

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place."""
        ends = [(x, y) for pair in self.pairs.tolist() for x, y in (pair, pair[::-1])]
        found = [
            self.sum_without(x, y, row) for (x, y), row in zip(ends, self.rows_without(ends), strict=True)
        ]
        return NOBODY.and_more([as_ends(found)])

    def rows_without(self, ends: Sequence[tuple[int, int]]) -> Iterable[LikelyRow]:
        """Yield the row of each x without its neighbour y."""
        xs = [x for x, _ in ends]
        blankets = [flipped(self.blanket(x), y) for x, y in ends]
        return likely_rows(
            self.score, xs, blankets, self.floor, [[*self._wanted(x), *self.blanket(x).tolist()] for x in xs]
        )

    def sum_without(self, x: int, y: int, row: LikelyRow) -> tuple[int, int, float, int, float]:
        """Return what there is to know about an end, in the order of the fields of ``WithoutEdge``."""
        ys, ts = self._outside(x, row)
        if not len(ys):
            return x, y, log_sum(ts, row), -1, -np.inf
        k = int(np.argmax(ts))
        return x, y, log_sum(np.delete(ts, k), row), int(ys[k]), float(ts[k])

    # What is left

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and so the pairs without one that look most like edges."""
        near = {ordered(x, y) for x in range(self.score.n) for y in self.candidates(x)}
        edges = self.pairs
        near -= {(x, y) for x, y in edges.tolist()}
        self.make_known([*near, *((y, x) for x, y in near)])
        best = sorted(near, key=lambda pair: (-self.gain(*pair), pair))[:wanted]
        absent = np.array(best, np.int64).reshape(-1, 2)
        return edges, self._sigma(edges, 1.0), absent, self._sigma(absent, -1.0)

    def _sigma(self, pairs: Ints, sign: float) -> Floats:
        ends = self.evidence_of(*pairs.T), self.evidence_of(*pairs.T[::-1])
        return np.asarray(-np.logaddexp(0.0, -sign * np.stack(ends, axis=1)))


def is_wide(score: LocalScore) -> bool:
    """Whether there are too many variables for a matrix; a prior for each pair is a matrix by itself."""
    return score.n > climb.MATRIX and len(getattr(score, "prior_odds", ((0.0,),))) == 1


def log_sum(ts: Floats, row: LikelyRow) -> float:
    """Return log(1 + Σ e^t) over some that a row lists, and all that it does not."""
    top = float(ts.max(initial=0.0))
    return float(top + np.log(np.exp(-top) * (1.0 + row.elsewhere) + np.exp(ts - top).sum()))


def ordered(x: int, y: int) -> tuple[int, int]:
    """Return a pair with the smaller one first."""
    return (x, y) if x < y else (y, x)


def as_ends(found: Sequence[tuple[int, int, float, int, float]]) -> WithoutEdge:
    """Return what is known about ends of edges as arrays."""
    kinds = (np.int64, np.int64, float, np.int64, float)
    columns = zip(*found, strict=True) if found else [()] * len(kinds)
    return WithoutEdge(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))
