"""Posterior over rivals: how certain is an edge, if other variables could stand in for it (SPEC section 7)?

An edge that is strong only because it stands in for another should not look certain. With S = t, prior odds
included, and B the blanket of x, the log odds of the edge (x, y) seen from x are

    S_y|B∖y + log(1 + Σ_z e^{S_z|B}) - log(1 + Σ_z e^{S_z|B∖y}),  z over the variables outside B,

which averages over all graphs that are one swap away. What people see is the mean of both ends.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.local_score import in_batches, refitted_members


class Rivals(NamedTuple):
    """What is known about the edges of a graph, in the order of its pairs."""

    log_odds: Floats  #: (edges, 2): of each edge, seen from either end
    rival: Ints  #: (edges, 2): who would come in its place at either end; -1 if nobody
    share: Floats  #: (edges, 2): with which probability, if the edge were not there


class WithoutEdge(NamedTuple):
    """What some x would say, if a neighbour y of each were gone."""

    x: Ints
    y: Ints
    others: Floats  #: log(1 + Σ_z e^{S_z}) over the variables outside the blanket of x, without the rival
    rival: Ints  #: the strongest of them, -1 if there is none
    evidence: Floats  #: S of the rival

    @property
    def log_sum(self) -> Floats:
        """log(1 + Σ_z e^{S_z}) over all of them."""
        return np.logaddexp(self.others, self.evidence)

    @property
    def share(self) -> Floats:
        """e^S of the rival, as a share of that sum."""
        return np.asarray(np.exp(self.evidence - self.log_sum))

    def of(self, which: Bools | Ints) -> "WithoutEdge":
        """Return some of them."""
        x, y, others, rival, evidence = self
        return WithoutEdge(x[which], y[which], others[which], rival[which], evidence[which])

    def and_more(self, more: Sequence["WithoutEdge"]) -> "WithoutEdge":
        """Return these and more, ordered by x and y."""
        every = WithoutEdge(*(np.concatenate(values) for values in zip(self, *more, strict=True)))
        return every.of(np.lexsort((every.y, every.x)))


NOBODY = WithoutEdge(*(np.empty(0, kind) for kind in (np.int64, np.int64, float, np.int64, float)))
SURE = 20.0  #: log odds beyond which nobody asks for better ones
NOTABLE = 0.01  #: share of a rival that is looked at more closely


class Compares(Protocol):
    """A search that has come to its end, with a graph and the evidence given it."""

    score: LocalScore

    def blankets(self, xs: Ints) -> list[Ints]:
        """Neighbours of some x."""
        ...

    def evidence_of(self, xs: Ints, ys: Ints) -> Floats:
        """Return t_xy of some edges."""
        ...

    def log_sums(self) -> Floats:
        """Return log(1 + Σ_z e^{S_z}) over the variables outside the blanket of every x."""
        ...

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place, in order."""
        ...


def rivals(running: Compares) -> Rivals:
    """Compare every edge of the graph of a search with the variables that could come in its place."""
    compared, now = running.without_edges(), running.log_sums()
    evidence = running.evidence_of(compared.x, compared.y)
    doubtful = evidence + now[compared.x] - compared.log_sum < SURE
    xs = np.unique(compared.x[doubtful])
    exact = refitted_members(running.score, xs.tolist(), running.blankets(xs))
    evidence[np.isin(compared.x, xs)] = np.concatenate([np.empty(0), *exact])
    compared = look_closer(running, compared, doubtful)
    odds = evidence + now[compared.x] - compared.log_sum
    order = np.lexsort((compared.x, compared.y))  # where the other end of each is
    first = compared.x < compared.y
    ends = np.column_stack([np.flatnonzero(first), order[first]])
    return Rivals(odds[ends], compared.rival[ends], compared.share[ends])


def blankets_of(members: Bools) -> list[Ints]:
    """Return who is in each row."""
    rows, who = np.nonzero(members)
    ends = np.searchsorted(rows, np.arange(len(members)), "right").tolist()
    return [who[begin:end] for begin, end in pairwise([0, *ends])]  # several times faster than np.split


def compare(score: LocalScore, adjacent: Bools, xs: Ints, ys: Ints) -> Iterator[tuple[WithoutEdge, Floats]]:
    """Yield what each x says without its neighbour y, and its rows; as many as there are variables."""
    for first in range(0, len(xs), max(score.n, 1)):
        x, y = xs[first : first + score.n], ys[first : first + score.n]
        members = adjacent[x]
        members[np.arange(len(x)), y] = False
        rows = in_batches(score, x.tolist(), blankets_of(members)).evidence
        yield summed_up(adjacent, x, y, rows), rows


def summed_up(adjacent: Bools, x: Ints, y: Ints, rows: Floats) -> WithoutEdge:
    """Sum up rows of some x, each without a neighbour y."""
    outside, each = outside_of(adjacent, x), np.arange(len(x))
    logs = np.where(outside, rows, -np.inf)
    rival = np.argmax(logs, axis=1)
    best = logs[each, rival]
    logs[each, rival] = -np.inf
    rival[~outside.any(axis=1)] = -1
    return WithoutEdge(x, y, log_sum(logs), rival, best)


def look_closer(running: Compares, compared: WithoutEdge, doubtful: Bools) -> WithoutEdge:
    """Judge rivals that count as members of the blankets that they would join, without approximations."""
    some, evidence = np.flatnonzero(doubtful & (compared.share > NOTABLE)), compared.evidence.copy()
    here = compared.of(some)
    ends = zip(running.blankets(here.x), here.y.tolist(), here.rival.tolist(), strict=True)
    swapped = [np.array(sorted({*blanket.tolist(), rival} - {y}), np.int64) for blanket, y, rival in ends]
    found = refitted_members(running.score, here.x.tolist(), swapped)
    for at, blanket, rival, ts in zip(some, swapped, here.rival, found, strict=True):
        evidence[at] = ts[np.searchsorted(blanket, rival)]
    return compared._replace(evidence=evidence)


def outside_of(adjacent: Bools, xs: Ints) -> Bools:
    """Return who is neither a neighbour of x nor x itself, a row for each of some x."""
    outside = ~adjacent[xs]
    outside[np.arange(len(xs)), xs] = False
    return outside


def log_sum_outside(adjacent: Bools, evidence: Floats) -> Floats:
    """Return log(1 + Σ_z e^{S_z}) over the variables outside the blanket of every x."""
    n = len(adjacent)
    parts = [np.arange(first, min(first + 256, n)) for first in range(0, n, 256)]
    sums = [log_sum(np.where(outside_of(adjacent, xs), evidence[xs], -np.inf)) for xs in parts]
    return np.concatenate([np.empty(0), *sums])


def log_sum(logs: Floats) -> Floats:
    """Return log(1 + Σ e^logs) of every row.

    Examples
    --------
    >>> log_sum(np.array([[0.0, -np.inf], [1000.0, 0.0]])).round(3).tolist()
    [0.693, 1000.0]
    """
    top = logs.max(axis=1, initial=0.0)
    return np.asarray(top + np.log(np.exp(-top) + np.exp(logs - top[:, None]).sum(axis=1)))
