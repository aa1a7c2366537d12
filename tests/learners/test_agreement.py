"""The fast search walks exactly where the slow twin walks: same flips, same scores, same network."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import BayesianTest, Graph, Learned
from ibmap.engines import MemoryEngine
from ibmap.learners import ibmap_hc
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of, with_wide_columns
from tests.independence.agreement import OPTIONS
from tests.reference import search as twin
from tests.reference.tables import Codes, categorical_tables, random_table


def assert_same_search(learned: Learned, expected: twin.Result) -> None:
    names = learned.graph.names
    ours = [(step.x, step.y, step.added) for step in learned.history]
    assert ours == [(names[a.pair[0]], names[a.pair[1]], a.added) for a in expected.history]
    assert [step.score for step in learned.history] == pytest.approx(
        [ascent.score for ascent in expected.history], rel=1e-9
    )
    assert [step.n for step in learned.history] == list(range(1, expected.n_ascents + 1))
    assert np.array_equal(learned.graph.adjacency, expected.adjacency)
    assert learned.n_iter == expected.n_ascents
    assert learned.score == pytest.approx(expected.score, rel=1e-9)
    assert learned.pair_scores == pytest.approx(expected.pair_scores, rel=1e-9, abs=1e-300)


@settings(max_examples=35)
@given(
    table=categorical_tables(max_columns=7, missing=True),
    patience=st.sampled_from([0, 0, 1, 5]),
    options=OPTIONS,
)
def test_same_walk_as_the_twin(table: Codes, patience: int, options: dict[str, Any]) -> None:
    codes, cards = table
    expected = twin.ibmap_hc(codes, cards, patience=patience, **options)
    data = data_of(codes, cards)
    for engine in (MemoryEngine, HiddenEngine):
        learned = ibmap_hc(data, BayesianTest(**options), patience=patience, engine=engine(data))
        assert_same_search(learned, expected)


@settings(max_examples=10)
@given(table=categorical_tables(max_columns=4, max_levels=4, missing=True))
def test_same_walk_where_the_rows_are_in_several_places(table: Codes) -> None:
    data = data_of(*table)
    assert_same_search(ibmap_hc(data, engine=PartitionedEngine(data, 3)), twin.ibmap_hc(*table))


@settings(max_examples=40)
@given(
    table=categorical_tables(max_columns=7, max_levels=4),
    seed=st.integers(0, 999),
    patience=st.sampled_from([0, 2]),
    per_pair=st.booleans(),
)
def test_same_walk_from_any_start_within_any_bounds(
    table: Codes, seed: int, patience: int, per_pair: bool
) -> None:
    codes, cards = table
    n, rng = len(cards), np.random.default_rng(seed)
    fate = {pair: int(rng.integers(8)) for pair in combinations(range(n), 2)}
    required = [pair[::-1] for pair in fate if fate[pair] == 0]
    forbidden = [pair for pair in fate if fate[pair] == 1]
    start = np.zeros((n, n), bool)
    for x, y in (pair for pair in fate if fate[pair] in (2, 3)):
        start[x, y] = start[y, x] = True
    upper = np.triu(rng.uniform(0.05, 0.95, (n, n)), 1)
    prior: Any = upper + upper.T + np.eye(n) / 2 if per_pair else 0.5
    expected = twin.ibmap_hc(
        codes, cards, patience=patience, start=start, required=required, forbidden=forbidden, prior=prior
    )
    data = data_of(codes, cards)
    learned = ibmap_hc(
        data,
        BayesianTest(prior=prior),
        patience=patience,
        start=Graph.from_adjacency(start, data.names),
        required=[(data.names[x], data.names[y]) for x, y in required],
        forbidden=[(data.names[x], data.names[y]) for x, y in forbidden],
    )
    assert_same_search(learned, expected)


@pytest.mark.parametrize(
    "codes",
    [
        np.zeros((4, 1), int),  # one row
        np.arange(4).reshape(4, 1) % 2,
        np.zeros((3, 50), int),  # constant columns
        np.tile(np.arange(60) % 3, (5, 1)),  # duplicates: every pair ties
        np.vstack([np.arange(60) % 3, np.zeros(60, int), np.arange(60) % 3, np.arange(60) // 30]),
        np.full((3, 4), -1),  # nothing but missing values
        np.array([[0, 1, 0, 1]]),  # a single variable
        np.array([np.arange(40), np.arange(40), np.arange(40) % 2, np.arange(40) % 2]),  # identifiers
    ],
    ids=[
        "one row",
        "one row, two levels",
        "constant",
        "duplicates",
        "mixed",
        "missing",
        "single",
        "identifiers",
    ],
)
@pytest.mark.parametrize("patience", [0, 3])
def test_degenerate_tables(codes: np.ndarray, patience: int) -> None:
    cards = [max(2, int(column.max()) + 1) for column in codes]
    for levels in (cards, [max(1, int(column.max()) + 1) for column in codes]):
        expected = twin.ibmap_hc(codes, levels, patience=patience)
        assert_same_search(ibmap_hc(data_of(codes, levels), patience=patience), expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_table_of_sixteen_variables(n_jobs: int) -> None:
    codes, cards = random_table(600, 16, 4, 0.0, seed=9)
    assert_same_search(ibmap_hc(data_of(codes, cards), n_jobs=n_jobs), twin.ibmap_hc(codes, cards))


@pytest.mark.parametrize("prior_counts", ["ones", "consistent", "bdeu"])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_columns_of_few_and_of_many_levels_side_by_side(prior_counts: str, missing: float) -> None:
    codes, cards = with_wide_columns(random_table(300, 5, 4, missing, seed=3), 33, 200)
    learned = ibmap_hc(data_of(codes, cards), BayesianTest(prior_counts=prior_counts), patience=1)
    assert_same_search(learned, twin.ibmap_hc(codes, cards, patience=1, prior_counts=prior_counts))


@pytest.mark.slow
@settings(max_examples=400)
@given(
    table=categorical_tables(max_rows=1000, max_columns=9, missing=True),
    patience=st.integers(0, 6),
    options=OPTIONS,
)
def test_many_more_walks(table: Codes, patience: int, options: dict[str, Any]) -> None:
    codes, cards = table
    learned = ibmap_hc(data_of(codes, cards), BayesianTest(**options), patience=patience)
    assert_same_search(learned, twin.ibmap_hc(codes, cards, patience=patience, **options))
