"""``ibmap interactions``: words, JSON, files, and what it refuses."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def xor(tmp_path):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 400))
    frame = pl.DataFrame({"=a": a, "b": b, "c": c, "d": a ^ b ^ (rng.random(400) < 0.1)})
    frame.write_csv(tmp_path / "xor.csv")
    return tmp_path / "xor.csv"


def test_words(ibmap, xor) -> None:
    ran = ibmap("interactions", xor)
    assert ran.code == 0
    assert ran.out.startswith("1 interaction among 4 variables, found in 400 rows")
    assert "posterior" in ran.out
    assert [line.split()[:3] for line in ran.out.splitlines() if "1 - " in line] == [["=a", "b", "d"]]


def test_json(ibmap, xor) -> None:
    found = json.loads(ibmap("interactions", xor, "--json", "--jobs", 2).out)
    assert (found["n_variables"], found["n_rows"]) == (4, 400)
    (one,) = found["interactions"]
    assert [one[name] for name in "xyz"] == ["=a", "b", "d"]
    assert one["posterior"] > 0.999


@pytest.fixture
def mixed(xor):
    """The same beside two numbers, a word that is missing at times, and an identifier."""
    frame, rng = pl.read_csv(xor), np.random.default_rng(1)
    pay, age = rng.normal(size=(2, 400)) + frame["b"].to_numpy()
    word = np.where(rng.random(400) < 0.1, "", np.where(frame["c"].to_numpy() == 1, "yes", "no"))
    names = {"id": np.arange(400), "pay": pay, "age": age, "word": pl.Series(word)}
    frame.with_columns(**names).write_csv(xor)
    return xor


def test_tables_of_any_columns_have_their_levels_looked_at(ibmap, mixed) -> None:
    ran = ibmap("interactions", mixed)
    assert ran.code == 0
    assert "'pay', 'age' are numbers, and interactions are those of levels: left out; --discretize" in ran.err
    assert "left out 'id'" in ran.err
    assert "each question uses the rows where its columns are known" in ran.err
    assert [line.split()[:3] for line in ran.out.splitlines() if "1 - " in line] == [["=a", "b", "d"]]
    ran = ibmap("interactions", mixed, "--discretize", "quantile", "--bins", 3)
    assert (ran.code, "are numbers" in ran.err) == (0, False)
    ran = ibmap("interactions", mixed, "--only", "b,c,pay,age")
    assert (ran.code, "of levels: cut numbers (--discretize 'quantile'), or use" in ran.err) == (2, True)
    assert ibmap("interactions", mixed, "--missing", "impute").refuses("does not impute")


def test_files(ibmap, xor, tmp_path) -> None:
    out = tmp_path / "found.csv"
    assert ibmap("interactions", xor, "--out", out, "--top", 0, "--safe-csv").code == 0
    rows = pl.read_csv(out)
    assert rows.columns == ["x", "y", "z", "log_evidence", "posterior"]
    assert rows.row(0)[:3] == ("'=a", "b", "d")
    assert ibmap("interactions", xor, "--out", out).refuses("--force")
    assert ibmap("interactions", xor, "--drop", "b", "--out", out, "--force").code == 0
    assert pl.read_csv(out).height == 0


def test_what_makes_no_sense_is_one_line(ibmap, xor, tmp_path) -> None:
    assert ibmap("interactions", xor, "--least-posterior", 1).refuses("--least-posterior")
    assert ibmap("interactions", xor, "--most", 0).refuses("--most")
    assert ibmap("interactions", tmp_path / "none.csv").refuses("none.csv")
    assert ibmap("interactions", xor, "--out", tmp_path / "found.txt").refuses(".csv")


def test_too_many_columns_are_one_line(ibmap, tmp_path) -> None:
    wide = tmp_path / "wide.csv"
    names = ",".join(f"v{i}" for i in range(100_000))
    rows = np.random.default_rng(0).integers(0, 2, (3, 100_000))
    rows[1] = 1 - rows[0]
    wide.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows.tolist())]))
    assert ibmap("interactions", wide).refuses("100,000 columns", "days", "--drop", "--jobs")
