"""The four policies for missing values, on every kind of missing value."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ibmap.data import load
from ibmap.errors import DataError, DataWarning, RequestError

NUMBER = [1, None, 0, 1]
WORD = ["b", "a", None, "a"]
FLAG = [True, False, True, None]
COLUMNS = {"number": NUMBER, "word": WORD, "flag": FLAG, "full": [5, 5, 6, 6]}


def csv(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("number,word,flag,full\n1,b,true,5\n,a,false,5\n0,,true,6\n1,a,,6\n")
    return path


def nan_frame() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in COLUMNS.items()}).fillna(
        np.nan
    )


SOURCES = {
    "dict": lambda _: COLUMNS,
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas nullable": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas NaN in objects": lambda _: nan_frame(),
    "pandas NA in objects": lambda _: nan_frame().astype(object).where(lambda f: f.notna(), pd.NA),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "pyarrow": lambda _: pa.table(COLUMNS),
    "rows": lambda _: [list(row) for row in zip(*COLUMNS.values(), strict=True)],
    "csv": csv,
}


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return SOURCES[request.param](tmp_path)


def test_error_names_columns_counts_and_options(source: Any) -> None:
    with pytest.raises(DataError) as caught:
        load(source)
    words = str(caught.value)
    for part in (" (1), ", "NaN", "missing='drop', 'category' or 'testwise'"):
        assert part in words


def test_drop_keeps_complete_rows(source: Any) -> None:
    data = load(source, missing="drop")
    assert data.levels == ((1,), ("b",), (True,), (5,))
    assert data.codes.tolist() == [[0]] * 4


def test_category_is_a_last_level_of_its_own(source: Any) -> None:
    data = load(source, missing="category")
    assert data.levels == ((0, 1, None), ("a", "b", None), (False, True, None), (5, 6))
    assert data.codes.tolist() == [[1, 2, 0, 1], [1, 0, 2, 0], [1, 0, 1, 2], [0, 0, 1, 1]]
    assert not data.has_missing


def test_testwise_keeps_minus_one(source: Any) -> None:
    data = load(source, missing="testwise")
    assert data.levels == ((0, 1), ("a", "b"), (False, True), (5, 6))
    assert data.codes.tolist() == [[1, -1, 0, 1], [1, 0, -1, 0], [1, 0, 1, -1], [0, 0, 1, 1]]
    assert data.has_missing


def test_nan_in_arrays() -> None:
    matrix = np.array([[1, 0], [np.nan, 1], [2, 1]])
    assert load(matrix, missing="drop").codes.tolist() == [[0, 1], [0, 1]]
    assert load(matrix, missing="testwise").codes.tolist() == [[0, -1, 1], [0, 1, 1]]
    assert load(matrix, missing="category").levels == ((1, 2, None), (0, 1))


def test_missing_in_categories() -> None:
    for frame in (
        pd.DataFrame({"c": pd.Categorical(["a", None], ["b", "a"]), "y": [0, 1]}),
        pl.DataFrame({"c": pl.Series(["a", None], dtype=pl.Enum(["b", "a"])), "y": [0, 1]}),
    ):
        assert load(frame, missing="testwise").codes[0].tolist() == [1, -1]
        assert load(frame, missing="category").levels[0] == ("b", "a", None)


def test_drop_that_leaves_nothing_is_an_error() -> None:
    with pytest.raises(DataError, match="leaves no row"):
        load({"a": [1, None], "b": [None, 2]}, missing="drop")


@pytest.mark.parametrize("empty", [pl.Series("a", [None, None]), pl.Series("a", [None, None], dtype=pl.Int8)])
def test_a_column_without_any_value(empty: pl.Series) -> None:
    frame = pl.DataFrame([empty, pl.Series("b", [1, 2])])
    with pytest.raises(DataError, match="no value at all in 'a': drop the column"):
        load(frame, missing="testwise")
    assert load(frame, missing="category").levels == ((None,), (1, 2))


def test_many_incomplete_columns_are_summed_up() -> None:
    with pytest.raises(DataError, match=r"'x4' \(1\) and 2 more columns"):
        load(np.vstack([np.full(7, np.nan), np.ones(7)]))


@pytest.mark.parametrize("values", [[0, None, 1], ["x", None, "y"]])
def test_a_table_in_memory_is_read_already(values):
    """What cannot be done any more is refused; it was ignored."""
    data = load({"a": values, "b": [0, 1, 1]}, missing="testwise")
    for missing in ("error", "testwise"):
        again = load(data, missing=missing)
        assert again.digest() == data.digest()
        assert again.reading["missing"] == "testwise"
    for missing in ("drop", "category"):
        with pytest.raises(RequestError, match=f"load it again with missing='{missing}'"):
            load(data, missing=missing)
        assert load(load({"a": [0, 1], "b": [0, 1]}), missing=missing).n_rows == 2  # nothing is missing
    for how in ({"discretize": "quantile"}, {"bins": {"b": [0, 1]}}, {"discretize": "quantile", "bins": 3}):
        with pytest.raises(RequestError, match="was loaded already, and columns can only be cut then"):
            load(data, **how)


def test_a_table_in_memory_was_cut_as_it_was():
    table = {"a": np.linspace(0, 1, 40), "b": [0, 1] * 20}
    data = load(table, discretize="quantile", bins=3)
    assert load(data, discretize="quantile", bins=3).digest() == data.digest()
    assert load(data, bins=data.bin_edges).digest() == data.digest()
    for how in ({"discretize": "equal-width", "bins": 3}, {"discretize": "quantile", "bins": 4}):
        with pytest.raises(RequestError, match="columns can only be cut then"):
            load(data, **how)


def test_warnings_are_said_once():
    table = {"pay": [f"{i}" for i in range(100)], "sex": ["f", "m"] * 50}
    with pytest.warns(DataWarning, match="too many levels"):
        data = load(table)
    assert load(data).warnings == data.warnings  # warnings are errors here


@pytest.mark.filterwarnings("ignore::ibmap.errors.DataWarning")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("way", ["frame", "batches", "folder"])
def test_missing_is_the_last_level_of_columns_of_few_and_of_many(seed: int, way: str, tmp_path: Path) -> None:
    """By the definition, value by value; columns of more than 32 levels are kept in another way."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(60, 200))
    columns = {}
    for j in range(5):
        values = (np.arange(n_rows) % rng.choice([2, 5, 31, 32, 33, 60])).tolist()
        rng.shuffle(values)
        values = [f"w{value:02}" for value in values] if j % 2 else values
        gaps = rng.random(n_rows) < rng.choice([0.0, 0.2])
        columns[f"v{j}"] = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
    frame = pl.DataFrame(columns)
    parts = [frame[:17], frame[17:50], frame[50:]]
    for k, part in enumerate(parts):
        part.write_parquet(tmp_path / f"{k}.parquet")
    data = load({"frame": frame, "batches": iter(parts), "folder": tmp_path}[way], missing="category")
    for j, values in enumerate(columns.values()):
        known = sorted({value for value in values if value is not None})
        assert data.levels[j] == (*known, None) if None in values else tuple(known)
        assert [data.levels[j][code] for code in data.codes[j].tolist()] == values


@pytest.mark.parametrize(("n", "more"), [(2, ""), (5, ""), (6, " and 1 more column")])
def test_five_columns_with_missing_values_are_named(n: int, more: str) -> None:
    table = {f"c{k}": [0, 1, None] for k in range(n)}
    named = ", ".join(f"'c{k}' (1)" for k in range(min(n, 5)))
    with pytest.raises(DataError) as error:
        load(table)
    assert f"in {named}{more}: pass missing=" in str(error.value)
