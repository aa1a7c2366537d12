"""``--cluster``: rows that belong together."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ibmap import EvidenceMAP
from tests.data.test_weights import mixed_table, posteriors

DATA = Path(os.environ.get("IBMAP_DATA", Path(__file__).parents[3] / "shared" / "data")) / "mixed"
BIRTHS = DATA / "birthwt.csv"


@pytest.mark.skipif(not BIRTHS.is_file(), reason="no data folder: set IBMAP_DATA")
def test_births_eight_times_with_the_person_are_births(ibmap, tmp_path):
    frame = pd.read_csv(BIRTHS)
    frame = frame.drop(columns=[frame.columns[0]]) if frame.columns[0] not in ("low", "age") else frame
    frame.to_csv(tmp_path / "one.csv", index=False)
    eight = pd.concat([frame.assign(person=[f"p{i}" for i in range(len(frame))])] * 8)
    eight.to_csv(tmp_path / "eight.csv", index=False)
    plain = ibmap("learn", tmp_path / "one.csv", "--json")
    found = ibmap("learn", tmp_path / "eight.csv", "--cluster", "person", "--json", "--out", tmp_path / "out")
    assert "1,512 rows in 189 clusters of person count as 189 (design effect 8)" in found.err
    one, other = json.loads(plain.out), json.loads(found.out)
    assert one["edges"] == other["edges"]
    about = json.loads((tmp_path / "out" / "result.json").read_text())["data"]
    assert (about["cluster"], about["clusters"]) == ("person", 189)
    assert about["design_effect"] == pytest.approx(8)
    assert "design effect 8" in (tmp_path / "out" / "report.html").read_text()
    ran = ibmap("explain", tmp_path / "out", "smoke", "race")
    assert (ran.code, ran.err) == (0, "")
    nets = EvidenceMAP().fit(frame), EvidenceMAP().fit(eight.drop(columns="person"), groups=eight["person"])
    for pair, logs in posteriors(nets[0]).items():
        np.testing.assert_allclose(logs, posteriors(nets[1])[pair], atol=1e-6)


def test_on_the_command_line(ibmap, tmp_path):
    x = mixed_table().assign(person=np.repeat([f"p{i}" for i in range(60)], 5))
    x.to_csv(tmp_path / "t.csv", index=False)
    x.assign(person=[None, *x["person"][1:]]).to_csv(tmp_path / "holes.csv", index=False)
    x.assign(person="p").to_csv(tmp_path / "one.csv", index=False)
    assert ibmap("learn", tmp_path / "t.csv", "--cluster", "child").refuses("there is no variable 'child'")
    assert ibmap("learn", tmp_path / "holes.csv", "--cluster", "person").refuses("missing in 1 of 300 rows")
    assert ibmap("learn", tmp_path / "one.csv", "--cluster", "person").refuses("at least two cluster")
    assert ibmap("learn", tmp_path / "t.csv", "--weights-are", "sampling").refuses("name their column, too")
    ran = ibmap("bootstrap", tmp_path / "t.csv", "--cluster", "person", "--replicates", 3)
    assert ran.code == 0
    assert "300 rows in 60 clusters of person count as" in ran.err
    x[["sex", "diet", "person"]].assign(by=np.arange(300) % 2).to_csv(tmp_path / "by.csv", index=False)
    ran = ibmap("compare", tmp_path / "by.csv", "--by", "by", "--cluster", "person", "--permutations", 5)
    assert ran.code == 0
    assert "clusters of person count as" in ran.err
    ran = ibmap("learn", tmp_path / "by.csv", "--cluster", "person", "--out", tmp_path / "out")
    ran = ibmap("evaluate", tmp_path / "out", "--data", tmp_path / "by.csv", "--cluster", "person")
    assert ran.code == 0


def test_strata(ibmap, tmp_path):
    x = mixed_table().assign(
        site=np.repeat(["north", "south", "west"], [150, 100, 50]),
        person=np.arange(300) // 5,
        by=np.arange(300) % 2,
    )
    x.to_csv(tmp_path / "t.csv", index=False)
    for k in (0, 1):
        x[x["by"] == k].drop(columns="by").to_csv(tmp_path / f"{k}.csv", index=False)
    options = ("--strata", "site", "--seed", 1, "--json")
    ran = ibmap("bootstrap", tmp_path / "t.csv", "--drop", "by", "--replicates", 3, *options)
    assert (ran.code, "site" in ran.out) == (0, False)
    draw = ("--permutations", 5, "--cluster", "person", *options)
    one = ibmap("compare", tmp_path / "t.csv", "--by", "by", *draw)
    two = ibmap("compare", tmp_path / "0.csv", tmp_path / "1.csv", *draw)
    assert json.loads(one.out)["edges"] == json.loads(two.out)["edges"]
    assert ibmap("bootstrap", tmp_path / "t.csv", "--strata", "place").refuses("no variable 'place'")
    assert ibmap("learn", tmp_path / "t.csv", "--strata", "site").code == 2  # it draws nothing
    ran = ibmap("bootstrap", tmp_path / "t.csv", "--strata", "by", "--cluster", "person")
    assert ran.refuses("--strata by: its values differ within 60 clusters")
