"""A search that stalled says so: in Python, on the screen, in the files and in the report."""

import json
import warnings

import numpy as np
import pytest

from ibmap import GSMN, IBMAP, EvidenceMAP, SearchWarning
from ibmap.data import load
from ibmap.learners import ibmap_hc
from ibmap.results.doubts import certain_but_absent, stalled
from ibmap.results.result_file import read_result, result_of_learned, result_text
from ibmap.synthetic import simulate_random


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
    assert "3 pairs without an edge look certain, as a - b" in words
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
    assert "not adjacent, but close" not in ran.out
    assert "v3" not in ran.out
