"""Soft knowledge on the command line: a prior for some pairs."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ibmap import BayesianTest, load
from ibmap.cli.knowledge import prior_from
from ibmap.errors import IbmapError
from ibmap.learners import ibmap_hc

TABLE = {"a": [0, 1, 0, 1, 1, 0], "b": [0, 1, 0, 1, 0, 0], "c": [1, 1, 0, 0, 1, 0]}


def test_a_file_sets_the_prior_of_its_pairs(tmp_path: Path) -> None:
    path = tmp_path / "prior.csv"
    path.write_text("x,y,prior\nb,a,0.01\na,c,0.99\n")
    expected = [[0.5, 0.01, 0.99], [0.01, 0.5, 0.5], [0.99, 0.5, 0.5]]
    assert np.array_equal(prior_from(str(path), load(TABLE)), expected)


def test_a_strong_prior_makes_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "prior.csv"
    path.write_text("x,y,prior\nb,c,1e-9\n")
    data = load(TABLE)
    assert not ibmap_hc(data).graph.has_edge("b", "c")
    assert ibmap_hc(data, BayesianTest(prior=prior_from(str(path), data))).graph.has_edge("b", "c")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y,prior\na,d,0.5\n", "no variable 'd'"),
        ("x,y,prior\na,a,0.5\n", "two different variables"),
        ("x,y,prior\na,b,often\n", "line 2: 'often' is not a probability"),
        ("x,y,prior\na,b,0.2\na,b,0.3\n", "line 3: 'a' and 'b' have the prior 0.2 and 0.3"),
        ("x,y,prior\na,b,0.2\nb,a,0.3\n", "line 3: 'b' and 'a' have the prior 0.2 and 0.3"),
        ("x,y,prior\na,b,nan\n", "line 2: 'nan' is not a probability"),
        ("x,y,prior\na,b,1\n", "line 2: '1' is not a probability"),
        ("x,y\na,b\n", "columns x, y and prior"),
        ("x,y,prior\na,b\n", "more or fewer"),
        ("", "columns x, y and prior"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(text)
    with pytest.raises(IbmapError, match=words):
        prior_from(str(path), load(TABLE))


def test_neither_a_number_nor_a_file() -> None:
    with pytest.raises(IbmapError, match="takes a probability or a file, and 'half' is neither"):
        prior_from("half", load(TABLE))


def test_a_prior_of_one_half_counts_in_files_too(ibmap, tmp_path: Path) -> None:
    """Explain reads the posterior of an edge from result.json: it is that of the network."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=60)
    columns = {"a": a, "b": np.where(rng.random(60) < 0.4, rng.integers(2, size=60), a)}
    columns |= {f"c{i}": rng.integers(2, size=60) for i in range(9)}
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    (tmp_path / "prior.csv").write_text("x,y,prior\na,b,0.5\n")
    prior = ["--prior", tmp_path / "prior.csv"]
    assert ibmap("learn", tmp_path / "t.csv", *prior, "--out", tmp_path / "r").code == 0
    found = json.loads((tmp_path / "r" / "result.json").read_text())
    assert found["provenance"]["score"]["options"]["prior"] == {"others": None, "pairs": [["a", "b", 0.5]]}
    explained = json.loads(ibmap("explain", tmp_path / "r", "a", "b", "--json").out)
    logs = [view["numbers"] for view in explained["views"]]
    odds = [each["log_dependent"] - each["log_independent"] for each in logs]
    assert np.isclose(np.mean(odds), -explained["gain_of_flip"])  # of the same prior
