"""The general route against the fused one: what it costs that rows are elsewhere, or a test is one's own.

General: an engine that hides its bits answers with tables; own: a user's TableTest on the engine in memory.
"""

from functools import partial
from typing import Any

from common import alternate, report, verdict, without_constants, world
from ibmap.data import Table, load
from ibmap.engines import Engine, MemoryEngine, Questions, Tables
from ibmap.independence import Answers, BayesianTest, TableTest
from ibmap.independence.bayesian import BoundBayesianTest
from ibmap.learners import find_learner

BAR = 10.0


class HiddenEngine(Engine):
    """The engine in memory, which keeps its bits to itself."""

    def __init__(self, data: Table) -> None:
        self._inner, self.schema = MemoryEngine(data), data.schema

    def tables(self, questions: Questions) -> Tables:
        return self._inner.tables(questions)


class OwnTest(TableTest):
    """A test on tables as a user may write one: the Bayesian test, from cells alone."""

    name, has_posteriors = "own", True

    def __init__(self, data: Table) -> None:
        self._score = BoundBayesianTest(BayesianTest(), HiddenEngine(data))

    def evaluate(self, tables: Tables, cardinalities: Any) -> Answers:
        return self._score.evaluate(tables)


def main() -> None:
    rows: list[dict[str, object]] = []
    for name, n in (("ibmap-hc", 100), ("ibmap-hc", 500), ("gsmn", 100), ("hhc-mn", 100)):
        data = load(without_constants(world(n, 1000)))
        learn = find_learner(name)
        works = [
            partial(learn, data),
            partial(learn, HiddenEngine(data)),
            partial(learn, data, OwnTest(data)),
        ]
        fused, general, own = alternate(works, 7)
        rows.append(
            {
                "learner": name,
                "n": data.n_variables,
                "rows": data.n_rows,
                "fused_ms": round(1e3 * fused, 2),
                "general_ms": round(1e3 * general, 2),
                "ratio": round(general / fused, 1),
                "own_test_ms": round(1e3 * own, 2),
                "own_ratio": round(own / fused, 1),
                "bar": verdict(max(general, own) / fused, BAR, at_least=False),
            }
        )
    report("routes", rows)


if __name__ == "__main__":
    main()
