"""Numbers from 2^53 on, where floats begin to merge whole ones: distinct values stay distinct levels."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.errors import DataError

BIG = 2**53
VALUES = [BIG, BIG + 1, BIG + 2, BIG + 3]
OTHER = [0, 1, 0, 1]
TYPES = {"int64": pl.Int64, "decimal": pl.Decimal(20, 0), "fine decimal": pl.Decimal(38, 2)}


def frames():
    decimals = [Decimal(value) for value in VALUES]
    yield "rows", [list(row) for row in zip(VALUES, OTHER, strict=True)]
    yield "rows of decimals", [list(row) for row in zip(decimals, OTHER, strict=True)]
    yield "columns", {"x": VALUES, "y": OTHER}
    yield "columns of decimals", {"x": decimals, "y": OTHER}
    yield "pandas", pd.DataFrame({"x": VALUES, "y": OTHER})
    yield "pandas objects", pd.DataFrame({"x": decimals, "y": OTHER})
    yield (
        "pandas of Arrow",
        pd.DataFrame({"x": decimals, "y": OTHER}).astype({"x": pd.ArrowDtype(pa.decimal128(20, 2))}),
    )
    for name, kind in TYPES.items():
        yield f"polars {name}", pl.DataFrame({"x": pl.Series(decimals).cast(kind), "y": OTHER})
    yield "Arrow", pa.table({"x": pa.array(decimals, pa.decimal128(20, 0)), "y": OTHER})
    yield "an array of objects", np.array([decimals, OTHER], dtype=object).T
    yield "rows of arrays", [np.array([BIG, BIG + 1]), np.array([BIG + 2, BIG + 3]), np.array([1.0, 2.0])]


@pytest.mark.parametrize("source", [pytest.param(frame, id=name) for name, frame in frames()])
def test_distinct_whole_numbers_stay_distinct(source):
    data = load(source)
    first = list(data.levels[0])
    wanted = [1, BIG, BIG + 2] if data.n_rows == 3 else VALUES
    assert first == wanted
    assert all(type(level) is int for level in first)
    assert np.unique(data.codes[0]).tolist() == list(range(len(wanted)))


@pytest.mark.parametrize("one", [1.0, Decimal("1.00"), np.float64(1)])
@pytest.mark.parametrize("big", [BIG, 10**19, 2**63, -(2**63), 10**30])
@pytest.mark.parametrize("as_rows", [False, True])
def test_big_integers_beside_another_number(one, big, as_rows):
    values, other = [big, big + 1, one], [0, 1, 0]
    source = [list(row) for row in zip(values, other, strict=True)] if as_rows else {"x": values, "y": other}
    assert load(source).levels[0] == tuple(sorted([1, big, big + 1]))


@pytest.mark.parametrize("rows", [[[2**63, 1], [2**63 + 1, 0]], [[2**63, -1], [2**63 + 1, -1]]])
def test_integers_that_only_floats_could_hold_together(rows):
    assert load(rows).levels[0] == (2**63, 2**63 + 1)


@pytest.mark.parametrize(("blank", "quote"), [("", ""), (" ", ""), ("", '"')])
@pytest.mark.parametrize("words", ["{0} {1}", "{0} {1} 1.0", "{0}.0 {1}.00 3"])
@pytest.mark.parametrize("big", [BIG, 12345678901234567890, -12345678901234567890])
def test_big_numbers_in_text(tmp_path, blank, quote, words, big):
    values = words.format(big, big + 1).split()
    path = tmp_path / "ids.csv"
    lines = [f"{blank}{quote}{value}{quote},{k % 2}" for k, value in enumerate(values * 2)]
    path.write_text("\n".join(["id,y", *lines]))
    data = load(path)
    assert data.levels[0] == tuple(
        sorted({int(float(v)) if float(v) < BIG and float(v) > -BIG else int(Decimal(v)) for v in values})
    )
    assert data.n_rows == 2 * len(values)


def test_big_numbers_in_parquet(tmp_path):
    path = tmp_path / "ids.parquet"
    pl.DataFrame(
        {"x": pl.Series([Decimal(v) for v in VALUES]).cast(pl.Decimal(25, 3)), "y": OTHER}
    ).write_parquet(path)
    assert load(path).levels[0] == tuple(VALUES)


def test_floats_that_say_what_they_hold_stay_numbers(tmp_path):
    path = tmp_path / "floats.csv"
    path.write_text("x,y\n1e300,0\n9007199254740992,1\n4.0,0\n")
    assert load(path).levels[0] == (4, BIG, int(1e300))
    path.write_text("x,y\n1e300,0\n9007199254740993,1\n0.5,0\n")
    with pytest.raises(DataError, match=r"'x' .* looks continuous"):
        load(path)
    assert load(path, discretize="equal-width", bins=2).cardinalities.tolist() == [2, 2]


def test_decimals_that_no_number_type_holds_are_labels():
    values = ["10000000000000000.5", "1", "10000000000000000"]
    data = load({"x": [Decimal(value) for value in values], "y": [0, 1, 0]})
    assert data.levels[0] == (1, 10**16, "10000000000000000.5")
    with pytest.raises(DataError, match="'x' holds infinite values"):
        load({"x": [Decimal("1E+1000000"), Decimal(1)], "y": [0, 1]})


def test_decimals_below_the_limit_are_numbers():
    data = load(
        {"x": [Decimal("0.5"), Decimal("1.5"), None], "y": [0, 1, 0]},
        missing="drop",
        discretize="quantile",
        bins=2,
    )
    assert data.levels[0] == ("[0.5, 1)", "[1, 1.5]")


@pytest.mark.parametrize("low", [2**62 - 1, 2**62, 2**63 - 3, -(2**63), -(2**62) - 1])
@pytest.mark.parametrize("discretize", [None, "quantile"])
def test_whole_numbers_at_the_ends_of_64_bits(low, discretize):
    table = np.array([[low, 0], [low + 2, 1], [low, 1], [low + 1, 0]])
    data = load(table, discretize=discretize, bins=None if discretize is None else 4)
    assert data.levels[0] == (low, low + 1, low + 2)
    assert data.codes[0].tolist() == [0, 2, 0, 1]


def test_nan_in_a_matrix_of_floats_is_missing():
    table = np.array([[0.0, 1.0], [np.nan, 0.0], [1.0, 1.0]])
    with pytest.raises(DataError, match=r"missing values .* in 'x0' \(1\)"):
        load(table)
    assert load(table, missing="testwise").codes.tolist() == [[0, -1, 1], [1, 0, 1]]
    assert load(table, missing="drop").n_rows == 2


@pytest.mark.parametrize(
    "values", [np.array([2**63, 2**63 + 5], np.uint64), np.array([2.0**63, 2.0**63 + 2048])]
)
def test_columns_beyond_signed_integers(values):
    data = load({"x": values, "y": ["a", "b"]})
    assert data.levels[0] == tuple(map(int, values))
    assert data.codes[0].tolist() == [0, 1]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long doubles are doubles here")
def test_long_floats_are_not_merged():
    values = np.array([[2**60 + 1, 1], [2**60, 0], [np.nan, 1]], np.longdouble)
    values[0, 0] = np.longdouble(2**60) + 1
    data = load(values, missing="testwise")
    assert data.levels == ((2**60, 2**60 + 1), (0, 1))
    assert data.codes.tolist() == [[1, 0, -1], [1, 0, 1]]


NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([BIG - 1, BIG, BIG + 1, -BIG - 1, 2**62 + 1, 2**63 - 1, 2**63, 2**64 + 1, -(2**63) - 1]),
    st.integers(-3, 3).map(float),
    st.sampled_from([float(BIG), float(2**62), 2.0**63, -(2.0**63)]),
    st.integers(-3, 3).map(Decimal),
    st.sampled_from([Decimal(BIG + 1), Decimal("2.00"), Decimal(2**63 - 1)]),
    st.integers(-3, 3).map(np.int8),
    st.just(np.uint64(2**64 - 1)),
    st.none(),
)


@settings(deadline=None, max_examples=400)
@given(st.lists(NUMBERS, min_size=2, max_size=8).filter(lambda some: any(x is not None for x in some)))
def test_whole_numbers_of_any_types_are_levels_by_their_values(numbers):
    data = load({"x": numbers, "y": [k % 2 for k in range(len(numbers))]}, missing="testwise")
    values = [None if number is None else int(number) for number in numbers]
    assert data.levels[0] == tuple(sorted({value for value in values if value is not None}))
    assert [None if code < 0 else data.levels[0][code] for code in data.codes[0].tolist()] == values
