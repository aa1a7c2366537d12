"""Declared categories, and orders, of a table that comes in batches: no value is ever lost."""

from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.data.declared import ColumnOptions
from ibmap.data.frames import source_of_frames
from ibmap.data.packing import Plan
from ibmap.data.parquet import pieces_of
from ibmap.data.reader import Reader, plan_of, read_piece, without_rows
from ibmap.errors import DataError, IbmapError


def batch(categories, *values):
    return pl.DataFrame({"q": pl.Series(values, dtype=pl.Enum(categories)), "y": range(len(values))})


def by_frames(frames, folder):
    return load(iter(frames))


def by_batches_of_arrow(frames, folder):
    return load(iter([frame.to_arrow().combine_chunks().to_batches()[0] for frame in frames]))


def by_parquet(frames, folder):
    for k, frame in enumerate(frames):
        frame.write_parquet(folder / f"{k}.parquet")
    return load(folder)


def by_files_of_arrow(frames, folder):
    for k, frame in enumerate(frames):
        frame.write_ipc(folder / f"{k}.arrow")
    return load(folder)


def by_columns(frames, folder):
    for k, frame in enumerate(frames):
        frame.write_parquet(folder / f"{k}.parquet")
    return load(folder, discretize="quantile")


def by_pieces(frames, folder):
    for k, frame in enumerate(frames):
        frame.write_parquet(folder / f"{k}.parquet")
    names, pieces = pieces_of(folder, rows=2)
    return plan_of([without_rows(read_piece(piece, names, "error", ColumnOptions())) for piece in pieces])


WAYS = [by_frames, by_batches_of_arrow, by_parquet, by_files_of_arrow, by_columns, by_pieces]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("second", ["abcdeg", "abcde", "gfedcba"])
def test_batches_that_declare_other_categories_are_refused(tmp_path, way, second):
    with pytest.raises(DataError, match=r"column 'q' .*declares other categories"):
        way([batch("abcdef", "a", "f"), batch(second, "a", "e")], tmp_path)


def test_the_error_names_the_categories_and_the_batches():
    with pytest.raises(DataError, match=r"in batch 2 than in batch 1 \('f', 'g'\): declare the same"):
        load(iter([batch("abcdef", "a", "f"), batch("abcdeg", "a", "g")]))
    with pytest.raises(DataError, match=r"\(in another order\)"):
        load(iter([batch("ab", "a", "b"), batch("ba", "a", "b")]), ordinal=["q"])


@pytest.mark.parametrize("way", WAYS)
def test_batches_that_declare_the_same_keep_every_level(tmp_path, way):
    found = way([batch("gfedcba", "a", "f"), batch("gfedcba", "a", "g")], tmp_path)
    assert found.levels[0] == tuple("gfedcba")


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=1, max_size=4), st.booleans())
def test_an_order_of_numbers_loses_none_of_them(batches, missing):
    """Each batch has some of the levels only; text stands for the others."""
    frames = [pl.DataFrame({"q": values, "y": values}) for values in batches]
    how = {"ordinal": {"q": ["4", "3", "2", "1"]}, "missing": "testwise" if missing else "error"}
    data, whole = load(iter(frames), **how), load(pl.concat(frames), **how)
    assert data.levels == whole.levels
    assert data.codes.tolist() == whole.codes.tolist()


@given(st.lists(st.permutations("fgh"), min_size=1, max_size=3), st.integers(1, 3))
def test_every_value_is_kept_or_the_table_is_refused(ends, size):
    frames = [batch(["a", "b", "c", "d", "e", *end[:size]], "a", *end[:size]) for end in ends]
    try:
        data = load(iter(frames))
    except IbmapError:
        assert len({tuple(frame["q"].dtype.categories) for frame in frames}) > 1
        return
    assert [data.levels[0][code] for code in data.codes[0]] == pl.concat(frames)["q"].to_list()


def test_no_value_beyond_the_levels_becomes_missing():
    seen = Reader(("q", "y"), "error", {})
    seen.take(source_of_frames(iter([batch("ab", "a", "b")])).batches(seen.names, 64))
    plan = seen.plan()
    with pytest.raises(DataError, match="column 'q' holds 'b', and its levels do not"):
        Plan(plan.names, (("a",), plan.labels[1]), plan.extra).put_together(seen.parts)


def test_labels_of_a_piece_are_sorted(tmp_path):
    for k, value in enumerate([2.5, 0.5]):
        pl.DataFrame({"q": [value, 1.0], "y": [0, 1]}).write_parquet(tmp_path / f"{k}.parquet")
    names, pieces = pieces_of(tmp_path)
    seen = [
        without_rows(read_piece(piece, names, "error", ColumnOptions(nominal=("q",)))) for piece in pieces
    ]
    assert plan_of(seen).levels[0] == (0.5, 1, 2.5)


def test_parts_of_a_column_of_arrow_declare_the_same_order() -> None:
    codes = pa.array([0, 1] * 15, pa.int8())
    parts = [pa.DictionaryArray.from_arrays(codes, words, ordered=True) for words in (["x", "y"], ["y", "x"])]
    with pytest.raises(DataError, match="column 'q' declares other categories"):
        load(pa.table({"q": pa.chunked_array(parts), "y": [0, 1] * 30}))


def test_runs_of_equal_values_are_read() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([30, 60]), pa.array([1, 2]))
    found = load(pa.table({"a": runs, "b": [0, 1] * 30}))
    assert found.codes_of(0).tolist() == [0] * 30 + [1] * 30


def test_signalling_nan_is_missing() -> None:
    column = [Decimal("sNaN"), Decimal(1), Decimal(2)] * 20
    assert load({"a": column, "b": [0, 1] * 30}, missing="category").levels[0][-1] is None
