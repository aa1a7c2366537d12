"""IBMAP keeps scikit-learn's contract."""

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ibmap import DAGHC, IBMAP, BayesianTest, Graph
from ibmap.errors import DataError
from tests.learners.sklearn_checks import unfit_checks
from tests.reference import search as twin
from tests.reference.tables import random_table

CODES, CARDS = random_table(300, 6, 3, 0.0, seed=13)


@parametrize_with_checks([IBMAP(), DAGHC()], expected_failed_checks=unfit_checks)
@pytest.mark.filterwarnings(
    "ignore:too many levels", "ignore::ibmap.SearchWarning", "ignore::sklearn.exceptions.SkipTestWarning"
)
def test_scikit_learn_finds_nothing_to_object_to(estimator: IBMAP | DAGHC, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_clone_and_params() -> None:
    options = {
        "test": BayesianTest(prior=0.4),
        "criterion": "ib",
        "search": "climb",
        "patience": 2,
        "start": Graph("ab"),
        "required": [("a", "b")],
        "forbidden": (),
        "drop_untested": True,
        "missing": "drop",
        "discretize": "quantile",
        "bins": 4,
        "engine": "memory",
        "n_jobs": 2,
        "callback": None,
        "checkpoint": "search.json",
    }
    net = IBMAP(**options)
    assert net.get_params(deep=False) == options
    copy = clone(net)
    assert copy is not net
    assert copy.get_params(deep=False).keys() == options.keys()
    assert copy.patience == 2
    assert copy.start == Graph("ab")
    assert not hasattr(clone(IBMAP().fit(CODES.T)), "learned_")


def test_the_old_name_of_the_criterion_warns() -> None:
    with pytest.warns(FutureWarning, match="criterion="):
        net = IBMAP(score="saturated")
    assert net.criterion == "saturated"
    assert "score" not in net.get_params()
    assert callable(net.score)


def test_constructors_store_and_check_nothing() -> None:
    net = IBMAP("no such test", patience=-1, n_jobs=0, missing="whatever")
    assert (net.test, net.patience, net.n_jobs, net.missing) == ("no such test", -1, 0, "whatever")


@pytest.mark.parametrize(
    "source", [CODES.T, pd.DataFrame(CODES.T, columns=list("abcdef"))], ids=["numpy", "pandas"]
)
def test_a_fitted_learner_survives_pickling(source: object) -> None:
    net = IBMAP(BayesianTest(prior_counts="bdeu")).fit(source)
    copy = pickle.loads(pickle.dumps(net))
    assert copy.graph_ == net.graph_
    assert copy.score_ == net.score_
    assert np.array_equal(copy.pair_scores_, net.pair_scores_)
    assert str(copy) == str(net)
    assert copy.learned_.history == net.learned_.history
    assert type(copy.edges_) is type(net.edges_)


def test_fit_returns_self_and_forgets_the_last_table() -> None:
    net = IBMAP()
    assert net.fit(pd.DataFrame(CODES.T, columns=list("abcdef"))) is net
    assert net.feature_names_in_.tolist() == list("abcdef")
    assert net.fit(CODES[:4].T).n_features_in_ == 4
    assert not hasattr(net, "feature_names_in_")


@pytest.mark.parametrize("name", ["graph_", "edges_", "score_", "adjacency_", "history_", "n_tests_"])
def test_before_fit_there_are_no_results(name: str) -> None:
    assert not hasattr(IBMAP(), name)


def test_missing_values_testwise_agree_with_the_twin() -> None:
    codes, cards = random_table(200, 5, 3, 0.1, seed=4)
    frame = pl.DataFrame(
        {f"v{i}": [None if c < 0 else c for c in column] for i, column in enumerate(codes.tolist())}
    )
    net = IBMAP(missing="testwise", patience=1).fit(frame)
    expected = twin.ibmap_hc(codes, cards, patience=1)
    assert np.array_equal(net.adjacency_, expected.adjacency)
    assert net.score_ == pytest.approx(expected.score, rel=1e-9)
    with pytest.raises(DataError, match="missing"):
        IBMAP().fit(frame)
    assert IBMAP(missing="drop").fit(frame).learned_.n_rows == int((codes >= 0).all(axis=0).sum())
    assert IBMAP(missing="category").fit(frame).learned_.n_rows == 200


def test_continuous_columns_are_cut_on_request() -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=200), "c": rng.integers(2, size=200)}
    table["b"] = table["a"] + rng.normal(size=200) / 5
    with pytest.raises(DataError, match="discretize"):
        IBMAP().fit(table)
    net = IBMAP(discretize="quantile", bins=3).fit(table)
    assert net.graph_.edges == (("a", "b"),)
    assert set(net.bin_edges_) == {"a", "b"}


def test_a_fit_that_nobody_wants_is_gone_at_once():
    """No reference cycle keeps a table alive until the garbage collector comes by."""
    rows = np.random.default_rng(0).integers(0, 2, (200, 5))
    gc.collect()
    gc.disable()
    try:
        fitted = IBMAP().fit(rows)
        table = weakref.ref(fitted.engine_.data)
        del fitted
        assert table() is None
    finally:
        gc.enable()
