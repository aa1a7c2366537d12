"""GSMN, HHC-MN and MI choose exactly what their pseudo-code chooses, with as many tests, on any engine."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from ibmap import BayesianTest, Learned
from ibmap.engines import MemoryEngine
from ibmap.independence.information import information_matrix
from ibmap.learners import gsmn, hhc_mn, mutual_information
from ibmap.learners.mutual_information import neighbourhoods
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of, with_wide_columns
from tests.independence.agreement import OPTIONS
from tests.reference import local as twin
from tests.reference.score import bayesian_test
from tests.reference.tables import Codes, categorical_tables, random_table

SYMMETRY = st.sampled_from(["or", "and"])
TIES = st.sampled_from(["independent", "independent", "dependent"])
RIVALS = {"gsmn": (gsmn, twin.gsmn), "hhc-mn": (hhc_mn, twin.hhc_mn)}


def assert_same(learned: Learned, expected: twin.Choice, symmetry: str) -> None:
    chosen, n_tests = expected
    assert np.array_equal(learned.graph.adjacency, twin.adjacency(chosen, symmetry))
    assert learned.n_tests == n_tests
    assert learned.n_iter == len(chosen)
    assert learned.score is None
    assert learned.history == ()


@pytest.mark.parametrize("rival", RIVALS)
@settings(max_examples=40)
@given(
    table=categorical_tables(max_columns=6, max_levels=5, missing=True),
    symmetry=SYMMETRY,
    ties=TIES,
    options=OPTIONS,
)
def test_same_choice_as_the_twin(
    rival: str, table: Codes, symmetry: str, ties: str, options: dict[str, Any]
) -> None:
    fast, slow = RIVALS[rival]
    data = data_of(*table)
    expected = slow(bayesian_test(*table, **options), len(table[1]), ties=ties)
    for engine in (MemoryEngine, HiddenEngine):
        test = BayesianTest(ties=ties, **options)
        assert_same(fast(data, test, symmetry=symmetry, engine=engine(data)), expected, symmetry)


@pytest.mark.parametrize("rival", RIVALS)
@settings(max_examples=40)
@given(
    table=categorical_tables(max_columns=9, max_levels=2, max_rows=300),
    symmetry=SYMMETRY,
    ties=TIES,
    options=OPTIONS,
)
def test_same_choice_where_all_variables_are_binary(
    rival: str, table: Codes, symmetry: str, ties: str, options: dict[str, Any]
) -> None:
    fast, slow = RIVALS[rival]
    expected = slow(bayesian_test(*table, **options), len(table[1]), ties=ties)
    test = BayesianTest(ties=ties, **options)
    assert_same(fast(data_of(*table), test, symmetry=symmetry), expected, symmetry)


@pytest.mark.parametrize("rival", RIVALS)
@settings(max_examples=8)
@given(table=categorical_tables(max_columns=4, max_levels=3, missing=True, max_rows=60))
def test_same_choice_where_the_rows_are_in_several_places(rival: str, table: Codes) -> None:
    fast, slow = RIVALS[rival]
    data = data_of(*table)
    learned = fast(data, symmetry="or", engine=PartitionedEngine(data, 3))
    assert_same(learned, slow(bayesian_test(*table), len(table[1])), "or")


@settings(max_examples=25)
@given(table=categorical_tables(max_columns=7, max_levels=3), most=st.integers(0, 4))
def test_conditioning_sets_may_be_capped(table: Codes, most: int) -> None:
    expected = twin.hhc_mn(bayesian_test(*table), len(table[1]), most)
    learned = hhc_mn(data_of(*table), max_condition=most)
    assert_same(learned, expected, "and")
    assert learned.learner == f"hhc-mn(max_condition={most})"


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_columns_of_few_and_of_many_levels_side_by_side(rival: str, missing: float) -> None:
    fast, slow = RIVALS[rival]
    codes, cards = with_wide_columns(random_table(300, 5, 4, missing, seed=3), 33, 200)
    expected = slow(bayesian_test(codes, cards), len(cards))
    assert_same(fast(data_of(codes, cards), symmetry="or"), expected, "or")


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize(
    "codes",
    [
        np.zeros((4, 1), int),
        np.arange(4).reshape(4, 1) % 2,
        np.zeros((3, 50), int),
        np.tile(np.arange(60) % 2, (5, 1)),
        np.vstack([np.arange(60) % 3, np.zeros(60, int), np.arange(60) % 3, np.arange(60) // 30]),
        np.full((3, 4), -1),
        np.array([[0, 1, 0, 1]]),
        np.array([np.arange(40), np.arange(40), np.arange(40) % 2, np.arange(40) % 2]),
    ],
    ids=["one row", "one row, two levels", "constant", "duplicates", "mixed", "missing", "single", "ids"],
)
def test_degenerate_tables(rival: str, codes: np.ndarray) -> None:
    fast, slow = RIVALS[rival]
    for least in (1, 2):
        cards = [max(least, int(column.max()) + 1) for column in codes]
        expected = slow(bayesian_test(codes, cards), len(cards))
        assert_same(fast(data_of(codes, cards), symmetry="or"), expected, "or")


# Mutual information


@settings(max_examples=40)
@given(
    table=categorical_tables(max_columns=6, max_levels=5, missing=True, max_rows=80),
    factor=st.sampled_from([0.0, 0.5, 1.0, 1.5]),
    k=st.sampled_from([None, 0, 1, 2]),
    symmetry=SYMMETRY,
)
def test_mutual_information_chooses_as_the_twin(
    table: Codes, factor: float, k: int | None, symmetry: str
) -> None:
    data = data_of(*table)
    expected = twin.mutual_information(table[0], factor, k)
    options: dict[str, Any] = {"factor": factor, "max_neighbours": k, "symmetry": symmetry}
    for engine in (MemoryEngine, HiddenEngine):
        assert_same(mutual_information(data, **options, engine=engine(data)), expected, symmetry)


def test_mutual_information_is_that_of_scikit_learn() -> None:
    codes, cards = with_wide_columns(random_table(300, 6, 5, 0.0, seed=1), 40, 60)
    codes = np.maximum(codes, 0)
    for counts in (MemoryEngine(data_of(codes, cards)), HiddenEngine(data_of(codes, cards))):
        matrix = information_matrix(counts)
        for x in range(len(cards)):
            for y in range(len(cards)):
                expected = 0.0 if x == y else mutual_info_score(codes[x], codes[y])
                assert matrix[x, y] == pytest.approx(expected, abs=1e-12)
    threaded = information_matrix(MemoryEngine(data_of(codes, cards)), 3)
    assert np.array_equal(threaded, information_matrix(MemoryEngine(data_of(codes, cards))))


def test_neighbourhoods_are_each_variables_own_choice() -> None:
    information = np.array([[0, 5, 4, 0], [5, 0, 3, 0], [4, 3, 0, 1], [0, 0, 1, 0.0]])
    chosen = neighbourhoods(information, factor=1.0, max_neighbours=1)
    assert [c.tolist() for c in chosen] == [[1], [0], [0], []]
    assert [c.tolist() for c in neighbourhoods(information, factor=0.0)] == [[1, 2], [0, 2], [0, 1, 3], [2]]


# One end, or both


def triangle(n_rows: int) -> Any:
    """A strong pair, and a third variable that leans on one of them."""
    rng = np.random.default_rng(8)
    a = rng.integers(2, size=n_rows)
    flip = lambda p: rng.random(n_rows) < p  # noqa: E731
    return data_of(np.stack([a, a ^ flip(0.05), a ^ flip(0.25), a ^ flip(0.3)]).astype(int), [2] * 4)


@pytest.mark.parametrize(
    ("learner", "options"),
    [(gsmn, {}), (hhc_mn, {}), (mutual_information, {"max_neighbours": 1, "factor": 0.5})],
)
def test_one_end_or_both_ends_of_an_edge(learner: Any, options: dict[str, Any]) -> None:
    differ = 0
    for n_rows in range(20, 400, 20):
        either = learner(triangle(n_rows), symmetry="or", **options).graph
        both = learner(triangle(n_rows), symmetry="and", **options).graph
        assert set(both.edges) <= set(either.edges)
        differ += both != either
    assert differ > 0


# Bits in memory, and the same test of tables


def binary_network(n_rows: int, n: int, seed: int) -> Any:
    """Half of the columns are noisy copies of an earlier one; columns may be constant in few rows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(n, n_rows))
    for v in range(1, n):
        if rng.random() < 0.5:
            codes[v] = codes[rng.integers(v)] ^ (rng.random(n_rows) < 0.3)
    return data_of(codes, [2] * n)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 40, 250, 1200])
@pytest.mark.parametrize(
    "options", [{}, {"prior_counts": "bdeu"}, {"slices": "all", "prior": 0.2}, {"combine": "global"}]
)
def test_wide_binary_tables_take_the_same_way_by_bits_and_by_tables(
    n_rows: int, options: dict[str, Any]
) -> None:
    data = binary_network(n_rows, 90, seed=n_rows)
    test = BayesianTest(**options)
    compiled, general = gsmn(data, test), gsmn(data, test, engine=HiddenEngine(data))
    assert compiled.graph == general.graph
    assert compiled.n_tests == general.n_tests


@pytest.mark.parametrize("n_rows", [1, 7, 40, 600])
@pytest.mark.parametrize(
    "options",
    [{}, {"prior_counts": "bdeu"}, {"prior_counts": 0.3, "prior": 0.8}, {"slices": "all", "prior": 0.2},
     {"ties": "dependent"}],
)  # fmt: skip
def test_constant_columns_are_asked_about_and_never_found(n_rows: int, options: dict[str, Any]) -> None:
    codes = np.array(binary_network(n_rows, 90, seed=n_rows).codes)
    constant = np.random.default_rng(n_rows).random(90) < 0.2
    codes[constant] = 0
    data, test = data_of(codes, np.where(constant, 1, 2)), BayesianTest(**options)
    compiled, general = gsmn(data, test), gsmn(data, test, engine=HiddenEngine(data))
    assert compiled.graph == general.graph
    assert compiled.n_tests == general.n_tests


@pytest.mark.parametrize("n_rows", [255, 256, 257, 700])
def test_more_rows_than_a_byte_can_count(n_rows: int) -> None:
    data = binary_network(2 * n_rows, 20, seed=n_rows)
    codes = np.array(data.codes)
    codes[0] = np.arange(2 * n_rows) < n_rows
    codes[1:8, codes[0] == 1] = 1  # seven columns are always 1 in the rows of a set
    data = data_of(codes, [2] * 20)
    for learn in (gsmn, hhc_mn):
        compiled, general = learn(data), learn(data, engine=HiddenEngine(data))
        assert (compiled.graph, compiled.n_tests) == (general.graph, general.n_tests)


def test_blankets_beyond_all_measure_are_found_all_the_same() -> None:
    data = binary_network(1, 80, seed=3)  # one row says nothing: all pairs tie
    test = BayesianTest(ties="dependent")
    compiled, general = gsmn(data, test), gsmn(data, test, engine=HiddenEngine(data))
    assert compiled.graph == general.graph
    assert compiled.n_tests == general.n_tests
    assert compiled.graph.n_edges == 80 * 79 // 2
