"""Posterior over rivals: how certain is an edge, if other variables could stand in for it (SPEC section 7)?

An edge that is strong only because it stands in for another should not look certain. With S = t, prior odds
included, and B the blanket of x, the log odds of the edge (x, y) seen from x are

    S_y|B∖y + log(1 + Σ_z e^{S_z|B}) - log(1 + Σ_z e^{S_z|B∖y}),  z over the variables outside B,

which averages over all graphs that are one swap away. What people see is the mean of both ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.local_score import in_batches


class Rivals(NamedTuple):
    """What is known about the edges of a graph, in the order of its pairs."""

    log_odds: Floats  #: (edges, 2): of each edge, seen from either end
    rival: Ints  #: (edges, 2): who would come in its place at either end; -1 if nobody
    share: Floats  #: (edges, 2): with which probability, if the edge were not there


class WithoutEdge(NamedTuple):
    """What x would say if its neighbour y were gone."""

    others: float  #: log(1 + Σ_z e^{S_z}) over the variables outside its blanket, without the rival
    rival: int  #: the strongest of them, -1 if there is none
    evidence: float  #: S of the rival

    @property
    def log_sum(self) -> float:
        """log(1 + Σ_z e^{S_z}) over all of them."""
        return float(np.logaddexp(self.others, self.evidence))

    @property
    def share(self) -> float:
        """e^S of the rival, as a share of that sum."""
        return float(np.exp(self.evidence - self.log_sum))


SURE = 20.0  #: log odds beyond which nobody asks for better ones
NOTABLE = 0.01  #: share of a rival that is looked at more closely

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
    odds = seen_from_ends(adjacent, evidence, compared)
    doubtful = [ends for ends, log_odds in odds.items() if log_odds < SURE]
    evidence = refitted(score, adjacent, evidence, doubtful)
    compared = {**compared, **look_closer(score, adjacent, {ends: compared[ends] for ends in doubtful})}
    odds = seen_from_ends(adjacent, evidence, compared)
    pairs = [(x, y) for x, y in np.argwhere(np.triu(adjacent)).tolist()]
    found = [[compared[x, y], compared[y, x]] for x, y in pairs]
    who = np.array([[each.rival for each in both] for both in found], np.int64).reshape(-1, 2)
    share = np.array([[each.share for each in both] for both in found]).reshape(-1, 2)
    logs = np.array([[odds[x, y], odds[y, x]] for x, y in pairs]).reshape(-1, 2)
    return Rivals(logs, who, share)


def seen_from_ends(adjacent: Bools, evidence: Floats, compared: Compared) -> dict[tuple[int, int], float]:
    """Return the log odds of every edge, seen from either end."""
    now = {x: log_sum(evidence[x][outside_of(~adjacent[x], x)]) for x in {x for x, _ in compared}}
    return {(x, y): float(evidence[x, y]) + now[x] - each.log_sum for (x, y), each in compared.items()}


def refitted(score: LocalScore, adjacent: Bools, evidence: Floats, ends: Sequence[tuple[int, int]]) -> Floats:
    """Return the evidence; of the members of blankets with doubtful ends without approximations."""
    out, xs = evidence.copy(), sorted({x for x, _ in ends})
    if xs:
        rows = in_batches(score, xs, [np.flatnonzero(adjacent[x]) for x in xs], refitted=True).evidence
        out[xs] = np.where(adjacent[xs], rows, out[xs])
    return out


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


def look_closer(score: LocalScore, adjacent: Bools, compared: Compared) -> Compared:
    """Judge every rival that counts as a member of the blanket that it would join, without approximations."""
    ends = [(x, y, found) for (x, y), found in compared.items() if found.share > NOTABLE]
    blankets = []
    for x, y, found in ends:
        swapped = adjacent[x].copy()
        swapped[y], swapped[found.rival] = False, True
        blankets.append(np.flatnonzero(swapped))
    closer = dict(compared)
    for first in range(0, len(ends), max(score.n, 1)):
        some = ends[first : first + score.n]
        xs, theirs = [x for x, _, _ in some], blankets[first : first + score.n]
        rows = in_batches(score, xs, theirs, refitted=True).evidence
        for (x, y, found), row in zip(some, rows, strict=True):
            closer[x, y] = found._replace(evidence=float(row[found.rival]))
    return closer


def without_edge(row: Floats, not_adjacent: Bools, x: int) -> WithoutEdge:
    """Sum up what x says about those outside its blanket, in a row without one of its neighbours."""
    outside = np.flatnonzero(outside_of(not_adjacent, x))
    if not len(outside):
        return WithoutEdge(0.0, -1, -np.inf)
    logs = row[outside]
    best = int(np.argmax(logs))
    rival, logs[best] = float(logs[best]), -np.inf
    return WithoutEdge(log_sum(logs), int(outside[best]), rival)


def outside_of(not_adjacent: Bools, x: int) -> Bools:
    """Whether each variable is outside the blanket of x, and not x itself."""
    outside = not_adjacent.copy()
    outside[x] = False
    return outside


def log_sum(logs: Floats) -> float:
    """Return log(1 + Σ e^logs)."""
    top = max(float(logs.max(initial=0.0)), 0.0)
    return top + float(np.log(np.exp(-top) + np.exp(logs - top).sum()))
