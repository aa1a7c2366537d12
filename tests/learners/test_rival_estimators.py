"""The rivals keep scikit-learn's contract, and say what they cannot do."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ibmap import GSMN, HHCMN, BayesianTest, Learned, MutualInformation, load
from ibmap.errors import RequestError
from ibmap.learners import LEARNERS, find_learner, gsmn, hhc_mn, mutual_information
from tests.learners.sklearn_checks import unfit_checks
from tests.reference.tables import random_table

CODES, CARDS = random_table(200, 6, 3, 0.0, seed=13)
RIVALS = [GSMN, HHCMN, MutualInformation]
FUNCTIONS = {GSMN: gsmn, HHCMN: hhc_mn, MutualInformation: mutual_information}


@parametrize_with_checks([rival() for rival in RIVALS], expected_failed_checks=unfit_checks)
@pytest.mark.filterwarnings(
    "ignore:too many levels", "ignore::ibmap.SearchWarning", "ignore::sklearn.exceptions.SkipTestWarning"
)
def test_scikit_learn_finds_nothing_to_object_to(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("rival", RIVALS)
def test_an_estimator_says_what_the_function_says(rival: Any) -> None:
    frame = pd.DataFrame(CODES.T, columns=list("abcdef"))
    net = rival(symmetry="and", n_jobs=2).fit(frame)
    learned = FUNCTIONS[rival](load(frame), symmetry="and")
    assert net.graph_ == learned.graph
    assert (net.n_tests_, net.n_iter_) == (learned.n_tests, 6)
    assert net.feature_names_in_.tolist() == list("abcdef")
    assert len(net.edges_) == net.graph_.n_edges
    assert np.array_equal(net.adjacency_, net.graph_.adjacency)
    assert "among 6 variables" in str(net)
    copy = pickle.loads(pickle.dumps(net))
    assert copy.graph_ == net.graph_
    assert clone(net).symmetry == "and"
    assert not hasattr(clone(net), "graph_")


def test_provenance_names_the_options() -> None:
    table = load(CODES.T)
    said = {
        "gsmn": gsmn(table),
        "gsmn(symmetry=and)": gsmn(table, symmetry="and"),
        "hhc-mn": hhc_mn(table),
        "hhc-mn(max_condition=3)": hhc_mn(table, max_condition=3),
        "hhc-mn(max_condition=0, symmetry=or)": hhc_mn(table, max_condition=0, symmetry="or"),
        "mi": mutual_information(table),
        "mi(max_neighbours=5)": mutual_information(table, max_neighbours=5),
        "mi(factor=2.0, max_neighbours=1, symmetry=and)": mutual_information(
            table, factor=2.0, max_neighbours=1, symmetry="and"
        ),
    }
    assert [learned.learner for learned in said.values()] == list(said)
    assert hhc_mn(table, BayesianTest(prior=0.4)).test == "bayesian(prior=0.4)"


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"symmetry": "xor"}, "symmetry must be 'or' or 'and', not 'xor'"),
        ({"symmetry": None}, "symmetry must be"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"max_condition": -1}, "max_condition must be 0 or more"),
        ({"max_condition": 1.5}, "max_condition must be 0 or more"),
        ({"max_neighbours": -1}, "max_neighbours must be 0 or more"),
        ({"max_neighbours": 2.5}, "max_neighbours must be 0 or more"),
        ({"factor": "much"}, "factor must be a number"),
        ({"factor": float("nan")}, "factor must be a number"),
        ({"test": "no such test"}, "unknown test"),
    ],
)
def test_senseless_requests(rival: Any, options: dict[str, Any], words: str) -> None:
    if not set(options) <= set(rival().get_params()):
        with pytest.raises(TypeError, match="unexpected keyword"):
            rival(**options)
        return
    with pytest.raises(RequestError, match=words):
        rival(**options).fit(CODES.T)


def test_learners_by_name() -> None:
    assert {"ibmap-hc", "gsmn", "hhc-mn", "mi"} <= set(LEARNERS)
    for name in LEARNERS:
        learned = find_learner(name)(load(CODES.T))
        assert isinstance(learned, Learned)
        assert learned.learner == name
    with pytest.raises(RequestError, match="unknown learner 'pc'; there are evidence-map, ibmap-hc"):
        find_learner("pc")
