"""What flipping pairs would gain, for very many variables: ``gains.py`` without a matrix of all pairs.

Only a pair whose evidence is above zero at one end can gain. So of every row those above a floor are kept,
with the sum of the rest. Where one end is above zero and the other is not listed, it is not above the floor;
if the pair could still gain, the other end is scored.

Rows are kept as they would be with the prior of edges that the search began with: when it changes, ``risen``
does, and no row.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.likely import LikelyRow, likely_rows
from ibmap.scores.local_score import NONE
from ibmap.search import climb
from ibmap.search.gains import AnyGains
from ibmap.search.kept_rows import NOTHING, Kept, columns_of, joined, looked_up, ordered
from ibmap.search.rivals import NOBODY, WithoutEdge
from ibmap.search.running import TIE, Pairs
from ibmap.search.wide import flipped

LISTED = -6.0  #: evidence above which a pair is listed: a posterior of 1 in 400
HIGHEST = -4.6  #: what a prior may raise that to, as rivals of probability 0.01 must be listed
FASTER = 2_000  #: variables beyond which it is faster without a matrix, if rows need not be made whole
MANY = 8  #: if one variable in so many is to choose again, all do, at once


class WideGains(AnyGains):
    """A graph and what is likely in its rows; it has no ``pair_scores``, but :meth:`listed`."""

    pair_scores = None
    _pairs: Ints | None = None  #: the edges, until one is flipped
    _in_rows: tuple[Ints, Ints, Floats] | None = None  #: what rows list, until one is another
    _other_ends: Floats | None = None  #: t_yx of the same, NaN if it is not listed

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        n = score.n
        self.score, self.finished, self.risen = score, False, 0.0
        self._locked = {ordered(*pair) for pair in locked}
        self.closed = self._locked.copy()  # pairs that may not be flipped
        self._adjacent: list[set[int]] = [set() for _ in range(n)]
        self._blankets: dict[int, Ints] = {}  # as arrays, where somebody asked
        self._rows, self.values = [NOTHING] * n, np.zeros(n)
        self._evidence: list[dict[int, float]] = [{} for _ in range(n)]  # t_xy > 0, and others if asked for
        self._met: list[set[int]] = [set() for _ in range(n)]  # of x: the y with t_yx > 0
        self.n_tests = n * (n - 1)
        self.partner, self.best = np.full(n, n), np.full(n, -np.inf)
        for x, y in dict.fromkeys(ordered(*pair) for pair in edges):
            self.turn(x, y)
        self.score_rows(range(n))
        self.choose(range(n))

    # The graph

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        found = self._blankets.get(x)
        if found is None:
            found = np.array(sorted(self._adjacent[x]), np.int64) if self._adjacent[x] else NONE
            self._blankets[x] = found
        return found

    def blankets(self, xs: Ints) -> list[Ints]:
        """Neighbours of some x."""
        return [self.blanket(x) for x in xs.tolist()]

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        if self._pairs is None:
            self._pairs = self._ordered_pairs()
        return self._pairs

    def _ordered_pairs(self) -> Ints:
        """Return them."""
        sizes = [len(members) for members in self._adjacent]
        x = np.repeat(np.arange(self.score.n), sizes)
        y = np.fromiter(chain.from_iterable(self._adjacent), np.int64, sum(sizes))
        once = x < y
        x, y = x[once], y[once]
        order = np.lexsort((y, x))
        return np.column_stack([x[order], y[order]])

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(self.values.sum())

    def is_edge(self, x: int, y: int) -> bool:
        """Whether two variables are adjacent."""
        return y in self._adjacent[x]

    def turn(self, x: int, y: int) -> None:
        """Flip a pair, and score nothing."""
        self._pairs = None
        for one, other in ((x, y), (y, x)):
            self._adjacent[one] ^= {other}
            self._blankets.pop(one, None)

    def close(self, pairs: Pairs) -> None:
        """Let pairs not be flipped any more."""
        self.closed.update(ordered(*pair) for pair in pairs)

    def reopen(self) -> None:
        """Let all pairs be flipped again, but those that were locked from the start."""
        self.closed = self._locked.copy()

    # Rows

    @property
    def floor(self) -> float:
        """Evidence that is not listed is not above it."""
        return LISTED + self.risen

    def evidence_of(self, xs: Ints, ys: Ints) -> Floats:
        """Return t_xy of some pairs; NaN if it is not listed."""
        if MANY * len(xs) > self.score.n:
            x, y, ts = self._listed()
            return looked_up(x * self.score.n + y, ts, xs * self.score.n + ys)
        found = [self._find(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
        return np.array([np.nan if t is None else t for t in found], float)

    def _find(self, x: int, y: int) -> float | None:
        """Return t_xy; None if it is not listed, and so not above the floor."""
        t = self._evidence[x].get(y)
        if t is None:
            t = self._rows[x].find(y)
            if t is None:
                return None
            self._evidence[x][y] = t
        return t + self.risen

    def score_rows(self, xs: Iterable[int], wanted: Mapping[int, Iterable[int]] | None = None) -> None:
        """Score the rows of some x in the graph as it stands; ``wanted`` ys must be known in them."""
        xs = list(dict.fromkeys(xs))
        also = [[*self._met[x], *(() if wanted is None else wanted.get(x, ()))] for x in xs]
        blankets = [self.blanket(x) for x in xs]
        rows = list(likely_rows(self.score, xs, blankets, self.floor, also))
        self._put_rows(xs, [self._kept(row) for row in rows], [row.value for row in rows])

    def _kept(self, row: LikelyRow) -> Kept:
        """Return a row as it is kept."""
        if self.risen == 0.0:
            return Kept(row.ys, row.ts, row.elsewhere)
        return Kept(row.ys, row.ts - self.risen, row.elsewhere * float(np.exp(-self.risen)))

    def row_of(self, x: int) -> tuple[Kept, float]:
        """Return the row of x as it stands, and s_x(B)."""
        return self._rows[x], float(self.values[x])

    def put_row(self, x: int, row: tuple[Kept, float]) -> None:
        """Make a row the current one, and let those whom it likes know."""
        self._put_rows([x], [row[0]], [row[1]])

    def _put_rows(self, xs: Sequence[int], rows: Sequence[Kept], values: Sequence[float]) -> None:
        """Make rows of different x the current ones, and let those whom they like know."""
        self._in_rows = self._other_ends = None
        for x in xs:
            for y in self._liked(x):
                self._met[y].discard(x)
        self.values[xs] = values
        owner, ys, ts = joined(rows)
        likes = ts > -self.risen
        ends = owner[likes].searchsorted(np.arange(1, len(rows) + 1)).tolist()
        liked, why, start = ys[likes].tolist(), ts[likes].tolist(), 0
        for x, row, end in zip(xs, rows, ends, strict=True):
            self._rows[x] = row
            self._evidence[x] = dict(zip(liked[start:end], why[start:end], strict=True))
            for y in liked[start:end]:
                self._met[y].add(x)
            start = end

    def _liked(self, x: int) -> list[int]:
        """Return the y with t_xy > 0."""
        return [y for y, t in self._evidence[x].items() if t > -self.risen]

    # Gains

    def gain(self, x: int, y: int) -> float:
        """What flipping one pair would gain, if both ends list it; else more than it would gain."""
        one, other = self._find(x, y), self._find(y, x)
        mean = ((self.floor if one is None else one) + (self.floor if other is None else other)) / 2
        return -mean if y in self._adjacent[x] else mean

    def gains_of(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """What flipping each of some pairs would gain, or more."""
        if MANY * len(pairs) <= self.score.n:
            return [self.gain(x, y) for x, y in pairs]
        x, y = np.array(pairs, np.int64).T
        ends = self.evidence_of(x, y), self.evidence_of(y, x)
        mean = sum(np.where(np.isnan(end), self.floor, end) for end in ends) / 2
        adjacent = np.array([b in self._adjacent[a] for a, b in pairs], bool)
        gains: list[float] = np.where(adjacent, -mean, mean).tolist()
        return gains

    def candidates(self, x: int) -> set[int]:
        """Return all y for which flipping (x, y) could gain: one end is for an edge, or there is one."""
        return self._met[x].union(self._liked(x), self._adjacent[x])

    def choose(self, xs: Iterable[int]) -> None:
        """Find with whom flipping gains most, for some x."""
        xs = list(xs)
        if MANY * len(xs) > self.score.n:
            self._choose_all()
            return
        every = [self._gains(x) for x in xs]
        hopeful = [(x, y) for x, gains in zip(xs, every, strict=True) for y, gain in gains if gain > TIE]
        if self.make_known([*hopeful, *((y, x) for x, y in hopeful)]):
            every = [self._gains(x) for x in xs]
        for x, gains in zip(xs, every, strict=True):
            best = max((gain for _, gain in gains), default=-np.inf)
            bar = best - TIE * max(1.0, abs(best))
            self.best[x] = best
            self.partner[x] = min((y for y, gain in gains if gain >= bar), default=self.score.n)

    def _gains(self, x: int) -> list[tuple[int, float]]:
        """Return with whom x could flip, and what that gains at most."""
        ys = self.candidates(x)
        if self.closed:
            ys = {y for y in ys if ordered(x, y) not in self.closed}
        return [(y, self.gain(x, y)) for y in ys]

    def _choose_all(self) -> None:
        """Find with whom flipping gains most, for all x."""
        n, (x, y, ts) = self.score.n, self._listed()
        listed, edges, liked = x * n + y, self._keys(self.pairs), ts > 0
        both = np.concatenate([listed[liked], (y * n + x)[liked], edges])
        keys = np.setdiff1d(both, self._keys(np.array(sorted(self.closed), np.int64).reshape(-1, 2)))
        x, y = keys // n, keys % n
        ends = looked_up(listed, ts, keys), looked_up(listed, ts, y * n + x)
        mean = sum(np.where(np.isnan(end), self.floor, end) for end in ends) / 2
        gains = np.where(np.isin(keys, edges), -mean, mean)
        unknown = [np.isnan(end) & (gains > TIE) for end in ends]
        if unknown[0].any() or unknown[1].any():
            pairs = (
                *zip(x[unknown[0]], y[unknown[0]], strict=True),
                *zip(y[unknown[1]], x[unknown[1]], strict=True),
            )
            self.make_known([(int(one), int(other)) for one, other in pairs])
            self._choose_all()
            return
        self.best[:], self.partner[:] = -np.inf, n
        np.maximum.at(self.best, x, gains)
        bar = self.best - TIE * np.maximum(1.0, np.abs(self.best))
        tied = gains >= bar[x]
        np.minimum.at(self.partner, x[tied], y[tied])

    def _listed(self) -> tuple[Ints, Ints, Floats]:
        """Return all that rows list: x, y and t_xy, in order."""
        if self._in_rows is None:
            self._in_rows = joined(self._rows)
        x, y, ts = self._in_rows
        return x, y, ts + self.risen

    def _keys(self, pairs: Ints) -> Ints:
        """Return pairs as numbers, both ways."""
        n = self.score.n
        return np.concatenate([pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]])

    def make_known(self, ends: Iterable[tuple[int, int]]) -> bool:
        """Score each x that does not list some y, so that it does; tell whether there were any."""
        unknown: dict[int, set[int]] = {}
        for x, y in ends:
            if self._find(x, y) is None:
                unknown.setdefault(x, set(self._rows[x].ys.tolist())).add(y)
        self.score_rows(unknown, unknown)
        return bool(unknown)

    def turn_and_score(self, pairs: Sequence[tuple[int, int]], touched: Sequence[int]) -> None:
        """Flip pairs, score the rows of their ends, and let all choose again whose choice may be another."""
        n, again = self.score.n, {*touched}
        everyone = MANY * len(again) > n
        if not everyone:
            again.update(*(self.candidates(v) for v in touched))
        for x, y in pairs:
            self.turn(x, y)
        self.score_rows(touched)
        self.choose(range(n) if everyone else sorted(again.union(*(self.candidates(v) for v in touched))))

    # The prior of edges

    def posterior_degree(self) -> float:
        """Return the mean posterior number of neighbours; ends that are not listed count as the floor."""
        n, (x, y, ts) = self.score.n, self._listed()
        if self._other_ends is None:
            self._other_ends = looked_up(x * n + y, ts - self.risen, y * n + x)
        others = self._other_ends + self.risen
        odds = (ts + np.where(np.isnan(others), self.floor, others)) / 2
        listed = (1 / (1 + np.exp(-np.clip(odds, -700, 700)))).sum()
        elsewhere = sum(row.elsewhere for row in self._rows) * np.exp(self.risen)
        return float(listed + elsewhere) / max(n, 1)

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of all edges."""
        shift = float(more[0, 0])
        self.risen += shift
        if self.floor > HIGHEST:
            self.risen = 0.0
            self._met, self._evidence = ([set() for _ in self._met], [{} for _ in self._met])
            self.score_rows(range(self.score.n))
            return
        self.values += shift * np.array([len(members) for members in self._adjacent]) / 2
        x, y, ts = self._listed()
        changed = (ts > 0) != (ts > shift)
        for v, w, t in zip(x[changed].tolist(), y[changed].tolist(), ts[changed].tolist(), strict=True):
            self._met[w] ^= {v}
            self._evidence[v][w] = t - self.risen

    # Rivals

    def log_sums(self) -> Floats:
        """Return log(1 + Σ_z e^{S_z}) over the variables outside the blanket of every x."""
        return self.sums_without(range(self.score.n), range(self.score.n), self._rows).log_sum

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place."""
        ends = [(x, y) for pair in self.pairs.tolist() for x, y in (pair, pair[::-1])]
        found = self.sums_without(*columns_of(ends), list(self.rows_without(ends)))
        return NOBODY.and_more([found])

    def rows_without(self, ends: Sequence[tuple[int, int]]) -> Iterable[Kept]:
        """Yield the row of each x without its neighbour y, whom it lists."""
        xs = [x for x, _ in ends]
        blankets = [flipped(self.blanket(x), y) for x, y in ends]
        wanted = [[*self._met[x], *self._adjacent[x]] for x in xs]
        return map(self._kept, likely_rows(self.score, xs, blankets, self.floor, wanted))

    def sums_without(self, xs: Sequence[int], ys: Sequence[int], rows: Sequence[Kept]) -> WithoutEdge:
        """Sum up rows of some x, each without a neighbour y, over the variables outside its blanket."""
        n, each = self.score.n, np.arange(len(rows))
        with np.errstate(divide="ignore"):
            rest = np.log1p(np.array([row.elsewhere for row in rows]) * np.exp(self.risen))
        owner, who, ts = joined(rows)
        ts = ts + self.risen
        members = [self._adjacent[x] for x in xs]
        inside = np.repeat(each, [len(some) for some in members]) * n
        inside += np.array([y for some in members for y in some], np.int64)
        outside = ~np.isin(owner * n + who, inside)
        owner, who, ts = owner[outside], who[outside], ts[outside]
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, owner, ts)
        rival = np.full(len(rows), n)
        strongest = ts == best[owner]
        np.minimum.at(rival, owner[strongest], who[strongest])
        others = who != rival[owner]
        top = rest.copy()
        np.maximum.at(top, owner[others], ts[others])
        sums = np.exp(rest - top) + np.bincount(
            owner[others], np.exp(ts[others] - top[owner[others]]), minlength=len(rows)
        )
        rival[rival == n] = -1
        return WithoutEdge(np.array(xs, np.int64), np.array(ys, np.int64), top + np.log(sums), rival, best)

    # What is left

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and so the pairs without one that look most like edges."""
        near = {ordered(x, y) for x in range(self.score.n) for y in self.candidates(x) - self._adjacent[x]}
        edges, best = self.pairs, sorted(near, key=lambda pair: (-self.gain(*pair), pair))[:wanted]
        self.make_known([*best, *((y, x) for x, y in best)])
        absent = np.array(best, np.int64).reshape(-1, 2)
        return edges, self._sigma(edges, 1.0), absent, self._sigma(absent, -1.0)

    def _sigma(self, pairs: Ints, sign: float) -> Floats:
        ends = self.evidence_of(*pairs.T), self.evidence_of(*pairs.T[::-1])
        return np.asarray(-np.logaddexp(0.0, -sign * np.stack(ends, axis=1)))


def most_with_matrix(leaves_out: bool) -> int:
    """Return up to how many variables there is a matrix of all pairs, if a score can leave out or if not."""
    return min(FASTER, climb.MATRIX) if leaves_out else climb.MATRIX


def is_wide(score: LocalScore) -> bool:
    """Whether there are too many variables for a matrix; a prior for each pair is a matrix by itself."""
    most = most_with_matrix(hasattr(score, "likely_at_once"))
    return score.n > most and len(getattr(score, "prior_odds", ((0.0,),))) == 1
