"""Columns can be left out, or chosen, whatever the table is; what is left out is not looked at."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ibmap import Table, load
from ibmap.errors import DataError, IbmapError, RequestError, UnknownVariableError

TABLE = {
    "a": [0, 1, 0, 1],
    "b": ["x", "y", "x", "x"],
    "when": [datetime.date(2020, 1, d) for d in (1, 2, 3, 4)],
}


def written(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame(TABLE).write_parquet(path)
    return path


SOURCES = {
    "dict": lambda _: TABLE,
    "pandas": lambda _: pd.DataFrame(TABLE),
    "polars": lambda _: pl.DataFrame(TABLE),
    "lazy": lambda _: pl.LazyFrame(TABLE),
    "pyarrow": lambda _: pa.table(TABLE),
    "file": written,
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("choice", [{"drop": ["when"]}, {"drop": "when"}, {"only": ("b", "a")}])
def test_columns_left_out_may_hold_anything(kind, choice, tmp_path):
    source = SOURCES[kind](tmp_path)
    with pytest.raises(DataError, match="'when'"):
        load(source)
    data = load(source, **choice)
    assert data.names == ("a", "b")
    assert data.codes.tolist() == [[0, 1, 0, 1], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    "source",
    [
        [[0, "x", [1]], [1, "y", [2]], [0, "x", [3]]],
        np.array([[0, "x", np.inf], [1, "y", -np.inf], [0, "x", 1j]], dtype=object),
        np.array(
            [(0, "x", 1j), (1, "y", 2j), (0, "x", 0)], dtype=[("x0", int), ("x1", "U1"), ("x2", complex)]
        ),
    ],
)
def test_arrays_and_rows(source):
    with pytest.raises(IbmapError):
        load(source)
    data = load(source, drop=["x2"])
    assert (data.names, data.levels) == (("x0", "x1"), ((0, 1), ("x", "y")))


def test_numbers_in_an_array_are_chosen_by_their_default_names():
    array = np.array([[0, 1, 0.5], [1, 0, 0.25], [1, 1, 0.75]])
    assert load(array, only=["x1", "x0"]).names == ("x0", "x1")
    assert load(array.tolist(), drop=["x2"]).codes.tolist() == [[0, 1, 1], [1, 0, 1]]


def test_a_loaded_table_keeps_the_chosen_variables():
    data = load({"a": [0.5, 1.5, 2.5], "b": [0, 1, 0], "c": [1, 1, 0]}, discretize="quantile", bins=2)
    assert load(data) is data
    assert load(data, drop=[]) is data
    chosen = load(data, drop=["b"])
    assert isinstance(chosen, Table)
    assert (chosen.names, chosen.levels) == (("a", "c"), (data.levels[0], data.levels[2]))
    assert chosen.bin_edges == data.bin_edges
    assert load(data, drop=["a"]).bin_edges == {}


@pytest.mark.parametrize("choice", ["drop", "only"])
def test_unknown_names_are_errors_with_the_nearest_name(choice):
    with pytest.raises(UnknownVariableError, match="no variable 'wen'; did you mean 'when'"):
        load(TABLE, **{choice: ["a", "b", "wen"]})
    with pytest.raises(UnknownVariableError, match="'wen'"):
        load(load(TABLE, drop=["when"]), **{choice: ["wen"]})


@pytest.mark.parametrize("wrong", [True, 3, 0.5])
@pytest.mark.parametrize("which", ["drop", "only"])
def test_what_are_no_names_is_an_error(which, wrong):
    with pytest.raises(RequestError, match="must be a list of names"):
        load({"a": [0, 1], "b": [1, 0], "c": [0, 0]}, **{which: wrong})


def test_too_few_columns_left():
    with pytest.raises(DataError, match="no columns"):
        load(TABLE, drop=list(TABLE))
    with pytest.raises(DataError, match="at least two variables"):
        load(TABLE, only=["a"])
    with pytest.raises(DataError, match="at least two variables"):
        load(load(TABLE, drop=["when"]), only=["a"])


def test_bins_of_a_column_that_is_left_out_are_an_error():
    with pytest.raises(UnknownVariableError, match="'a'"):
        load({**TABLE, "c": [0, 1, 1, 0]}, drop=["a", "when"], bins={"a": [0, 1]})
