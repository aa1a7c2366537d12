import json

import numpy as np
import polars as pl
import pytest

from ibmap import Graph, __version__, simulate_ising, simulate_random

RANDOM = ["simulate", "random", "--variables", 12, "--tau", 2, "--rows", 40, "--sweeps", 5]
ISING = ["simulate", "ising", "--variables", 11, "--rows", 40, "--sweeps", 5]


def rows_of(path):
    frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    return frame.columns, frame.to_numpy()


def test_a_random_world_in_two_files(ibmap, tmp_path):
    ran = ibmap(*RANDOM, "--seed", 3, "--out", tmp_path / "world")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("40 rows of 12 variables, 12 true edges, in ")
    assert "random: tau 2.0, levels 2, potentials random, log-odds 1.0, sweeps 5, seed 3" in ran.out
    assert sorted(path.name for path in (tmp_path / "world").iterdir()) == ["data.csv", "truth.json"]
    world = simulate_random(12, 2, 40, sweeps=5, random_state=3)
    columns, rows = rows_of(tmp_path / "world" / "data.csv")
    assert tuple(columns) == world.graph.names
    np.testing.assert_array_equal(rows, world.data)
    text = (tmp_path / "world" / "truth.json").read_text()
    assert Graph.from_json(text) == world.graph
    provenance = json.loads(text)["provenance"]
    assert provenance["world"] == "random"
    assert (provenance["tau"], provenance["seed"], provenance["ibmap"]) == (2, 3, __version__)


def test_levels_potentials_and_one_chain(ibmap, tmp_path):
    options = ["--levels", 4, "--potentials", "symmetric", "--log-odds", 2.5, "--thin", 2]
    assert ibmap(*RANDOM, *options, "--out", tmp_path).code == 0
    world = simulate_random(
        12, 2, 40, levels=4, potentials="symmetric", log_odds=2.5, sweeps=5, thin=2, random_state=0
    )
    np.testing.assert_array_equal(rows_of(tmp_path / "data.csv")[1], world.data)


def test_an_ising_world_in_parquet(ibmap, tmp_path):
    options = ["--boundary", "periodic", "--couplings", "plus-minus", "--strength", 0.3, "--field", -0.1]
    ran = ibmap(*ISING, *options, "--seed", 7, "--format", "parquet", "--out", tmp_path, "--json")
    assert (ran.code, ran.err) == (0, "")
    truth = json.loads(ran.out)
    assert truth == json.loads((tmp_path / "truth.json").read_text())
    assert truth["provenance"]["lattice"] == [3, 4]
    world = simulate_ising(
        11,
        40,
        boundary="periodic",
        couplings="plus-minus",
        strength=0.3,
        field=-0.1,
        sweeps=5,
        random_state=7,
    )
    assert Graph.from_json(truth) == world.graph
    np.testing.assert_array_equal(rows_of(tmp_path / "data.parquet")[1], world.data)


def test_the_files_are_what_learn_and_evaluate_read(ibmap, tmp_path):
    world, found = tmp_path / "world", tmp_path / "found"
    options = ["--variables", 8, "--tau", 2, "--rows", 600, "--potentials", "symmetric", "--log-odds", 2]
    assert ibmap("simulate", "random", *options, "--out", world).code == 0
    assert ibmap("learn", world / "data.csv", "--out", found).code == 0
    ran = ibmap("evaluate", found / "graph.json", "--truth", world / "truth.json", "--json")
    assert json.loads(ran.out)["hamming"] <= 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*RANDOM, "--tau", 12], "tau must lie between 0 and --variables - 1"),
        ([*RANDOM, "--variables", 0], "--variables must be between 1 and"),
        ([*RANDOM, "--rows", 0], "--rows must be 1 or more"),
        ([*RANDOM, "--sweeps", 0], "--sweeps must be 1 or more"),
        ([*RANDOM, "--thin", 0], "thin must be 1 or more"),
        ([*RANDOM, "--levels", 1], "levels must be between 2 and 256, a whole number, not 1"),
        ([*RANDOM, "--potentials", "ising"], "unknown potentials 'ising'"),
        ([*RANDOM, "--log-odds", "inf"], "--log-odds must be finite"),
        ([*RANDOM, "--format", "xlsx"], "--format must be csv or parquet, not 'xlsx'"),
        ([*ISING, "--variables", -2], "--variables must be between 1 and"),
        ([*ISING, "--boundary", "torus"], "unknown boundary 'torus'"),
        ([*ISING, "--couplings", "none"], "unknown couplings 'none'"),
        ([*ISING, "--strength", "nan"], "--strength must be finite"),
    ],
)
def test_bad_requests_are_one_line_and_write_nothing(ibmap, tmp_path, arguments, words):
    older = tmp_path / "older"
    older.mkdir()
    (older / "truth.json").write_text("older")
    for out in (older, tmp_path / "fresh"):
        ran = ibmap(*arguments, "--out", out, "--force")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("ibmap: error: ")
        assert ran.err.count("\n") == 1
        assert words in ran.err
    assert not (tmp_path / "fresh").exists()
    assert [(path.name, path.read_text()) for path in older.iterdir()] == [("truth.json", "older")]


@pytest.mark.parametrize("name", ["data.csv", "truth.json"])
def test_older_worlds_are_replaced_by_force_only(ibmap, tmp_path, name):
    (tmp_path / name).write_text("older")
    ran = ibmap(*RANDOM, "--out", tmp_path)
    assert ran.refuses(repr(str(tmp_path / name)), "--force")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]
    assert ibmap(*ISING, "--out", tmp_path, "--force").code == 0
    assert (tmp_path / name).read_text() != "older"


def test_a_file_in_the_way(ibmap, tmp_path):
    (tmp_path / "file").write_text("")
    assert "it is, or lies in, a file" in ibmap(*RANDOM, "--out", tmp_path / "file").err
    (tmp_path / "truth.json").mkdir()
    ran = ibmap(*RANDOM, "--out", tmp_path)
    assert (ran.code, "it is a folder" in ran.err) == (2, True)
    assert not (tmp_path / "data.csv").exists()


@pytest.mark.parametrize(
    "arguments", [["simulate"], RANDOM, ["simulate", "flat"], [*ISING, "--out", "x", "--seed", -1]]
)
def test_usage_errors_leave_with_2(ibmap, arguments):
    ran = ibmap(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err
