"""``--weights``: a column of frequencies, or of sampling weights."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def counted(tmp_path):
    rng = np.random.default_rng(0)
    smokes = rng.integers(0, 2, 80)
    frame = pl.DataFrame(
        {"smokes": smokes, "coughs": smokes ^ (rng.random(80) < 0.2), "tea": rng.integers(0, 2, 80)}
    )
    times = rng.integers(0, 5, 80)
    frame.with_columns(pl.Series("n", times)).write_csv(tmp_path / "counted.csv")
    frame[np.repeat(np.arange(80), times).tolist()].write_csv(tmp_path / "rows.csv")
    frame.with_columns(pl.Series("w", rng.random(80) + 0.1)).write_csv(tmp_path / "survey.csv")
    return tmp_path


def test_frequencies_are_repeated_rows(ibmap, counted):
    one = ibmap("learn", counted / "counted.csv", "--weights", "n", "--json")
    other = ibmap("learn", counted / "rows.csv", "--json")
    first, second = json.loads(one.out), json.loads(other.out)
    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert "--weights n are whole numbers, taken for frequencies" in one.err
    assert "say that weights are 'sampling'" in one.err
    silent = ibmap("learn", counted / "counted.csv", "--weights", "n", "--weights-are", "frequency")
    assert "survey" not in silent.err
    survey = ibmap("learn", counted / "counted.csv", "--weights", "n", "--weights-are", "sampling")
    assert "--weights n are taken as sampling weights" in survey.err
    ran = ibmap("learn", counted / "survey.csv", "--weights", "w", "--weights-are", "frequency")
    assert ran.refuses("not whole numbers, so they cannot be frequencies")


def test_results_remember_their_weights(ibmap, counted):
    out = counted / "out"
    assert ibmap("learn", counted / "counted.csv", "--weights", "n", "--out", out).code == 0
    ran = ibmap("explain", out, "smokes", "coughs")
    assert (ran.code, ran.err) == (0, "")
    assert "weights n" in (out / "report.html").read_text()
    found = ibmap("bootstrap", counted / "counted.csv", "--weights", "n", "--replicates", 5)
    assert found.out == ibmap("bootstrap", counted / "rows.csv", "--replicates", 5).out
    ran = ibmap("evaluate", out / "graph.json", "--data", counted / "counted.csv", "--weights", "n", "--json")
    plain = ibmap("evaluate", out / "graph.json", "--data", counted / "rows.csv", "--json")
    assert json.loads(ran.out)["log_score"] == json.loads(plain.out)["log_score"]


def test_sampling_weights_say_what_they_are_worth(ibmap, counted):
    ran = ibmap("learn", counted / "survey.csv", "--weights", "w")
    assert "--weights w are taken as sampling weights: 80 rows count as" in ran.err
    assert "Learned from 6" in ran.out


def test_bad_weights(ibmap, counted):
    assert ibmap("learn", counted / "counted.csv", "--weights", "m").refuses("there is no variable 'm'")
    frame = pl.read_csv(counted / "counted.csv")
    frame.with_columns(pl.lit("x").alias("n")).write_csv(counted / "text.csv")
    assert ibmap("learn", counted / "text.csv", "--weights", "n").refuses("holds no numbers")
    ran = ibmap("compare", counted / "counted.csv", "--by", "tea", "--weights", "n")
    assert ran.refuses("compare takes no weights")
