"""Every test that has a name keeps the contract: the same answers whichever way it is asked."""

import numpy as np
import pytest

from ibmap.engines import Engine, MemoryEngine
from ibmap.engines.mixed import MixedEngine
from ibmap.independence import IndependenceTest, as_test
from ibmap.independence.registry import TESTS
from tests.engines.partitioned import data_of
from tests.number_tables import table_of_numbers
from tests.reference.tables import random_table

CODES, CARDS = random_table(300, 5, 3, 0.0, seed=4)
COUNTS = MemoryEngine(data_of(CODES, CARDS))
SUMS = MixedEngine(table_of_numbers(CODES.astype(float), tuple("abcde")))
NOTHING = np.array([], dtype=np.int64)


def engine_of(name: str) -> Engine:
    """The table, as the test takes it: its levels are numbers, too."""
    return SUMS if getattr(TESTS[name], "continuous", False) else COUNTS


@pytest.mark.parametrize("name", TESTS)
def test_the_name_leads_to_a_test_that_says_it(name: str) -> None:
    test = as_test(name)
    assert isinstance(test, IndependenceTest)
    assert test.name.partition("(")[0] == name


@pytest.mark.parametrize("name", TESTS)
def test_one_entry_per_question_in_their_order(name: str) -> None:
    test = as_test(name).bind(engine_of(name))
    ys = np.array([1, 2, 3])
    answers, backwards = test.fixed(0, ys, np.array([4])), test.fixed(0, ys[::-1].copy(), np.array([4]))
    assert answers.independent.dtype == bool
    assert answers.independent.tolist() == backwards.independent[::-1].tolist()
    assert answers.strength == pytest.approx(backwards.strength[::-1], rel=1e-9)
    assert np.isfinite(answers.strength).all()
    assert len(test.fixed(0, NOTHING, NOTHING).independent) == 0


@pytest.mark.parametrize("name", TESTS)
def test_posteriors_are_promised_or_not(name: str) -> None:
    test = as_test(name)
    answers = test.bind(engine_of(name)).fixed(0, np.array([1, 2]), NOTHING)
    assert (answers.log_independent is not None) == test.has_posteriors
    assert (answers.log_dependent is not None) == test.has_posteriors
    if test.has_posteriors:
        total = np.exp(answers.log_independent) + np.exp(answers.log_dependent)  # type: ignore[arg-type]
        assert total == pytest.approx(np.ones(2))


@pytest.mark.parametrize("name", TESTS)
def test_the_three_shapes_of_question_agree(name: str) -> None:
    test = as_test(name).bind(engine_of(name))
    members = np.array([1, 2, 3])
    round_robin = test.round_robin(0, members).independent
    for k, y in enumerate(members):
        alone = test.fixed(0, members[k : k + 1], np.delete(members, k)).independent
        assert alone[0] == round_robin[k]
        found = test.all_subsets(0, int(y), np.array([4]))
        asked = [
            test.fixed(0, members[k : k + 1], given).independent[0] for given in (NOTHING, np.array([4]))
        ]
        assert (None if found is None else len(found)) == (asked.index(True) if any(asked) else None)
