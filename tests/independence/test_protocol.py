"""Tests of your own plug in; a mismatch and a bad option are errors that name what is wrong."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ibmap import BayesianTest, ChiSquareTest, FunctionTest, Graph, GSquareTest, OracleTest
from ibmap.engines import Engine, MemoryEngine, Tables
from ibmap.errors import RequestError
from ibmap.estimators import IBMAP
from ibmap.independence import Answers, BoundTest, IndependenceTest, TableTest, as_test
from ibmap.learners import ibmap_hc
from tests.engines.partitioned import data_of
from tests.reference.bayesian import log_posterior
from tests.reference.tables import random_table

CODES, CARDS = random_table(200, 5, 3, 0.0, seed=2)
DATA = data_of(CODES, CARDS)


def by_the_book(x: int, y: int, given: tuple[int, ...]) -> float:
    return log_posterior(CODES, CARDS, x, y, given).log_independent


class TwiceTheRows(TableTest):
    """A user's own test on tables: the Bayesian one, of a table with every count doubled."""

    name, has_posteriors = "twice", True

    def evaluate(self, tables: Tables, cardinalities: Any) -> Answers:
        cells = tables.cells * np.array([[1], [1], [1], [2]])
        twice = replace(tables, cells=cells)
        doubled = data_of(np.tile(CODES, 2), CARDS)
        return BayesianTest().bind(MemoryEngine(doubled)).evaluate(twice)


class FromScratch(BoundTest):
    """A test that asks no engine, and is its own bound test."""

    name, has_posteriors = "from scratch", True

    def bind(self, engine: Engine) -> "FromScratch":
        return self

    def _answers(self, log_p: list[float]) -> Answers:
        yes = np.array(log_p)
        no = np.log(-np.expm1(yes))
        return Answers(yes > no, no - yes, yes, no)

    def fixed(self, x: int, ys: Any, given: Any) -> Answers:
        return self._answers([by_the_book(x, int(y), tuple(map(int, given))) for y in ys])

    def round_robin(self, x: int, members: Any) -> Answers:
        pool = [int(m) for m in members]
        return self._answers([by_the_book(x, y, tuple(m for m in pool if m != y)) for y in pool])

    def all_subsets(self, x: int, y: int, pool: Any, max_size: int | None = None) -> None:
        return None


@pytest.mark.parametrize("test", [by_the_book, FunctionTest(by_the_book), FromScratch(), "bayesian"])
def test_the_same_posteriors_give_the_same_network(test: object) -> None:
    ours, theirs = ibmap_hc(DATA, None, patience=1), ibmap_hc(DATA, test, patience=1)
    assert theirs.graph == ours.graph
    assert theirs.score == pytest.approx(ours.score, rel=1e-9)
    assert theirs.n_tests == ours.n_tests
    assert IBMAP(test, patience=1).fit(DATA).graph_ == ours.graph


def test_a_table_test_of_ones_own_learns() -> None:
    doubled = ibmap_hc(data_of(np.tile(CODES, 2), CARDS))
    own = ibmap_hc(DATA, TwiceTheRows())
    assert own.graph == doubled.graph
    assert own.score == pytest.approx(doubled.score, rel=1e-9)
    assert own.test == "twice"


@pytest.mark.parametrize("test", [BayesianTest(), ChiSquareTest(), FromScratch(), TwiceTheRows()])
def test_every_test_obeys_the_protocol(test: object) -> None:
    assert isinstance(test, IndependenceTest)
    assert as_test(test) is test


@pytest.mark.parametrize("test", ["chi-square", "g-square", "mutual-information", GSquareTest(alpha=0.01)])
def test_ibmap_with_a_test_without_posteriors_says_what_is_missing(test: object) -> None:
    with pytest.raises(RequestError, match="has none: use the Bayesian test"):
        IBMAP(test).fit(DATA)


def test_promised_posteriors_that_do_not_come_are_named() -> None:
    class Promises(TableTest):
        name, has_posteriors = "promises", True

        def evaluate(self, tables: Tables, cardinalities: Any) -> Answers:
            return Answers(tables.n_rows < 0, tables.n_rows.astype(float))

    with pytest.raises(RequestError, match="log_independent and log_dependent"):
        ibmap_hc(DATA, Promises())
    with pytest.raises(TypeError, match="must define evaluate"):
        type("Nothing", (TableTest,), {"name": "n", "has_posteriors": True})().bind(MemoryEngine(DATA)).fixed(
            0, np.array([1]), np.array([], int)
        )


@pytest.mark.parametrize("value", [0.1, math.nan, math.inf])
def test_what_is_not_the_logarithm_of_a_probability_is_refused(value: float) -> None:
    with pytest.raises(RequestError, match="not the logarithm of a probability"):
        ibmap_hc(DATA, lambda x, y, given: value)


@pytest.mark.parametrize("test", ["bayes", 7, object(), BayesianTest, MemoryEngine(DATA)])
def test_what_is_not_a_test_is_refused(test: object) -> None:
    with pytest.raises(RequestError):
        ibmap_hc(DATA, test)


MATRIX = np.full((5, 5), 0.4)
LOPSIDED = np.where(np.tri(5, dtype=bool), 0.3, 0.4)


@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.0},
        {"prior": 1.0},
        {"prior": -0.5},
        {"prior": math.nan},
        {"prior": MATRIX[:4, :4]},
        {"prior": MATRIX[0]},
        {"prior": LOPSIDED},
        {"prior": MATRIX * 2.5},
        {"prior": "half"},
        {"prior": None},
        {"prior_counts": 0},
        {"prior_counts": -1.5},
        {"prior_counts": math.nan},
        {"prior_counts": math.inf},
        {"prior_counts": "twos"},
        {"prior_counts": None},
        {"combine": "both"},
        {"slices": "some"},
        {"ties": "maybe"},
    ],
    ids=str,
)
def test_bad_options_of_the_bayesian_test(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=next(iter(options)).split("_")[0]):
        BayesianTest(**options).bind(MemoryEngine(DATA))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: ChiSquareTest(alpha=0.0),
        lambda: ChiSquareTest(alpha=1.0),
        lambda: GSquareTest(alpha=math.nan),
        lambda: ChiSquareTest(dof="none"),
        lambda: OracleTest(Graph("abcde"), doubt=0.0),
        lambda: OracleTest(Graph("abcde"), doubt=0.5),
        lambda: OracleTest(Graph("abc")),
    ],
)
def test_bad_options_of_the_other_tests(bad: Callable[[], Any]) -> None:
    with pytest.raises(RequestError):
        bad().bind(MemoryEngine(DATA)).fixed(0, np.array([1]), np.array([], int))


def test_names_are_provenance() -> None:
    assert BayesianTest().name == "bayesian"
    assert BayesianTest(prior_counts="bdeu", prior=0.1).name == "bayesian(prior=0.1, prior_counts=bdeu)"
    assert BayesianTest(prior=MATRIX).name == "bayesian(prior=per pair)"
    assert FunctionTest(by_the_book).name == "function by_the_book"
    assert OracleTest(Graph("ab")).name == "oracle of Graph(2 variables, 0 edges)"


def test_the_oracle_answers_by_separation() -> None:
    chain = Graph("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    test = OracleTest(chain, doubt=0.01).bind(None)
    answers = test.fixed(0, np.array([1, 2, 3]), np.array([], int))
    assert not answers.independent.any()
    assert np.exp(answers.log_dependent) == pytest.approx(np.full(3, 0.99))
    assert test.fixed(0, np.array([2, 3]), np.array([1])).independent.all()
    assert test.round_robin(1, np.array([0, 2, 3])).independent.tolist() == [False, False, True]
    assert test.all_subsets(0, 3, np.array([1, 2])).tolist() == [1]
    assert test.all_subsets(0, 1, np.array([2, 3])) is None
