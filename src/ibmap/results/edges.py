"""Edges and near misses in one table, made once: the screen, files, reports and explanations read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np

from ibmap._text import counted
from ibmap._types import Floats, Ints
from ibmap.graph import Graph
from ibmap.independence.base import log_one_minus_exp

NEAR_MISSES = 100_000  #: at most this many pairs without an edge are listed beside the edges
UNDECIDED = (0.1, 0.9)  #: posteriors that leave a pair undecided: even odds, give or take a factor of nine
STRONG = log(10)  #: log Bayes factor of what is called strong evidence (Jeffreys 1961)
PAIRS_AT_ONCE = 1 << 16  #: pairs that are looked at together


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The edges of a network, then the pairs that come closest to having one; each by falling posterior.

    Attributes
    ----------
    names : tuple of str
        The variables.
    pairs : ndarray of shape (m, 2)
        Positions (i, j), i < j.
    n_edges : int
        The first so many pairs are edges.
    log_posteriors : ndarray of shape (m, 2)
        Log posterior of an edge as i sees it, given its blanket, and as j does; NaN if they are not known.
    counted : tuple of (int, int or None), or None
        How many of all pairs without an edge are undecided, and against how many there is strong evidence,
        where they are known although not all pairs are listed, as in a file.
    """

    names: tuple[str, ...]
    pairs: Ints
    n_edges: int
    log_posteriors: Floats
    counted: tuple[int, int | None] | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def has_posteriors(self) -> bool:
        """Whether the learner gave posteriors."""
        return not (len(self) and bool(np.isnan(self.log_posteriors).all()))

    @cached_property
    def log_posterior(self) -> Floats:
        """Log posterior of an edge: the mean of what the two ends say."""
        return np.asarray(self.log_posteriors.mean(axis=1))

    @cached_property
    def undecided(self) -> Any:
        """Whether the data leave each pair undecided; no pair of a learner without posteriors."""
        low, high = UNDECIDED
        return (self.log_posterior >= log(low)) & (self.log_posterior <= log(high))

    @property
    def n_uncertain(self) -> int:
        """How many edges are undecided: they are in the network, and might as well be absent."""
        return int(self.undecided[: self.n_edges].sum())

    @property
    def n_undecided(self) -> int:
        """How many pairs without an edge are undecided."""
        return self.counted[0] if self.counted else int(self.undecided[self.n_edges :].sum())

    def log_bayes_factors(self, prior_odds: Floats) -> Floats:
        """Return the log Bayes factor of an edge for every pair: its log odds, less their prior log odds.

        Above zero it is evidence for an edge, below zero evidence against one. ``prior_odds`` has one number
        for all pairs, or a matrix with one for each.
        """
        logs = self.log_posteriors
        odds = (logs - log_one_minus_exp(np.minimum(logs, 0.0))).mean(axis=1)
        i, j = self.pairs.T if len(prior_odds) > 1 else np.zeros((2, len(self)), np.int64)
        return np.asarray(odds - prior_odds[i, j])

    def first(
        self, edges: int | None = None, near_misses: int | None = None
    ) -> list[tuple[str, str, float, float]]:
        """Return x, y and both log posteriors of the first edges and near misses, as Python values."""
        n_edges = self.n_edges if edges is None else min(edges, self.n_edges)
        last = len(self) if near_misses is None else min(self.n_edges + near_misses, len(self))
        rows = [*range(n_edges), *range(self.n_edges, last)]
        return [
            (self.names[i], self.names[j], one, other)
            for (i, j), (one, other) in zip(
                self.pairs[rows].tolist(), self.log_posteriors[rows].tolist(), strict=True
            )
        ]

    @cached_property
    def columns(self) -> dict[str, Any]:
        """The columns of edges.csv and ``edges_``."""
        return {
            "x": [self.names[i] for i in self.pairs[:, 0].tolist()],
            "y": [self.names[j] for j in self.pairs[:, 1].tolist()],
            "posterior": np.exp(self.log_posterior),
            "log_posterior_xy": self.log_posteriors[:, 0].copy(),
            "log_posterior_yx": self.log_posteriors[:, 1].copy(),
            "in_graph": np.arange(len(self)) < self.n_edges,
        }

    @cached_property
    def of_pair(self) -> dict[tuple[int, int], tuple[float, float]]:
        """Both log posteriors of every edge, by (i, j)."""
        rows = zip(
            self.pairs[: self.n_edges].tolist(), self.log_posteriors[: self.n_edges].tolist(), strict=True
        )
        return {(i, j): (one, other) for (i, j), (one, other) in rows}

    def place(self, i: int, j: int) -> int | None:
        """Return where a pair is listed, an edge or a near miss; None if it is not."""
        at = np.flatnonzero((self.pairs == (min(i, j), max(i, j))).all(axis=1))
        return int(at[0]) if len(at) else None


def edge_table(
    graph: Graph,
    pair_scores: Floats | None,
    near_misses: int = NEAR_MISSES,
    constant: Sequence[str] = (),
) -> EdgeTable:
    """List the edges, then up to ``near_misses`` other pairs; all pairs are looked at once.

    Parameters
    ----------
    graph : Graph
        The network.
    pair_scores : ndarray or None
        σ_xy, the log posterior of what the graph asserts about x and y, seen from x; None if not known.
    near_misses : int
        How many pairs without an edge to list at most.
    constant : sequence of str
        Variables about which nothing is known: they are close to nobody.

    Examples
    --------
    >>> sigma = np.log([[1.0, 0.9, 0.7], [0.8, 1.0, 0.6], [0.7, 0.6, 1.0]])
    >>> table = edge_table(Graph("abc", [("a", "b")]), sigma)
    >>> table.pairs.tolist(), np.exp(table.log_posteriors[1]).round(3).tolist()
    ([[0, 1], [1, 2], [0, 2]], [0.4, 0.4])
    """
    if pair_scores is None:
        unknown = np.full((graph.n_edges, 2), np.nan)
        return EdgeTable(graph.names, graph.pairs, graph.n_edges, unknown)
    edges, logs = _by_posterior(graph.pairs, both_ways(graph.pairs, pair_scores))
    others = _best_absent(graph, pair_scores, near_misses, [graph.index(name) for name in constant])
    others, other_logs = _by_posterior(others, log_one_minus_exp(both_ways(others, pair_scores)))
    pairs, every = np.concatenate([edges, others]), np.concatenate([logs, other_logs])
    return EdgeTable(graph.names, pairs, graph.n_edges, every)


def listed_edges(
    graph: Graph, of_edges: Floats, absent: Ints, of_absent: Floats, constant: Sequence[str] = ()
) -> EdgeTable:
    """Return the table of edges of a network with too many pairs to look at all of them.

    Parameters
    ----------
    graph : Graph
        The network.
    of_edges : ndarray of shape (edges, 2)
        σ_xy and σ_yx of ``graph.pairs``.
    absent : ndarray of shape (m, 2)
        Pairs without an edge.
    of_absent : ndarray of shape (m, 2)
        σ_xy and σ_yx of these.
    constant : sequence of str
        Variables about which nothing is known: they are close to nobody.

    Examples
    --------
    >>> absent, sigma = np.array([[0, 2]]), np.log([[0.5, 0.25]])
    >>> table = listed_edges(Graph("abc", [("a", "b")]), np.log([[0.9, 0.8]]), absent, sigma)
    >>> np.exp(table.log_posteriors).round(3).tolist()
    [[0.9, 0.8], [0.5, 0.75]]
    """
    known = ~np.isin(absent, [graph.index(name) for name in constant]).any(axis=1)
    edges, logs = _by_posterior(graph.pairs, of_edges)
    others, other_logs = _by_posterior(absent[known], log_one_minus_exp(of_absent[known]))
    pairs, every = np.concatenate([edges, others]), np.concatenate([logs, other_logs])
    return EdgeTable(graph.names, pairs, graph.n_edges, every)


def finding(
    n_variables: int, n_edges: int, n_uncertain: int = 0, n_undecided: int = 0, n_against: int | None = None
) -> str:
    """Return what was found in one sentence: every pair is an edge, has none, or is undecided.

    ``n_against`` is the number of pairs with strong evidence against an edge; None if it is not known.

    Examples
    --------
    >>> finding(8, 8, 1, 3)
    '8 direct associations (1 undecided) among 8 variables; 17 pairs without one, 3 pairs undecided'
    >>> finding(3, 0, n_against=2)
    'No direct association among 3 variables; 3 pairs without one (strong evidence against 2 of them)'
    """
    n_none = n_variables * (n_variables - 1) // 2 - n_edges - n_undecided
    head = counted(n_edges, "direct association") if n_edges else "No direct association"
    uncertain = f" ({n_uncertain:,} undecided)" if n_uncertain else ""
    undecided = f", {counted(n_undecided, 'pair')} undecided" if n_undecided else ""
    against = ""
    if n_none and n_against is not None:
        these = "all of them" if n_against >= n_none > 1 else f"{n_against:,} of them" if n_none > 1 else "it"
        against = f" (strong evidence against {these})" if n_against else " (no strong evidence against any)"
    return (
        f"{head}{uncertain} among {counted(n_variables, 'variable')}; "
        f"{counted(n_none, 'pair')} without one{against}{undecided}"
    )


def both_ways(pairs: Ints, matrix: Floats) -> Floats:
    """Return the entries (i, j) and (j, i) of a matrix for every pair."""
    i, j = pairs[:, 0], pairs[:, 1]
    return np.stack([matrix[i, j], matrix[j, i]], axis=1)


def _by_posterior(pairs: Ints, logs: Floats) -> tuple[Ints, Floats]:
    """Return pairs and their log posteriors of an edge, most credible first."""
    order = np.argsort(-logs.sum(axis=1), kind="stable")
    return pairs[order], logs[order]


def _best_absent(graph: Graph, pair_scores: Floats, wanted: int, constant: Sequence[int]) -> Ints:
    """Return the ``wanted`` absent pairs with the highest posterior, in order, a band of rows at a time."""
    n, bar = graph.n_variables, -np.inf
    known = np.ones(n, bool)
    known[constant] = False
    at_once = max(1, PAIRS_AT_ONCE // max(n, 1))
    best, worth = np.empty((0, 2), np.int64), np.empty(0)
    for first in range(0, n if wanted else 0, at_once):
        last = min(first + at_once, n)
        absent = known[first:last, None] & known & (np.arange(n) > np.arange(first, last)[:, None])
        ends = np.searchsorted(graph.pairs[:, 0], (first, last))
        mine = graph.pairs[slice(*ends)]
        absent[mine[:, 0] - first, mine[:, 1]] = False
        here, there = pair_scores[first:last], pair_scores[:, first:last].T
        # log(1 - e^σ) is at most log(-σ): most pairs need no exact value
        absent &= np.minimum(-here, 1.0) * np.minimum(-there, 1.0) >= np.exp(bar) * (1 - 1e-12)
        i, j = absent.nonzero()
        value = log_one_minus_exp(here[i, j]) + log_one_minus_exp(there[i, j])
        above = value > bar
        found = np.stack([first + i, j], axis=1)[above]
        best, worth = np.concatenate([best, found]), np.concatenate([worth, value[above]])
        if len(worth) > (wanted if last == n else 2 * wanted):
            kept = np.sort(np.argpartition(-worth, wanted - 1)[:wanted])
            best, worth = best[kept], worth[kept]
            bar = float(worth.min())
    return best
