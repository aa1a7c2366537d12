"""Edges and near misses: which pairs come closest to having an edge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.graph import Graph
from ibmap.independence.base import log_one_minus_exp

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def most_credible(graph: Graph, pair_scores: Floats, near_misses: int) -> dict[str, Any]:
    """List the edges, then up to ``near_misses`` other pairs; each by falling posterior of an edge."""
    edges = _by_posterior(graph.pairs, pair_scores, in_graph=True)
    others = _by_posterior(_best_absent(graph, pair_scores, near_misses), pair_scores, in_graph=False)
    pairs = np.concatenate([edges[0], others[0]])
    logs = np.concatenate([edges[1], others[1]])
    names = graph.names
    return {
        "x": [names[i] for i in pairs[:, 0].tolist()],
        "y": [names[j] for j in pairs[:, 1].tolist()],
        "posterior": np.exp(logs.mean(axis=1)),
        "log_posterior_xy": logs[:, 0].copy(),
        "log_posterior_yx": logs[:, 1].copy(),
        "in_graph": np.arange(len(pairs)) < graph.n_edges,
    }


def _by_posterior(pairs: Ints, pair_scores: Floats, *, in_graph: bool) -> tuple[Ints, Floats]:
    """Return pairs and log posteriors of an edge (both directions), most credible first."""
    i, j = pairs[:, 0], pairs[:, 1]
    logs = np.stack([pair_scores[i, j], pair_scores[j, i]], axis=1).reshape(-1, 2)
    if not in_graph:
        logs = log_one_minus_exp(logs)
    order = np.argsort(-logs.sum(axis=1), kind="stable")
    return pairs[order], logs[order]


def _best_absent(graph: Graph, pair_scores: Floats, wanted: int) -> Ints:
    """Return the ``wanted`` absent pairs with the highest posterior, a band of rows at a time."""
    n = graph.n_variables
    band = max(1, 4_000_000 // max(n, 1))
    best, worth = np.empty((0, 2), np.int64), np.empty(0)
    for first in range(0, n, band):
        rows = np.arange(first, min(first + band, n))
        i, j = np.nonzero(rows[:, None] < np.arange(n)[None, :])
        i += first
        value = log_one_minus_exp(pair_scores[i, j]) + log_one_minus_exp(pair_scores[j, i])
        edge = graph.pairs[(graph.pairs[:, 0] >= first) & (graph.pairs[:, 0] <= rows[-1])]
        present = np.isin(i * n + j, edge[:, 0] * n + edge[:, 1])
        best = np.concatenate([best, np.stack([i, j], axis=1)[~present]])
        worth = np.concatenate([worth, value[~present]])
        if len(worth) > wanted:
            kept = np.sort(np.argpartition(-worth, wanted - 1)[:wanted]) if wanted else np.empty(0, int)
            best, worth = best[kept], worth[kept]
    return best
