"""Table: what every later room may rely on."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from ibmap.data import Table, load
from ibmap.errors import DataError, UnknownVariableError


def example() -> Table:
    return load(
        {"smoking": ["yes", "no", "no"], "cancer": [1, 0, 0], "age": [30, 40, None]}, missing="testwise"
    )


def test_codes_are_contiguous_and_read_only() -> None:
    for data in (example(), load(np.eye(3))):
        assert data.codes.flags.c_contiguous
        assert not data.codes.flags.writeable
        assert not data.cardinalities.flags.writeable
        assert data.cardinalities.dtype == np.int64


def test_the_users_array_stays_writeable_and_untouched() -> None:
    matrix = np.eye(3, dtype=np.int8)
    codes = matrix.copy()
    Table(codes, ("a", "b", "c"), ((0, 1),) * 3)
    load(matrix)
    assert codes.flags.writeable
    assert matrix.flags.writeable
    assert np.array_equal(matrix, np.eye(3))


def test_properties() -> None:
    data = example()
    assert (data.n_variables, data.n_rows) == (3, 3)
    assert data.cardinalities.tolist() == [2, 2, 2]
    assert data.has_missing
    assert not load(np.eye(3)).has_missing
    assert repr(data) == "Table(3 variables, 3 rows)"


def test_index_and_indices() -> None:
    data = example()
    assert data.index("cancer") == 1
    assert data.indices(["age", "smoking"]) == (2, 0)
    assert data.indices("age") == (2,)
    assert data.indices([]) == ()
    with pytest.raises(UnknownVariableError, match=r"no variable 'smokng'; did you mean 'smoking'\?"):
        data.index("smokng")
    with pytest.raises(UnknownVariableError, match="no variable 7; the table has 'smoking', 'cancer', 'age'"):
        data.index(7)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        data.index([])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n_levels", "dtype"), [(127, "int8"), (128, "int16"), (32767, "int16"), (32768, "int32")]
)
@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize("kind", ["array", "columns"])
def test_dtype_switches_with_the_number_of_levels(n_levels: int, dtype: str, step: int, kind: str) -> None:
    column = np.tile(np.arange(n_levels) * step, 5)
    other = np.zeros_like(column)
    data = load(np.column_stack([column, other]) if kind == "array" else {"a": column, "b": other})
    assert data.codes.dtype == dtype
    assert np.array_equal(data.codes[0], np.tile(np.arange(n_levels), 5))
    assert not data.has_missing


def test_a_category_of_missing_values_counts_as_a_level() -> None:
    column = np.tile(np.arange(128.0), 5)
    column[column == 127] = np.nan
    data = load({"a": column, "b": np.zeros(640)}, missing="category")
    assert data.cardinalities.tolist() == [128, 1]
    assert data.codes.dtype == np.int16


def test_pickle_keeps_everything() -> None:
    data = example()
    again = pickle.loads(pickle.dumps(data))
    assert again.names == data.names
    assert again.levels == data.levels
    assert np.array_equal(again.codes, data.codes)
    assert not again.codes.flags.writeable


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (np.array([0, 1]), "2-D array of integers"),
        (np.array([[0.0]]), "2-D array of integers"),
        (np.array([[0, 1]]), "1 rows of codes and numbers, 2 names and 2 tuples of levels"),
        (np.array([[0, 2], [0, 1]]), r"codes of variable 'a' lie outside -1\.\.1"),
        (np.array([[0, 1], [-2, 1]]), r"codes of variable 'b' lie outside -1\.\.1"),
        (np.array([[0, 300], [0, 1]]), "codes of variable 'a'"),
    ],
)
def test_parts_that_do_not_fit_are_refused(codes: np.ndarray, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Table(codes, ("a", "b"), ((0, 1), (0, 1)))


def test_import_is_light() -> None:
    heavy = ("pandas", "polars", "narwhals", "pyarrow", "scipy", "sklearn")
    code = (
        "import sys, ibmap; before = set(sys.modules); import ibmap.data; "
        f"print(sorted((set(sys.modules) - before) & set({heavy!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_table_owns_its_codes():
    codes = np.zeros((2, 4), dtype=np.int8)
    view = codes[:]
    view.flags.writeable = False
    tables = [Table(given, ("a", "b"), ((0, 1), (0, 1))) for given in (codes, view)]
    digests = [table.digest() for table in tables]
    codes[0, 0] = 1
    assert [table.codes.max() for table in tables] == [0, 0]
    assert [table.digest() for table in tables] == digests
