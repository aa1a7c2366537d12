"""A search that stalled says so: in Python, on the screen, in the files and in the report."""

import json
import warnings

import numpy as np
import pytest

from ibmap import GSMN, IBMAP, BayesianTest, EvidenceMAP, SearchWarning
from ibmap.data import load
from ibmap.learners import ibmap_hc
from ibmap.results.result_file import read_result, result_of_learned, result_text
from ibmap.results.warnings import certain_but_absent, stalled, untested
from ibmap.synthetic import simulate_random
from tests.reference.score import ib_score


@pytest.fixture(scope="module")
def hard():
    """3 levels, 50 variables with 3 neighbours: the climb ends where dozens of pairs look certain."""
    return simulate_random(50, 3, 1600, potentials="symmetric", levels=3, random_state=1000).data


def write_csv(path, rows):
    names = ",".join(f"v{i}" for i in range(np.shape(rows)[1]))
    np.savetxt(path, rows, "%d", ",", header=names, comments="")


def test_pairs_are_those_that_both_ends_are_certain_of():
    rng = np.random.default_rng(0)
    sigma = np.log(rng.random((30, 30)) ** 8)
    edges = np.argwhere(np.triu(rng.random((30, 30)) < 0.2, 1))
    adjacent = {tuple(pair) for pair in edges.tolist()}
    low = np.log(0.01)
    expected = [
        [i, j]
        for i in range(30)
        for j in range(i + 1, 30)
        if sigma[i, j] < low and sigma[j, i] < low and (i, j) not in adjacent
    ]
    assert len(expected) > 10
    assert certain_but_absent(edges, sigma).tolist() == expected
    assert certain_but_absent(np.empty((0, 2), np.int64), np.zeros((0, 0))).shape == (0, 2)


def test_few_pairs_are_not_worth_a_word():
    names, sigma = tuple("abcd"), np.zeros((4, 4))
    sigma[0, 1:], sigma[1:, 0] = -9.0, -9.0
    (words,) = stalled(names, np.array([[2, 3]]), sigma, 4)
    assert "3 pairs without an edge look certain, such as a - b" in words
    assert "patience=8" in words
    assert stalled(names, np.array([[0, 1]]), sigma, 4) == ()


def test_a_search_that_stalled_says_so_everywhere(hard, ibmap, tmp_path):
    with pytest.warns(SearchWarning, match=r"pairs without an edge look certain, .* patience=5, or use Evid"):
        net = IBMAP().fit(hard)
    (words,) = net.learned_.warnings
    assert words in str(net)
    result = result_of_learned(net.learned_, net.engine_)
    (tmp_path / "result.json").write_text(result_text(result))
    assert read_result(tmp_path).learned.warnings == (words,)
    write_csv(tmp_path / "hard.csv", hard)
    out = tmp_path / "out"
    ran = ibmap("learn", tmp_path / "hard.csv", "--learner", "ibmap-hc", "--out", out)
    assert ran.err.startswith("ibmap: warning: the search ended, though ")
    assert "--patience 5" in ran.err
    assert ran.err.count("\n") == 1
    assert "the search ended, though " in (out / "report.html").read_text()
    assert json.loads((out / "graph.json").read_text())["warnings"]


def test_others_are_silent(hard):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GSMN().fit(hard)
        EvidenceMAP().fit(np.asarray(hard)[:, :8])
        assert ibmap_hc(load(np.asarray(hard)[:, :8])).warnings == ()
        stop_at_once = ibmap_hc(load(hard), callback=lambda step: True)
    assert stop_at_once.warnings == ()


def test_near_misses_on_the_screen_are_close(ibmap, tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (400, 4))
    rows[:, 1] = rows[:, 0] ^ (rng.random(400) < 0.1)
    rows[:, 3] = 0  # says nothing
    write_csv(tmp_path / "t.csv", rows)
    ran = ibmap("learn", tmp_path / "t.csv")
    assert "undecided pairs" not in ran.out
    assert "v3" not in ran.out


@pytest.fixture(scope="module")
def items():
    """Twelve items of five levels, two factors, 500 rows: given long blankets no test can tell."""
    rng = np.random.default_rng(0)
    factors, loads = rng.normal(size=(500, 2)), np.repeat(np.eye(2), 6, axis=0)
    return np.clip(np.round(1.2 * factors @ loads.T + rng.normal(size=(500, 12)) + 3), 1, 5).astype(int)


def test_untested_edges_are_those_next_to_the_prior_at_both_ends():
    logs = np.log([[0.74, 0.26], [0.76, 0.5], [0.5, 0.24], [0.2, 0.1], [0.99, 0.5]])
    assert untested(logs, 0.5).tolist() == [True, False, False, False, False]
    assert untested(logs, 0.9).tolist() == [False, False, False, True, False]  # an edge has probability 0.1
    by_pair = np.array([0.5, 0.5, 0.5, 0.9, 0.5])
    assert untested(logs, by_pair).tolist() == [True, False, False, True, False]


def test_untested_edges_are_marked_counted_and_can_be_left_out(items, ibmap, tmp_path):
    with pytest.warns(
        SearchWarning, match=r"15 of 20 edges could not be tested, such as x0 - x1: .*drop_untested"
    ):
        net = IBMAP(patience=20).fit(items)
    assert len(net.learned_.untested) == 15
    kept = set(net.graph_.edges) - set(net.learned_.untested)
    dropped = IBMAP(patience=20, drop_untested=True).fit(items)
    assert set(dropped.graph_.edges) == kept
    assert dropped.score_ == pytest.approx(ib_score(items.T - 1, [5] * 12, dropped.adjacency_.astype(bool)))
    required = IBMAP(patience=20, drop_untested=True, required=[("x0", "x1")]).fit(items)
    assert ("x0", "x1") in required.graph_

    write_csv(tmp_path / "items.csv", items)
    out = tmp_path / "out"
    done = ibmap("learn", tmp_path / "items.csv", "--learner", "ibmap-hc", "--patience", 20, "--out", out)
    assert "20 direct associations (19 undecided) among 12 variables" in done.out
    assert "; 15 edges untested\n" in done.out
    assert done.out.count("untested\n") > 3
    result = read_result(out)
    assert len(result.learned.untested) == 15
    assert json.loads((out / "result.json").read_text())["untested"] == [
        [*e] for e in result.learned.untested
    ]
    assert "could not be tested" in (out / "report.html").read_text()
    x, y = result.learned.untested[0]
    assert "Neither end could test the edge" in ibmap("explain", out, x, y).out
    done = ibmap(
        "learn", tmp_path / "items.csv", "--learner", "ibmap-hc", "--patience", 20, "--drop-untested"
    )
    assert "5 direct associations" in done.out
    assert "drop_untested=True" in done.out


def test_edges_of_more_cells_than_rows_are_doubted(ibmap, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20, (200, 2))
    with pytest.warns(SearchWarning, match=r"1 edge joins columns with more cells than rows, as x0 - x1"):
        assert IBMAP().fit(rows).graph_.n_edges == 1
    with pytest.warns(SearchWarning, match=r"20 by 20 levels, 200 rows"):
        assert GSMN().fit(rows).graph_.n_edges == 1
    for learner in (
        IBMAP("bayesian", patience=1).set_params(test=BayesianTest(prior_counts="bdeu")),
        EvidenceMAP(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* has 20 levels in 200 rows, 10 each")
            assert learner.fit(rows).graph_.n_edges == 0
    write_csv(tmp_path / "t.csv", rows)
    ran = ibmap("learn", tmp_path / "t.csv", "--learner", "ibmap-hc", "--out", tmp_path / "out")
    assert "more cells than rows" in ran.err
    assert "--prior-counts 'bdeu'" in ran.err
    assert "more cells than rows" in (tmp_path / "out" / "report.html").read_text()
