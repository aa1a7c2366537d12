"""Where rounding would decide: ties, near-certain pairs, tables without rows."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest
from tests.engines.partitioned import ENGINES, HiddenEngine, data_of
from tests.independence.agreement import OPTIONS, assert_agrees, bound
from tests.reference.bayesian import log_posterior
from tests.reference.tables import Codes, categorical_tables, questions, random_table

PRIOR_COUNTS = ["ones", "consistent", "jeffreys", "bdeu", 2.5]


@settings(max_examples=40)
@given(table=categorical_tables(max_rows=120, max_columns=7, missing=True), data=st.data(), options=OPTIONS)
def test_all_subsets_stops_at_the_first_independence(
    table: Codes, data: st.DataObject, options: dict[str, Any]
) -> None:
    codes, cards = table
    x, y, pool = data.draw(questions(len(cards), max_given=5))
    largest = data.draw(st.one_of(st.none(), st.integers(0, 5)))
    for engine in ENGINES:
        found = bound(engine(data_of(codes, cards)), **options).all_subsets(
            x, y, np.array(pool, int), largest
        )
        expected = None
        for size in range(min(len(pool), 99 if largest is None else largest) + 1):
            for subset in combinations(pool, size):
                p = log_posterior(codes, cards, x, y, subset, **options).log_independent
                if expected is None and p > math.log(0.5) - 1e-9:  # ties count as independent
                    expected = list(subset)
        assert (None if found is None else found.tolist()) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior_counts", PRIOR_COUNTS)
@pytest.mark.parametrize("slices", ["observed", "all"])
@pytest.mark.parametrize("prior", [0.5, 0.03, 0.97])
def test_slices_of_one_row_say_nothing_and_ties_decides(
    engine: Any, prior_counts: Any, slices: str, prior: float
) -> None:
    codes = np.array([[i >> bit & 1 for i in range(64)] for bit in range(6)])
    codes = np.vstack([codes, np.random.default_rng(0).integers([[2], [3], [5]], size=(3, 64))])
    counts = engine(data_of(codes, [2] * 6 + [2, 3, 5]))
    for ties, decision in (("independent", True), ("dependent", False)):
        test = bound(counts, prior_counts=prior_counts, slices=slices, prior=prior, ties=ties)
        for answers in (
            test.fixed(6, [7, 8], range(6)),
            test.fixed(7, [8], range(6)),
            test.round_robin(6, [0, 1, 2, 3, 4, 5, 7]),
        ):
            assert answers.log_independent[-1] == pytest.approx(math.log(prior), rel=1e-12)
            assert answers.log_dependent[-1] == pytest.approx(math.log1p(-prior), rel=1e-11)
            assert answers.independent[-1] == decision


@pytest.mark.parametrize("ties", ["independent", "dependent"])
def test_ties_decide_nothing_else(ties: str) -> None:
    codes = np.random.default_rng(1).integers(3, size=(9, 300))
    codes[5:] = np.where(np.arange(300) % 3 == 0, codes[5:], codes[0])
    answers = bound(MemoryEngine(data_of(codes, [3] * 9)), ties=ties).fixed(0, range(1, 9), [])
    assert 0 < answers.independent.sum() < 8
    assert answers.independent.tolist() == (answers.log_independent > math.log(0.5)).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_no_rows_leave_the_prior(engine: Any, prior: float) -> None:
    codes = np.array([[0, 1, -1, -1], [-1, -1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    test = bound(engine(data_of(codes, [2] * 4)), prior=prior)
    for answers in (test.fixed(0, [1], []), test.fixed(0, [1], [2]), test.round_robin(0, [1, 2, 3])):
        assert answers.log_independent[0] == pytest.approx(math.log(prior))
        assert answers.log_dependent[0] == pytest.approx(math.log1p(-prior))
        assert answers.independent[0]
    empty = bound(engine(data_of(codes[:, :0], [2] * 4)), prior=prior).fixed(0, [1, 2, 3], [])
    assert empty.log_independent == pytest.approx(np.full(3, math.log(prior)))


@pytest.mark.parametrize("levels", [2, 12, 32, 33])
@pytest.mark.parametrize("prior_counts", PRIOR_COUNTS)
def test_identical_columns_are_dependent_beyond_doubt(levels: int, prior_counts: Any) -> None:
    column = np.arange(5000) % levels
    codes, cards = np.array([column, column, column[::-1] // 2]), [levels, levels, (levels + 1) // 2]
    for engine in (MemoryEngine, HiddenEngine):
        test = bound(engine(data_of(codes, cards)), prior_counts=prior_counts)
        for z in ([], [2]):
            twin = log_posterior(codes, cards, 0, 1, z, prior_counts=prior_counts)
            for answers in (test.fixed(0, [1], z), test.round_robin(0, [1, *z])):
                assert_agrees(answers, 0, twin)
                assert z or -math.inf < answers.log_independent[0] < -1000


@pytest.mark.parametrize("levels", [12, 32, 33, 200])
@pytest.mark.parametrize("n_slices", [1, 3])
def test_columns_that_nothing_joins_are_independent_beyond_doubt(levels: int, n_slices: int) -> None:
    rng = np.random.default_rng(levels)
    codes = rng.integers([[levels], [levels], [n_slices]], size=(3, 20_000))
    cards = [levels, levels, n_slices]
    z = [2] if n_slices > 1 else []
    twin = log_posterior(codes, cards, 0, 1, z, prior_counts="consistent")
    assert -math.inf < twin.log_dependent < -100
    for engine in (MemoryEngine, HiddenEngine):
        test = bound(engine(data_of(codes, cards)), prior_counts="consistent")
        for answers in (test.fixed(0, [1], z), test.fixed(1, [0], z), test.round_robin(0, [1, *z])):
            # 18000 cells of 40000 add up some rounding, which is all that is left of a posterior next to 1
            assert_agrees(answers, 0, twin, rel=1e-9 if levels < 200 else 2e-8)


@pytest.mark.parametrize("same", [True, False])
def test_two_columns_of_a_thousand_levels(same: bool) -> None:
    column = np.arange(5000) % 1000
    other = column if same else np.random.default_rng(0).permutation(column)
    codes, cards = np.array([column, other]), [1000, 1000]
    twin = log_posterior(codes, cards, 0, 1, [], prior_counts="bdeu")
    for engine in (MemoryEngine, HiddenEngine):
        answers = bound(engine(data_of(codes, cards)), prior_counts="bdeu").fixed(0, [1], [])
        assert answers.independent[0] != same
        assert_agrees(answers, 0, twin)
        certain = answers.log_independent[0] if same else answers.log_dependent[0]
        assert -math.inf < certain < -1000


def test_more_possible_slices_than_floats_can_count() -> None:
    rng = np.random.default_rng(0)  # 400 columns of 12 levels: 12**400 configurations
    codes = np.vstack([rng.integers(2, size=(2, 60)), np.tile(np.arange(60) % 12, (400, 1))])
    cards = [2, 2] + [12] * 400
    twin = log_posterior(codes, cards, 0, 1, range(2, 402), slices="all")
    for engine in (MemoryEngine, HiddenEngine):
        test = bound(engine(data_of(codes, cards)), slices="all")
        assert_agrees(test.fixed(0, [1], range(2, 402)), 0, twin)


def test_all_slices_that_are_all_observed_are_the_observed_ones() -> None:
    table = random_table(167, 3, 7, 0.0, 0)
    counts = MemoryEngine(data_of(*table))
    both = [BayesianTest(slices=kind).bind(counts) for kind in ("all", "observed")]
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        one, other = (test.fixed(x, [y], [z]) for test in both)
        assert one.log_independent == pytest.approx(other.log_independent, rel=1e-12)
        assert one.log_dependent == pytest.approx(other.log_dependent, rel=1e-12)
