"""Continuous variables: sparse Gaussian networks, beside scikit-learn's GraphicalLassoCV.

A random graph with as many edges as variables; entries of the precision matrix of 0.25 to 0.45, half of them
below zero, and as much on the diagonal as makes it positive definite.
"""

import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import GraphicalLassoCV

from common import report, verdict
from ibmap.criteria.gaussian import GaussianScore
from ibmap.data import Table, load
from ibmap.graph import Graph
from ibmap.independence.gaussian import FisherZTest, GaussianTest
from ibmap.learners import evidence_map, gsmn, ibmap_hc
from ibmap.metrics import compare_edges, hamming

Learn = Callable[[Table], Graph]


def sparse_gaussian(n: int, n_rows: int, seed: int) -> tuple[Table, Graph]:
    """Rows and the true graph: n edges, one per variable on average two neighbours."""
    rng = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(n))
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.choice(len(pairs), n, replace=False)]
    precision = np.eye(n)
    effects = rng.uniform(0.25, 0.45, n) * rng.choice([-1, 1], n)
    precision[pairs[:, 0], pairs[:, 1]] = precision[pairs[:, 1], pairs[:, 0]] = effects
    lowest = np.linalg.eigvalsh(precision)[0]
    precision += max(0.0, 0.1 - lowest) * np.eye(n)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    rows: NDArray[np.float64] = rng.normal(size=(n_rows, n)) @ root.T
    return load(dict(zip(names, rows.T, strict=True)), continuous="all"), Graph.from_pairs(pairs, names)


def graphical_lasso(data: Table) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = GraphicalLassoCV().fit((data.values / data.values.std(axis=1, keepdims=True)).T)
    found = np.abs(fitted.precision_) > 1e-8
    return Graph.from_pairs(np.argwhere(np.triu(found, 1)), data.names)


LEARNERS: dict[str, Learn] = {
    "evidence-map": lambda data: evidence_map(data).graph,
    "ibmap-hc, gaussian test": lambda data: ibmap_hc(data, GaussianTest()).graph,
    "rounds, gaussian score": lambda data: ibmap_hc(data, score=GaussianScore(), search="rounds").graph,
    "gsmn, fisher-z": lambda data: gsmn(data, FisherZTest(alpha=0.01)).graph,
    "GraphicalLassoCV": graphical_lasso,
}


def f_over_edges(found: Graph, truth: Graph) -> float:
    right, false, missing = (len(edges) for edges in compare_edges(found, truth))
    return 2 * right / max(2 * right + false + missing, 1)


def one(n: int, n_rows: int, learner: str, seeds: int = 2) -> dict[str, object]:
    """Means over a few worlds."""
    errors, scores, seconds = [], [], []
    for seed in range(seeds):
        data, truth = sparse_gaussian(n, n_rows, seed)
        began = perf_counter()
        found = LEARNERS[learner](data)
        seconds.append(perf_counter() - began)
        errors.append(hamming(found, truth))
        scores.append(f_over_edges(found, truth))
    row = {"n": n, "D": n_rows, "learner": learner, "hamming": float(np.mean(errors))}
    return {
        **row,
        "F": round(float(np.mean(scores)), 3),
        "seconds": round(float(np.mean(seconds)), 3),
        "bar": "",
    }


def main() -> None:
    for learn in list(LEARNERS.values())[:4]:
        learn(sparse_gaussian(10, 100, 9)[0])  # compiles
    rows = [one(n, d, learner) for n in (50, 200) for d in (100, 1000) for learner in LEARNERS]
    report("gaussian", rows)
    if "fast" not in sys.argv:
        ours, theirs = (
            one(500, 1000, learner, 1) for learner in ("ibmap-hc, gaussian test", "GraphicalLassoCV")
        )
        ours["bar"] = verdict(float(str(theirs["seconds"])) / float(str(ours["seconds"])), 10, at_least=True)
        report("gaussian", [*rows, ours, theirs])


if __name__ == "__main__":
    main()
