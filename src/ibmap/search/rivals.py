"""Posterior over rivals: how certain is an edge, if other variables could stand in for it (SPEC section 7)?

An edge that is strong only because it stands in for another should not look certain. With S = t, prior odds
included, and B the blanket of x, the log odds of the edge (x, y) seen from x are

    S_y|B∖y + log(1 + Σ_z e^{S_z|B}) - log(1 + Σ_z e^{S_z|B∖y}),  z over the variables outside B,

which averages over all graphs that are one swap away. Both ends are averaged.
"""

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


def rivals(score: LocalScore, pairs: Ints, evidence: Floats) -> Rivals:
    """Compare every edge of a graph with the variables that could come in its place.

    Parameters
    ----------
    score : LocalScore
        Bound, and additive.
    pairs : ndarray of shape (edges, 2)
        The graph.
    evidence : ndarray of shape (variables, variables)
        t_xy given that graph.
    """
    n = score.n
    adjacent: Bools = np.zeros((n, n), bool)
    adjacent[pairs[:, 0], pairs[:, 1]] = adjacent[pairs[:, 1], pairs[:, 0]] = True
    odds, who = np.empty((len(pairs), 2)), np.full((len(pairs), 2), -1)
    share = np.zeros((len(pairs), 2))
    for side in (0, 1):
        xs, ys = pairs[:, side], pairs[:, 1 - side]
        for first in range(0, len(xs), max(n, 1)):
            some = slice(first, first + n)
            blankets = [
                np.setdiff1d(np.flatnonzero(adjacent[x]), y) for x, y in zip(xs[some], ys[some], strict=True)
            ]
            rows = in_batches(score, xs[some].tolist(), blankets).evidence
            for k, (x, y, row) in enumerate(zip(xs[some], ys[some], rows, strict=True), first):
                outside = ~adjacent[x]
                outside[x] = False
                without = np.where(outside, row, -np.inf)
                odds[k, side] = evidence[x, y] + _log_sum(evidence[x][outside]) - _log_sum(row[outside])
                if outside.any():
                    who[k, side] = int(np.argmax(without))
                    share[k, side] = np.exp(without[who[k, side]] - _log_sum(row[outside]))
    return Rivals(odds.mean(axis=1), who, share)


def _log_sum(logs: Floats) -> float:
    """Return log(1 + Σ e^logs)."""
    top = max(float(logs.max(initial=0.0)), 0.0)
    return top + float(np.log(np.exp(-top) + np.exp(logs - top).sum()))
