"""The test of tables of any columns: evidence of a pair from both ends, given any others."""

from typing import Any

import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph, accuracy
from ibmap.data import load
from ibmap.engines import MemoryEngine, Model, as_engine
from ibmap.errors import RequestError
from ibmap.independence.mixed import MixedTest
from ibmap.learners import gsmn
from ibmap.metrics import accuracies
from tests.engines.partitioned import HiddenEngine
from tests.learners.test_mixed import edges, people

MODEL = Model("mixed")


def engine_of(table: dict[str, Any]) -> Any:
    return as_engine(load(table, continuous="auto", missing="auto"))


def test_the_odds_are_what_both_ends_gain() -> None:
    """Of numbers, whose evidence is exact: s_x(Z ∪ {y}) - s_x(Z), where rows hold half of s_x."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 150))
    x[1] += 0.2 * x[0]
    x[2] += 0.5 * x[1]
    engine = engine_of({f"v{k}": row for k, row in enumerate(x)})
    bound = MixedTest().bind(engine)
    for a, b, given in [(0, 1, []), (0, 3, []), (1, 2, [0]), (0, 2, [1]), (0, 3, [1, 2])]:
        ends = [(a, b), (b, a)]
        with_it = [engine.rows(MODEL, [end], [sorted([*given, other])]).value[0] for end, other in ends]
        without = [engine.rows(MODEL, [end], [given]).value[0] for end, _ in ends]
        found = bound.fixed(a, np.array([b]), np.array(given, int))
        assert found.strength[0] == pytest.approx(sum(with_it) - sum(without), abs=0.06)
        assert bool(found.independent[0]) == (found.strength[0] <= 0)
        assert found.log_independent is not None
        assert found.log_dependent is not None
        total = np.exp(found.log_independent) + np.exp(found.log_dependent)
        assert total == pytest.approx(np.ones(1))


def test_the_three_shapes_of_question_agree() -> None:
    engine = engine_of(people())
    bound, names = MixedTest().bind(engine), list(engine.schema.names)
    x, members = names.index("weight"), np.array([names.index(one) for one in ("size", "sex", "diet")])
    together = bound.round_robin(x, members).strength
    for k, y in enumerate(members.tolist()):
        alone = bound.fixed(x, np.array([y]), np.delete(members, k)).strength
        assert alone[0] == pytest.approx(together[k], rel=1e-9)
        other_end = bound.fixed(y, np.array([x]), np.delete(members, k)).strength
        assert other_end[0] == pytest.approx(together[k], rel=1e-9)
    subset = bound.all_subsets(x, names.index("sex"), np.array([names.index("size"), names.index("age")]))
    assert subset is not None
    assert subset.tolist() == [names.index("size")]
    assert bound.all_subsets(x, names.index("diet"), np.array([names.index("age")])) is None
    assert not len(bound.round_robin(x, np.array([], int)).strength)


def test_learners_that_decide_take_it_with_any_table() -> None:
    rng = np.random.default_rng(2)
    table = {
        name: [None if gone else value for value, gone in zip(values, rng.random(600) < 0.02, strict=True)]
        for name, values in people().items()
    }
    found = gsmn(engine_of(table), MixedTest())
    assert {frozenset(("size", "weight")), frozenset(("weight", "diet"))} <= edges(found)


@pytest.mark.parametrize("holes", [0.0, 0.04])
def test_the_accuracy_of_a_table_of_both_kinds(holes: float) -> None:
    rng = np.random.default_rng(3)
    unseen = {
        name: [None if gone else value for value, gone in zip(values, rng.random(500) < holes, strict=True)]
        for name, values in people(500, seed=9).items()
    }
    graph = EvidenceMAP().fit(people()).graph_
    how: dict[str, Any] = {"queries": 8, "random_state": 0}
    right, empty = accuracies([graph, Graph(graph.names)], engine_of(unseen), **how)
    assert right > max(empty + 0.2, 0.8)
    assert accuracy(graph, engine_of(unseen), **how) == right


def test_engines_that_do_not_look_at_rows_are_refused() -> None:
    data = load({"a": [0, 1] * 9, "b": [1, 1, 0] * 6})
    assert MixedTest().bind(MemoryEngine(data)).fixed(0, np.array([1]), np.array([], int)).independent[0]
    with pytest.raises(RequestError, match="HiddenEngine has no access to single rows"):
        MixedTest().bind(HiddenEngine(data))
