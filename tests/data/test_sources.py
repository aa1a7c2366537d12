"""Every kind of table gives the same codes for the same content."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ibmap.data import Table, load
from ibmap.data.frames import open_source
from ibmap.errors import DataError

COLUMNS = {
    "word": ["b", "a", "c", "a"],
    "flag": [True, False, False, True],
    "number": [3, -1, 3, 10],
    "whole": [2.0, 0.0, 2.0, 2.0],
}
CODES = [[1, 0, 2, 0], [1, 0, 0, 1], [1, 0, 1, 2], [1, 0, 1, 1]]
LEVELS = (("a", "b", "c"), (False, True), (-1, 3, 10), (0, 2))


def structured() -> np.ndarray:
    rows = list(zip(*COLUMNS.values(), strict=True))
    return np.array(rows, dtype=[("word", "U1"), ("flag", "?"), ("number", "i2"), ("whole", "f4")])


SOURCES = {
    "dict": lambda: COLUMNS,
    "dict of arrays": lambda: {name: np.array(values) for name, values in COLUMNS.items()},
    "dict of series": lambda: {name: pd.Series(values) for name, values in COLUMNS.items()},
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas object": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
    "structured": structured,
}
BACKENDS = {"pandas": "pandas", "polars": "polars", "pyarrow": "pyarrow"}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_codes(kind: str) -> None:
    data = load(SOURCES[kind]())
    assert data.names == tuple(COLUMNS)
    assert data.codes.tolist() == CODES
    assert data.levels == LEVELS
    assert [[type(label) for label in labels] for labels in data.levels] == [
        [type(label) for label in labels] for labels in LEVELS
    ]
    assert data.backend == BACKENDS.get(kind.split()[0])


@pytest.mark.parametrize("route", ["csv", "tsv", "semicolon", "parquet", "bom", "crlf", "no final newline"])
def test_files_give_the_same_codes(route: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    path = tmp_path / {"tsv": "t.tsv", "parquet": "t.parquet"}.get(route, "t.csv")
    if route == "parquet":
        pq.write_table(pa.table(COLUMNS), path)
    else:
        separator = {"tsv": "\t", "semicolon": ";"}.get(route, ",")
        text = frame.write_csv(separator=separator)
        text = text.rstrip("\n") if route == "no final newline" else text
        text = text.replace("\n", "\r\n") if route == "crlf" else text
        path.write_bytes((b"\xef\xbb\xbf" if route == "bom" else b"") + text.encode())
    for source in (path, str(path)):
        data = load(source)
        assert data.codes.tolist() == CODES
        assert data.levels == LEVELS
        assert data.names == tuple(COLUMNS)
        assert data.backend is None


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "uint64", "int64", ">i4", "f2", "f4", "f8", "O"]
)
@pytest.mark.parametrize("order", ["C", "F", "strided", "read-only"])
def test_arrays_of_every_type_and_layout(dtype: str, order: str) -> None:
    matrix = np.array([[1, 0, 7], [1, 5, 3], [0, 0, 3], [1, 2, 7]]).astype(dtype)
    if order == "strided":
        matrix = np.repeat(matrix, 2, axis=1)[:, ::2]
    elif order == "read-only":
        matrix.flags.writeable = False
    else:
        matrix = np.array(matrix, order=order)  # type: ignore[call-overload]
    data = load(matrix)
    assert data.names == ("x0", "x1", "x2")
    assert data.codes.tolist() == [[1, 1, 0, 1], [0, 2, 0, 1], [1, 0, 0, 1]]
    assert data.levels == ((0, 1), (0, 2, 5), (3, 7))
    assert all(type(label) is int for labels in data.levels for label in labels)


@pytest.mark.parametrize("offset", [0, -5, 40, 1000, -70_000, 10**7, 2**40])
@pytest.mark.parametrize("spread", [1, 200, 10**6])
def test_array_routes_agree_with_unique(offset: int, spread: int) -> None:
    rng = np.random.default_rng(3)
    matrix = offset + spread * rng.integers(0, 5, (300, 7))
    for array in (matrix, matrix.astype(float), np.asfortranarray(matrix)):
        data = load(array)
        for j in range(7):
            values, codes = np.unique(matrix[:, j], return_inverse=True)
            assert data.levels[j] == tuple(values.tolist())
            assert np.array_equal(data.codes[j], codes)


def test_boolean_array_keeps_booleans() -> None:
    data = load(np.array([[True, True], [False, True]]))
    assert data.levels == ((False, True), (True,))
    assert data.levels[1][0] is True


def test_numbers_beyond_64_bits_and_beyond_exact_floats() -> None:
    data = load(
        {"big": [10**30, 1, 10**30], "float": [1e300, 5.0, 1e300], "u": np.array([2**64 - 1, 0, 1], "u8")}
    )
    assert data.levels == ((1, 10**30), (5, int(1e300)), (0, 1, 2**64 - 1))
    extremes = load(np.array([[-(2**63), 0], [2**63 - 1, 1]]))
    assert extremes.levels[0] == (-(2**63), 2**63 - 1)
    assert load(np.array([[2**64 - 1, 0], [1, 1]], dtype=np.uint64)).levels[0] == (1, 2**64 - 1)


def test_list_of_rows_keeps_types_apart() -> None:
    assert load([["a", 1], ["b", 2]]).levels == (("a", "b"), (1, 2))
    assert load([[True, 1], [False, 2]]).levels[0] == (False, True)
    assert load(((1, 2.0), (0, 3.0))).levels == ((0, 1), (2, 3))
    assert load([np.array([1, 2]), np.array([0, 2])]).levels == ((0, 1), (2,))


def test_mixed_types_sort_by_type_name_then_value() -> None:
    column = np.array(["b", 10, 2, True, "a", 1, np.int8(2), 2.0], dtype=object)
    data = load({"mixed": column, "y": range(8)})
    assert data.levels[0] == (True, 1, 2, 10, "a", "b")
    assert [type(label) for label in data.levels[0]] == [bool, int, int, int, str, str]
    assert data.codes[0].tolist() == [5, 3, 2, 0, 4, 1, 2, 2]


def test_declared_categories_keep_order_and_unobserved_levels() -> None:
    declared = ["low", "middle", "high", "never"]
    values = ["high", "low", "high"]
    frames = [
        pd.DataFrame({"c": pd.Categorical(values, declared), "y": [0, 1, 0]}),
        pd.DataFrame({"c": pd.Categorical(values, declared, ordered=True), "y": [0, 1, 0]}),
        pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(declared)), "y": [0, 1, 0]}),
    ]
    for frame in frames:
        data = load(frame)
        assert data.levels[0] == tuple(declared)
        assert data.codes[0].tolist() == [2, 0, 2]


def test_declared_categories_survive_dropped_rows_but_other_levels_do_not() -> None:
    frame = pd.DataFrame(
        {"c": pd.Categorical(["a", "b", "a"]), "s": ["p", "q", "p"], "y": [0.0, np.nan, 1.0]}
    )
    assert load(frame, missing="drop").levels == (("a", "b"), ("p",), (0, 1))


def test_undeclared_categories_are_the_observed_ones() -> None:
    frame = pl.DataFrame({"c": pl.Series(["b", "a", "c"], dtype=pl.Categorical), "y": [1, 2, 3]})
    assert load(frame.head(2)).levels[0] == ("a", "b")
    table = pa.table({"c": pa.array(["b", "a", "b"]).dictionary_encode(), "y": [1, 2, 3]})
    assert load(table).levels[0] == ("a", "b")


def test_categories_of_numbers_and_intervals() -> None:
    frame = pd.DataFrame({"n": pd.Categorical([3, 1], [3, 2, 1]), "cut": pd.cut([0.5, 1.5], [0, 1, 2])})
    data = load(frame)
    assert data.levels == ((3, 2, 1), ("(0, 1]", "(1, 2]"))
    assert data.codes.tolist() == [[0, 2], [0, 1]]


@pytest.mark.parametrize("rows", [100, 30_000])
def test_polars_strings_agree_with_python_on_short_and_long_columns(rows: int) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["straße", "zoo", "Zoo", "", "éa", "日本"], dtype=object)[rng.integers(0, 6, rows)]
    words[0] = None
    data = load(pl.DataFrame({"w": words.tolist(), "y": rng.integers(0, 2, rows)}), missing="testwise")
    assert data.levels[0] == tuple(sorted(set(words[1:])))
    assert data.codes[0, 0] == -1
    assert [data.levels[0][c] for c in data.codes[0, 1:]] == words[1:].tolist()


def test_names_that_are_no_strings_become_strings() -> None:
    assert load(pd.DataFrame({0: [1, 2], 1: ["a", "b"]})).names == ("0", "1")
    assert load({0: [1, 2], ("a", 1): [1, 2]}).names == ("0", "('a', 1)")


def test_categorical_data_comes_back_as_it_is() -> None:
    data = load(COLUMNS)
    assert load(data) is data


def test_one_row_is_enough() -> None:
    assert load(np.array([[1, 2]])).codes.tolist() == [[0], [0]]


def test_masked_arrays_decimals_and_array_likes() -> None:
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert load(masked, missing="testwise").codes.tolist() == [[0, 1], [-1, 0]]
    table = pa.table({"d": pa.array([1, None, 2]).cast(pa.decimal128(30, 2)), "y": [1, 2, 3]})
    assert load(table, missing="testwise").levels[0] == (1, 2)

    class Wrapped:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.array([[0, 1], [1, 1]])

    assert load(Wrapped()).levels == ((0, 1), (1,))


def test_quoted_fields_blank_lines_and_long_integers_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\nname,"a,b"\n"x,1","two\nlines"\n\ny,z\n\n')
    data = load(path)
    assert data.names == ("name", "a,b")
    assert data.levels == (("x,1", "y"), ("two\nlines", "z"))
    path.write_text("a,b\n99999999999999999999,x\n3,y\n\n")
    assert load(path).levels == ((3, 99999999999999999999), ("x", "y"))


def test_parquet_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "no_extension"
    buffer = io.BytesIO()
    pl.DataFrame(COLUMNS).write_parquet(buffer)
    path.write_bytes(buffer.getvalue())
    assert isinstance(load(path), Table)


@pytest.mark.parametrize(
    ("early", "late", "levels"),
    [
        ("1", "x", ("1", "x")),
        ("1", "2.0", (1, 2)),
        ("", "3", (3, None)),
        ("true", "7", ("7", "true")),
        ("1", "99999999999999999999", (1, 99999999999999999999)),
    ],
)
def test_types_of_csv_columns_come_from_the_whole_file(
    early: str, late: str, levels: tuple[object, ...], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"{early},0\n" * 12_000 + f"{late},1\n")
    assert load(path, missing="category").levels[0] == levels


def test_a_folder_that_is_read_at_once_has_the_rows_of_all_files(tmp_path):
    """Columns are cut by all rows, so all files are read."""
    for k in range(3):
        pl.DataFrame({"a": np.arange(40.0) + 40 * k, "b": [0, 1] * 20}).write_parquet(
            tmp_path / f"{k}.parquet"
        )
    data = load(tmp_path, discretize="equal-width", bins=3)
    assert data.n_rows == 120
    assert data.bin_edges["a"][0] == 0.0
    assert data.bin_edges["a"][-1] == 119.0


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [0, 2]],
        [["a", "b"], [1, 2]],
        [[1, 0], [0.5, 1.5], [2, 3]],
        [[True, False], [1, 0]],
        [["x", "y"], ["y", "y"]],
    ],
)
def test_rows_that_are_arrays_are_the_rows_that_are_lists(rows):
    arrays, lists = (load(kind, discretize="quantile") for kind in ([np.array(row) for row in rows], rows))
    assert arrays.levels == lists.levels
    assert [list(map(type, one)) for one in arrays.levels] == [list(map(type, one)) for one in lists.levels]
    assert np.array_equal(arrays.codes, lists.codes)


def test_rows_that_are_no_rows():
    with pytest.raises(DataError, match=r"3-D array of shape \(2, 2, 2\)"):
        load([np.zeros((2, 2)), np.ones((2, 2))])
    with pytest.raises(DataError, match="row 1 has 3 values where row 0 has 2"):
        load([np.array([1, 2]), np.array([0.5, 2, 3])])


@pytest.mark.parametrize("way", ["csv", "parquet", "frame", "array"])
@pytest.mark.parametrize("most", [1, 7, 40])
def test_the_head_of_a_table_is_its_first_rows(way, most, tmp_path):
    frame = pl.DataFrame({"a": np.arange(30) % 7, "b": [f"w{k % 3}" for k in range(30)], "c": np.arange(30)})
    frame = frame if way != "array" else frame.drop("b")
    if way in ("csv", "parquet"):
        getattr(frame, f"write_{way}")(tmp_path / f"t.{way}")
    source = {"frame": frame, "array": frame.to_numpy()}.get(way, tmp_path / f"t.{way}")
    opened = open_source(source)
    name = opened.names[0]
    batch = opened.head([name], most)
    is_file = way in ("csv", "parquet")
    assert batch.n_rows == (min(most, 30) if is_file else 30)
    assert batch.read([name])[0].values.tolist() == frame["a"].head(batch.n_rows).to_list()
