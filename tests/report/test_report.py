"""The report without a browser: what the page carries, and what is refused in one line."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import ibmap
from ibmap import IBMAP, Bootstrap
from ibmap.data import load
from ibmap.drawing.layouts import places_of
from ibmap.errors import DataError, RequestError
from ibmap.learners import evidence_map
from ibmap.report import content, report_text, write_report
from ibmap.report.content import header, page_content
from ibmap.results.result_file import read_result, result_of_learned, result_text
from tests.report.conftest import NASTY, result_for, started_from


def carried(text):
    """Return the data inside a page."""
    return json.loads(
        re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.S)[1]
    )


def test_one_file_that_asks_the_network_for_nothing(chain):
    text = report_text(chain)
    ours = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert "default-src 'none'" in ours
    assert len(text) < 120_000
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", ours)
    assert "url(" not in ours
    assert "@import" not in ours


def test_names_cannot_end_the_script_that_carries_them(nasty):
    text = report_text(nasty)
    raw = re.search(r'id="content">(.*?)</script>', text, re.S)[1]
    assert raw.isascii()
    assert not set("<>&") & set(raw)
    assert carried(text)["names"] == list(NASTY)


def test_pairs_are_edges_then_near_misses_by_falling_posterior(chain):
    found = page_content(chain)
    pairs, names, n = found["pairs"], chain.learned.graph.names, chain.learned.graph.n_edges
    assert found["n_listed"] == n
    assert len(pairs["x"]) == n + len(chain.content["near_misses"])
    logs = np.add(pairs["xy"], pairs["yx"])
    assert (np.diff(logs[:n]) <= 0).all()
    assert (np.diff(logs[n:]) <= 0).all()
    numbers = {(x, y): these for x, y, these in chain.network.edges()}
    for k in range(n):
        edge = names[pairs["x"][k]], names[pairs["y"][k]]
        assert (pairs["xy"][k], pairs["yx"][k]) == tuple(list(numbers[edge].values())[1:])
        assert pairs["counts"][k] == chain.content["counts"][chain.learned.graph.edges.index(edge)]


def test_a_page_carries_the_most_probable_edges_and_says_so(complete, monkeypatch):
    assert "this page carries" not in report_text(complete)
    monkeypatch.setattr(content, "EDGES", 10)
    text = report_text(complete)
    assert "this page carries the 10 associations with the highest posterior" in text
    found = carried(text)
    assert found["n_listed"] == 10
    assert found["n_edges"] == 66
    assert found["degrees"] == [11] * 12


def test_infinite_logs_stay_json(chain_data):
    learned = ibmap.learners.ibmap_hc(chain_data)
    scores = learned.pair_scores.copy()
    scores[:] = np.where(scores < -1, -np.inf, scores)
    found = result_for(ibmap.Learned(**{**vars(learned), "pair_scores": scores}), chain_data)
    logs = carried(report_text(found))["pairs"]["xy"]
    assert min(logs) >= content.LEAST


def test_the_header_tells_where_it_comes_from(chain, nasty):
    told = dict(header(chain))
    assert told["data"] == "a table in memory"
    assert told["size"] == "300 rows, 8 variables"
    assert told["test"].startswith("bayesian (prior 0.5, prior counts ones")
    assert told["seed"].startswith("none")
    assert f"ibmap {ibmap.__version__}" in told["versions"]
    assert dict(header(nasty))["data"] == "tab&le.csv"  # a report that is passed on tells no folders


@pytest.mark.parametrize("n", [1, 2, 40])
def test_every_variable_has_a_place_in_the_square(n):
    result = started_from(lambda names: ibmap.Graph(names, pairwise(names[: n // 2])), n)
    places = np.array(page_content(result)["nodes"]["places"])
    assert places.shape == (n, 2)
    assert (places >= 0).all()
    assert (places <= 1).all()
    assert len(np.unique(places, axis=0)) == n
    assert set(places_of(result.learned.graph, "packed", 0)) == set(result.learned.graph.names)


def test_large_networks_have_no_places(large):
    assert page_content(large)["nodes"]["places"] is None


def test_from_python(tmp_path, chain_data):
    net = IBMAP(patience=1).fit(chain_data)
    boot = Bootstrap(IBMAP(patience=1), 5, random_state=3, subsample=None).fit(chain_data)
    ibmap.write_report(net, tmp_path / "net.html", support=boot)
    text = (tmp_path / "net.html").read_text()
    assert carried(text)["has_support"]
    assert "5 replicates, seed 3" in text
    assert "with replacement" in text
    half = Bootstrap(IBMAP(patience=1), 5, random_state=3, subsample=0.5).fit(chain_data)
    ibmap.write_report(net, tmp_path / "half.html", support=half)
    text = (tmp_path / "half.html").read_text()
    assert "5 replicates of 50% of the rows, seed 3" in text
    assert "with replacement" not in text
    with pytest.raises(RequestError, match="exists: pass overwrite=True to replace it"):
        write_report(net, tmp_path / "net.html")
    write_report(net, tmp_path / "net.html", overwrite=True)
    assert not carried((tmp_path / "net.html").read_text())["has_support"]


def test_support_of_another_learner_is_refused(tmp_path, chain_data):
    boot = Bootstrap(IBMAP(ibmap.BayesianTest(prior=0.9)), 2, random_state=0).fit(chain_data)
    with pytest.raises(DataError, match="test is 'bayesian"):
        write_report(IBMAP().fit(chain_data), tmp_path / "net.html", support=boot)
    with pytest.raises(RequestError, match="Bootstrap or its folder, not int"):
        write_report(IBMAP().fit(chain_data), tmp_path / "net.html", support=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("source", [3, None, IBMAP])
def test_what_cannot_be_reported_about(tmp_path, source):
    with pytest.raises(RequestError, match="a result or its folder"):
        write_report(source, tmp_path / "net.html")


def test_the_first_line_is_the_finding(chain):
    text = report_text(chain, title="A <chain>")
    assert chain.learned.finding.startswith("7 direct associations")
    assert f"<h1>{chain.learned.finding}</h1>" in text
    assert "A &lt;chain&gt;</p>" in text


def test_copies_are_one_node():
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=400)
    data = load({"a": a, "b": np.where(rng.random(400) < 0.1, 1 - a, a), "c": 1 - a})
    nodes = page_content(result_of_learned(evidence_map(data), data))["nodes"]
    assert nodes["names"] == ["a = c", "b"]
    assert nodes["of"] == [0, 1, 0]


def test_warnings_stand_under_the_finding_and_options_are_rounded(chain):
    warned = replace(chain, learned=replace(chain.learned, warnings=("<few> rows",)))
    assert "<strong>Note:</strong> &lt;few&gt; rows" in report_text(warned)
    provenance = {**chain.content["provenance"], "score": {"name": "s", "options": {"expected": 6.271474}}}
    assert ("score", "s (expected 6.27)") in header(
        replace(chain, content={**chain.content, "provenance": provenance})
    )


def test_a_result_that_was_read_has_the_same_page(tmp_path):
    rng = np.random.default_rng(0)
    party = rng.integers(4, size=500)
    data = load(
        {"party": party, "class": (party + (rng.random(500) < 0.3)) % 3, "sex": rng.integers(2, size=500)}
    )
    made = result_of_learned(evidence_map(data).with_effects(data), data)
    (table,), (counts,) = page_content(made)["pairs"]["table"], page_content(made)["pairs"]["counts"]
    assert np.shape(table) == np.shape(counts) == (4, 3)
    assert table == np.round(made.learned.effects.tables[0], 3).tolist()
    (tmp_path / "result.json").write_text(result_text(made))
    read = read_result(tmp_path)
    assert page_content(read)["pairs"]["table"] == [table]
    assert len(report_text(read)) == len(report_text(made))
    (tmp_path / "result.json").write_text(result_text(made).replace(str(table[0]), "[1.0]"))
    with pytest.raises(DataError, match="is damaged"):
        read_result(tmp_path)
