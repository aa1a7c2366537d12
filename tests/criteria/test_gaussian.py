"""The score of numbers: what a flip gains is the mean of what its ends say, prior odds included."""

import numpy as np
import pytest

from ibmap import load
from ibmap.criteria import GaussianScore
from ibmap.criteria.gaussian import BoundGaussianScore
from ibmap.engines import as_engine
from ibmap.engines.moments import moments_of


def test_a_flip_gains_what_its_row_says() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    data = load({f"v{i}": rows[:, i] for i in range(5)}, continuous="all")
    score = GaussianScore(expected_neighbours=1.0).bind(as_engine(data), None)
    for x in range(5):
        for y in (y for y in range(5) if y != x):
            rest = np.array([v for v in range(5) if v not in (x, y)][: (x + y) % 3], np.int64)
            both = score.rows([x, x], [rest, np.sort(np.append(rest, y))])
            t = both.matrix(5)
            assert np.isclose(2 * (both.value[1] - both.value[0]), t[0, y])
            assert np.isclose(t[0, y], t[1, y])


def test_one_row_says_nothing_so_that_the_prior_is_left() -> None:
    score = BoundGaussianScore(moments_of(np.array([[1.0, 5.0, 2.0]])), expected_neighbours=0.5)
    odds = np.log(0.25 / 0.75)
    for blanket in ([], [1], [1, 2]):
        found = score.rows([0], [np.array(blanket, np.int64)])
        assert np.allclose(found.matrix(3)[0], [0.0, odds, odds])
        assert np.isclose(2 * found.value[0], len(blanket) * odds)


def test_a_prior_for_each_pair_is_added_to_what_the_rows_say() -> None:
    rng = np.random.default_rng(1)
    moments = moments_of(rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)))
    prior = np.full((4, 4), 0.5)
    prior[0, 2] = prior[2, 0] = 0.9
    blankets = [np.array([2]), np.array([3])]
    plain = BoundGaussianScore(moments, prior=np.full((4, 4), 0.5)).rows([0, 1], blankets)
    told = BoundGaussianScore(moments, prior=prior).rows([0, 1], blankets)
    odds = np.zeros((2, 4))
    odds[0, 2] = np.log(0.1 / 0.9)
    assert np.allclose(told.matrix(4) - plain.matrix(4), odds)
    assert np.allclose(2 * (told.value - plain.value), odds.sum(axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_the_evidence_of_a_regression_by_definition(seed: int) -> None:
    """Given the slopes, y is normal; given σ, the slopes are (Zellner); of σ nothing is known (Jeffreys)."""
    rng = np.random.default_rng(seed)
    n_rows, blanket = int(rng.integers(8, 40)), np.array([[1], [0, 2], [0, 1, 3], []][seed], np.int64)
    rows = rng.normal(size=(n_rows, 5)) @ rng.normal(size=(5, 5))
    m, apart = n_rows - 1, rows - rows.mean(axis=0)
    y, x = apart[:, 4], apart[:, blanket]
    covariance = np.eye(n_rows) + m * x @ np.linalg.pinv(x)
    size = np.linalg.slogdet(covariance)[1] / 2
    expected = -size - m / 2 * np.log(y @ np.linalg.solve(covariance, y) / (y @ y))
    score = BoundGaussianScore(moments_of(rows), prior=np.full((5, 5), 0.5))
    assert np.isclose(2 * score.rows([4], [blanket]).value[0], expected)
