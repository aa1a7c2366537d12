import json
import os

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def packed(ibmap, survey, tmp_path):
    ran = ibmap("pack", survey, tmp_path / "survey.ibmap")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"wrote {tmp_path / 'survey.ibmap'}: ")
    assert ran.out.rstrip().endswith("MB")
    return tmp_path / "survey.ibmap"


def learned(ran):
    found = json.loads(ran.out)
    del found["seconds"]
    return found


def test_a_packed_table_is_learned_as_the_file_it_was(ibmap, survey, packed):
    for learner in ("evidence-map", "ibmap-hc", "gsmn"):
        runs = [ibmap("learn", file, "--learner", learner, "--json") for file in (survey, packed)]
        assert learned(runs[0]) == learned(runs[1])


def test_results_of_a_packed_table_are_explained_and_fitted(ibmap, survey, packed, tmp_path):
    assert ibmap("learn", packed, "--out", tmp_path / "r").code == 0
    assert ibmap("learn", survey, "--out", tmp_path / "s").code == 0
    one, other = ((tmp_path / name / "edges.csv").read_text() for name in "rs")
    assert one == other
    graph = json.loads((tmp_path / "r" / "graph.json").read_text())
    ran = ibmap("explain", tmp_path / "r", *graph["edges"][0])
    assert (ran.code, ran.err) == (0, "")
    assert ibmap("fit", tmp_path / "r", packed).code == 0
    assert ibmap("score", tmp_path / "r" / "model.json", packed).code == 0
    assert ibmap("bootstrap", packed, "--replicates", "2").code == 0


def test_columns_and_missing_values_are_settled_when_packing(ibmap, tmp_path):
    pl.DataFrame({"a": [0, 1, None] * 9, "b": [0, 1, 1] * 9, "c": ["x"] * 27}).write_csv(tmp_path / "t.csv")
    ran = ibmap("pack", tmp_path / "t.csv", tmp_path / "t.ibmap")
    assert ran.code == 1
    assert "missing values" in ran.err
    assert not (tmp_path / "t.ibmap").exists()
    how = ("--missing", "testwise", "--drop", "c")
    assert ibmap("pack", tmp_path / "t.csv", tmp_path / "t.ibmap", *how).code == 0
    assert learned(ibmap("learn", tmp_path / "t.ibmap", "--json"))["variables"] == ["a", "b"]
    ran = ibmap("learn", tmp_path / "t.ibmap", "--missing", "drop")
    assert "pack it again with --missing 'drop'" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_what_is_there_is_replaced_by_force_only(ibmap, survey, packed):
    ran = ibmap("pack", survey, packed)
    assert (ran.code, ran.out) == (2, "")
    assert "exists" in ran.err
    assert ibmap("pack", survey, packed, "--force").code == 0


def test_a_folder_is_learned_from(ibmap, survey, tmp_path):
    (tmp_path / "t").mkdir()
    table = pl.read_csv(survey)
    for k in range(2):
        table[k::2].write_parquet(tmp_path / "t" / f"{k}.parquet")
    ran = ibmap("learn", tmp_path / "t", "--json")
    assert learned(ran)["variables"] == table.columns
    (tmp_path / "t" / "1.parquet").unlink()
    (tmp_path / "t" / "0.parquet").unlink()
    assert "is a directory" in ibmap("learn", tmp_path / "t").err


@pytest.mark.parametrize("out", ["t.csv", "sub/../t.csv", "link.csv", "hard.csv", "T"])
def test_the_table_that_is_read_is_not_replaced(ibmap, survey, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "t.csv").write_bytes(before := survey.read_bytes())
    (tmp_path / "link.csv").symlink_to("t.csv")
    os.link("t.csv", "hard.csv")
    (tmp_path / "T").symlink_to(tmp_path / "t.csv")
    for source in ("t.csv", tmp_path / "t.csv", "link.csv"):
        assert ibmap("pack", source, out, "--force").refuses(out, "is the input")
    assert (tmp_path / "t.csv").read_bytes() == before
    assert (tmp_path / "link.csv").is_symlink()


def test_no_part_of_a_folder_that_is_read_is_replaced(ibmap, survey, tmp_path):
    (tmp_path / "t").mkdir()
    pl.read_csv(survey).write_parquet(tmp_path / "t" / "0.parquet")
    ran = ibmap("pack", tmp_path / "t", tmp_path / "t" / "0.parquet", "--force")
    assert ran.refuses("0.parquet", "or a part of it")
    assert ibmap("pack", tmp_path / "t", tmp_path / "t.ibmap").code == 0


def test_check_compares_the_digest(ibmap, tmp_path):
    table = tmp_path / "t.csv"
    pl.DataFrame({"a": np.arange(200) % 40, "b": np.arange(200) % 2}).write_csv(table)
    path = tmp_path / "t.ibmap"
    assert ibmap("pack", table, path).code == 0
    ran = ibmap("pack", "--check", path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{path} is as it was packed: 2 variables, 200 rows, ")
    whole = path.read_bytes()
    at = whole.index(np.arange(40, dtype=np.int32).tobytes())  # the codes of a wide variable
    path.write_bytes(whole[:at] + np.int32(7).tobytes() + whole[at + 4 :])
    assert ibmap("learn", path).code == 0
    assert ibmap("pack", path, "--check").refuses(path, "another digest", "pack the table again")
    path.write_bytes(whole[:-1])
    assert ibmap("pack", path, "--check").refuses(path, "cut off")


def test_check_takes_a_packed_table_only(ibmap, survey, packed, tmp_path):
    assert ibmap("pack", "--check", survey).refuses(survey, "is not a packed table")
    assert ibmap("pack", "--check", tmp_path / "none.ibmap").refuses("none.ibmap", "No such file")
    for more in ([tmp_path / "out.ibmap"], ["--drop", "a"], ["--force"]):
        assert ibmap("pack", "--check", packed, *more).refuses("--check takes a packed FILE")
    assert ibmap("pack", survey).refuses("ibmap pack FILE OUT")
