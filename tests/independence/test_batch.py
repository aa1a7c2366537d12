"""Questions with a conditioning set each: together they are answered as one by one."""

import numpy as np
import pytest

from ibmap.data import Table
from ibmap.engines import MemoryEngine, Questions
from ibmap.independence import BayesianTest


def table(levels, n_rows, seed=0):
    """Skewed columns, so that rows agree on many of them."""
    rng = np.random.default_rng(seed)
    codes = np.array([np.minimum(rng.geometric(0.6, n_rows) - 1, k - 1) for k in levels])
    for v, k in enumerate(levels):
        far = rng.random(n_rows) < 0.05
        codes[v, far] = rng.integers(k, size=far.sum())
    return Table(codes, [f"v{i}" for i in range(len(levels))], [range(k) for k in levels])


@pytest.mark.parametrize("n_rows", [1, 2, 70, 700])
@pytest.mark.parametrize(
    "test",
    [
        BayesianTest(),
        BayesianTest(prior=0.9, prior_counts="bdeu"),
        BayesianTest(combine="global", prior_counts="jeffreys"),
        BayesianTest(slices="all", prior=np.full((12, 12), 0.3)),
        BayesianTest(slices="all", combine="global"),
    ],
    ids=lambda test: test.name,
)
def test_posteriors_are_those_of_one_question_at_a_time(test, n_rows):
    levels = (2, 3, 2, 2, 5, 2, 40, 2, 300, 2, 1, 3)
    bound = test.bind(MemoryEngine(table(levels, n_rows, seed=n_rows)))
    rng = np.random.default_rng(n_rows)
    order, sizes = rng.random((300, 12)).argsort(axis=1), np.arange(300) % 11
    questions = order[:, 0].copy(), order[:, 1].copy(), order[:, 2:], sizes
    expected = [bound.fixed(x, [y], z[:k]).log_independent[0] for x, y, z, k in zip(*questions, strict=True)]
    found = bound.answers(Questions.each(*questions)).log_independent  # most by keys of rows
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
