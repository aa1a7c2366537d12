import json

import numpy as np
import pandas as pd
import pytest

from ibmap import BayesianTest, EvidenceMAP, Graph, accuracy, f_measure, log_score
from ibmap.data import load
from tests.learners.test_mixed import people as mixed_people

TRUE = Graph(["smoke", "cough", "tea"], [("smoke", "cough"), ("smoke", "tea")])
LEARNED = Graph(["tea", "smoke", "cough"], [("smoke", "cough"), ("cough", "tea")])


@pytest.fixture
def graphs(tmp_path):
    paths = tmp_path / "graph.json", tmp_path / "truth.json"
    for path, graph in zip(paths, (LEARNED, TRUE), strict=True):
        path.write_text(graph.to_json())
    return paths


def test_json_against_the_truth(ibmap, graphs):
    result = json.loads(ibmap("evaluate", graphs[0], "--truth", graphs[1], "--json").out)
    assert result["hamming"] == 2
    assert result["false_edges"] == [["tea", "cough"]]
    assert result["missing_edges"] == [["smoke", "tea"]]
    for kind in ("independences", "edges"):
        assert result[kind] == f_measure(LEARNED, TRUE, of=kind)._asdict()
    assert result["empty_graph"]["hamming"] == 2
    assert result["empty_graph"]["edges"]["recall"] == 0
    assert "accuracy" not in result


def test_a_constant_column_that_was_left_out_has_no_edges(ibmap, tmp_path):
    table, truth = tmp_path / "t.csv", tmp_path / "truth.json"
    table.write_text("smoke,cough,tea\n" + "0,0,1\n1,1,1\n" * 20)
    truth.write_text(TRUE.to_json())
    ibmap("learn", table, "--out", tmp_path / "found")
    result = json.loads(ibmap("evaluate", tmp_path / "found", "--truth", truth, "--json").out)
    assert result["missing_edges"] == [["smoke", "tea"]]


def test_json_against_data_alone(ibmap, graphs, survey):
    result = json.loads(ibmap("evaluate", graphs[0], "--data", survey, "--json").out)
    assert result["accuracy"] == accuracy(LEARNED, survey, random_state=0)
    assert result["accuracy_empty_graph"] == accuracy(Graph(TRUE.names), survey, random_state=0)
    assert (result["n_rows"], result["queries"], result["test"]) == (300, "formula", "bayesian")
    assert result["n_queries"] == 300
    assert "hamming" not in result
    options = ["--queries", 40, "--seed", 2, "--test", "chi-square"]
    result = json.loads(ibmap("evaluate", graphs[0], "--data", survey, *options, "--json").out)
    assert result["accuracy"] == accuracy(LEARNED, survey, test="chi-square", queries=40, random_state=2)
    assert result["queries"] == 40
    result = json.loads(ibmap("evaluate", graphs[0], "--data", survey, "--ties", "dependent", "--json").out)
    assert result["test"] == "bayesian(ties=dependent)"
    assert result["accuracy"] == accuracy(
        LEARNED, survey, test=BayesianTest(ties="dependent"), random_state=0
    )


def test_words_for_both(ibmap, graphs, survey):
    ran = ibmap("evaluate", graphs[0], "--truth", graphs[1], "--data", survey)
    assert (ran.code, ran.err) == (0, "")
    assert "Hamming distance 2: 1 false edge, 1 missing (the graph without edges: 2)" in ran.out
    assert "missing: smoke - tea" in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["0.500", "0.500", "0.500", "0.000", "edges"] in lines
    assert any(line[-1:] == ["independences"] for line in lines)
    both = accuracy(LEARNED, survey, random_state=0), accuracy(Graph(TRUE.names), survey, random_state=0)
    assert f"Log score {log_score(LEARNED, survey):.4f} on 300 rows (the graph without edges: " in ran.out
    assert f"Accuracy {both[0]:.3f} (the graph without edges: {both[1]:.3f})" in ran.out
    assert "300 questions: are two variables independent, given some others?" in ran.out


def test_folders_and_other_formats(ibmap, graphs, survey, tmp_path):
    assert ibmap("learn", survey, "--out", tmp_path / "result").code == 0
    assert ibmap("bootstrap", survey, "--replicates", 2, "--out", tmp_path / "trust").code == 0
    (tmp_path / "world").mkdir()
    graphs[1].rename(tmp_path / "world" / "truth.json")
    assert ibmap("convert", tmp_path / "result", tmp_path / "net.graphml").code == 0
    for source in ("result", "result/edges.csv", "trust", "net.graphml"):
        ran = ibmap("evaluate", tmp_path / source, "--truth", tmp_path / "world", "--json")
        assert json.loads(ran.out)["missing_edges"] == [["smoke", "tea"]]
    (tmp_path / "empty").mkdir()
    ran = ibmap("evaluate", tmp_path / "empty", "--truth", tmp_path / "world")
    assert ran.err.endswith("empty': ibmap learn --out DIR writes one\n")


def test_long_lists_of_wrong_edges_are_cut_on_the_screen_only(ibmap, tmp_path):
    names = [f"x{i}" for i in range(8)]
    (tmp_path / "all.json").write_text(Graph.complete(names).to_json())
    (tmp_path / "none.json").write_text(Graph(names).to_json())
    paths = (tmp_path / "all.json", "--truth", tmp_path / "none.json")
    assert "x0 - x5 and 23 more" in ibmap("evaluate", *paths).out
    assert len(json.loads(ibmap("evaluate", *paths, "--json").out)["false_edges"]) == 28


def test_bad_requests_are_one_line(ibmap, graphs, survey, tmp_path):
    (tmp_path / "other.json").write_text(Graph("ab").to_json())
    cases = {
        "nothing to compare with: give --truth, --data or both": [graphs[0]],
        "there is no file": [tmp_path / "gone.json", "--truth", graphs[1]],
        "is not a graph in edge list": [survey, "--truth", graphs[1]],
        "the learned graph lacks 'a', 'b'": [graphs[0], "--truth", tmp_path / "other.json"],
        "different variables: the table lacks 'a', 'b'": [tmp_path / "other.json", "--data", survey],
        "queries must be 'formula', 'per-size' or a": [graphs[0], "--data", survey, "--queries", 0],
        "unknown test 'guess'": [graphs[0], "--data", survey, "--test", "guess"],
        "missing must be": [graphs[0], "--data", survey, "--missing", "guess"],
    }
    for words, arguments in cases.items():
        ran = ibmap("evaluate", *arguments)
        assert (ran.code in (1, 2), ran.out) == (True, "")
        assert ran.err.count("\n") == 1
        assert words in ran.err


def test_unseen_rows_are_cut_at_the_edges_that_were_learned(ibmap, tmp_path):
    rng = np.random.default_rng(2)
    first, later = (
        pd.DataFrame({"a": (a := rng.normal(shift, 1, 300)), "b": (a > 0) * 1, "id": np.arange(300)})
        for shift in (0, 1)
    )
    first.to_csv(tmp_path / "first.csv", index=False)
    later.drop(columns="id").to_csv(tmp_path / "later.csv", index=False)
    options = ["--discretize", "quantile", "--bins", 3, "--drop", "id"]
    assert ibmap("learn", tmp_path / "first.csv", *options, "--out", tmp_path / "result").code == 0
    ran = ibmap("evaluate", tmp_path / "result", "--data", tmp_path / "later.csv", "--json")
    found = json.loads(ran.out)
    net = EvidenceMAP(discretize="quantile", bins=3).fit(first.drop(columns="id"))
    assert found["log_score"] == pytest.approx(net.score(later.drop(columns="id")))
    cut = load(later.drop(columns="id"), discretize="quantile", bins={"a": list(net.bin_edges_["a"])})
    assert found["log_score"] == pytest.approx(log_score(net.graph_, cut))
    assert found["log_score"] != pytest.approx(
        log_score(net.graph_, load(later.drop(columns="id"), discretize="quantile", bins=3))
    )
    said = ibmap("evaluate", tmp_path / "result", "--data", tmp_path / "later.csv").out
    assert said.startswith(f"Log score {found['log_score']:.4f} on 300 rows (the graph without edges: ")


def test_a_table_of_both_kinds(ibmap, tmp_path):
    people = pd.DataFrame(mixed_people())
    people[:400].to_csv(tmp_path / "seen.csv", index=False)
    people[400:].to_csv(tmp_path / "unseen.csv", index=False)
    assert ibmap("learn", tmp_path / "seen.csv", "--out", tmp_path / "net").code == 0
    ran = ibmap("evaluate", tmp_path / "net", "--data", tmp_path / "unseen.csv")
    assert "The mean log probability of a level, or log density of a number's standard score" in ran.out
    assert "queries 10, seed 0, test mixed" in ran.out
    found = json.loads(
        ibmap("evaluate", tmp_path / "net", "--data", tmp_path / "unseen.csv", "--json", "--queries", 4).out
    )
    assert (found["queries"], found["n_queries"], found["test"]) == (4, 20, "mixed")
    assert found["accuracy"] > found["accuracy_empty_graph"]
    assert found["log_score"] > found["log_score_empty_graph"]
