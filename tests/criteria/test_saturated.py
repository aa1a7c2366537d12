"""The marginal pseudo-likelihood: rows and values of the slow twin, on every engine."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.criteria import SaturatedScore
from ibmap.errors import RequestError
from tests.engines.partitioned import ENGINES, MemoryEngine, data_of, with_wide_columns
from tests.reference import saturated as twin
from tests.reference.tables import Codes, categorical_tables, random_table
from tests.rows import whole


def blankets_of(n: int, seed: int) -> list[np.ndarray]:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < 0.4, 1)
    return [np.flatnonzero(row) for row in upper | upper.T]


def assert_agrees(table: Codes, engine: Any, seed: int, **options: float) -> None:
    codes, cards = table
    n, blankets = len(cards), blankets_of(len(cards), seed)
    score = SaturatedScore(**options).bind(engine(data_of(codes, cards)), None)
    a, c = options.get("prior_count", 0.5), options.get("expected_neighbours", 4.0)
    for given_blankets in (blankets, [[]] * n):
        rows = whole(score, range(n), given_blankets)
        for x, blanket in enumerate(given_blankets):
            expected = [0.0 if y == x else twin.evidence(codes, cards, x, y, blanket, a, c) for y in range(n)]
            assert rows.evidence[x] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            value = twin.value(codes, cards, x, blanket, a, c)
            assert rows.values[x] == pytest.approx(value, rel=1e-9, abs=1e-9)
            assert score.value(x, np.array(blanket, int)) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=15)
@given(table=categorical_tables(max_rows=200, max_columns=6, missing=True), seed=st.integers(0, 99))
def test_rows_and_values_are_those_of_the_twin(engine: Any, table: Codes, seed: int) -> None:
    assert_agrees(table, engine, seed)


@pytest.mark.parametrize("options", [{"prior_count": 2.0}, {"expected_neighbours": 1.0}])
def test_options(options: dict[str, float]) -> None:
    assert_agrees(random_table(150, 6, 4, 0.0, seed=1), MemoryEngine, 3, **options)


def test_columns_of_many_levels() -> None:
    assert_agrees(with_wide_columns(random_table(120, 4, 3, 0.05, seed=2), 33, 90), MemoryEngine, 4)


@settings(max_examples=25)
@given(table=categorical_tables(max_rows=200, max_columns=6), seed=st.integers(0, 99))
def test_evidence_is_what_a_flip_gains(table: Codes, seed: int) -> None:
    """The score is additive: Σ s changes by ±(t_xy + t_yx) / 2."""
    codes, cards = table
    n, blankets = len(cards), blankets_of(len(cards), seed)
    score = SaturatedScore().bind(MemoryEngine(data_of(codes, cards)), None)
    evidence = whole(score, range(n), blankets).evidence
    for x in range(n):
        for y in range(x + 1, n):
            with_edge, without = (
                sum(
                    score.value(v, np.union1d(blankets[v], w) if joined else np.setdiff1d(blankets[v], w))
                    for v, w in ((x, y), (y, x))
                )
                for joined in (True, False)
            )
            assert with_edge - without == pytest.approx((evidence[x, y] + evidence[y, x]) / 2, abs=1e-8)


@pytest.mark.parametrize("options", [{"prior_count": 0}, {"expected_neighbours": -1}, {"prior_count": "x"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="must be a positive number"):
        SaturatedScore(**options).bind(MemoryEngine(data_of(np.zeros((2, 3), int), [2, 2])), None)
