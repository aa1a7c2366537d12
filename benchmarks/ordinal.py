"""Items of questionnaires: which edges and signs are found, if answers have an order, and if they have none.

Five factors, independent of each other, with five items each; answers from 1 to 5, two items of every factor
reversed. Items of one factor are adjacent, all 10 pairs of them, and no others are. A sign is right if it is
that of the product of the two loadings. ``--test bayesian`` and ``chi-square`` take answers as categories.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from common import report
from ibmap import ChiSquareTest, OrdinalEvidenceTest, OrdinalTest
from ibmap.data import Table, load
from ibmap.learners import Learned, evidence_map, gsmn, ibmap_hc

FACTORS, ITEMS, CUTS = 5, 5, (-1.8, -0.7, 0.4, 1.5)
SIZES, SAMPLES = (250, 500, 1000, 2500), 5
LOADINGS = np.array([1.2, 1.0, -1.0, 0.8, -0.8])


def questionnaire(n_rows: int, seed: int) -> dict[str, np.ndarray]:
    """Answers: a factor times a loading, and as much noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows, FACTORS))
    return {
        f"{'OCEAN'[f]}{i + 1}": 1 + np.digitize(factors[:, f] * LOADINGS[i] + rng.normal(size=n_rows), CUTS)
        for f in range(FACTORS)
        for i in range(ITEMS)
    }


def judged(learned: Learned) -> dict[str, object]:
    """Edges within factors and between them, and the share of right signs among the first."""
    within = [(k, x, y) for k, (x, y) in enumerate(learned.graph.edges) if x[0] == y[0]]
    signs = np.zeros(learned.graph.n_edges) if learned.effects is None else learned.effects.sign
    true = [np.sign(LOADINGS[int(x[1]) - 1] * LOADINGS[int(y[1]) - 1]) for _, x, y in within]
    right = sum(signs[k] == sign for (k, _, _), sign in zip(within, true, strict=True))
    return {
        "within": len(within),
        "between": learned.graph.n_edges - len(within),
        "signs": right if signs.any() else "none",
    }


def learners(nominal: Table, ordinal: Table) -> dict[str, Callable[[], Learned]]:
    """Who learns, from answers with and without an order."""
    ranks = load(nominal_table(nominal), continuous="all", numbers="ranks")
    return {
        "evidence-map, categories": lambda: evidence_map(nominal).with_effects(nominal),
        "evidence-map, ordinal": lambda: evidence_map(ordinal).with_effects(ordinal),
        "evidence-map, ranks": lambda: evidence_map(ranks).with_effects(ranks),
        "ibmap-hc, bayesian": lambda: ibmap_hc(nominal, patience=20).with_effects(nominal),
        "ibmap-hc, ordinal-evidence": lambda: ibmap_hc(
            ordinal, OrdinalEvidenceTest(), patience=20
        ).with_effects(ordinal),
        "gsmn, chi-square": lambda: gsmn(nominal, ChiSquareTest(alpha=0.01)).with_effects(nominal),
        "gsmn, ordinal": lambda: gsmn(ordinal, OrdinalTest(alpha=0.01)).with_effects(ordinal),
    }


def nominal_table(data: Table) -> dict[str, np.ndarray]:
    """The answers as numbers."""
    return {name: data.codes[i] + 1 for i, name in enumerate(data.names)}


def main() -> None:
    rows = []
    for n_rows in SIZES:
        found: dict[str, list[dict[str, object]]] = {}
        seconds: dict[str, list[float]] = {}
        for seed in range(SAMPLES):
            table = questionnaire(n_rows, seed)
            for name, learn in learners(load(table), load(table, ordinal=list(table))).items():
                learn() if seed == 0 and n_rows == SIZES[0] else None  # compiled
                began = perf_counter()
                found.setdefault(name, []).append(judged(learn()))
                seconds.setdefault(name, []).append(perf_counter() - began)
        for name, samples in found.items():
            mean = {key: _mean([one[key] for one in samples]) for key in samples[0]}
            rows.append({"rows": n_rows, "how": name, **mean, "seconds": round(np.median(seconds[name]), 2)})
    report("ordinal", rows)


def _mean(values: list[object]) -> object:
    return values[0] if isinstance(values[0], str) else round(float(np.mean(values)), 1)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
