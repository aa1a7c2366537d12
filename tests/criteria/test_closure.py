"""The Markov blanket closure, and a row of its posteriors, against the slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import BayesianTest, Graph
from ibmap.criteria.closure import markov_blanket_closure
from ibmap.criteria.ib import BoundIBScore
from ibmap.engines import MemoryEngine
from ibmap.engines.rows import credibility
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of
from tests.reference import closure as twin
from tests.reference.score import pair_scores
from tests.reference.tables import Codes, categorical_tables
from tests.rows import whole


def random_graph(n: int, seed: int, density: float = 0.4) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return upper | upper.T


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
def test_the_closure_is_one_assertion_for_each_ordered_pair(n: int, density: float) -> None:
    adjacency = random_graph(n, seed=n, density=density)
    graph = Graph.from_adjacency(adjacency)
    ours = [
        (graph.index(x), graph.index(y), tuple(map(graph.index, z)), dependent)
        for x, y, z, dependent in markov_blanket_closure(graph)
    ]
    assert ours == [tuple(assertion) for assertion in twin.markov_blanket_closure(adjacency)]
    assert len(ours) == n * (n - 1)


@settings(max_examples=30)
@given(table=categorical_tables(max_columns=7, missing=True), seed=st.integers(0, 99))
def test_rows_of_the_closure_agree_with_the_twin(table: Codes, seed: int) -> None:
    codes, cards = table
    adjacency = random_graph(len(cards), seed)
    expected = pair_scores(codes, cards, adjacency)
    for engine in (MemoryEngine, HiddenEngine, PartitionedEngine):
        score = BoundIBScore(BayesianTest().bind(engine(data_of(codes, cards))), len(cards))
        blankets = [np.flatnonzero(row) for row in adjacency]
        rows = whole(score, range(len(cards)), blankets)
        for x, blanket in enumerate(blankets):
            (sigma,) = credibility(rows.evidence[x : x + 1], [x], [blanket])
            assert sigma == pytest.approx(expected[x], rel=1e-9, abs=1e-300)
            assert rows.values[x] == pytest.approx(expected[x].sum(), rel=1e-9, abs=1e-300)
            assert score.value(x, blanket) == pytest.approx(expected[x].sum(), rel=1e-9, abs=1e-300)
