"""A column that only tells rows apart is left out by every way in, or by none."""

import json

import numpy as np
import polars as pl
import pytest

from ibmap.data import reader, text
from ibmap.errors import DataWarning


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    kind = {"who": [f"p{i:03}" for i in range(300)], "id": rng.permutation(300)}
    return pl.DataFrame({**kind, "a": a, "b": a ^ (rng.random(300) < 0.1), "n": rng.integers(1, 300, 300)})


def by_csv(frame, folder):
    frame.write_csv(folder / "t.csv")
    return folder / "t.csv"


def by_parquet(frame, folder):
    frame.write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def by_arrow(frame, folder):
    frame.write_ipc(folder / "t.arrow")
    return folder / "t.arrow"


def by_arrow_stream(frame, folder):
    pl.concat(list(frame.iter_slices(70)), rechunk=False).write_ipc_stream(folder / "t.arrows")
    return folder / "t.arrows"


def by_folder(frame, folder):
    (folder / "parts").mkdir()
    for k, part in enumerate(frame.iter_slices(70)):
        part.write_parquet(folder / "parts" / f"{k}.parquet")
    return folder / "parts"


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("way", [by_csv, by_parquet, by_arrow, by_arrow_stream, by_folder])
def test_identifiers_are_left_out_by_every_way_in(ibmap, frame, tmp_path, monkeypatch, way, large):
    if large:
        monkeypatch.setattr(text, "LARGE", 0)
        monkeypatch.setattr(text, "BYTES_AT_ONCE", 500)
        monkeypatch.setattr(reader, "ROWS_AT_ONCE", 64)
    ran = ibmap("learn", way(frame, tmp_path), "--drop", "n", "--json")
    assert json.loads(ran.out)["variables"] == ["a", "b"]
    assert "note: left out 'who', 'id': every row has a different value" in ran.err


def test_identifiers_are_left_out_on_a_cluster(ibmap, frame, tmp_path):
    ran = ibmap("learn", by_folder(frame, tmp_path), "--drop", "n", "--engine", "dask", "--json")
    assert json.loads(ran.out)["variables"] == ["a", "b"]
    assert "left out 'who', 'id'" in ran.err


def test_identifiers_are_looked_for_before_rows_are_repeated(ibmap, frame, tmp_path):
    ran = ibmap("learn", by_csv(frame, tmp_path), "--weights", "n", "--json")
    assert json.loads(ran.out)["variables"] == ["a", "b"]
    assert "left out 'who', 'id'" in ran.err


def test_identifiers_of_a_packed_table_are_left_out_unless_they_are_asked_for(ibmap, frame, tmp_path):
    path = tmp_path / "t.ibmap"
    assert ibmap("pack", by_csv(frame, tmp_path), path, "--only", "who,id,a,b").code == 0
    ran = ibmap("learn", path, "--json")
    assert json.loads(ran.out)["variables"] == ["a", "b"]
    ran = ibmap("learn", path, "--only", "id,a,b", "--learner", "ibmap-hc", "--json")
    assert json.loads(ran.out)["variables"] == ["id", "a", "b"]


def test_a_value_that_comes_twice_late_makes_no_identifier(ibmap, frame, tmp_path):
    twice = pl.concat([frame, frame[:1]])
    ran = ibmap("learn", by_folder(twice, tmp_path), "--drop", "n,id", "--learner", "ibmap-hc", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["variables"] == ["who", "a", "b"]


def test_a_column_that_cannot_be_read_does_no_harm(ibmap, frame, tmp_path):
    dated = frame.with_columns(pl.lit("2026-11-18").str.to_date().alias("when"))
    ran = ibmap("learn", by_folder(dated, tmp_path), "--drop", "n,when", "--json")
    assert json.loads(ran.out)["variables"] == ["a", "b"]
    assert "left out 'when': dates and times" in ibmap("learn", tmp_path / "parts", "--drop", "n").err
    ran = ibmap("learn", tmp_path / "parts", "--learner", "ibmap-hc")
    assert "'when' holds values of type Date" in ran.err


@pytest.mark.parametrize("late", ["late", " 1"])
def test_what_cannot_be_read_in_blocks_is_read_again(ibmap, frame, tmp_path, monkeypatch, late):
    monkeypatch.setattr(text, "LARGE", 0)
    monkeypatch.setattr(text, "BYTES_AT_ONCE", 500)
    monkeypatch.setattr(text, "SAMPLE", 5)
    table = frame.drop("who", "n").cast({"id": pl.Int64, "a": pl.Int64, "b": pl.Int64})
    table.write_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open("a") as file:
        file.write(f"{'z' if late == 'late' else 300},1,{late}\n")
    ran = ibmap("learn", tmp_path / "t.csv", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["variables"] == ["a", "b"]


def test_identifiers_are_left_out_of_what_passes_once(frame):
    """Batches, and readers of them, cannot be looked at beforehand: their table is, once it is read."""
    import ibmap

    batches = {"frames": list(frame.iter_slices(70)), "arrow": frame.to_arrow().to_reader(max_chunksize=70)}
    for name, some in batches.items():
        with pytest.warns(DataWarning, match="left out 'who', 'id': every row has a different value"):
            table = ibmap.load(iter(some) if name == "frames" else some, continuous="auto", drop=["n"])
        assert table.names == ("a", "b")
