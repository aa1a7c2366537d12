"""The imputer keeps scikit-learn's contract, and fills frames of any library."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ibmap import Graph, NetworkImputer
from ibmap.errors import RequestError

RNG = np.random.default_rng(0)
FLAGS = RNG.integers(2, size=200)
TABLE = {"a": FLAGS, "b": FLAGS ^ (RNG.random(200) < 0.05), "c": RNG.integers(3, size=200)}


@parametrize_with_checks([NetworkImputer()])
@pytest.mark.filterwarnings("ignore:too many levels", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_nothing_to_object_to(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_come_back_as_they_were_but_for_the_gaps(library: Any) -> None:
    words = {name: [f"{name}{value}" for value in column] for name, column in TABLE.items()}
    gaps = {name: list(column) for name, column in words.items()}
    gaps["b"][3] = None
    filled = NetworkImputer().fit(library.DataFrame(words)).transform(library.DataFrame(gaps))
    assert isinstance(filled, library.DataFrame)
    assert list(filled["b"])[3] == f"b{TABLE['a'][3]}"
    assert [list(filled[name]) for name in "ac"] == [words[name] for name in "ac"]


def test_numbers_are_filled_with_the_middle_of_a_bin() -> None:
    numbers = np.column_stack([FLAGS, np.where(FLAGS, 10.0, 0.0) + RNG.random(200)])
    gaps = numbers[:4].copy()
    gaps[:, 1] = np.nan
    filled = NetworkImputer(discretize="quantile", bins=2).fit(numbers).transform(gaps)
    assert (np.abs(filled[:, 1] - np.where(FLAGS[:4], 10.5, 0.5)) < 5).all()


def test_a_graph_of_ones_own_and_a_pipeline() -> None:
    table = np.column_stack(list(TABLE.values())).astype(float)
    table[0, 1] = np.nan
    graph = Graph(["x0", "x1", "x2"], [("x0", "x1")])
    imputer = NetworkImputer(graph=graph, method="pseudo-likelihood")
    filled = make_pipeline(imputer).fit_transform(table)
    assert filled[0, 1] == TABLE["a"][0]
    assert imputer.network_.graph == graph
    copy = pickle.loads(pickle.dumps(imputer))
    assert (copy.transform(table) == filled).all()
    assert not hasattr(clone(imputer), "network_")


def test_requests_that_make_no_sense() -> None:
    with pytest.raises(NotFittedError):
        NetworkImputer().transform(np.zeros((3, 2)))
    with pytest.raises(RequestError, match="unknown learner"):
        NetworkImputer(learner="none").fit(np.eye(3))
    with pytest.raises(RequestError, match="only the graph has"):
        NetworkImputer(graph=Graph("ab")).fit(np.eye(3))


def test_a_dict_of_columns_comes_back_without_gaps():
    table = {"a": [0, 1] * 20 + [1], "b": ["no", "yes"] * 20 + [None], "id": list(range(41))}
    learned = {name: table[name] for name in ("a", "b")}
    imputer = NetworkImputer().fit(learned)
    assert imputer.transform(table) == {**table, "b": ["no", "yes"] * 20 + ["yes"]}
    assert table["b"][-1] is None
    arrays = {"a": np.array(table["a"]), "b": np.array(table["b"], dtype=object)}
    assert imputer.transform(arrays)["b"][-1] == "yes"
