"""The state of a search: kept whole or above a floor, it decides the same; what is taken back never was."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.criteria import AdaptiveScore, PairwiseScore, SaturatedScore
from ibmap.engines import MemoryEngine
from ibmap.learners import evidence_map
from ibmap.search import SEARCHES
from ibmap.search import state as search_state
from ibmap.search.gains import GainSearch
from ibmap.search.rivals import rivals
from ibmap.synthetic import simulate_random
from tests.core.test_rows import table

SCORES = [AdaptiveScore, PairwiseScore, SaturatedScore]


def searched(data: Any, whole: bool, score: Any, search: str, **more: Any) -> GainSearch:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search_state, "WHOLE", 10**9 if whole else 0)
        bound = score(expected_neighbours=None).bind(MemoryEngine(data), None)
        running: Any = SEARCHES[search]().begin(bound, **more)
    running.advance(10**9)
    return running


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "climb"])
@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 40), rows=st.integers(20, 400), score=st.sampled_from(SCORES)
)
def test_a_floor_changes_nothing(search: str, seed: int, n: int, rows: int, score: Any) -> None:
    """One search, one prior: graph, score, expected neighbours and rivals, at any number of columns."""
    data = table(seed, n, rows, 3)
    whole, listed = (searched(data, kept, score, search) for kept in (True, False))
    assert np.array_equal(whole.pairs, listed.pairs)
    assert whole.total == pytest.approx(listed.total, rel=1e-12)
    assert whole.n_tests == listed.n_tests
    assert whole.score.prior == pytest.approx(listed.score.prior, rel=1e-9)
    one, other = rivals(whole), rivals(listed)
    assert one.log_odds == pytest.approx(other.log_odds, rel=1e-6, abs=1e-6)
    notable = one.share > 0.02
    assert np.array_equal(one.rival[notable], other.rival[notable])


@pytest.mark.parametrize("seed", range(5))
def test_what_is_made_known_is_what_rows_that_are_kept_whole_know(seed: int) -> None:
    data = table(seed, 25, 1500, 3)
    whole, listed = (searched(data, kept, AdaptiveScore, "swaps") for kept in (True, False))
    ends = np.argwhere(~np.eye(25, dtype=bool))
    unknown = np.isnan(listed.state.evidence(*ends.T))
    assert 0 < unknown.sum() < len(ends)
    some = ends[unknown][:: 1 + seed]
    listed.state.make_known(some)
    assert listed.state.evidence(*some.T) == pytest.approx(whole.state.evidence(*some.T), rel=1e-9)
    assert listed.total == pytest.approx(whole.total, rel=1e-12)
    for mine, theirs in zip(listed.listed(40), whole.listed(40), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


def test_a_column_more_than_rows_are_kept_whole_for_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(3, 60, 300, 2)
    found = []
    for most in (60, 59):
        monkeypatch.setattr(search_state, "WHOLE", most)
        found.append(evidence_map(data, view="undirected"))
    assert (found[0].pair_scores is None, found[1].pair_scores is None) == (False, True)
    assert found[0].graph == found[1].graph
    assert found[0].score == pytest.approx(found[1].score, rel=1e-12)
    neighbours = [one.provenance.score.expected_neighbours for one in found]
    assert neighbours[0] == pytest.approx(neighbours[1], rel=1e-12)
    assert [step[:4] for step in found[0].history] == [step[:4] for step in found[1].history]


def test_where_the_posterior_is_flat_a_column_more_changes_nothing_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Graphs are averaged over on either side of the limit, though rows list only some pairs beyond it."""
    data = simulate_random(40, 8, 200, potentials="symmetric", random_state=2).to_table()
    found = []
    for most in (40, 39):
        monkeypatch.setattr(search_state, "WHOLE", most)
        found.append(evidence_map(data))
    assert found[0].graph == found[1].graph
    assert found[0].posteriors == found[1].posteriors


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 15))
def test_choices_are_those_of_all_gains(seed: int, n: int) -> None:
    """What the state calls the best pair is the best of all pairs, after any flips."""
    data, rng = table(seed, n, 120, 3), np.random.default_rng(seed)
    bound = AdaptiveScore().bind(MemoryEngine(data), None)
    state = search_state.State(bound)
    for _ in range(4):
        x, y = sorted(rng.choice(n, 2, replace=False).tolist())
        state.flip(np.array([[x, y]]))
        pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
        gains = state.native.gains(*pairs.T.copy())
        best = state.native.best_choice()
        if gains.max() > 1e-9:
            assert gains.max() == pytest.approx(state.native.gains(*best.T.copy())[0])
        else:
            assert len(best) == 0
        rows = bound.rows(range(n), state.blankets(np.arange(n)))
        assert state.total == pytest.approx(rows.value.sum())


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_a_trial_that_is_taken_back_never_was(seed: int) -> None:
    data, rng = table(seed, 10, 150, 3), np.random.default_rng(seed)
    running = searched(data, bool(seed % 2), AdaptiveScore, "rounds")
    state = running.state
    every = np.array([(i, j) for i in range(10) for j in range(10) if i != j])
    before = state.pairs, state.total, state.evidence(*every.T), state.native.mutual_choices()
    state.native.begin_trial()
    for _ in range(3):
        state.flip(np.array([sorted(rng.choice(10, 2, replace=False).tolist())]))
    state.native.end_trial(True)
    after = state.pairs, state.total, state.evidence(*every.T), state.native.mutual_choices()
    assert before[1] == pytest.approx(after[1])
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other, equal_nan=True) or one is before[1]


def test_what_makes_no_sense_is_refused() -> None:
    state, one = _core.State(3, -6.0), np.array([1])
    for bad in (np.array([3]), np.array([-1]), one):
        with pytest.raises(ValueError, match=r"variable|different"):
            state.toggle(one, bad)
    rows = np.array([0, 2]), np.array([2, 0], np.int32), np.zeros(2), np.zeros(1), np.zeros(1)
    with pytest.raises(ValueError, match="in order"):
        state.put(np.array([1]), *rows)


@pytest.mark.parametrize(("seed", "n", "rows"), [(0, 12, 300), (1, 12, 300), (0, 25, 1500)])
def test_posteriors_of_listed_pairs_are_those_of_rows_that_are_kept_whole(
    seed: int, n: int, rows: int
) -> None:
    data = table(seed, n, rows, 3)
    whole, listed = (searched(data, kept, AdaptiveScore, "swaps") for kept in (True, False))
    sigma = whole.pair_scores
    assert sigma is not None
    assert listed.pair_scores is None
    for running in (whole, listed):
        edges, of_edges, absent, of_absent = running.listed(5)
        assert np.array_equal(edges, whole.pairs)
        adjacent = {tuple(pair) for pair in edges.tolist()}
        assert not adjacent & {tuple(pair) for pair in absent.tolist()}
        assert 0 < len(absent) <= 5
        for pairs, logs in ((edges, of_edges), (absent, of_absent)):
            expected = np.stack([sigma[tuple(pairs.T)], sigma[tuple(pairs.T[::-1])]], axis=1)
            assert logs == pytest.approx(expected, rel=1e-6, abs=1e-9)
