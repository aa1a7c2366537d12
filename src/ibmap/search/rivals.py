"""Posterior over rivals: how certain is an edge, if other variables could stand in for it (SPEC section 7)?

An edge that is strong only because it stands in for another should not look certain. With S = t, prior odds
included, and B the blanket of x, the log odds of the edge (x, y) seen from x are

    S_y|B∖y + log(1 + Σ_z e^{S_z|B}) - log(1 + Σ_z e^{S_z|B∖y}),  z over the variables outside B,

which averages over all graphs that are one swap away. Both ends are averaged.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.local_score import in_batches


class Rivals(NamedTuple):
    """What is known about the edges of a graph, in the order of its pairs."""

    log_odds: Floats  #: (edges,): of each edge, both ends averaged
    rival: Ints  #: (edges, 2): who would come in its place at either end; -1 if nobody
    share: Floats  #: (edges, 2): with which probability, if the edge were not there


class WithoutEdge(NamedTuple):
    """What x would say if its neighbour y were gone."""

    log_sum: float  #: log(1 + Σ_z e^{S_z}) over the variables outside its blanket
    rival: int  #: the strongest of them, -1 if there is none
    share: float  #: e^S of the strongest, as a share of that sum


Compared = Mapping[tuple[int, int], WithoutEdge]


def rivals(score: LocalScore, adjacent: Bools, evidence: Floats, compared: Compared | None = None) -> Rivals:
    """Compare every edge of a graph with the variables that could come in its place.

    Parameters
    ----------
    score : LocalScore
        Bound, and additive.
    adjacent : ndarray of bool, shape (variables, variables)
        The graph.
    evidence : ndarray of shape (variables, variables)
        t_xy given that graph.
    compared : mapping or None
        What a search has found out already, by (x, y).
    """
    if compared is None:
        compared = {
            (x, y): without_edge(row, ~adjacent[x], x)
            for x, y, row in rows_without(score, adjacent, adjacent)
        }
    pairs = np.argwhere(np.triu(adjacent))
    now = {x: log_sum(evidence[x][outside_of(~adjacent[x], x)]) for x in np.unique(pairs).tolist()}
    found = [[compared[x, y], compared[y, x]] for x, y in pairs.tolist()]
    odds = [
        [evidence[x, y] + now[x] - one.log_sum, evidence[y, x] + now[y] - other.log_sum]
        for (x, y), (one, other) in zip(pairs.tolist(), found, strict=True)
    ]
    who = np.array([[each.rival for each in both] for both in found], np.int64).reshape(-1, 2)
    share = np.array([[each.share for each in both] for both in found]).reshape(-1, 2)
    return Rivals(np.array(odds).reshape(-1, 2).mean(axis=1), who, share)


def rows_without(score: LocalScore, adjacent: Bools, edges: Bools) -> Iterator[tuple[int, int, Floats]]:
    """Yield x, y and t of x given its other neighbours, for both ends of some edges."""
    xs, ys = np.nonzero(edges)
    for first in range(0, len(xs), max(score.n, 1)):  # as many rows at a time as the graph has
        some = slice(first, first + score.n)
        blankets = []
        for x, y in zip(xs[some], ys[some], strict=True):
            blanket = np.flatnonzero(adjacent[x])
            blankets.append(blanket[blanket != y])
        rows = in_batches(score, xs[some].tolist(), blankets).evidence
        yield from zip(xs[some].tolist(), ys[some].tolist(), rows, strict=True)


def without_edge(row: Floats, not_adjacent: Bools, x: int) -> WithoutEdge:
    """Sum up what x says about those outside its blanket, in a row without one of its neighbours."""
    outside = np.flatnonzero(outside_of(not_adjacent, x))
    if not len(outside):
        return WithoutEdge(0.0, -1, 0.0)
    total, best = log_sum(row[outside]), int(outside[np.argmax(row[outside])])
    return WithoutEdge(total, best, float(np.exp(row[best] - total)))


def outside_of(not_adjacent: Bools, x: int) -> Bools:
    """Whether each variable is outside the blanket of x, and not x itself."""
    outside = not_adjacent.copy()
    outside[x] = False
    return outside


def log_sum(logs: Floats) -> float:
    """Return log(1 + Σ e^logs)."""
    top = max(float(logs.max(initial=0.0)), 0.0)
    return top + float(np.log(np.exp(-top) + np.exp(logs - top).sum()))
