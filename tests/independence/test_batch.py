"""Questions with a conditioning set each: grouping rows by keys, and what the groups say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap.data import CategoricalData
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest, batch
from ibmap.independence.batch import log_independent_each
from ibmap.kernels.row_keys import code_of, group_rows, list_members, row_keys

LEVELS = st.lists(st.sampled_from([1, 2, 3, 4, 7, 33, 300, 70_000]), min_size=2, max_size=40)


def table(levels, n_rows, seed=0):
    """Skewed columns, so that rows agree on many of them."""
    rng = np.random.default_rng(seed)
    codes = np.array([np.minimum(rng.geometric(0.6, n_rows) - 1, k - 1) for k in levels])
    for v, k in enumerate(levels):
        far = rng.random(n_rows) < 0.05
        codes[v, far] = rng.integers(k, size=far.sum())
    return CategoricalData(codes, [f"v{i}" for i in range(len(levels))], [range(k) for k in levels])


@given(LEVELS, st.integers(0, 90), st.integers(0, 10**6))
def test_groups_are_the_rows_that_agree(levels, n_rows, seed):
    data = table(levels, n_rows, seed)
    keys, groups = row_keys(MemoryEngine(data).packed)
    for v in range(len(levels)):
        assert [code_of.py_func(keys, r, v) for r in range(n_rows)] == data.codes[v].tolist()
    rng = np.random.default_rng(seed)
    for size in (0, 1, len(levels) // 2, len(levels)):
        known = rng.permutation(len(levels))[:size]
        n_groups = group_rows(keys, groups, known)
        rows = [tuple(row) for row in data.codes[known].T.tolist()] if n_rows else []
        assert n_groups == len(set(rows))
        of_row = groups.of_row[:n_rows].tolist()
        assert len(set(zip(of_row, rows, strict=True))) == n_groups
        assert groups.size[:n_groups].tolist() == [of_row.count(g) for g in range(n_groups)]
        assert list_members(groups, n_groups) == (groups.size[:n_groups] == 1).sum()
        for g in range(n_groups):
            start, n = groups.start[g], groups.size[g]
            if n > 1:
                members = [r for r in range(n_rows) if of_row[r] == g]
                assert groups.members[start : start + n].tolist() == members


def test_tables_with_missing_values_have_no_keys():
    codes = np.array([[0, -1], [1, 0]])
    missing = CategoricalData(codes, ["a", "b"], [range(2), range(2)])
    assert row_keys(MemoryEngine(missing).packed)[0].rows.shape == (0, 1)
    assert row_keys(MemoryEngine(table([2, 3], 5)).packed)[0].rows.shape == (5, 1)


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
def test_posteriors_are_those_of_one_question_at_a_time(test, n_rows, monkeypatch):
    levels = (2, 3, 2, 2, 5, 2, 40, 2, 300, 2, 1, 3)
    bound = test.bind(MemoryEngine(table(levels, n_rows, seed=n_rows)))
    rng = np.random.default_rng(n_rows)
    order, sizes = rng.random((300, 12)).argsort(axis=1), np.arange(300) % 11
    questions = order[:, 0].copy(), order[:, 1].copy(), order[:, 2:], sizes
    expected = [bound.fixed(x, [y], z[:k]).log_independent[0] for x, y, z, k in zip(*questions, strict=True)]
    for most in (batch.MOST_CELLS, 16):  # 16: larger tables are counted by bits
        monkeypatch.setattr(batch, "MOST_CELLS", most)
        found = log_independent_each(bound, *questions)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
