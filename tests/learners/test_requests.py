"""Requests that make no sense get one clear line; sensible ones in odd clothes are understood."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ibmap import IBMAP, FunctionTest, load
from ibmap.errors import RequestError
from ibmap.learners import ibmap_hc

RNG = np.random.default_rng(0)
A = RNG.integers(2, size=120)
TABLE = {
    "a": A,
    "b": A ^ (RNG.random(120) < 0.1),
    "c": A ^ (RNG.random(120) < 0.1),
    "d": RNG.integers(2, size=120),
}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"patience": "many"}, "patience must be 0 or more"),
        ({"patience": 1.5}, "patience must be 0 or more"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"start": [("a", "b")]}, "start must be a Graph, not list"),
        ({"required": ["ab"]}, "pairs of names"),
    ],
)
def test_senseless_requests(options: dict[str, object], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        IBMAP(**options).fit(TABLE)


def test_none_required_is_nothing_required() -> None:
    assert IBMAP(required=None, forbidden=None).fit(TABLE).graph_ == IBMAP().fit(TABLE).graph_


def test_patience_beyond_all_pairs_is_all_pairs() -> None:
    assert ibmap_hc(load(TABLE), patience=10**30).graph == ibmap_hc(load(TABLE), patience=6).graph


@pytest.mark.parametrize("stop", [True, np.True_])
def test_a_callback_stops_the_search_with_any_true(stop: object) -> None:
    assert IBMAP(callback=lambda step: stop).fit(TABLE).n_iter_ == 1


def test_a_test_without_a_grain_of_doubt_is_refused() -> None:
    with pytest.raises(RequestError, match="some doubt"):
        IBMAP(FunctionTest(lambda x, y, given: -np.inf if x + y == 1 else 0.0)).fit(TABLE)


def test_results_before_fit() -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        _ = IBMAP().graph_
    assert not hasattr(IBMAP(), "graph_")


def test_an_undefined_prior_is_named_as_such() -> None:
    from ibmap import BayesianTest

    with pytest.raises(RequestError, match="strictly between 0 and 1"):
        IBMAP(BayesianTest(prior=np.full((4, 4), np.nan))).fit(TABLE)
