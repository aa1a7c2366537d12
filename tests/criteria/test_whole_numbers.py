"""Codes or amounts: the evidence knows, in random networks of codes and in questionnaires."""

import numpy as np
import pytest

from ibmap.criteria.whole_numbers import probability_of_amounts
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.engines.mixed import MixedEngine
from ibmap.errors import RequestError
from tests.engines.partitioned import PartitionedEngine


def answers(n_rows: int, seed: int, factors: int = 2) -> dict[str, np.ndarray]:
    """Return noisy copies of hidden factors, cut into five."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(factors, n_rows))
    return {
        f"{f}{i}": np.digitize(hidden[f] + rng.normal(size=n_rows), [-1.8, -0.7, 0.4, 1.5])
        for f in range(factors)
        for i in range(4)
    }


def recoded(table: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Return the same levels under other numbers, in no order."""
    rng = np.random.default_rng(seed)
    orders = np.array([[2, 0, 4, 1, 3], [1, 4, 0, 3, 2], [3, 1, 0, 4, 2]])
    return {name: orders[rng.integers(len(orders))][codes] for name, codes in table.items()}


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_amounts_and_their_codes_are_not(seed: int) -> None:
    table = answers(600, seed)
    for columns, amounts in ((table, True), (recoded(table, seed), False)):
        data = load(columns)
        found = probability_of_amounts(MemoryEngine(data), data.names)
        assert [p > 0.5 for p in found.values()] == [amounts] * len(table)


def test_what_kind_they_have_and_the_order_of_columns_and_rows_change_nothing() -> None:
    table = answers(200, 7)
    names, rows = list(table), np.random.default_rng(0).permutation(200)
    first = probability_of_amounts(MemoryEngine(load(table)), names)
    for other in (
        load(table, ordinal=names),
        load({name: table[name][rows] for name in names[::-1]}),
    ):
        again = probability_of_amounts(MemoryEngine(other), names)
        assert again == pytest.approx(first, abs=1e-6)


def test_numbers_and_missing_values_help_to_decide() -> None:
    rng = np.random.default_rng(1)
    dose, holes = rng.integers(1, 6, 400), rng.random(400) < 0.1
    effect = 0.5 * dose + rng.normal(size=400)
    table = load(
        {"dose": np.where(holes, np.nan, dose), "effect": effect},
        nominal=["dose"],
        continuous=["effect"],
        missing="auto",
    )
    assert probability_of_amounts(MixedEngine(table), ["dose"])["dose"] > 0.9


def test_two_levels_are_no_question() -> None:
    data = load({"a": [0, 1, 1, 0], "b": [0, 1, 0, 1], "c": [5, 5, 5, 5]})
    assert probability_of_amounts(MemoryEngine(data), data.names) == {}


def test_a_table_on_several_machines_is_refused() -> None:
    engine = PartitionedEngine(load(answers(20, 0)))
    with pytest.raises(RequestError, match="read the table into memory"):
        probability_of_amounts(engine, engine.schema.names)
