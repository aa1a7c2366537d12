"""Every learner that has a name keeps the contract: a graph of the table, the same one every time."""

from inspect import signature

import numpy as np
import pytest

from ibmap.learners import LEARNERS, Learned, find_learner
from tests.engines.partitioned import data_of
from tests.reference.tables import random_table

CODES, CARDS = random_table(200, 8, 3, 0.0, seed=3)
CODES[1] = np.where(np.arange(200) % 5 == 0, CODES[1], CODES[0])
CARDS[1] = CARDS[0] = max(CARDS[0], CARDS[1])


@pytest.mark.parametrize("name", LEARNERS)
def test_it_says_who_it_is_and_what_it_found(name: str) -> None:
    data = data_of(CODES, CARDS)
    learned = find_learner(name)(data)
    assert isinstance(learned, Learned)
    assert learned.learner.partition("(")[0] == name
    assert learned.graph.names == data.names
    assert ("v0", "v1") in learned.graph.edges


@pytest.mark.parametrize("name", LEARNERS)
def test_options_are_by_keyword_and_an_engine_may_be_given(name: str) -> None:
    first, *others = signature(find_learner(name)).parameters.values()
    assert first.name == "data"
    assert all(one.kind is one.KEYWORD_ONLY for one in others if one.name != "test")
    assert {"engine", "n_jobs", "callback"} <= {one.name for one in others}


@pytest.mark.parametrize("name", LEARNERS)
def test_neither_threads_nor_the_order_of_rows_change_the_graph(name: str) -> None:
    learner = find_learner(name)
    here = learner(data_of(CODES, CARDS))
    assert learner(data_of(CODES, CARDS), n_jobs=2).graph == here.graph
    assert learner(data_of(CODES[:, ::-1].copy(), CARDS), n_jobs=1).graph == here.graph


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("shape", [(1, 3), (40, 2)], ids=["one row", "constant columns"])
def test_a_table_that_says_nothing_has_no_edges(name: str, shape: tuple[int, int]) -> None:
    rows, columns = shape
    nothing = data_of(np.zeros((columns, rows), dtype=np.int64), [1] * columns)
    assert find_learner(name)(nothing).graph.n_edges == 0
