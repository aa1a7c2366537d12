"""Pairwise and adaptive conditionals: rows and values of slow twins, and what renaming must not change."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.criteria import AdaptiveScore, PairwiseScore, SaturatedScore
from ibmap.criteria.families import log_prior_odds
from ibmap.errors import RequestError
from ibmap.search import SEARCHES
from tests.criteria.test_saturated import blankets_of
from tests.engines.partitioned import ENGINES, HiddenEngine, MemoryEngine, data_of
from tests.reference import loglinear, saturated
from tests.reference.tables import Codes, categorical_tables, random_table
from tests.rows import STRONG, whole

FAMILIES = [PairwiseScore, SaturatedScore, AdaptiveScore]


def rows_of(score: Any, table: Codes, blankets: Any, engine: Any = MemoryEngine) -> Any:
    return whole(score.bind(engine(data_of(*table)), None), range(len(table[1])), blankets)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=8, deadline=None)
@given(table=categorical_tables(max_rows=60, max_columns=5, missing=True), seed=st.integers(0, 99))
def test_pairwise_rows_and_values_are_those_of_the_twin(engine: Any, table: Codes, seed: int) -> None:
    codes, cards = table
    blankets = [blanket.tolist() for blanket in blankets_of(len(cards), seed)]
    bound = PairwiseScore().bind(engine(data_of(codes, cards)), None)
    rows = whole(bound, range(len(cards)), blankets)
    refitted = whole(bound, range(len(cards)), blankets, exact=True)
    odds = saturated.log_prior_odds(len(cards), 4.0)
    for x, blanket in enumerate(blankets):
        for y in range(len(cards)):
            expected = 0.0 if y == x else loglinear.evidence(codes, cards, x, y, blanket)
            assert rows.evidence[x, y] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            if y in blanket:
                expected = loglinear.evidence_inside(codes, cards, x, y, blanket, 1.0, STRONG) + odds
                assert refitted.evidence[x, y] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        value = loglinear.value(codes, cards, x, blanket)
        assert rows.values[x] == pytest.approx(value, rel=1e-6, abs=1e-6)
        assert bound.value(x, np.array(blanket, int)) == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("score", FAMILIES)
@pytest.mark.parametrize(("n_rows", "n"), [(1, 4), (70, 5), (300, 9), (700, 300)])
def test_binary_rows_from_bits_are_those_from_tables(score: Any, n_rows: int, n: int) -> None:
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, (n, n_rows))
    codes[2:4] = codes[:2] ^ (rng.random((2, n_rows)) < 0.1)
    cards = [2] * (n - 1) + [1]
    codes[-1] = 0
    blankets = [np.setdiff1d(rng.integers(0, n, 7 if n > 6 else 2), x) for x in range(min(n, 40))]
    data = data_of(codes, cards)
    fast, slow = (
        score().bind(engine(data), None, threads)
        for engine, threads in ((MemoryEngine, 2), (HiddenEngine, 1))
    )
    for exact in (False, True):
        one, other = (whole(bound, range(len(blankets)), blankets, exact=exact) for bound in (fast, slow))
        np.testing.assert_allclose(one.evidence, other.evidence, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-10, atol=1e-8)


def test_pairwise_options() -> None:
    codes, cards = random_table(80, 4, 3, 0.0, seed=1)
    blankets = blankets_of(4, 2)
    rows = rows_of(PairwiseScore(effect_variance=3.0, expected_neighbours=1.0), (codes, cards), blankets)
    for x, blanket in enumerate(blankets):
        assert rows.values[x] == pytest.approx(loglinear.value(codes, cards, x, blanket.tolist(), 3.0, 1.0))


@settings(max_examples=15, deadline=None)
@given(table=categorical_tables(max_rows=80, max_columns=5), seed=st.integers(0, 99))
def test_adaptive_is_the_mixture_of_both(table: Codes, seed: int) -> None:
    cards = table[1]
    blankets = blankets_of(len(cards), seed)
    rows = rows_of(AdaptiveScore(saturated_share=0.2), table, blankets)
    odds = saturated.log_prior_odds(len(cards), 4.0)
    one, other = rows_of(PairwiseScore(), table, blankets), rows_of(SaturatedScore(), table, blankets)
    empty = [np.empty(0, np.int64)] * len(cards)
    starts = [2 * rows_of(score, table, empty).values for score in (PairwiseScore(), SaturatedScore())]
    ahead = starts[1] - starts[0]

    def mixed(pairwise: float, full: float, x: int, given: set[int]) -> float:
        cells = np.prod([float(cards[v]) for v in (x, *given)])
        return np.logaddexp(pairwise, full) if cells <= table[0].shape[1] else pairwise

    for x, blanket in enumerate(blankets):
        prior, given = len(blanket) * odds, set(blanket.tolist())
        s = [np.log(0.8) + 2 * one.values[x] + ahead[x] - prior, np.log(0.2) + 2 * other.values[x] - prior]
        now = mixed(*s, x, given)
        assert 2 * rows.values[x] - prior == pytest.approx(now, rel=1e-9)
        for y in set(range(len(cards))) - {x}:
            t = [found.evidence[x, y] - odds for found in (one, other)]
            sign = -1 if y in blanket else 1
            changed = mixed(s[0] + sign * t[0], s[1] + sign * t[1], x, given ^ {y})
            expected = sign * (changed - now) + odds
            assert rows.evidence[x, y] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("score", FAMILIES)
@settings(max_examples=15, deadline=None)
@given(table=categorical_tables(max_rows=80, max_columns=5), seed=st.integers(0, 99))
def test_renaming_levels_changes_nothing(score: Any, table: Codes, seed: int) -> None:
    codes, cards = table
    rng, blankets = np.random.default_rng(seed), blankets_of(len(cards), seed)
    renamed = np.array([rng.permutation(card)[row] for row, card in zip(codes, cards, strict=True)])
    one, other = rows_of(score(), table, blankets), rows_of(score(), (renamed, cards), blankets)
    np.testing.assert_allclose(other.evidence, one.evidence, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.values, one.values, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("prior", ["x", "\x00", [[0.5], [0.5, 0.5]], [None, "a"], object()])
def test_a_prior_that_is_no_number_is_an_error(prior: Any) -> None:
    with pytest.raises(RequestError, match="a number or a matrix of numbers"):
        log_prior_odds(2, 4.0, prior)


@pytest.mark.parametrize("score", FAMILIES)
def test_a_prior_for_each_pair(score: Any) -> None:
    codes, cards = random_table(100, 5, 3, 0.0, seed=3)
    prior = np.full((5, 5), np.nan)
    prior[0, 1] = prior[1, 0] = 0.01
    blankets = blankets_of(5, 1)
    plain, told = (
        rows_of(score(), (codes, cards), blankets),
        rows_of(score(prior=prior), (codes, cards), blankets),
    )
    difference = told.evidence - plain.evidence
    more = np.log(99.0) - log_prior_odds(5, 4.0)[0, 0]
    assert difference[0, 1] == pytest.approx(more)
    assert difference[1, 0] == pytest.approx(more)
    assert np.abs(difference).sum() == pytest.approx(2 * abs(more))
    joined = np.array([1 in blankets[0], 0 in blankets[1], False, False, False])
    np.testing.assert_allclose(told.values - plain.values, np.where(joined, more / 2, 0.0))


@pytest.mark.parametrize("score", FAMILIES)
def test_odd_tables_have_finite_answers(score: Any) -> None:
    """Separation, copies, constants, one row, more levels than rows, collinear blankets."""
    a = np.arange(40) % 2
    tables: list[Codes] = [
        (np.array([a, a, a, 1 - a, a * 0]), [2, 2, 2, 2, 1]),
        (np.zeros((3, 1), int), [2, 1, 5]),
        (np.array([np.arange(12), np.arange(12), np.arange(12) % 2]), [12, 15, 2]),
    ]
    for codes, cards in tables:
        n = len(cards)
        for blankets in ([np.empty(0, int)] * n, [np.setdiff1d(np.arange(n), x) for x in range(n)]):
            rows = rows_of(score(), (codes, cards), blankets)
            assert np.isfinite(rows.evidence).all()
            assert np.isfinite(rows.values).all()


@pytest.mark.parametrize(
    ("score", "options", "words"),
    [
        (PairwiseScore, {"effect_variance": 0}, "effect_variance must be a positive number"),
        (AdaptiveScore, {"saturated_share": 1.5}, "between 0 and 1"),
        (AdaptiveScore, {"expected_neighbours": -1}, "expected_neighbours must be a positive number"),
        (PairwiseScore, {"prior": 1.5}, "strictly between 0 and 1"),
        (PairwiseScore, {"prior": np.ones((3, 3)) / 2}, "matrix of shape"),
        (PairwiseScore, {"prior": np.array([[0.5, 0.2], [0.3, 0.5]])}, "differs from that of"),
    ],
)
def test_options_that_make_no_sense_are_refused(score: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        score(**options).bind(MemoryEngine(data_of(np.zeros((2, 3), int), [2, 2])), None)


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "climb"])
def test_every_search_lets_the_prior_be_learned(search: str) -> None:
    data = data_of(*random_table(300, 12, 2, 0.0, seed=8))
    score = SaturatedScore(expected_neighbours=None).bind(MemoryEngine(data), None)
    running = SEARCHES[search]().begin(score)
    running.advance(10_000)
    assert running.finished
    assert score.expected_neighbours != 4.0


def test_a_prior_is_learned_until_it_hardly_changes_or_three_times() -> None:
    """Who was asked once and said nearly the same is not asked again."""
    data = data_of(np.random.default_rng(0).integers(0, 2, (6, 50)), [2] * 6)
    asked = ([4.1, 1.0], 1), ([2.0, 2.05, 1.0], 2), ([2.0, 1.0, 0.5, 0.3], 3), ([0.1, 0.2, 3.0], 2)
    for degrees, n_asked in asked:
        score, left = AdaptiveScore(expected_neighbours=None).bind(MemoryEngine(data), None), list(degrees)
        changes = [score.learn_prior(lambda left=left: left.pop(0)) for _ in range(4)]
        assert len(degrees) - len(left) == n_asked, degrees
        usual = [4.0, *(max(degree, 0.25) for degree in degrees[:n_asked])]
        for k, change in enumerate(changes):
            if k >= n_asked or abs(np.log(usual[k + 1] / usual[k])) < 0.05:
                assert change is None
            else:
                share = np.minimum(np.array(usual[k : k + 2]) / 5, 0.5)
                assert change == pytest.approx(np.diff(np.log(share / (1 - share)))[0])
    told = AdaptiveScore(expected_neighbours=2.0).bind(MemoryEngine(data), None)
    assert told.learn_prior(lambda: 1 / 0) is None
