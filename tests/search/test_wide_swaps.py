"""Rounds and swaps without a matrix take the steps of those with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import CategoricalData
from ibmap.engines import MemoryEngine
from ibmap.learners import evidence_map
from ibmap.scores import AdaptiveScore, PairwiseScore, SaturatedScore, lone
from ibmap.scores.likely import likely_rows
from ibmap.search import climb, wide_gains
from ibmap.search.rivals import rivals
from ibmap.search.rounds import Matching, WideMatching
from ibmap.search.swaps import Swapping
from ibmap.search.wide_swaps import WideSwapping

KINDS = {"rounds": (Matching, WideMatching), "swaps": (Swapping, WideSwapping)}


def table(n, rows, levels, seed):
    """A tree of noisy copies, some of them common children of two."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, rows))
    for x in range(1, n):
        if rng.random() < 0.7:
            parents = rng.integers(0, x, 2)
            both = (codes[parents].sum(axis=0) if rng.random() < 0.4 else codes[parents[0]]) % levels
            codes[x] = np.where(rng.random(rows) < 0.25, codes[x], both)
    names = tuple(f"x{j}" for j in range(n))
    return CategoricalData(codes, names, (tuple(range(levels)),) * n)


def ended(running):
    found = []
    while not running.finished:
        found += running.advance(3)
    return found


def bound(kind, data, neighbours, threads=1):
    return kind(expected_neighbours=neighbours).bind(MemoryEngine(data), None, threads)


def same_steps(one, other):
    flips, others = ended(one), ended(other)
    assert [flip[:3] for flip in flips] == [flip[:3] for flip in others]
    assert np.array([flip[3:] for flip in flips]) == pytest.approx(
        np.array([flip[3:] for flip in others]), rel=1e-9, abs=1e-6
    )
    assert np.array_equal(one.pairs, other.pairs)
    assert one.n_tests == other.n_tests
    assert one.total == pytest.approx(other.total, rel=1e-12)


def same_rivals(one, other, floor):
    found, expected = rivals(one), rivals(other)
    assert found.log_odds == pytest.approx(expected.log_odds, rel=1e-6, abs=1e-6)
    notable = expected.share > np.exp(floor) * 1.01
    assert np.array_equal(found.rival[notable], expected.rival[notable])
    assert found.share[notable] == pytest.approx(expected.share[notable], rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_steps_where_variables_without_neighbours_have_tables(monkeypatch, seed):
    monkeypatch.setattr(lone, "WORTH", 1 << 40)
    one, other = (bound(AdaptiveScore, table(50, 300, 2, seed), 3.0) for _ in range(2))
    wide, dense = WideSwapping(one), Swapping(other)
    same_steps(wide, dense)
    same_rivals(wide, dense, wide_gains.LISTED)


@pytest.mark.parametrize("search", KINDS)
@pytest.mark.parametrize("kind", [AdaptiveScore, PairwiseScore, SaturatedScore])
@pytest.mark.parametrize(("n", "rows", "levels"), [(40, 300, 2), (25, 200, 3), (60, 80, 2)])
def test_the_same_steps_and_rivals(search, kind, n, rows, levels):
    score, other = (bound(kind, table(n, rows, levels, n), 3.0) for _ in range(2))
    matrix, lists = KINDS[search]
    wide, dense = lists(score), matrix(other)
    same_steps(wide, dense)
    same_rivals(wide, dense, wide_gains.LISTED)


@settings(deadline=None, max_examples=25)
@given(st.integers(4, 30), st.integers(2, 200), st.integers(2, 3), st.integers(0, 10_000))
def test_the_same_steps_on_random_tables(n, rows, levels, seed):
    data, rng = table(n, rows, levels, seed), np.random.default_rng(seed)
    locked = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(seed % 4)]
    edges = locked[:1]
    one, other = (bound(AdaptiveScore, data, 2.0) for _ in range(2))
    wide, dense = WideSwapping(one, edges, locked), Swapping(other, edges, locked)
    same_steps(wide, dense)
    same_rivals(wide, dense, wide_gains.LISTED)


def test_a_high_floor_is_made_up_for_by_scoring_again(monkeypatch):
    """Nearly nothing is listed, so that ends must be asked for one by one."""
    monkeypatch.setattr(wide_gains, "LISTED", -0.01)
    for seed in range(5):
        data = table(40, 150, 2, seed)
        one, other = (bound(AdaptiveScore, data, 3.0) for _ in range(2))
        same_steps(WideSwapping(one), Swapping(other))


@pytest.mark.parametrize("seed", range(4))
def test_the_prior_that_is_learned_is_nearly_the_same(seed):
    data = table(50, 400, 2, seed)
    one, other = (bound(AdaptiveScore, data, None) for _ in range(2))
    wide, dense = WideSwapping(one), Swapping(other)
    ended(wide)
    ended(dense)
    assert np.array_equal(wide.pairs, dense.pairs)
    assert one.learned_prior[0] == pytest.approx(other.learned_prior[0], rel=0.05)


def test_a_prior_beyond_the_floor_has_all_rows_scored_again(monkeypatch):
    monkeypatch.setattr(wide_gains, "HIGHEST", wide_gains.LISTED + 1e-3)
    data = table(40, 400, 2, 7)
    one, other = (bound(AdaptiveScore, data, None) for _ in range(2))
    wide, dense = WideSwapping(one), Swapping(other)
    ended(wide)
    ended(dense)
    assert np.array_equal(wide.pairs, dense.pairs)
    assert wide.total == pytest.approx(dense.total, rel=1e-3)


def test_a_search_that_was_saved_goes_on():
    data = table(40, 300, 2, 5)
    one, other, third = (WideSwapping(bound(AdaptiveScore, data, None)) for _ in range(3))
    expected = ended(one)
    begun = other.advance(4)
    third.restore([(flip.x, flip.y) for flip in begun], other.saved())
    assert [flip[:3] for flip in begun + ended(third)] == [flip[:3] for flip in expected]
    assert third.n_tests == one.n_tests


def test_the_learner_without_a_matrix_says_the_same(monkeypatch):
    data = table(40, 500, 2, 11)
    options = {"expected_neighbours": 3.0, "view": "undirected"}
    dense = evidence_map(data, **options)
    monkeypatch.setattr(climb, "MATRIX", 10)
    wide = evidence_map(data, **options)
    assert wide.graph == dense.graph
    assert wide.pair_scores is None
    assert wide.rivals.keys() == dense.rivals.keys()
    assert list(map(flip_of, wide.history)) == list(map(flip_of, dense.history))
    for edge, logs in dense.edge_table.of_pair.items():
        assert wide.edge_table.of_pair[edge] == pytest.approx(logs, rel=1e-6, abs=1e-9)
    assert "no matrix of all pairs" in wide.listed_in_words
    near = wide.edge_table.pairs[wide.edge_table.n_edges :]
    for (x, y), logs in zip(
        near.tolist(), wide.edge_table.log_posteriors[wide.edge_table.n_edges :], strict=True
    ):
        assert logs == pytest.approx(np.log1p(-np.exp(dense.pair_scores[x, y])), rel=1e-5, abs=1e-9)


def flip_of(step):
    return (step.n, step.x, step.y, step.added)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 12), st.integers(0, 1000), st.floats(-8, 0))
def test_likely_rows_are_rows_without_the_rest(n, seed, floor):
    rng, data = np.random.default_rng(seed), table(n, 60, 2, seed)
    score = bound(AdaptiveScore, data, 2.0)
    xs = list(range(n))
    blankets = [
        np.sort(rng.choice(np.delete(xs, x), min(n - 1, int(rng.integers(3))), replace=False)) for x in xs
    ]
    wanted = [rng.choice(np.delete(xs, x), 1).tolist() for x in xs]
    rows = score.rows(xs, blankets)
    for x, row in zip(xs, likely_rows(score, xs, blankets, floor, wanted), strict=True):
        also = {*wanted[x], *blankets[x].tolist()}
        listed = set(row.ys.tolist())
        for y in listed ^ {y for y in xs if y != x and (rows.evidence[x, y] > floor or y in also)}:
            assert rows.evidence[x, y] == pytest.approx(floor, abs=1e-9)  # rounding decides
        assert row.ts == pytest.approx(rows.evidence[x, row.ys], rel=1e-9, abs=1e-9)
        others = [y for y in xs if y != x and y not in listed]
        assert row.elsewhere == pytest.approx(np.exp(rows.evidence[x, others]).sum(), rel=1e-9)
        assert row.value == pytest.approx(rows.values[x], rel=1e-12)
