"""The BJP score: each pair once, as the end with the smaller blanket asserts it; and what climbs by it."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import BayesianTest, simulate_random
from ibmap.criteria import BJPScore
from ibmap.data import load
from ibmap.learners import Checkpoint, explain, ibmap_hc
from tests.engines.partitioned import ENGINES, data_of
from tests.reference.score import pair_scores
from tests.reference.tables import Codes, categorical_tables


def twin(codes: Any, cards: Any, adjacency: Any) -> float:
    """Pair by pair, by the book."""
    sigma, sizes, total = pair_scores(codes, cards, adjacency), adjacency.sum(axis=1), 0.0
    for x, y in combinations(range(len(cards)), 2):
        total += sigma[x, y] if (sizes[x], x) < (sizes[y], y) else sigma[y, x]
    return total


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=15)
@given(table=categorical_tables(max_columns=6, missing=True), seed=st.integers(0, 99))
def test_the_score_of_a_graph_is_that_of_the_twin(engine: Any, table: Codes, seed: int) -> None:
    codes, cards = table
    n = len(cards)
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.4, 1)
    score = BJPScore().bind(engine(data_of(codes, cards)), BayesianTest())
    assert score.of_graph(upper | upper.T) == pytest.approx(twin(codes, cards, upper | upper.T), rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=10)
@given(table=categorical_tables(max_columns=6, missing=True))
def test_a_climb_keeps_the_score_of_its_graph(engine: Any, table: Codes) -> None:
    codes, cards = table
    steps: list[Any] = []
    learned = ibmap_hc(engine(data_of(codes, cards)), score="bjp", patience=5, callback=steps.append)
    assert learned.score == pytest.approx(twin(codes, cards, learned.graph.adjacency), rel=1e-9)
    graph = learned.graph
    for step in reversed(steps):  # back to no edges: every step gained what it said
        before = graph.flip(step.x, step.y)
        gain = twin(codes, cards, graph.adjacency) - twin(codes, cards, before.adjacency)
        assert step.gain == pytest.approx(gain, rel=1e-6, abs=1e-8)
        graph = before
    assert graph.n_edges == 0


def test_the_product_around_it(tmp_path: Any) -> None:
    world = simulate_random(12, 2, 600, random_state=3)
    data = load(world.data)
    whole = ibmap_hc(data, score="bjp", patience=3)
    told = explain(data, whole, *whole.graph.edges[0])
    assert told.gain_of_flip < 0
    path = tmp_path / "search.json"
    options: dict[str, Any] = {"score": "bjp", "patience": 3, "checkpoint": Checkpoint(path, every=0.0)}
    ibmap_hc(data, **options, callback=lambda step: step.n >= 4)
    assert ibmap_hc(data, **options).graph == whole.graph
