"""The state of a search that trusts gains: a graph, its rows, and with whom flipping gains most.

Flipping (x, y) gains ±(t_xy + t_yx) / 2: minus for an edge that is there. The numbers live in the core
(``_core/state.hpp``); what is here asks a criterion for rows, and puts them there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ibmap import _core
from ibmap._types import Bools, Floats, Ints
from ibmap.criteria import LocalScore
from ibmap.engines.rows import NONE, Lists, Rows
from ibmap.search.running import TIE, Flip, Pairs

WHOLE = 2_000  #: variables up to which rows are kept whole: with more they take more memory than is worth it
LISTED = -6.0  #: evidence above which a pair is listed, where they are not: a posterior of 1 in 400
HIGHEST = 1.4  #: a shift of the prior beyond which rows are listed anew: rivals of 1 in 100 must be there
NO_ROWS = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0))


class WithoutEdge(NamedTuple):
    """What some x would say, if a neighbour y of each were gone."""

    x: Ints
    y: Ints
    others: Floats  #: log(1 + Σ_z e^{t_z}) over the variables outside the blanket of x, without the rival
    rival: Ints  #: the strongest of them, -1 if there is none
    evidence: Floats  #: t of the rival
    promised: Floats  #: by how much the score should rise if z came in the place of y; -inf if by nothing
    z: Ints

    @property
    def log_sum(self) -> Floats:
        """log(1 + Σ_z e^{t_z}) over all of them."""
        return np.logaddexp(self.others, self.evidence)

    @property
    def share(self) -> Floats:
        """e^t of the rival, as a share of that sum."""
        return np.asarray(np.exp(self.evidence - self.log_sum))

    def of(self, which: Bools | Ints) -> "WithoutEdge":
        """Return some of them."""
        x, y, others, rival, evidence, promised, z = self
        few = others[which], rival[which], evidence[which], promised[which], z[which]
        return WithoutEdge(x[which], y[which], *few)

    def and_more(self, more: Sequence["WithoutEdge"]) -> "WithoutEdge":
        """Return these and more, ordered by x and y."""
        every = WithoutEdge(*(np.concatenate(values) for values in zip(self, *more, strict=True)))
        return every.of(np.lexsort((every.y, every.x)))


NOBODY = WithoutEdge(NONE, NONE, np.empty(0), NONE, np.empty(0), np.empty(0), NONE)


class State:
    """A graph, the rows of a criterion given it, and the best choice of every variable.

    Parameters
    ----------
    score : LocalScore
        The criterion, which must be additive.
    edges, locked : pairs of int
        The graph to begin with; pairs that are never flipped.
    """

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        n = score.n
        self.score, self.n_tests = score, n * (n - 1)
        self.native = _core.State(n, -np.inf if n <= WHOLE else LISTED)
        if edges := sorted({(min(pair), max(pair)) for pair in edges}):
            self.native.toggle(*_ends(edges))
        self.locked = {(min(pair), max(pair)) for pair in locked}
        if self.locked:
            self.native.lock(*_ends(sorted(self.locked)))
        self.rescore(np.arange(n))
        self.choose()

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return self.native.total()

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        return self.native.edges()

    def blankets(self, xs: Ints, without: Ints = NONE) -> Lists:
        """Return the neighbours of some x, each without one of them."""
        return Lists(*self.native.blankets(xs, without))

    def evidence(self, xs: Ints, ys: Ints) -> Floats:
        """Return t_xy of some pairs; NaN where it is not listed."""
        return self.native.find(np.ascontiguousarray(xs), np.ascontiguousarray(ys))

    def rows_given(self, xs: Ints, blankets: Lists, wanted: Lists) -> Rows:
        """Return rows of some x, with those who would be adjacent to x, and all ``wanted``."""
        return self.score.rows(xs, blankets, floor=self.native.floor, also=wanted)

    def rescore(self, xs: Ints) -> None:
        """Make the rows of some x in the graph as it stands."""
        wanted = Lists(*self.native.wanted(xs))
        self.native.put(xs, *self.rows_given(xs, self.blankets(xs), wanted))

    def choose(self) -> None:
        """Find with whom flipping gains most, for all x for whom that may have changed."""
        while len(unknown := self.native.choose()):
            self.make_known(unknown)

    def make_known(self, ends: Ints) -> None:
        """Make the rows of each x again that does not list some y, so that it does."""
        xs, owner = np.unique(ends[:, 0], return_inverse=True)
        start, listed = self.native.wanted(xs)
        both = np.concatenate([np.repeat(np.arange(len(xs)), np.diff(start)), owner])
        also = np.concatenate([listed, ends[:, 1]])
        order = np.argsort(both, kind="stable")
        wanted = Lists(np.searchsorted(both[order], np.arange(len(xs) + 1)), also[order])
        self.native.put(xs, *self.rows_given(xs, self.blankets(xs), wanted))

    def flip(self, pairs: Ints) -> list[Flip]:
        """Flip pairs, and make the rows of their ends: one trip. Without a common end their gains add up."""
        if not len(pairs):
            return []
        native, (x, y) = self.native, np.ascontiguousarray(pairs.T)
        gains, before = native.gains(x, y), native.total()
        native.keep_rows(x, y)
        native.toggle(x, y)
        touched = pairs.reshape(-1)
        self.rescore(touched)
        self.choose()
        self.n_tests += len(touched) * (self.score.n - 1)
        scores = before + np.cumsum(gains)
        scores[-1] = native.total()
        added = native.is_edge(x, y).astype(bool)
        return [*map(Flip, x.tolist(), y.tolist(), added.tolist(), gains.tolist(), scores.tolist())]

    def learn_prior(self) -> bool:
        """Let the criterion learn its prior from the rows as they stand; tell whether it has changed."""
        more = self.score.learn_prior(self.native.mean_degree)
        if more is None:
            return False
        self.native.shift_prior(np.ascontiguousarray(more))
        if self.native.shift > HIGHEST:
            self.native.rebase()
            if self.native.floor > -np.inf:
                self.rescore(np.arange(self.score.n))
        self.choose()
        return True

    def without_edges(self, xs: Ints, ys: Ints) -> WithoutEdge:
        """Compare ends of edges with the variables that could come in their place, by x and y."""
        native, kept = self.native, self.native.has_kept(xs, ys).astype(bool)
        found = []
        for which, rows in ((kept, None), (~kept, ...)):
            x, y = xs[which], ys[which]
            if not len(x):
                continue
            if rows is not None:
                wanted = Lists(*native.wanted(x))
                made = self.score.rows_outside(x, self.blankets(x, y), floor=native.floor, also=wanted)
            given = NO_ROWS if rows is None else made
            while len(unknown := (compared := native.compare(x, y, *given))[-1]):
                self.make_known(unknown)
            found.append(WithoutEdge(x, y, *compared[:5]))
        return NOBODY.and_more(found)

    def restore(self, flips: Sequence[tuple[int, int]], prior: Sequence[float]) -> None:
        """Do flips at once, in any order: rows depend on blankets alone."""
        odd = _odd(flips)
        if odd:
            self.native.toggle(*_ends(sorted(odd)))
        if list(self.score.prior) != list(prior):
            self.score.prior = prior
            self.refresh()
        else:
            self.rescore(np.unique(np.array(sorted(odd), np.int64)))
            self.choose()

    def refresh(self) -> None:
        """Make all rows with the prior as it is now, as those of a search that is taken up again are."""
        self.native.rebase()
        self.rescore(np.arange(self.score.n))
        self.choose()


def _odd(flips: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs that were flipped an odd number of times."""
    odd: set[tuple[int, int]] = set()
    for pair in flips:
        odd ^= {pair}
    return odd


def _ends(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return pairs as two arrays."""
    x, y = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    return x, y


__all__ = ["NOBODY", "TIE", "State", "WithoutEdge"]
