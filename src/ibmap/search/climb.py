"""The paper's climb: flip the least credible pair as long as that raises the score (Algorithms 1 and 2).

How credible a pair is: σ_xy + σ_yx, σ_xy being the log posterior of what the graph asserts about x and y,
seen from x. It depends on the blanket of x alone, so a flip changes the rows of its two ends, and no other.
σ lives in the core (``_core/climb.hpp``): as a matrix, or, of very many variables, of pairs above a floor.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ibmap import _core
from ibmap._text import in_short
from ibmap._types import Floats, Ints
from ibmap.criteria import LocalScore
from ibmap.criteria.bjp import asserted, once
from ibmap.criteria.local_score import NONE
from ibmap.engines.rows import Lists, Rows, credibility
from ibmap.errors import RequestError
from ibmap.search.running import TIE, Flip, Pairs, Search

MATRIX = 10_000  #: variables beyond which a matrix of σ takes more memory than is worth it: 8 n² bytes
LISTED = 100  #: with how many others a variable is listed then, on average, in the graph without edges
SAMPLE = 64  #: rows that tell where to draw that line
ROWS_AT_ONCE = 256  #: rows that are made at once


class Climb(Search):
    """Propose the pair with the smallest σ_xy + σ_yx, and keep the flip if it raises the score.

    Parameters
    ----------
    patience : int
        How many more pairs to try when one does not raise the score; 0 is the paper.
    """

    name = "climb"

    def __init__(self, patience: int = 0) -> None:
        self.patience = patience

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "Climbing":
        """Score the graph with these edges; locked pairs are never flipped."""
        if (
            isinstance(self.patience, bool)
            or not isinstance(self.patience, int | np.integer)
            or self.patience < 0
        ):
            raise RequestError(f"patience must be 0 or more, a whole number, not {in_short(self.patience)}")
        climbing = ClimbingOnce if score.counts_pairs_once else Climbing
        return climbing(score, int(self.patience), edges, locked)


class Climbing:
    """A climb that has begun."""

    def __init__(self, score: LocalScore, patience: int, edges: Pairs = (), locked: Pairs = ()) -> None:
        self.score, self.n_tests, self.finished = score, score.n * (score.n - 1), False
        self._patience, self._locked = patience, list(locked)
        self._tried: list[tuple[int, int]] = []  # proposed in vain since the last ascent
        self._listed = LISTED
        self._begin({(min(pair), max(pair)) for pair in edges})

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do up to ``limit`` ascents, by up to ``budget`` proposals (any number of them by default).

        Afterwards ``finished`` tells whether there is nothing more to do; if not, the next call goes on.
        """
        ascents: list[Flip] = []
        while len(ascents) < limit and budget != 0:
            pair = self._least_credible_pair() if len(self._tried) <= self._patience else None
            if pair is None:  # Algorithm 1, line 7: a maximum
                self._try_all_again()
                self.finished = True
                break
            x, y = pair
            self.state.toggle(x, y)  # Algorithm 2, line 2
            rows = self._rows(ends := np.array(pair))  # Algorithm 1, line 5
            gain = self._gain(x, y, rows)
            if gain > TIE:  # lines 9 and 10
                self.state.put(ends, *rows)
                self._try_all_again()
                ascents.append(Flip(x, y, self.state.is_edge(x, y), gain, self.total))
            else:
                self.state.toggle(x, y)
                self._do_not_try(pair)
            self.n_tests += 2 * (self.score.n - 1)
            budget = None if budget is None else budget - 1
        return ascents

    def _least_credible_pair(self) -> tuple[int, int] | None:
        """Return the first of the least credible pairs (Algorithm 2, line 1); None if there is none."""
        while True:
            if len(unknown := self.state.unknown()):
                self._score(unknown)
            elif self.state.lists_enough():
                return self.state.least_credible()
            else:
                self._listed *= 4
                self._begin(self.state.edges().tolist())

    def _gain(self, x: int, y: int, rows: Rows) -> float:
        """Return by how much the score rises, if these are the rows of x and y."""
        after, state = rows.value, self.state
        return float(after[0] + after[1]) - (state.value(x) + state.value(y))

    def _do_not_try(self, pair: tuple[int, int]) -> None:
        """Propose a pair no more before the next ascent."""
        self._tried.append(pair)
        self.state.close(*pair)

    def _try_all_again(self) -> None:
        if self._tried:
            self._tried = []
            self.state.open_all()

    # Rows

    def _begin(self, edges: Pairs) -> None:
        """Score a graph from scratch."""
        score, n, floor = self.score, self.score.n, -np.inf
        whole = n <= MATRIX or score.counts_pairs_once
        if not whole and self._listed < n:
            some = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
            sample = score.rows(some, [NONE] * len(some)).t
            floor = float(np.quantile(sample, 1.0 - self._listed / n))
        self.state = _core.Climb(n, whole, floor)
        for x, y in self._locked:
            self.state.lock(x, y)
        for x, y in self._tried:
            self.state.close(x, y)
        edges = list(edges)
        for x, y in edges:
            self.state.toggle(x, y)
        if whole and not edges:
            self.state.begin(score.fill_empty(self.state.matrix()))
        else:
            self._score(np.arange(n))

    def _rows(self, xs: Ints) -> Rows:
        """Return the rows of some x in the graph as it stands."""
        state = self.state
        also = None if state.is_whole else Lists(*state.listed(xs))
        return self.score.rows(xs, Lists(*state.blankets(xs)), floor=state.floor, also=also)

    def _score(self, xs: Ints) -> None:
        """Make the rows of some x, and keep them."""
        for first in range(0, len(xs), ROWS_AT_ONCE):
            some = xs[first : first + ROWS_AT_ONCE]
            self.state.put(some, *self._rows(some))

    # What others see

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return self.state.total()

    @property
    def pair_scores(self) -> Floats | None:
        """σ_xy, with 0 on the diagonal; None if there is no matrix."""
        return self.state.matrix() if self.state.is_whole else None

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        return self.state.edges()

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and so the pairs without one that look most like edges."""
        edges, absent = self.pairs, self.state.near_misses(wanted)
        unknown = [x for x, y in _both_ways(absent) if np.isnan(self.state.find(x, y))]
        self._score(np.unique(np.array(unknown, np.int64)))
        found = [
            np.array([self.state.find(x, y) for x, y in _both_ways(pairs)]).reshape(2, -1).T
            for pairs in (edges, absent)
        ]
        return edges, found[0], absent, found[1]

    def saved(self) -> dict[str, Any]:
        """Return the pairs that were proposed in vain since the last ascent."""
        return {"tried": [list(pair) for pair in self._tried], "n_tests": self.n_tests}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Flip pairs without asking whether they pay, as a search that was saved did; score what changed.

        σ_x depends on the blanket of x alone, so the order of the flips does not matter, and the state is the
        one of that search, to the last bit.
        """
        for x, y in flips:
            self.state.toggle(x, y)
        self._score(np.unique(np.array(flips, np.int64)))
        for x, y in saved.get("tried", ()):
            self._do_not_try((x, y))
        self.n_tests = int(saved["n_tests"])


class ClimbingOnce(Climbing):
    """A climb by a score in which each pair counts once, as the end with the smaller blanket asserts it.

    A flip changes the place of its ends among the others, so it touches all pairs that one of them is in.
    """

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(self.state.matrix()[asserted(self._sizes())].sum())

    def _sizes(self) -> Ints:
        """How many neighbours every variable has."""
        return np.diff(self.state.blankets(np.arange(self.score.n))[0])

    def _gain(self, x: int, y: int, rows: Rows) -> float:
        """Return by how much the score rises, if these are the rows of x and y."""
        after, sigma = self._sizes(), self.state.matrix()
        before = after.copy()
        before[[x, y]] += -1 if self.state.is_edge(x, y) else 1
        blankets = Lists(*self.state.blankets(np.array([x, y]))).one_by_one()
        new = credibility(rows.matrix(self.score.n), [x, y], blankets)
        return self._pairs_of(x, y, new, after) - self._pairs_of(x, y, sigma[[x, y]], before)

    def _pairs_of(self, x: int, y: int, rows: Floats, sizes: Ints) -> float:
        """Return the sum over all pairs that x or y is in, given their rows and the sizes of all blankets."""
        columns = self.state.matrix()[:, [x, y]].T.copy()
        columns[0, y], columns[1, x] = rows[1, x], rows[0, y]
        of_x, of_y = once(rows[0], columns[0], x, sizes), once(rows[1], columns[1], y, sizes)
        return float(of_x.sum() + of_y.sum() - of_y[x])


def _both_ways(pairs: Ints) -> Iterator[tuple[int, int]]:
    """Yield pairs (x, y), and then all of them the other way round."""
    for some in (pairs, pairs[:, ::-1]):
        yield from map(tuple, some.tolist())
