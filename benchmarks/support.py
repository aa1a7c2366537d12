"""How far can the support of an edge be trusted? Bootstrap and subsamples against a known truth.

For every kind of world: the area under the ROC curve (does a true edge have more support than a false one?)
and, among the pairs with a support of 0.4 to 0.6, the share of true edges; the posterior stands beside them.
``edges`` is the mean number of edges of a replicate, as a multiple of those of the whole table; ``brier`` the
mean squared distance of weight and truth, ``errors`` the errors of the network of all pairs above one half.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from common import report
from ibmap.data import load
from ibmap.learners import Learned, evidence_map, ibmap_hc
from ibmap.learners.bootstrap import bootstrap
from ibmap.synthetic import simulate_random

SHARES = (None, 0.5, 0.63, 0.8)
#: what learns, from how many networks of a kind, and how many replicates it gets
LEARNERS: dict[str, tuple[Callable[..., Learned], int, int]] = {
    "ibmap-hc": (partial(ibmap_hc, patience=5), 5, 100),
    "evidence-map": (evidence_map, 2, 25),
}
#: variables, taus; levels, rows: sparse worlds, and dense ones, whose slices are small in spite of many rows
KINDS = [
    *product([((30, 50), (2, 4))], (2, 4), (200, 600, 2000)),
    *product([((12,), (4, 6))], (2, 5), (20_000,)),
]

Ints = tuple[int, ...]
Floats = NDArray[np.float64]
Weighed = tuple[Floats, Floats, float]  #: weights of pairs, whether they are edges, edges of a replicate


def posteriors(learned: Learned) -> Floats:
    """The posterior of an edge, for every pair."""
    scores, joined = learned.pair_scores, learned.graph.adjacency
    if learned.learner == "evidence-map":
        mean = (scores + scores.T) / 2
        return np.where(joined, np.exp(mean), -np.expm1(mean))
    logs = np.where(joined, scores, np.log(-np.expm1(np.minimum(scores, -1e-300))))
    return np.exp((logs + logs.T) / 2)


def measured(learner: str, variables: Ints, taus: Ints, levels: int, n_rows: int) -> list[dict[str, object]]:
    """One row for each way to weigh edges, over all networks of this kind."""
    learn, n_seeds, n_replicates = LEARNERS[learner]
    found: dict[str, list[Weighed]] = defaultdict(list)
    for n, tau, seed in product(variables, taus, range(n_seeds)):
        world = simulate_random(n, tau, n_rows, levels=levels, random_state=seed)
        upper, data = np.triu_indices(n, 1), load(world.data)
        true = world.graph.adjacency[upper]
        for share in SHARES:
            drawn = bootstrap(data, learn, n_replicates=n_replicates, random_state=seed, subsample=share)
            support = np.zeros((n, n))
            support[tuple(drawn.pairs.T)] = drawn.hits / n_replicates
            edges = support.sum() / max(drawn.learned.graph.n_edges, 1)
            name = "bootstrap" if share is None else f"subsample {share}"
            found[name].append((support[upper], true, edges))
        found["posterior"].append((posteriors(drawn.learned)[upper], true, 1.0))
    about = {
        "learner": learner,
        "n": _listed(variables),
        "tau": _listed(taus),
        "levels": levels,
        "rows": n_rows,
    }
    return [{**about, "weight": name, **summary(rows)} for name, rows in found.items()]


def summary(rows: list[Weighed]) -> dict[str, object]:
    """Means over worlds, and the calibration over all of their pairs."""
    weights, true = (np.concatenate([row[k] for row in rows]) for k in (0, 1))
    unsure, sure = (weights >= 0.4) & (weights <= 0.6), weights >= 0.9
    return {
        "auc": round(float(np.mean([roc_auc_score(t, w) for w, t, _ in rows])), 3),
        "precision": round(float(np.mean([average_precision_score(t, w) for w, t, _ in rows])), 3),
        "brier": round(float(np.mean([((w - t) ** 2).mean() for w, t, _ in rows])), 4),
        "errors": round(float(np.mean([((w > 0.5) != t).sum() for w, t, _ in rows])), 1),
        "edges": round(float(np.mean([e for _, _, e in rows])), 2),
        "true_0.4_0.6": f"{true[unsure].mean() if unsure.any() else np.nan:.2f} of {unsure.sum()}",
        "true_0.9_1": f"{true[sure].mean() if sure.any() else np.nan:.2f} of {sure.sum()}",
    }


def _listed(numbers: Ints) -> str:
    return " ".join(map(str, numbers))


def main() -> None:
    rows = [
        row
        for learner in LEARNERS
        for some, levels, n_rows in KINDS
        for row in measured(learner, *some, levels, n_rows)
    ]
    report("support", rows)


if __name__ == "__main__":
    main()
