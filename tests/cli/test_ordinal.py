"""Ordinal columns on the command line: through learning, explaining, reporting, resampling and comparing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ibmap import EvidenceMAP
from ibmap.data import load
from ibmap.learners import evidence_map

LEVELS = ["low", "mid", "high"]


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Items of one factor, one of them reversed; a few values are -9."""
    rng = np.random.default_rng(5)
    factor = rng.normal(size=400)
    columns: dict[str, Any] = {}
    for name, sign in (("a", 1), ("b", 1), ("c", -1)):
        columns[name] = np.digitize(sign * factor + rng.normal(size=400), [-1.5, -0.5, 0.5, 1.5]) + 1
    columns["mood"] = np.array(LEVELS)[np.digitize(factor + rng.normal(size=400), [-0.7, 0.7])]
    columns["sex"] = rng.choice(["f", "m"], 400)
    columns["a"][::50] = -9
    pl.DataFrame(columns).write_csv(tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


ORDER = ["--ordinal", "a,b,c", "--ordinal", "mood=low<mid<high", "--missing-values", "a=-9"]


def test_signs_are_found_shown_written_and_explained(ibmap: Any, survey: Path, tmp_path: Path) -> None:
    run = ibmap("learn", survey, *ORDER, "--missing", "testwise", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    shown = {frozenset(line.split()[:2]): line for line in run.out.splitlines() if " r " in line}
    assert "r -" in shown[frozenset("bc")]
    edges = pl.read_csv(tmp_path / "out" / "edges.csv", null_values="NaN")
    signs = {frozenset((x, y)): r for x, y, r in edges.select("x", "y", "score_correlation").iter_rows()}
    assert signs[frozenset("bc")] < 0
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["ordinal"] == ["a", "b", "c", "mood"]
    said = ibmap("explain", tmp_path / "out", "b", "c")
    assert "b falls where c rises, everything else equal" in said.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "score_correlation" in page
    assert "ordinal" in page
    again = ibmap("report", tmp_path / "out", "--force")
    assert again.code == 0, again.err


def test_every_verb_takes_an_order(ibmap: Any, survey: Path, tmp_path: Path) -> None:
    how = [*ORDER, "--missing", "drop"]
    assert ibmap("learn", survey, *how, "--out", tmp_path / "out").code == 0
    for request in (
        ["bootstrap", survey, *how, "--replicates", "3", "--seed", "1"],
        ["evaluate", tmp_path / "out", "--data", survey],
        ["fit", tmp_path / "out", survey],
        ["compare", survey, *how, "--by", "sex", "--permutations", "3"],
        ["pack", survey, tmp_path / "t.ibmap", *how],
        ["learn", tmp_path / "t.ibmap"],
        ["plot", tmp_path / "out", tmp_path / "net.svg"],
        ["convert", tmp_path / "out", tmp_path / "net.graphml"],
    ):
        run = ibmap(*request)
        assert run.code == 0, (request, run.err)
    assert "r -" in ibmap("learn", tmp_path / "t.ibmap").out


def test_words_without_an_order_are_refused_in_one_line(ibmap: Any, survey: Path) -> None:
    run = ibmap("learn", survey, "--ordinal", "mood")
    assert run.code == 1
    assert '--ordinal "mood=' in run.err
    assert len(run.err.strip().splitlines()) == 1


def test_an_order_raises_the_evidence_and_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(2)
    factor = rng.normal(size=200)
    table = {name: np.digitize(factor + rng.normal(size=200), [-1, 0, 1]) for name in "abc"}
    nominal, ordinal = load(table), load(table, ordinal=list("abc"))
    assert (evidence_map(ordinal).score or 0) > (evidence_map(nominal).score or 0)
    once, weights = EvidenceMAP().fit(ordinal), np.arange(200) % 3
    twice = EvidenceMAP().fit(ordinal, sample_weight=weights)
    repeated = load({name: np.repeat(column, weights) for name, column in table.items()}, ordinal=list("abc"))
    assert twice.engine_.schema.digest == repeated.digest() != once.engine_.schema.digest


def test_a_file_of_spss_says_what_is_ordinal(ibmap: Any, tmp_path: Path) -> None:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(0)
    factor = rng.normal(size=300)
    frame = pandas.DataFrame(
        {name: 1.0 + np.digitize(factor + rng.normal(size=300), [-1, 0, 1]) for name in ("a", "b", "c")}
    )
    labels = {"a": {1.0: "never", 4.0: "always"}}
    measure = dict.fromkeys("abc", "ordinal")
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels, variable_measure=measure)
    run = ibmap("learn", tmp_path / "t.sav", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    assert "r +" in run.out
    assert ibmap("explain", tmp_path / "out", "a", "b").code == 0
