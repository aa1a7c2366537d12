"""Column order, row order, names of levels and threads change nothing about the rivals (ties aside)."""

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ibmap import BayesianTest, ChiSquareTest, GSquareTest, Learned, MutualInformationTest, Visit
from ibmap.learners import gsmn, hhc_mn, mutual_information
from tests.engines.partitioned import data_of
from tests.learners.test_laws import Codes, noisy_networks
from tests.reference.score import bayesian_test
from tests.reference.tables import random_table

LEARNERS = [gsmn, hhc_mn, mutual_information]


def has_ties(codes: Codes, cards: list[int]) -> bool:
    """Whether a variable is associated equally with two others."""
    test = cache(bayesian_test(codes, cards))
    for x in range(len(cards)):
        odds = []
        for y in (y for y in range(len(cards)) if y != x):
            posterior = test(x, y, ())
            odds.append(posterior.log_dependent - posterior.log_independent)
        if any(abs(a - b) < 1e-6 * max(1, abs(a)) for a, b in combinations(odds, 2)):
            return True
    return False


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=20)
@given(table=noisy_networks(), seed=st.integers(0, 999))
def test_permuting_columns_permutes_the_graph(
    learner: Any, table: tuple[Codes, list[int]], seed: int
) -> None:
    codes, cards = table
    assume(not has_ties(codes, cards))
    order = np.random.default_rng(seed).permutation(len(cards))
    here = learner(data_of(codes, cards))
    there = learner(data_of(codes[order], [cards[v] for v in order]))
    assert np.array_equal(there.graph.adjacency, here.graph.adjacency[np.ix_(order, order)])


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=20)
@given(table=noisy_networks(), seed=st.integers(0, 999))
def test_rows_may_come_in_any_order_and_levels_under_any_name(
    learner: Any, table: tuple[Codes, list[int]], seed: int
) -> None:
    codes, cards = table
    rng = np.random.default_rng(seed)
    shuffled = codes[:, rng.permutation(codes.shape[1])]
    renamed = np.array([rng.permutation(n)[column] for column, n in zip(shuffled, cards, strict=True)])
    here = learner(data_of(codes, cards))
    for other in (shuffled, renamed):
        there = learner(data_of(other, cards))
        assert there.graph == here.graph
        assert there.n_tests == here.n_tests


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("levels", [2, 4])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_nothing(learner: Any, levels: int, n_jobs: int) -> None:
    codes, cards = random_table(150, 40, levels, 0.0, seed=levels)
    visits: list[list[Visit]] = [[], []]
    one = learner(data_of(codes, cards), callback=visits[0].append)
    many = learner(data_of(codes, cards), callback=visits[1].append, n_jobs=n_jobs)
    assert one.graph == many.graph
    assert one.n_tests == many.n_tests
    assert visits[0] == visits[1]
    assert [visit.n for visit in visits[0]] == list(range(1, 41))


@pytest.mark.parametrize("learner", [gsmn, hhc_mn])
@pytest.mark.parametrize(
    "test",
    [ChiSquareTest(alpha=0.01), GSquareTest(alpha=0.001), MutualInformationTest(threshold=0.1)],
)
def test_any_test_will_do(learner: Any, test: Any) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(3, size=500)
    b = np.where(rng.random(500) < 0.2, rng.integers(3, size=500), a)
    c = np.where(rng.random(500) < 0.2, rng.integers(3, size=500), b)
    data = data_of(np.stack([a, c, b, rng.integers(3, size=500)]), [3] * 4)
    assert learner(data, test, n_jobs=2).graph.edges == (("v0", "v2"), ("v1", "v2"))


@pytest.mark.parametrize("learner", [gsmn, hhc_mn])
def test_a_plain_function_will_do(learner: Any) -> None:
    codes, cards = random_table(20, 4, 2, 0.0, seed=5)
    sure = lambda x, y, given: -5.0 if {x, y} in ({0, 1}, {2, 3}) else -1e-9  # noqa: E731
    assert learner(data_of(codes, cards), sure).graph.edges == (("v0", "v1"), ("v2", "v3"))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_may_end_it(learner: Any, n_jobs: int) -> None:
    codes, cards = random_table(200, 12, 2, 0.0, seed=5)
    whole: Learned = learner(data_of(codes, cards), symmetry="or")
    part = learner(data_of(codes, cards), symmetry="or", n_jobs=n_jobs, callback=lambda visit: visit.n == 3)
    assert part.n_iter == 3
    assert set(part.graph.edges) <= set(whole.graph.edges)
    assert all({"v0", "v1", "v2"} & set(edge) for edge in part.graph.edges)


@pytest.mark.parametrize("learner", [gsmn, hhc_mn])
@pytest.mark.parametrize("levels", [2, 3])
def test_one_prior_for_all_pairs_or_the_same_one_for_each(learner: Any, levels: int) -> None:
    codes, cards = random_table(120, 12, levels, 0.0, seed=2)
    data = data_of(codes, cards)
    for prior in (0.5, 0.9):
        one, each = (learner(data, BayesianTest(prior=p)) for p in (prior, np.full((12, 12), prior)))
        assert one.graph == each.graph
        assert one.n_tests == each.n_tests
