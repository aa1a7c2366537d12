"""Each kind of bad table gets one clear line."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from ibmap.data import load
from ibmap.errors import DataError, IbmapError, UnknownVariableError

DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
OBJECTS: dict[str, tuple[Callable[[], Any], str]] = {
    "1-D": (lambda: np.arange(3), "Reshape your data"),
    "1-D list": (lambda: [1, 2, 3], "Reshape your data"),
    "series": (lambda: pd.Series([1, 2]), "Reshape your data"),
    "0-D": (lambda: np.array(3), "0-D array"),
    "3-D": (lambda: np.zeros((2, 2, 2)), r"3-D array of shape \(2, 2, 2\)"),
    "complex": (lambda: np.zeros((3, 2), complex), "Complex data not supported"),
    "complex column": (lambda: {"a": [1j, 2j], "b": [1, 2]}, "Complex data not supported: column 'a'"),
    "no rows": (lambda: np.empty((0, 3)), r"found 0 sample\(s\) while a minimum of 1 is required"),
    "empty list": (list, r"0 sample\(s\)"),
    "empty frame": (lambda: pd.DataFrame({"a": [], "b": []}), r"0 sample\(s\)"),
    "no columns": (
        lambda: np.empty((12, 0)),
        r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 2 is required\.",
    ),
    "no frame columns": (lambda: pl.DataFrame(), r"0 feature\(s\)"),
    "empty dict": (dict, r"0 feature\(s\)"),
    "one column": (lambda: np.zeros((5, 1)), r"1 feature\(s\).*at least two variables"),
    "pandas duplicates": (
        lambda: pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        "duplicate column names: 'a'$",
    ),
    "names equal as text": (lambda: pd.DataFrame({1: [1], "1": [2]}), "duplicate column names: '1'$"),
    "arrow duplicates": (lambda: pa.table([[1], [2]], names=["a", "a"]), "duplicate column names: 'a'"),
    "ragged list": (lambda: [[1, 2], [3]], "row 1 has 1 values where row 0 has 2"),
    "ragged dict": (lambda: {"a": [1, 2], "b": [1]}, "column 'b' has 1 values where column 'a' has 2"),
    "2-D column": (lambda: {"a": np.zeros((2, 2)), "b": [1, 2]}, "column 'a' is 2-D"),
    "inf": (lambda: np.array([[1, np.inf], [0, 1.0]]), r"column 'x1' holds infinite values \(inf\)"),
    "inf among labels": (lambda: {"a": ["x", -np.inf], "b": [1, 2]}, r"column 'a'.*\(inf\)"),
    "NaN": (lambda: np.array([[1, np.nan], [0, 1.0]]), r"NaN.*'x1' \(1\): pass missing='drop'"),
    "pandas date": (
        lambda: pd.DataFrame({"when": pd.to_datetime(DAYS), "b": [1, 2]}),
        "column 'when'.*Datetime",
    ),
    "polars date": (lambda: pl.DataFrame({"when": DAYS, "b": [1, 2]}), "column 'when'.*Date,.*drop it"),
    "polars list": (lambda: pl.DataFrame({"l": [[1], [2]], "b": [1, 2]}), "column 'l'.*List"),
    "object date": (lambda: {"when": DAYS, "b": [1, 2]}, "column 'when' holds values of type date"),
    "numpy date": (lambda: np.array([["2020-01-01"] * 2], dtype="M8[D]"), "column 'x0'.*datetime64"),
    "dict cell": (lambda: np.array([[{}, 1], [2, 3]], dtype=object), "column 'x0' holds values of type dict"),
    "list cell": (
        lambda: pd.DataFrame({"l": [[1], [2]], "b": [1, 2]}),
        "column 'l' holds values of type list",
    ),
    "bad bytes": (lambda: {"a": [b"\xff", b"x"], "b": [1, 2]}, "column 'a' holds bytes that are not UTF-8"),
    "unsupported": (lambda: 7, "cannot read a table from an object of type int"),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_bad_objects(case: str) -> None:
    make, words = OBJECTS[case]
    with pytest.raises(DataError, match=words) as caught:
        load(make())
    assert "\n" not in str(caught.value)


def test_sparse_matrices_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="sparse"):
        load(scipy.sparse.csr_matrix(np.eye(3)))
    with pytest.raises(TypeError, match="sparse"):
        load(scipy.sparse.coo_array(np.eye(3)))


FILES = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "header only": (b"a,b\n", r"header but no rows: found 0 sample\(s\) while a minimum of 1 is required"),
    "header without newline": (b"a,b", r"0 sample\(s\)"),
    "one column": (b"a\n1\n2\n", r"1 feature\(s\)"),
    "duplicates": (b"a,b,a\n1,2,3\n", "duplicate column names: 'a' in the first line"),
    "quoted duplicates": (b'a,"a"\n1,2\n', "duplicate column names: 'a'"),
    "short row": (b"a,b\n1,2\n3\n4,5\n", "line 3 of t.csv has 1 field where the header has 2"),
    "short last row": (b"a,b,c\n1,2,3\n4,5", "line 3 of t.csv has 2 fields where the header has 3"),
    "long row": (b"a,b\n1,2\n3,4\n5,6,7\n", "line 4 of t.csv has 3 fields where the header has 2"),
    "long and short": (b"a,b\n1,2,9\n3\n", "line 2 of t.csv has 3 fields"),
    "short row after quotes": (b'a,b\n"x\ny,",2\n3\n', "line 4 of t.csv has 1 field "),
    "short row after blank lines": (b"\na,b\n\n1,2\n3\n", "line 5 of t.csv has 1 field "),
    "not UTF-8": (b"a,b\n1,x\n2,caf\xe9\n", r"not UTF-8 text \(line 3, byte 0xe9\)"),
    "header not UTF-8": (b"a,caf\xe9\n1,2\n", r"not UTF-8 text \(line 1"),
    "unclosed quote": (b'a,b\n"x,2\n3,4\n', "t.csv"),
    "empty cells": (b"a,b\n1,\n2,3\n,\n", r"'a' \(1\), 'b' \(2\)"),
    "NaN": (b"a,b\n1.0,NaN\n2,3\n", r"NaN.*'b' \(1\)"),
    "inf": (b"a,b\n1,inf\n2,3\n", r"column 'b' holds infinite values \(inf\)"),
    "broken parquet": (b"PAR1 not really", "not a readable Parquet file"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files(case: str, tmp_path: Path) -> None:
    raw, words = FILES[case]
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=words) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file '.*nothing\.csv'"):
        load(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="is a directory"):
        load(tmp_path)


def test_continuous_columns_are_refused_with_advice() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"income": rng.normal(size=900), "y": rng.integers(0, 2, 900)})
    with pytest.raises(DataError) as caught:
        load(frame)
    assert str(caught.value) == (
        "column 'income' holds 900 distinct non-integer values in 900 rows; it looks continuous: "
        "pass discretize='equal-width' or 'quantile' (and perhaps bins=5), or drop it; test='gaussian' "
        "takes numbers as they are"
    )
    with pytest.raises(DataError, match=r"'x0' holds 1 distinct non-integer value in 2 rows.*so do 'x1'"):
        load(np.array([[0.5, 0.25], [1.0, 1.0]]))


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": (
        {"missing": "ignore"},
        "missing must be 'error', 'drop', 'category', 'testwise', 'question', "
        "'impute' or 'auto', not 'ignore'",
    ),
    "missing type": ({"missing": ["drop"]}, "missing must be"),
    "discretize": (
        {"discretize": "kmeans"},
        "discretize must be None, 'equal-width' or 'quantile', not 'kmeans'",
    ),
    "one bin": ({"discretize": "quantile", "bins": 1}, "bins must be at least 2, not 1"),
    "no method": ({"bins": 3}, "bins=3 needs a method"),
    "float bins": ({"discretize": "quantile", "bins": 2.5}, "bins must be a whole number"),
    "bool bins": ({"discretize": "quantile", "bins": True}, "bins must be a whole number"),
    "list for all": ({"discretize": "quantile", "bins": [1.0, 2.0]}, "bins must be a whole number"),
    "falling edges": ({"bins": {"x0": [2.0, 1.0]}}, "ascending edges"),
    "word as edges": ({"bins": {"x0": "ab"}}, "ascending edges"),
    "words as edges": ({"bins": {"x0": ["a", "b"]}}, "ascending edges"),
    "NaN as edge": ({"bins": {"x0": [np.nan]}}, "ascending edges"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(case: str) -> None:
    options, words = OPTIONS[case]
    with pytest.raises(DataError, match=words):
        load(np.eye(3), **options)


def test_bins_for_an_unknown_or_non_numeric_column() -> None:
    table = {"age": [1.5, 2.5], "word": ["a", "b"]}
    with pytest.raises(UnknownVariableError, match="no variable 'aeg'; did you mean 'age'"):
        load(table, discretize="quantile", bins={"aeg": 3})
    with pytest.raises(DataError, match="column 'word', which holds no numbers"):
        load(table, discretize="quantile", bins={"word": 3})


def test_all_errors_of_users_are_value_errors() -> None:
    with pytest.raises(ValueError, match="Reshape"):
        load(np.arange(3))
    assert issubclass(DataError, IbmapError)
