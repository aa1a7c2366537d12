"""averaged.json: written by ``ibmap bootstrap``, read beside a result, refused where it does not belong."""

import json

import numpy as np
import pytest

from ibmap import IBMAP, BayesianTest, Graph
from ibmap.errors import DataError, RequestError
from ibmap.learners import ibmap_hc
from ibmap.learners.bootstrap import bootstrap
from ibmap.results.bootstrap import as_support, read_support, stability_in_words, support_content
from ibmap.results.result_file import read_result, result_of_learned, result_text
from tests.chains import noisy_chain

KEYS = ("variables", "whole", "support", "n_rows", "learner", "test", "n_replicates", "seed")
DATA = noisy_chain(5, 60, noise=0.3)


@pytest.fixture(scope="module")
def found():
    return bootstrap(DATA, ibmap_hc, n_replicates=12, random_state=3)


@pytest.fixture
def result(tmp_path, found):
    (tmp_path / "result.json").write_text(result_text(result_of_learned(found.learned, DATA)))
    return read_result(tmp_path)


@pytest.fixture
def saved(tmp_path, found):
    """Write averaged.json, with some of its content changed."""

    def write(**changes):
        content = support_content(found, 0.5, 3) | changes
        (tmp_path / "averaged.json").write_text(json.dumps({k: v for k, v in content.items() if v != "gone"}))
        return tmp_path / "averaged.json"

    return write


def test_support_comes_back(found, result, saved):
    path = saved()
    support = read_support(path, result)
    assert support == read_support(path.parent, result)
    assert support.frequencies == {(x, y): share for x, y, share, _ in found.support().rows()}
    assert (support.n_replicates, support.seed, support.subsample) == (12, 3, 0.8)
    repeated = read_support(saved(subsample=None), result)
    assert repeated.subsample is None
    assert read_support(saved(subsample="gone"), result) == repeated  # as in older files
    assert set(found.learned.graph.edges) <= support.frequencies.keys()
    assert Graph.from_json(path.read_text()) == found.averaged(0.5)


def test_pairs_are_in_the_order_of_the_graph(found, result, saved):
    support = read_support(saved(), result)
    turned = [[y, x, share, known] for x, y, share, known in support_content(found, 0.5)["support"]]
    assert read_support(saved(support=turned, variables=DATA.names[::-1]), result) == support


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_rows": 61}, "n_rows is 61 there and 60 in the result"),
        ({"learner": "gsmn"}, "learner is 'gsmn' there and 'ibmap-hc' in the result"),
        ({"test": "bayesian(prior=0.7)"}, "test is 'bayesian(prior=0.7)' there and 'bayesian' in the result"),
        ({"variables": [*DATA.names, "more"]}, "the variables have other names"),
        ({"whole": []}, "has other edges"),
    ],
)
def test_support_of_another_table_or_learner(result, saved, changes, words):
    with pytest.raises(DataError, match="of another table or learner: ") as raised:
        read_support(saved(**changes), result)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "ibmap-result"}, "ibmap bootstrap --out DIR"),
        ({"format": "gone"}, "is not the support of edges"),
        ({"version": 2}, "comes from a newer ibmap"),
        ({"version": "gone"}, "comes from a newer ibmap"),
        *[
            ({key: "gone"}, "is damaged: KeyError")
            for key in ("variables", "whole", "support", "n_rows", "test")
        ],
        ({"support": [["v0", "v0", 0.5, True]]}, "is damaged: .* cannot have the support 0.5"),
        ({"support": [["v0", "v1", 1.5, True]]}, "is damaged: .* cannot have the support 1.5"),
        ({"support": [["v0", "w", 0.5, True]]}, "is damaged: .*'w'"),
        ({"support": [["v0", "v1", None, True]]}, "is damaged: TypeError"),
        ({"support": [["v0", "v1"]]}, "is damaged: TypeError"),
        ({"support": 7}, "is damaged: TypeError"),
        ({"subsample": 1.5}, "is damaged: .* cannot hold the share 1.5 of the rows"),
        ({"subsample": "half"}, "is damaged: TypeError"),
        ({"whole": [["v0"]]}, "is damaged: ValueError"),
        ({"whole": [["v0", []]]}, "is damaged"),
        ({"variables": [[], {}]}, "is damaged"),
    ],
)
def test_damaged_newer_or_of_another_kind(result, saved, changes, words):
    with pytest.raises(DataError, match=words):
        read_support(saved(**changes), result)


def test_no_file_and_no_json(result, tmp_path):
    with pytest.raises(RequestError, match=r"averaged.json': ibmap bootstrap --out DIR writes one"):
        read_support(tmp_path, result)
    (tmp_path / "averaged.json").write_text("{")
    with pytest.raises(DataError, match="is damaged: it is not JSON"):
        read_support(tmp_path, result)


@pytest.mark.filterwarnings("ignore::ibmap.SearchWarning")  # 60 rows are few
def test_frames_of_any_library_and_estimators(tmp_path):
    import pandas as pd

    from ibmap import Bootstrap

    frame = pd.DataFrame(dict(zip(DATA.names, np.asarray(DATA.codes), strict=True)))
    net = Bootstrap(IBMAP(BayesianTest(prior=0.4)), 5, random_state=0).fit(frame)
    content = json.loads(json.dumps(support_content(net.bootstrapped_, 0.5)))
    assert [row[2] for row in content["support"]] == net.support_["support"].tolist()
    assert (content["test"], content["seed"]) == ("bayesian(prior=0.4)", None)


def test_support_is_taken_from_whoever_has_it(found, result, saved):
    path = saved()
    support = read_support(path, result)
    assert as_support(None, result) is None
    assert as_support(support, result) is support
    assert as_support(path, result) == as_support(str(path), result) == support
    mine = as_support(found, result)
    assert mine.frequencies == support.frequencies
    for odd in (7, IBMAP()):
        with pytest.raises(RequestError, match="expected a fitted Bootstrap or its folder"):
            as_support(odd, result)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.5, "0.50 (stable: above 0.5)"),
        (0.49, "0.49 (moderate: 0.25 to 0.5)"),
        (0.25, "0.25 (moderate: 0.25 to 0.5)"),
        (0.24, "0.24 (unstable: below 0.25)"),
        (0.0, "0.00 (unstable: below 0.25)"),
    ],
)
def test_stability_is_told_in_words(share, words):
    assert stability_in_words(share) == f"CS coefficient of strength centrality: {words}"
    assert stability_in_words(None) == ""


def test_thresholds_keep_what_more_replicates_have(found):
    shares = {(x, y): share for x, y, share, _ in found.support().rows()}
    for threshold in (0.0, 0.25, 0.5, 0.75, 1.0):
        kept = {pair for pair, share in shares.items() if share > threshold or share == 1}
        assert set(found.averaged(threshold).edges) == kept
    for odd in (-0.01, 1.01, "half", True):
        with pytest.raises(RequestError, match="threshold must lie between 0 and 1"):
            found.averaged(odd)
    assert [share for *_, share, _ in found.support().rows()] == sorted(shares.values(), reverse=True)
    in_graph = {(x, y) for x, y, _, there in found.support().rows() if there}
    assert in_graph == set(found.learned.graph.edges)
    assert "array" not in repr(found)
