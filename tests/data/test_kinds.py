"""One place says what kind of variable a column is, whatever way the table comes in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap.data import Table, load, reader
from ibmap.data.table import PackedData
from ibmap.errors import ContinuousError, DataError, DataWarning, RequestError, UnknownVariableError

N = 60
COLUMNS: dict[str, Any] = {
    "words": ["a", "b"] * 30,
    "truth": [True, False, False] * 20,
    "two": [0.5, 2.5] * 30,
    "few": [1, 2, 3] * 20,
    "grades": [1.0, 1.3, 1.7] * 20,
    "many": [7 * i % 31 for i in range(N)],
    "real": [i / 7 for i in range(N)],
    "mood": pl.Series(["low", "mid", "high"] * 20, dtype=pl.Enum(["low", "mid", "high"])),
}
KINDS = ("nominal", "nominal", "nominal", "nominal", "ordinal", "continuous", "continuous", "nominal")
FRAME = pl.DataFrame(COLUMNS)


def by_frame(frame: pl.DataFrame, folder: Path) -> Any:
    return frame


def by_batches(frame: pl.DataFrame, folder: Path) -> Iterator[pl.DataFrame]:
    return frame.iter_slices(7)


def by_folder(frame: pl.DataFrame, folder: Path) -> Path:
    for k, part in enumerate(frame.iter_slices(13)):
        part.write_parquet(folder / f"{k}.parquet")
    return folder


def by_batches_of_arrow(frame: pl.DataFrame, folder: Path) -> Path:
    pl.concat(list(frame.iter_slices(11)), rechunk=False).write_ipc_stream(folder / "t.arrows")
    return folder / "t.arrows"


WAYS = [by_frame, by_batches, by_folder, by_batches_of_arrow]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("holes", [False, True])
def test_the_values_of_all_rows_decide(tmp_path: Path, way: Any, holes: bool) -> None:
    frame = FRAME
    if holes:
        gone = pl.Series([i % 10 == 3 for i in range(N)])
        frame = FRAME.with_columns(
            pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in ("two", "few", "real")
        )
    data = load(way(frame, tmp_path), continuous="auto", missing="testwise")
    assert data.schema.kinds == KINDS
    assert data.undecided == ("few",)
    assert data.levels[:5] == (("a", "b"), (False, True), (0.5, 2.5), (1, 2, 3), (1, 1.3, 1.7))
    real = frame["real"].fill_null(float("nan")).to_numpy()
    np.testing.assert_array_equal(data.values_of(6), real)
    np.testing.assert_array_equal(data.values_of(5), frame["many"].to_numpy())
    assert data.has_missing == holes
    assert data.digest() == load(frame, continuous="auto", missing="testwise").digest()


@given(
    st.lists(
        st.lists(st.sampled_from([0, 1, 2, 3, 40, 0.5, None]), min_size=1, max_size=8), min_size=1, max_size=6
    ),
    st.integers(0, 24),
)
def test_batches_have_the_kinds_of_the_whole(batches: list[list[float | None]], n_more: int) -> None:
    parts = [*batches, [*map(float, range(n_more)), 1.0, 2.0]]
    frames = [pl.DataFrame({"x": pl.Series(x, dtype=pl.Float64), "y": [0] * len(x)}) for x in parts]
    frames[-1] = frames[-1].with_columns(y=pl.Series([1] * len(frames[-1]), dtype=pl.Int64))
    how: dict[str, Any] = {"continuous": "auto", "missing": "testwise", "only": ["x", "y"]}
    found = load(iter(frames), **how)
    same = load(pl.concat(frames), **how)
    assert found.schema.kinds == same.schema.kinds
    assert (found.levels, found.undecided, found.digest()) == (same.levels, same.undecided, same.digest())


def test_tables_of_levels_alone_are_bits() -> None:
    assert isinstance(load(FRAME.select("words", "few", "mood"), continuous="auto"), PackedData)


def test_what_is_declared_comes_first() -> None:
    data = load(FRAME, continuous=["few"], nominal=["grades"], ordinal=["mood"])
    assert data.schema.kinds == (*KINDS[:3], "continuous", "nominal", *KINDS[5:7], "ordinal")
    assert data.undecided == ()
    items = {"q1": [1, 2, 3, 4] * 9, "q2": [4, 3, 3, 1] * 9, "sex": [1, 2] * 18, "qq": [2, 1] * 18}
    assert load(items, ordinal=["q*"], nominal="qq").ordinal == ("q1", "q2")
    assert load(items, ordinal="all", nominal=["q1"]).ordinal == ("q2", "sex", "qq")
    assert load(items, continuous="all").schema.kinds == ("continuous",) * 4
    assert load(items, continuous="all").numbers == "values"
    assert load(items, continuous=["q1"]).numbers == "ranks"
    assert load(items, continuous=["q1"], discretize="quantile", bins=2).schema.kinds[:2] == (
        "continuous",
        "nominal",
    )


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"continuous": ["words"]}, "column 'words' holds no numbers, so it cannot be continuous"),
        ({"continuous": ["few"], "nominal": ["few"]}, "'few' is declared both nominal and continuous"),
        ({"nominal": "all", "ordinal": "all"}, "all columns are declared both ordinal and nominal"),
        ({"continuous": "all", "only": ["real", "mood", "two"]}, None),
        ({"continuous": "auto", "numbers": "logs"}, "numbers must be 'ranks' or 'values'"),
        ({"continuous": ["z*"]}, "there is no variable 'z*'"),
        ({}, "it looks continuous"),
    ],
)
def test_requests_that_make_no_sense(how: dict[str, Any], words: str | None) -> None:
    if words is None:
        assert load(FRAME, **how).schema.kinds == ("continuous",) * 3
        return
    with pytest.raises((DataError, RequestError, UnknownVariableError)) as caught:
        load(FRAME, **how)
    assert words in str(caught.value)


def test_columns_that_say_nothing_are_left_out_and_named() -> None:
    frame = FRAME.with_columns(
        id=pl.Series([f"person {i}" for i in range(N)]),
        when=pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 3, 1), eager=True),
        same=pl.lit(2.5),
        one=pl.lit("x"),
    )
    with pytest.warns(DataWarning) as said:
        data = load(frame, continuous="auto")
    words = "; ".join(str(one.message) for one in said)
    assert data.names == tuple(FRAME.columns)
    for part in (
        "left out 'id': every row has a different value",
        "left out 'when': dates and times are neither",
        "left out 'same', 'one': the same value in all rows",
    ):
        assert part in words
    assert data.schema.warnings
    assert load(frame, continuous="auto", only=["same", "two", "real"]).n_variables == 3
    many = {"x": COLUMNS["real"] * 3, "y": COLUMNS["words"] * 3, "city": [f"c{i % 150}" for i in range(180)]}
    with pytest.warns(DataWarning, match="left out 'city': more than 100 levels; group its values"):
        assert load(many, continuous="auto").names == ("x", "y")


def test_missing_values_of_numbers_are_no_category() -> None:
    table = {"x": [0.5, None, 2.5, 4.0] * 4, "y": [1, 2] * 8}
    with pytest.raises(DataError, match="missing numbers cannot be a category"):
        load(table, continuous="all", missing="category")
    assert load(table, continuous="all", missing="drop").n_rows == 12
    with pytest.raises(DataError, match=r"\(4\): pass missing='drop', 'category' or 'testwise'$"):
        load(table, continuous="all")


def test_missing_values_and_continuous_columns_are_told_at_once() -> None:
    table = {"x": [0.5, None, 2.5], "y": [1, 2, 3]}
    with pytest.raises(ContinuousError, match=r"missing values .* in 'x' \(1\): pass .*; column 'x' holds 2"):
        load(table)
    with pytest.raises(DataError, match=r"\(1\): pass missing='drop', 'category' or 'testwise'$"):
        load(table, discretize="quantile")


def test_a_table_that_was_loaded_keeps_its_kinds() -> None:
    data = load(FRAME, continuous="auto", drop=["words"])
    chosen = load(data, continuous="auto", only=["real", "few"])
    assert (chosen.names, chosen.schema.kinds) == (("few", "real"), ("nominal", "continuous"))
    np.testing.assert_array_equal(chosen.values_of(1), data.values_of(5))
    with pytest.raises(ContinuousError, match="'many', 'real': numbers, and this needs levels"):
        load(data)
    with pytest.raises(RequestError, match="'few' was loaded with levels"):
        load(data, continuous=["few"])


def test_a_column_becomes_numbers_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was packed as levels before the first fraction came is numbers again."""
    monkeypatch.setattr(reader, "ROWS_AT_ONCE", 64)
    values = np.concatenate([np.arange(300) % 3, np.linspace(0, 1, 100)])
    frames = [pl.DataFrame({"x": values[k : k + 50], "y": np.arange(50) % 2}) for k in range(0, 400, 50)]
    data = load(iter(frames), continuous="auto")
    assert data.schema.kinds == ("continuous", "nominal")
    np.testing.assert_array_equal(data.values_of(0), values)


def test_what_is_odd_about_a_file_is_said_of_numbers_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("0.5,1.5\n0.5,1.5\n2.5,3.5\n")
    with pytest.warns(DataWarning, match="looks like values"):
        data = load(path, continuous="all")
    assert "looks like values" in data.schema.warnings[0]


def test_parts_of_a_table_must_fit() -> None:
    codes, values = np.zeros((1, 3), int), np.array([[0.5, 1.5, 2.5]])
    data = Table(codes, ("a", "b"), (("x",), ()), values=values)
    assert data.schema.kinds == ("nominal", "continuous")
    assert data.variables([1]).names == ("b",)
    assert data.rows(np.array([2, 0])).values.tolist() == [[2.5, 0.5]]
    for odd, words in (
        ({"values": values[:, :2]}, "3 rows have codes, and 2 have numbers"),
        ({"values": values * np.inf}, "finite numbers"),
        ({"levels": (("x",), ("y",))}, "1 rows of codes for 2 variables"),
    ):
        about: dict[str, Any] = {"levels": (("x",), ()), "values": values, **odd}
        with pytest.raises(DataError, match=words):
            Table(codes, ("a", "b"), **about)


def test_declared_numbers_that_never_change_are_left_out_and_others_stay() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=60), "y": rng.normal(size=60), "same": np.full(60, 2.5)}
    table["nearly"] = np.where(np.arange(60) == 59, 2.6, 2.5)
    with pytest.warns(DataWarning, match="left out 'same': the same value in all rows"):
        data = load(table, continuous=list(table))
    assert data.names == ("x", "y", "nearly")


@pytest.mark.parametrize(("levels", "kept"), [(100, True), (101, False)])
def test_columns_of_up_to_a_hundred_levels_stay(levels, kept):
    """Whatever their number of rows; with none or one level they say nothing, and with two they stay."""
    words = [f"w{k}" for k in range(levels)] * 6
    table = {"words": words, "two": ["a", "b"] * (3 * levels), "more": ["x", "y", "z"] * (2 * levels)}
    if kept:
        data = load(table, continuous="auto")
    else:
        with pytest.warns(DataWarning, match="left out 'words': more than 100 levels; group its values"):
            data = load(table, continuous="auto")
    assert data.names == (("words", "two", "more") if kept else ("two", "more"))
    table["one"] = ["c"] * len(words)
    with pytest.warns(DataWarning, match="left out 'one': the same value in all rows"):
        assert "one" not in load({**table, "words": table["two"][::-1]}, continuous="auto").names
