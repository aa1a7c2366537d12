"""A search without a matrix of all pairs, on the command line: the same network and files."""

import json

import numpy as np
import polars as pl
import pytest

from ibmap.search import climb


@pytest.fixture
def many(tmp_path):
    """Forty variables: groups of four noisy copies."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (40, 400))
    for x in range(40):
        if x % 4:
            columns[x] = np.where(rng.random(400) < 0.75, columns[x - x % 4], columns[x])
    pl.DataFrame(columns.T, schema=[f"v{j}" for j in range(40)]).write_parquet(tmp_path / "many.parquet")
    return tmp_path / "many.parquet"


def test_the_same_network_and_files_that_every_verb_reads(ibmap, many, tmp_path, monkeypatch):
    how = ("--learner", "ibmap-hc", "--patience", "20")
    with_matrix = ibmap("learn", many, *how, "--out", tmp_path / "a")
    monkeypatch.setattr(climb, "MATRIX", 30)
    without = ibmap("learn", many, *how, "--out", tmp_path / "b")
    assert (without.code, without.err) == (0, with_matrix.err)
    assert "With 40 variables no matrix of all pairs was kept" in " ".join(without.out.split())
    assert "no matrix" not in with_matrix.out
    one, other = (json.loads((tmp_path / name / "graph.json").read_text()) for name in "ab")
    assert one | {"seconds": 0} == other | {"seconds": 0}
    one, other = (pl.read_csv(tmp_path / name / "edges.csv") for name in "ab")
    assert one.filter("in_graph").equals(other.filter("in_graph"))
    assert len(other) > len(other.filter("in_graph"))
    for pair in (other.row(0)[:2], other.row(-1)[:2]):
        ran = ibmap("explain", tmp_path / "b", *pair)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == ibmap("explain", tmp_path / "a", *pair).out
    assert ibmap("report", tmp_path / "b", "--out", tmp_path / "page.html").code == 0


def test_a_checkpoint_goes_on_without_a_matrix(ibmap, many, tmp_path, monkeypatch):
    monkeypatch.setattr(climb, "MATRIX", 30)
    how = ("--learner", "ibmap-hc", "--patience", "20", "--json")
    whole = json.loads(ibmap("learn", many, *how).out)
    saved = json.loads(ibmap("learn", many, *how, "--checkpoint", tmp_path / "c.json").out)
    assert whole | {"seconds": 0} == saved | {"seconds": 0}
