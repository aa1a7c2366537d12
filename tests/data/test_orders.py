"""An order that pandas or Arrow declares is kept by every way in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ibmap.data import load
from ibmap.data.declared import ColumnOptions
from ibmap.data.parquet import pieces_of
from ibmap.data.reader import plan_of, read_piece, without_rows
from ibmap.errors import DataError

LEVELS = ("lo", "mid", "hi", "never")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "q": pd.Categorical(rng.choice(LEVELS[:3], 60), LEVELS, ordered=True),
            "u": pd.Categorical(rng.choice(["b", "a"], 60)),
            "y": rng.integers(0, 2, 60),
        }
    )


def by_parquet(frame, folder):
    frame.to_parquet(folder / "t.parquet")
    return load(folder / "t.parquet")


def by_feather(frame, folder):
    frame.to_feather(folder / "t.feather")
    return load(folder / "t.feather")


def by_folder(frame, folder):
    for k in range(3):
        frame[20 * k : 20 * k + 20].to_parquet(folder / f"{k}.parquet")
    return load(folder)


def by_arrow(frame, folder):
    return load(pa.Table.from_pandas(frame))


def by_arrow_batches(frame, folder):
    return load(pa.Table.from_pandas(frame).to_reader(max_chunksize=25))


def by_frames(frame, folder):
    return load(frame[k : k + 20] for k in (0, 20, 40))


def by_arrow_types(frame, folder):
    table = pa.Table.from_pandas(frame)
    return load(
        pd.DataFrame({name: pd.array(table[name], pd.ArrowDtype(table[name].type)) for name in frame})
    )


WAYS = [by_parquet, by_feather, by_folder, by_arrow, by_arrow_batches, by_frames, by_arrow_types]


@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_pandas_is_kept(frame, tmp_path, way):
    data, whole = way(frame, tmp_path), load(frame)
    assert whole.ordinal == ("q",)
    assert (data.ordinal, data.levels) == (whole.ordinal, whole.levels)
    assert data.codes.tolist() == whole.codes.tolist()
    assert data.digest() == whole.digest()


def test_pieces_of_a_cluster_keep_it_too(frame, tmp_path):
    by_folder(frame, tmp_path)
    names, pieces = pieces_of(tmp_path, rows=25)
    plan = plan_of([without_rows(read_piece(piece, names, "error", ColumnOptions())) for piece in pieces])
    assert plan.ordinal == ("q",)
    assert plan.levels[0] == LEVELS


def test_what_is_said_goes_before_what_a_file_declares(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet", nominal=["q"]).ordinal == ()
    said = load(tmp_path / "t.parquet", ordinal=["q=hi<mid<lo"])
    assert said.levels[0] == ("hi", "mid", "lo")


def test_files_that_declare_other_orders_are_refused(frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    frame.assign(q=frame["q"].cat.reorder_categories(LEVELS[::-1])).to_parquet(tmp_path / "2.parquet")
    for read in (load, pieces_of):
        with pytest.raises(DataError, match=r"'q' declares other categories in .*2.parquet' than in"):
            read(tmp_path)


def test_dictionaries_of_arrow_in_pandas_are_text(frame):
    odd = pl.DataFrame({"u": ["b", "a", None] * 9, "y": [0, 1, 1] * 9})
    odd = odd.cast({"u": pl.Categorical}).to_pandas(use_pyarrow_extension_array=True)
    data = load(odd, missing="testwise")
    assert data.levels == (("a", "b"), (0, 1))
    assert data.codes[0].tolist() == [1, 0, -1] * 9
