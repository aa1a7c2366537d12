"""The methods of ``quality.py``: from a table to the edges that they find, and perhaps posteriors."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ibmap.data import Table
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information

Pairs = NDArray[np.int64]


class Found(NamedTuple):
    """Edges, and the posterior of every pair (rows of the upper triangle), if there is one."""

    pairs: Pairs
    posterior: NDArray[np.float64] | None = None


class Method(NamedTuple):
    """A method, whose it is, and the largest table that it is tried on."""

    name: str
    run: Callable[[Table], Found]
    most_variables: int = 500
    peer: bool = False
    needs: str = "sklearn"  #: a library

    @property
    def is_here(self) -> bool:
        """Whether it can run."""
        return find_spec(self.needs) is not None


def ours(learn: Callable[..., Any], **options: Any) -> Callable[[Table], Found]:
    """Run one of our learners."""

    def run(data: Table) -> Found:
        learned = learn(data, **options)
        sigma = learned.pair_scores
        if sigma is None:
            return Found(learned.graph.pairs)
        mean = (sigma + sigma.T) / 2
        edge = np.where(learned.graph.adjacency, np.exp(mean), -np.expm1(mean))
        return Found(learned.graph.pairs, edge[np.triu_indices(len(edge), 1)])

    return run


def methods() -> list[Method]:
    """All methods, with peers that are not installed: those have been measured elsewhere."""
    found = [
        Method("empty graph", lambda data: Found(np.empty((0, 2), np.int64))),
        Method("evidence-map", ours(evidence_map)),
        Method("pairwise", ours(evidence_map, score="pairwise")),
        Method("saturated", ours(evidence_map, score="saturated")),
        Method("ibmap-hc", ours(ibmap_hc)),
        Method("ibmap-hc, patience 20", ours(ibmap_hc, patience=20), 200),
        Method("gsmn", ours(gsmn)),
        Method("hhc-mn", ours(hhc_mn), 200),
        Method("mi", ours(mutual_information)),
        Method("dag-hc BIC", ours(dag_hc)),
        Method("dag-hc BDeu, shaken", ours(dag_hc, score="bdeu", expected_neighbours=4.0, shakes=1), 200),
        Method("logistic L1, EBIC", _logistic, 100, peer=True),
    ]
    return found + _of_pybnesian() + _of_pyagrum()


def moral(n: int, parents: list[list[int]]) -> Pairs:
    """The moral graph of a directed one."""
    adjacent = np.zeros((n, n), bool)
    for child, mine in enumerate(parents):
        for i, j in [*((child, p) for p in mine), *combinations(mine, 2)]:
            adjacent[i, j] = adjacent[j, i] = True
    return np.argwhere(np.triu(adjacent))


def _frame(data: Table) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The table without constant columns, at which peers stop, and where its columns stood."""
    kept = np.flatnonzero([len(np.unique(row)) > 1 for row in data.codes])
    frame = pd.DataFrame({f"x{i}": data.codes[i].astype(str) for i in kept})
    return frame.astype("category"), kept


def _of_pybnesian() -> list[Method]:
    def tested(name: str, data: Table) -> Found:
        import pybnesian

        frame, _ = _frame(data)
        graph = getattr(pybnesian, name)().estimate(pybnesian.ChiSquare(frame), alpha=0.01)
        edges = {tuple(sorted((int(a[1:]), int(b[1:])))) for a, b in [*graph.arcs(), *graph.edges()]}
        return Found(np.array(sorted(edges), np.int64).reshape(-1, 2))

    def climb(data: Table) -> Found:
        import pybnesian

        frame, _ = _frame(data)
        start = pybnesian.DiscreteBN(list(frame.columns))
        search = pybnesian.GreedyHillClimbing()
        model = search.estimate(pybnesian.ArcOperatorSet(), pybnesian.BIC(frame), start)
        parents: list[list[int]] = [[] for _ in range(data.n_variables)]
        for source, target in model.arcs():
            parents[int(target[1:])].append(int(source[1:]))
        return Found(moral(data.n_variables, parents))

    return [
        Method("pybnesian PC .01", partial(tested, "PC"), peer=True, needs="pybnesian"),
        Method("pybnesian MMPC .01", partial(tested, "MMPC"), peer=True, needs="pybnesian"),
        Method("pybnesian HC BIC, moral", climb, 200, peer=True, needs="pybnesian"),
    ]


def _of_pyagrum() -> list[Method]:
    def learn(choose: str, data: Table) -> Found:
        import pyagrum

        frame, _ = _frame(data)
        if frame.shape[1] < 2:
            return Found(np.empty((0, 2), np.int64))
        learner = pyagrum.BNLearner(frame.astype(str))
        names = [int(column[1:]) for column in frame.columns]
        if choose == "greedy":
            learner.useGreedyHillClimbing()
            learner.useScoreBIC()
            parents: list[list[int]] = [[] for _ in range(data.n_variables)]
            for a, b in learner.learnDAG().arcs():
                parents[names[b]].append(names[a])
            return Found(moral(data.n_variables, parents))
        if choose == "PC":
            learner.usePC()
            learner.useG2Test()
            learner.setPCAlpha(0.01)
        else:
            learner.useMIIC()
        graph = learner.learnPDAG()
        pairs = {tuple(sorted((names[a], names[b]))) for a, b in [*graph.arcs(), *graph.edges()]}
        return Found(np.array(sorted(pairs), np.int64).reshape(-1, 2))

    return [
        Method("pyAgrum PC G2 .01", partial(learn, "PC"), 100, peer=True, needs="pyagrum"),
        Method("pyAgrum MIIC", partial(learn, "MIIC"), 100, peer=True, needs="pyagrum"),
        Method("pyAgrum greedy BIC, moral", partial(learn, "greedy"), 100, peer=True, needs="pyagrum"),
    ]


def _logistic(data: Table) -> Found:
    """Nodewise L1 logistic regression, the penalty by EBIC (γ = ¼), an edge if both ends choose it."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    n, rows = data.n_variables, data.n_rows
    columns, owner = [], []
    for v, (codes, levels) in enumerate(zip(data.codes, data.levels, strict=True)):
        for level in range(1, len(levels)):
            columns.append((codes == level).astype(float))
            owner.append(v)
    design, owners = np.array(columns).T, np.array(owner)
    chosen = np.zeros((n, n), bool)
    for v in range(n):
        y = data.codes[v]
        if len(np.unique(y)) < 2:
            continue
        others, best = np.flatnonzero(owners != v), np.inf
        for strength in np.geomspace(0.003, 0.3, 10):
            model = OneVsRestClassifier(
                LogisticRegression(
                    l1_ratio=1.0, solver="liblinear", C=1 / (strength * rows), max_iter=200, tol=1e-3
                )
            )
            model.fit(design[:, others], y)
            weights = np.concatenate([one.coef_ for one in model.estimators_])
            used = np.unique(owners[others[np.abs(weights).max(axis=0) > 1e-6]])
            chances = model.predict_proba(design[:, others])
            fit = np.log(chances[np.arange(rows), np.searchsorted(model.classes_, y)]).sum()
            ebic = -2 * fit + len(used) * (np.log(rows) + 0.5 * np.log(max(n - 1, 1)))
            if ebic < best:
                best = ebic
                chosen[v] = False
                chosen[v, used] = True
    return Found(np.argwhere(np.triu(chosen & chosen.T)))
