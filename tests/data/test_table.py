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


def mixed() -> Table:
    """Levels and numbers in turn, with holes, weights and clusters."""
    values = np.array([[0.5, np.nan, 2.5, 3.5], [1.0, 2.0, 3.0, 4.0]])
    codes = np.array([[0, 1, -1, 1], [2, 1, 0, 0]])
    return Table(
        codes,
        ("size", "sex", "age", "mood"),
        ((), ("f", "m"), (), ("low", "mid", "high")),
        bin_edges={},
        ordinal=("mood",),
        values=values,
        numbers="values",
        undecided=("mood",),
        weights=np.array([1.0, 2.0, 0.5, 1.5]),
        clusters=np.array([0, 0, 1, 2]),
    )


def cells(data: Table) -> dict[str, list[object]]:
    """The values of every variable, None where one is missing."""
    found = {}
    for v, name in enumerate(data.names):
        if data.is_number[v]:
            found[name] = [None if value != value else value for value in data.values_of(v).tolist()]
        else:
            found[name] = [None if code < 0 else data.levels[v][code] for code in data.codes_of(v).tolist()]
    return found


@pytest.mark.parametrize("kept", [[3, 0], [1, 2, 3], [0], [1], [2, 1, 0, 3]])
def test_some_variables_are_those_variables(kept: list[int]) -> None:
    data = mixed()
    some = data.variables(kept)
    assert some.names == tuple(data.names[v] for v in kept)
    assert cells(some) == {name: cells(data)[name] for name in some.names}
    assert some.ordinal == some.undecided == (("mood",) if 3 in kept else ())
    assert some.schema.kinds == tuple(data.schema.kinds[v] for v in kept)
    assert some.numbers == "values"
    assert some.weights is not None
    assert some.clusters is not None
    assert some.weights.tolist() == [1.0, 2.0, 0.5, 1.5]
    assert some.clusters.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("rows", [[0, 3], [2, 2, 1], [1]])
def test_some_rows_are_those_rows(rows: list[int]) -> None:
    data = mixed()
    some = data.rows(np.array(rows, int))
    assert cells(some) == {name: [column[r] for r in rows] for name, column in cells(data).items()}
    assert (some.levels, some.ordinal, some.n_rows) == (data.levels, data.ordinal, len(rows))
    assert some.weights is not None
    assert some.weights.tolist() == data.weights[rows].tolist()
    again = pickle.loads(pickle.dumps(some))
    assert cells(again) == cells(some)
    assert again.clusters.tolist() == some.clusters.tolist()
    assert again.digest() == some.digest()


def test_the_share_of_missing_cells_is_that_of_levels_and_numbers() -> None:
    data = mixed()
    assert data.has_missing
    assert data.missing_share == 2 / 16
    assert data.rows(np.array([0, 3])).missing_share == 0
    assert not data.rows(np.array([0, 3])).has_missing
    assert data.rows(np.array([1])).has_missing
    assert data.rows(np.array([2])).has_missing
    assert data.variables([1, 3]).missing_share == 1 / 8
    assert load({"a": [0, 0, 1], "b": [0, 1, 0]}).missing_share == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": np.array([[0.5, np.inf, 1, 2], [1.0, 2, 3, 4]])}, "finite numbers"),
        ({"values": np.zeros(4)}, "2-D array of finite numbers"),
        ({"values": np.zeros((2, 3))}, "4 rows have codes, and 3 have numbers"),
        ({"values": np.zeros((1, 4))}, "3 rows of codes and numbers, 4 names and 4 tuples of levels"),
        ({"levels": ((), ("f", "m"), (), ())}, "2 rows of codes for 1 variables with levels"),
        ({"ordinal": ("moood",)}, "'moood'"),
        ({"names": ("size", "sex", "age", "age")}, "two variables have the same name"),
    ],
)
def test_parts_of_a_mixed_table_that_do_not_fit_are_refused(changes: dict[str, object], words: str) -> None:
    parts = {name: getattr(mixed(), name) for name in ("codes", "names", "levels", "values", "ordinal")}
    with pytest.raises((DataError, UnknownVariableError), match=words):
        Table(**{**parts, **changes})  # type: ignore[arg-type]
