"""Conditionals of variables whose levels have an order: rows, values and left-out rows of the slow twin."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.criteria import AdaptiveScore, PairwiseScore
from ibmap.criteria.families import log_prior_odds
from ibmap.criteria.left_out import best_left_out
from ibmap.data import Table
from tests.criteria.test_saturated import blankets_of
from tests.engines.partitioned import ENGINES, MemoryEngine, data_of
from tests.reference import left_out as twin
from tests.reference.ordinal import Model
from tests.reference.tables import Codes, categorical_tables, random_table
from tests.rows import STRONG, whole


def ordered(table: Codes, seed: int) -> tuple[Table, list[int]]:
    """The table, with some of its variables ordinal."""
    data = data_of(*table)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(table[1])) < 0.7).tolist()
    return replace(data, ordinal=tuple(data.names[i] for i in chosen)), chosen


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=8, deadline=None)
@given(
    table=categorical_tables(max_rows=60, max_columns=5, max_levels=5, missing=True), seed=st.integers(0, 99)
)
def test_rows_values_and_left_out_rows_are_those_of_the_twin(engine: Any, table: Codes, seed: int) -> None:
    codes, cards = table
    data, ordinal = ordered(table, seed)
    n, counting, odds = len(cards), engine(data), log_prior_odds(len(cards), 4.0)[0, 0]
    blankets = blankets_of(n, seed)
    bound = PairwiseScore().bind(counting, None)
    rows, refitted = whole(bound, range(n), blankets), whole(bound, range(n), blankets, exact=True)
    left_out = best_left_out(counting, blankets)
    for x, blanket in enumerate(map(np.ndarray.tolist, blankets)):
        model = Model(codes, cards, ordinal, x, blanket)
        for y in sorted(set(range(n)) - {x}):
            t = model.inside(y) if y in blanket else model.outside(y)
            assert rows.evidence[x, y] == pytest.approx(t + odds, rel=1e-4, abs=1e-4)
            if y in blanket:
                if np.linalg.norm(model.theta[model.place[y]]) > STRONG:
                    same = codes[:, model.rows]
                    rest = Model(same, cards, ordinal, x, [v for v in blanket if v != y])
                    t = model.value() - rest.value()
                assert refitted.evidence[x, y] == pytest.approx(t + odds, rel=1e-4, abs=1e-4)
        value = (model.value() + len(blanket) * odds) / 2
        assert rows.values[x] == pytest.approx(value, rel=1e-6, abs=1e-6)
        best = max(model.left_out(), twin.saturated(codes, cards, x, blanket, 0.5))
        assert left_out[x] == pytest.approx(best, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("score", [PairwiseScore, AdaptiveScore])
@settings(max_examples=15, deadline=None)
@given(table=categorical_tables(max_rows=80, max_columns=5), seed=st.integers(0, 99))
def test_other_names_and_reversed_orders_change_nothing(score: Any, table: Codes, seed: int) -> None:
    codes, cards = table
    data, ordinal = ordered(table, seed)
    rng, blankets = np.random.default_rng(seed), blankets_of(len(cards), seed)
    codes = codes.copy()
    for v, card in enumerate(cards):
        codes[v] = card - 1 - codes[v] if v in ordinal else rng.permutation(card)[codes[v]]
    found = [
        whole(score().bind(MemoryEngine(one), None), range(len(cards)), blankets)
        for one in (data, replace(data, codes=codes))
    ]
    np.testing.assert_allclose(found[1].evidence, found[0].evidence, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[1].values, found[0].values, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("score", [PairwiseScore, AdaptiveScore])
def test_an_order_of_two_levels_changes_nothing(score: Any) -> None:
    codes, cards = random_table(120, 5, 3, 0.05, seed=4)
    codes[:3], cards[:3] = np.minimum(codes[:3], 1), [2, 2, 2]
    plain = data_of(codes, cards)
    data = replace(plain, ordinal=plain.names[:3])
    blankets = blankets_of(5, 1)
    one, other = (whole(score().bind(MemoryEngine(t), None), range(5), blankets) for t in (plain, data))
    np.testing.assert_array_equal(one.evidence, other.evidence)
    np.testing.assert_array_equal(one.values, other.values)


def test_a_nominal_variable_of_many_levels_has_ordinal_neighbours() -> None:
    """Its model is the approximated one; of an effect that hardly changes the covariance it is close."""
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(20, size=3000), rng.integers(7, size=3000), rng.integers(9, size=3000)])
    codes[1] = np.clip(codes[1] + (codes[0] > 9) * (rng.random(3000) < 0.3), 0, 6)
    cards, data = [20, 7, 9], data_of(codes, [20, 7, 9])
    data = replace(data, ordinal=data.names[1:2])
    for blanket in ([], [1]):
        bound = PairwiseScore().bind(MemoryEngine(data), None)
        rows = whole(bound, [0], [np.array(blanket, int)])
        model = Model(codes, cards, [1], 0, blanket)
        t = model.inside(1) if blanket else model.outside(1)
        assert rows.evidence[0, 1] - log_prior_odds(3, 4.0)[0, 0] == pytest.approx(t, rel=0.02, abs=0.05)


@pytest.mark.parametrize("score", [PairwiseScore, AdaptiveScore])
def test_odd_tables_have_finite_answers(score: Any) -> None:
    """Copies, constants, one row, more levels than rows, levels that no row has."""
    a = np.arange(40) % 4
    tables: list[Codes] = [
        (np.array([a, a, 3 - a, a * 0, a]), [4, 4, 4, 1, 7]),
        (np.zeros((3, 1), int), [3, 1, 5]),
        (np.array([np.arange(12), np.arange(12), np.arange(12) % 3]), [12, 15, 3]),
    ]
    for codes, cards in tables:
        data = data_of(codes, cards)
        n = len(cards)
        for blankets in ([np.empty(0, int)] * n, [np.setdiff1d(np.arange(n), x) for x in range(n)]):
            bound = score().bind(MemoryEngine(replace(data, ordinal=data.names)), None)
            rows = whole(bound, range(n), blankets)
            assert np.isfinite(rows.evidence).all()
            assert np.isfinite(rows.values).all()


def test_one_effect_pays_where_there_is_an_order() -> None:
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(300, 1)) * 0.6 + rng.normal(size=(300, 2))
    codes = np.array([np.digitize(column, [-1, -0.4, 0.4, 1]) for column in latent.T])
    nominal = data_of(codes, [5, 5])
    none = [np.empty(0, np.int64)] * 2
    found = [
        whole(PairwiseScore().bind(MemoryEngine(one), None), range(2), none).evidence[0, 1]
        for one in (nominal, replace(nominal, ordinal=nominal.names))
    ]
    assert found[1] > found[0] + 5
