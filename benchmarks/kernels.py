"""Specialised routes against the general way to the same numbers: each must be worth its lines.

The general way is counted by bits too, but through tables as lists of cells, or through the steps of a
learner in Python.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from common import alternate, report, without_constants, world
from ibmap.criteria.ib import BoundIBScore
from ibmap.data import load
from ibmap.engines import MemoryEngine, Questions
from ibmap.engines.rows import no_lists
from ibmap.independence import BayesianTest
from ibmap.independence.bayesian import BoundBayesianTest, CompiledBayesianTest
from ibmap.learners.gsmn import blanket
from ibmap.learners.hhc_mn import parents_and_children

N, ROWS = 500, 1600


def pairs_of_work(engine: MemoryEngine) -> list[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Return (kernel, specialised, general) for each kernel."""
    fused, general = CompiledBayesianTest(BayesianTest(), engine), BoundBayesianTest(BayesianTest(), engine)
    score, n = BoundIBScore(fused, engine.schema.n_variables), engine.schema.n_variables
    sigma, ys = np.empty((n, n)), np.arange(6, n)
    few, many = np.arange(1, 6), np.arange(1, 16)
    rng = np.random.default_rng(0)
    xs, others = rng.integers(0, 40, 200), rng.integers(40, 80, 200)
    given, sizes = np.tile(np.arange(80, 180), (200, 1)), np.full(200, 100)
    asked = Questions.each(xs, others, given, sizes)

    def all_rows() -> None:
        score.rows(range(n), no_lists(n))

    return [
        (
            "bayes: x against 480 ys, 5 given",
            partial(fused.fixed, 0, ys, few),
            partial(general.fixed, 0, ys, few),
        ),
        ("bayes_pairs: all pairs", partial(score.fill_empty, sigma), all_rows),
        (
            "bayes: 15 members, each given the others",
            partial(fused.round_robin, 0, many),
            partial(general.round_robin, 0, many),
        ),
        (
            "row_keys: 200 questions, 100 given",
            partial(fused.answers, asked),
            partial(general.answers, asked),
        ),
        (
            "first_dependent, first_independent: the blankets of 50 variables",
            partial(visit, partial(blanket, fused, n=n)),
            partial(visit, partial(blanket, general, n=n)),
        ),
        (
            "first_independent: parents and children of 50 variables",
            partial(visit, partial(parents_and_children, fused, n=n, max_condition=None)),
            partial(visit, partial(parents_and_children, general, n=n, max_condition=None)),
        ),
    ]


def visit(find: Callable[[int], object]) -> None:
    """Find what belongs to each of 50 variables."""
    for x in range(50):
        find(x)


def main() -> None:
    engine = MemoryEngine(load(without_constants(world(N, ROWS))))
    rows: list[dict[str, object]] = []
    for name, special, general in pairs_of_work(engine):
        fast, slow = alternate([special, general], 9)
        rows.append(
            {
                "kernel": name,
                "specialised_ms": round(1e3 * fast, 3),
                "general_ms": round(1e3 * slow, 3),
                "ratio": round(slow / fast, 1),
            }
        )
    report("kernels", rows)


if __name__ == "__main__":
    main()
