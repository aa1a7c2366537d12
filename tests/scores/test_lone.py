"""Rows of variables without neighbours: by tables of counts, and by the code for every blanket."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import CategoricalData
from ibmap.engines import MemoryEngine
from ibmap.scores import AdaptiveScore, lone
from ibmap.scores.likely import Asked
from ibmap.scores.local_score import NONE


def table(n, rows, seed):
    """Columns with few ones, or with many, and noisy copies."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, rows)) < rng.choice([0.02, 0.3, 0.5, 0.97], (n, 1))).astype(np.int8)
    for x in range(1, n):
        if rng.random() < 0.3:
            codes[x] = codes[rng.integers(x)] ^ (rng.random(rows) < rng.choice([0.0, 0.1, 0.4]))
    codes[:, :2] = 0, 1  # no column is constant
    return CategoricalData(codes, tuple(f"x{j}" for j in range(n)), ((0, 1),) * n)


def both_ways(monkeypatch, data, threads=1):
    """Return a function that makes rows by tables, and one that does not."""
    monkeypatch.setattr(lone, "WORTH", 1 << 40)
    score = AdaptiveScore().bind(MemoryEngine(data), None, threads)
    mixture = score.family.likely.__self__
    assert mixture._lone is not None
    return mixture.rows, mixture._in_memory


def the_same(one, other, floor):
    for row, expected in zip(one, other, strict=True):
        sure = np.abs(expected.ts - floor) > 1e-9  # rounding decides at the floor itself
        if np.array_equal(row.ys, expected.ys):
            assert row.ts == pytest.approx(expected.ts, rel=1e-9, abs=1e-9)
            assert row.elsewhere == pytest.approx(expected.elsewhere, rel=1e-9)
        assert set(expected.ys[sure].tolist()) <= set(row.ys.tolist())
        assert len(row.ys) <= len(expected.ys) + (~sure).sum()
        assert np.all(np.diff(row.ys) > 0)
        assert row.value == pytest.approx(expected.value, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 40),
    st.integers(64, 400),
    st.integers(0, 10_000),
    st.floats(-12.0, -0.5),
    st.floats(-9.0, 0.0),
)
def test_tables_say_what_rows_say(n, rows, seed, floor, prior_odds):
    with pytest.MonkeyPatch.context() as patch:
        tables, whole = both_ways(patch, table(n, rows, seed))
        rng = np.random.default_rng(seed)
        xs = rng.integers(0, n, n).tolist()
        wanted = [rng.integers(0, n, rng.integers(3)).tolist() for _ in xs]
        asked = Asked(xs, [NONE] * n, prior_odds, floor, wanted)
        the_same(tables(asked), whole(asked), floor)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_variables_of_several_blocks(monkeypatch, threads):
    n = 700
    tables, whole = both_ways(monkeypatch, table(n, 130, 5), threads)
    asked = Asked(list(range(n)), [NONE] * n, -4.0, -5.0, [[]] * n)
    the_same(tables(asked), whole(asked), -5.0)


def test_variables_with_neighbours_are_in_their_places(monkeypatch):
    tables, whole = both_ways(monkeypatch, table(30, 200, 1))
    xs = [3, 4, 5, 6, 3]
    blankets = [NONE, np.array([1, 2]), NONE, np.array([9]), np.array([7])]
    asked = Asked(xs, blankets, -2.0, -6.0, [[8], [8], [], [], [0]])
    the_same(tables(asked), whole(asked), -6.0)


def test_few_variables_or_rows_are_not_worth_a_table():
    assert not lone.LoneRows.fits(MemoryEngine(table(10, 300, 0)))
    assert not lone.LoneRows.fits(MemoryEngine(table(3000, 63, 0)))
    assert lone.LoneRows.fits(MemoryEngine(table(3000, 100, 0)))
