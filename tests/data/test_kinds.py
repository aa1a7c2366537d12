"""Which kind of table it is decides how it is read; a choice can be made by looking at it."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from ibmap.data import load
from ibmap.data.kinds import choose_columns
from ibmap.data.numbers import load_numbers
from ibmap.errors import ContinuousError, DataError, DataWarning

FRACTIONS, MANY, FEW = [0.5, 1.5, 2.5] * 10, list(range(30)), [0, 1, 2] * 10
TWO, THREE = ["a", "b", "b"] * 10, ["a", "b", "c"] * 10
ORDERED = pl.Series(["low", "mid", "high"] * 10, dtype=pl.Enum(["low", "mid", "high"]))


@pytest.mark.parametrize(
    ("table", "columns", "discretize"),
    [
        ({"x": FEW, "y": TWO}, "categories", None),
        ({"x": FEW, "y": THREE}, "categories", None),
        ({"x": FRACTIONS, "y": MANY}, "values", None),
        ({"x": FRACTIONS, "y": FEW}, "values", None),
        ({"x": MANY, "y": TWO}, "ranks", None),
        ({"x": FRACTIONS, "y": [True, False] * 15}, "ranks", None),
        ({"x": FRACTIONS, "y": ORDERED}, "ranks", None),
        ({"x": FRACTIONS, "y": TWO, "z": THREE}, "categories", "quantile"),
    ],
)
def test_the_kind_decides(table: dict[str, Any], columns: str, discretize: str | None) -> None:
    found = choose_columns(table)
    assert (found.columns, found.discretize) == (columns, discretize)
    if columns == "categories":
        assert load(table, discretize=discretize, bins=found.bins).n_rows == 30
    else:
        assert load_numbers(table, columns=columns).columns == columns


def test_why_names_the_columns_that_decided() -> None:
    assert choose_columns({"x": FRACTIONS, "y": TWO, "z": THREE}).why == (
        "'x' is continuous, 'z' has levels without an order: numbers are cut at their quartiles"
    )
    assert choose_columns({"x": FRACTIONS, "z": THREE, "w": MANY}, drop=["z"]).why == (
        "'x', 'w' are continuous, all columns hold numbers: they are taken as they are"
    )


def test_missing_values_and_continuous_columns_are_told_at_once() -> None:
    table = {"x": [0.5, None, 2.5], "y": [1, 2, 3]}
    with pytest.raises(ContinuousError, match=r"missing values .* in 'x' \(1\): pass .*; column 'x' holds 2"):
        load(table)
    with pytest.raises(DataError, match=r"\(1\): pass missing='drop', 'category' or 'testwise'$"):
        load(table, discretize="quantile")
    with pytest.raises(DataError, match=r"\(1\): pass missing='drop', which leaves out these rows$"):
        load_numbers(table)


def test_numbers_of_numbers() -> None:
    data = load_numbers({"x": FRACTIONS, "y": MANY, "z": FEW})
    chosen = load_numbers(data, only=["z", "x"])
    assert chosen.names == ("x", "z")
    assert np.array_equal(chosen.values, data.values[[0, 2]])


def test_what_is_odd_about_a_file_is_said_of_numbers_too(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("0.5,1.5\n0.5,1.5\n2.5,3.5\n")
    with pytest.warns(DataWarning, match="looks like values"):
        data = load_numbers(path)
    assert "looks like values" in data.schema.warnings[0]
