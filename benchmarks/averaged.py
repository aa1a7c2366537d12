"""Do intervals of effects hold? Those of the learned network, and those averaged over networks."""

import numpy as np
from numpy.typing import NDArray

from common import report
from ibmap import Graph, Learned
from ibmap.data import Table
from ibmap.learners import evidence_map
from ibmap.synthetic import PairwiseModel, sample

WORLDS = ((10, 2.0, 1.0), (20, 3.0, 0.8), (20, 3.0, 1.5))  #: variables, neighbours, spread of log odds ratios
SIZES, SEEDS = (200, 500, 1600), range(30)


def coins(n: int, degree: float, spread: float, rows: int, seed: int) -> tuple[Table, NDArray[np.float64]]:
    """Coins with normal log odds ratios along random edges; the log odds ratio of every pair."""
    rng = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(n))
    graph = Graph.from_pairs(np.argwhere(np.triu(rng.random((n, n)) < degree / (n - 1), 1)), names)
    truth = np.zeros((n, n))
    truth[tuple(graph.pairs.T)] = rng.normal(0, spread, graph.n_edges)
    fields = rng.normal(0, 0.3, n) - (truth + truth.T).sum(axis=1) / 2
    codes = sample(PairwiseModel(graph, fields, truth[tuple(graph.pairs.T)]), rows, random_state=seed)
    return Table(np.ascontiguousarray(codes.T, np.int8), names, ((0, 1),) * n), truth


def measured(data: Table, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared errors and intervals that hold, of one network and of averages; edges, and pairs."""
    learned: Learned = evidence_map(data, view="undirected").with_effects(data)
    found, pairs = learned.effects, tuple(learned.graph.pairs.T)
    true, everything = truth[pairs], (truth**2).sum()
    errors = [
        everything - (true**2).sum() + np.nansum((mean - true) ** 2)
        for mean in (found.log_odds_ratio, found.averaged_log_odds_ratio)
    ]
    one = np.abs(found.log_odds_ratio - true) <= 1.96 * found.log_odds_ratio_se
    averaged = (true >= found.averaged_low) & (true <= found.averaged_high)
    n = len(truth)
    return np.array([*errors, one.sum(), averaged.sum(), len(true), n * (n - 1) / 2])


def main() -> None:
    rows: list[dict[str, object]] = []
    for n, degree, spread in WORLDS:
        for size in SIZES:
            sums = sum(measured(*coins(n, degree, spread, size, seed)) for seed in SEEDS)
            one, averaged, holds, holds_averaged, edges, pairs = np.asarray(sums).tolist()
            rows.append(
                {
                    "variables": n,
                    "spread": spread,
                    "rows": size,
                    "RMSE": round((one / pairs) ** 0.5, 4),
                    "RMSE averaged": round((averaged / pairs) ** 0.5, 4),
                    "edges": int(edges),
                    "held": round(holds / edges, 3),
                    "held averaged": round(holds_averaged / edges, 3),
                }
            )
    report("averaged", rows)


if __name__ == "__main__":
    main()
