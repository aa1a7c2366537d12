"""Leave-one-out pseudo-likelihoods from counts are those of taking out one row after the other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.criteria import left_out
from ibmap.criteria.left_out import best_left_out, blanket_of, directed_left_out
from tests.engines.partitioned import ENGINES, MemoryEngine, data_of
from tests.reference import left_out as twin
from tests.reference.tables import Codes, categorical_tables, random_table


def graph_of(n: int, seed: int) -> np.ndarray:
    """Arcs from some variables to later ones: row child, column parent."""
    return np.asarray(np.tril(np.random.default_rng(seed).random((n, n)) < 0.4, -1))


def assert_agrees(table: Codes, engine: Any, seed: int) -> None:
    codes, cards = table
    arcs, counting = graph_of(len(cards), seed), engine(data_of(codes, cards))
    blankets = [blanket_of(arcs, x) for x in range(len(cards))]
    found = best_left_out(counting, blankets), directed_left_out(counting, arcs, 1.0)
    for x, blanket in enumerate(map(np.ndarray.tolist, blankets)):
        main, full = (
            twin.pairwise(codes, cards, x, blanket, 1.0),
            twin.saturated(codes, cards, x, blanket, 0.5),
        )
        expected = max(main, full), twin.directed(codes, cards, x, blanket, arcs, 1.0)
        assert [one[x] for one in found] == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=10)
@given(
    table=categorical_tables(max_rows=40, max_columns=5, max_levels=8, missing=True), seed=st.integers(0, 99)
)
def test_both_are_those_of_the_twin(engine: Any, table: Codes, seed: int) -> None:
    assert_agrees(table, engine, seed)


def test_small_trips_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_out, "AT_ONCE", 1)
    assert_agrees(random_table(60, 6, 4, 0.05, seed=1), MemoryEngine, 3)


def test_families_that_are_the_same_are_judged_once() -> None:
    counting = MemoryEngine(data_of(*random_table(80, 9, 3, 0.05, seed=2)))
    for seed in range(5):
        arcs = graph_of(9, seed)
        known = arcs, directed_left_out(counting, arcs, 1.0)
        other = arcs.copy()
        other[5 + seed % 4] ^= np.arange(9) == seed
        again = directed_left_out(counting, other, 1.0, known)
        assert again == pytest.approx(directed_left_out(counting, other, 1.0), rel=1e-12)
        assert (again == known[1]).any()
        assert (directed_left_out(counting, arcs, 1.0, known) == known[1]).all()


def test_the_blanket_has_parents_children_and_their_other_parents() -> None:
    arcs = np.zeros((5, 5), bool)
    arcs[1, 0] = arcs[2, 1] = arcs[2, 3] = True  # 0 → 1 → 2 ← 3, and 4 alone
    assert [blanket_of(arcs, x).tolist() for x in range(5)] == [[1], [0, 2, 3], [1, 3], [1, 2], []]


def test_seventy_parents_are_no_matter() -> None:
    codes, cards = random_table(30, 72, 2, 0.0, seed=5)
    arcs = np.zeros((72, 72), bool)
    arcs[71, :71] = True
    assert np.isfinite(directed_left_out(MemoryEngine(data_of(codes, cards)), arcs, 1.0)).all()


def test_no_trip_asks_for_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows times variables, those of x, its blanket and two for the counts, are bounded."""
    codes, cards = random_table(50, 12, 2, 0.0, seed=1)
    engine, trips = MemoryEngine(data_of(codes, cards)), []
    ask = left_out.ask
    monkeypatch.setattr(left_out, "AT_ONCE", 50 * 20)

    def noted(counting: Any, questions: Any) -> Any:
        trips.append(
            [50 * (len(given) + 3) for given in np.split(questions.given, questions.given_start[1:-1])]
        )
        return ask(counting, questions)

    monkeypatch.setattr(left_out, "ask", noted)
    best_left_out(engine, [np.array([v for v in (x - 1, x + 1) if 0 <= v < 12]) for x in range(12)])
    assert sum(map(len, trips)) >= 12
    assert max(map(sum, trips)) <= 50 * 20
    assert max(map(len, trips)) > 1
