"""What users say about columns: orders of levels, categories, values that are missing."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ibmap.data import Table, load
from ibmap.data.packed_file import open_packed, write_packed
from ibmap.data.table import PackedData
from ibmap.engines.bits import packed_data
from ibmap.errors import DataError, DataWarning, RequestError, UnknownVariableError

TABLE = {
    "mood": ["low", "high", "mid", "low", "high"],
    "item": [1, 3, -9, 2, 3],
    "part": [0.5, 1.5, 0.5, 2.0, 1.5],
    "sex": ["f", "m", "f", "m", "f"],
}


def batches(table: dict[str, Any], rows: int = 2) -> Any:
    frame = pl.DataFrame(table)
    return iter([frame[k : k + rows] for k in range(0, len(frame), rows)])


@pytest.mark.parametrize("order", [{"mood": ["low", "mid", "high", "top"]}, ["mood=low<mid<high<top"]])
def test_words_have_the_order_that_is_said(order: Any) -> None:
    data = load(TABLE, ordinal=order, nominal=["part"], missing_values=[-9], missing="testwise")
    assert data.levels[0] == ("low", "mid", "high", "top")
    assert data.codes[0].tolist() == [0, 2, 1, 0, 2]
    assert data.ordinal == ("mood",)
    assert data.schema.kinds == ("ordinal", "nominal", "nominal", "nominal")
    assert data.levels[2] == (0.5, 1.5, 2)
    assert data.codes[1].tolist() == [0, 2, -1, 1, 2]


@pytest.mark.parametrize("missing", ["testwise", "drop", "category"])
@pytest.mark.filterwarnings("ignore::ibmap.errors.DataWarning")
def test_batches_are_told_the_same(missing: str) -> None:
    how: dict[str, Any] = {"ordinal": ["mood=low<mid<high", "item"], "missing_values": {"item": ["-9"]}}
    how["nominal"] = ["part"]
    whole = load(TABLE, missing=missing, **how)
    parts = load(batches(TABLE), missing=missing, **how)
    assert isinstance(parts, PackedData)
    assert (parts.levels, parts.ordinal, parts.warnings) == (whole.levels, whole.ordinal, whole.warnings)
    np.testing.assert_array_equal(parts.codes, whole.codes)
    assert parts.digest() == whole.digest()
    assert whole.ordinal == (("mood",) if missing == "category" else ("mood", "item"))
    said = {"missing": missing, **how}
    assert {name: whole.reading[name] for name in said} == said
    assert parts.reading == whole.reading == pickle.loads(pickle.dumps(parts)).schema.reading


def test_a_batch_need_not_have_all_levels_of_an_order() -> None:
    table = {"n": [3, 1, 2, 3, 1, 2, 1, 2], "t": [True, False, True, True, True, True, True, None]}
    data = load(batches(table), ordinal=["n=1<2<3<4", "t=True<False"], missing="testwise")
    assert data.levels == ((1, 2, 3, "4"), (True, False))
    assert data.codes.tolist() == [[2, 0, 1, 2, 0, 1, 0, 1], [0, 1, 0, 0, 0, 0, 0, -1]]


def test_categories_must_be_the_same_in_all_batches() -> None:
    frames = [
        pl.DataFrame({"x": pl.Series(["a", last], dtype=pl.Enum([*"abcde", last])), "y": [0, 1]})
        for last in "fg"
    ]
    with pytest.raises(DataError, match="'x' declares other categories in batch 2 than in batch 1"):
        load(iter(frames), missing="testwise")


def test_missing_values_as_a_level_have_no_place_in_an_order() -> None:
    with pytest.warns(DataWarning, match="no place in the order of 'item': it is taken as nominal"):
        load(TABLE, ordinal=["item"], missing_values=[-9], missing="category", drop=["part"])


@pytest.mark.parametrize("table", [TABLE, "batches"])
def test_words_without_an_order_are_refused_with_a_hint(table: Any) -> None:
    words = 'words without a known order.*ordinal="mood='
    table = batches({**TABLE, "part": TABLE["item"]}) if table == "batches" else TABLE
    with pytest.raises(DataError, match=words):
        load(table, ordinal=["mood"], nominal=["part"])


def test_two_words_and_truth_values_need_no_order() -> None:
    table = {"sex": ["f", "m", "f"], "ill": [True, False, True], "n": [3, 1, 2]}
    assert load(table, ordinal=["sex", "ill", "n"]).ordinal == ("sex", "ill", "n")


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"ordinal": ["mod"]}, UnknownVariableError, "did you mean 'mood'"),
        ({"ordinal": {"mood": ["low", "high"]}}, DataError, "lacks the level 'mid': it has low < high"),
        ({"ordinal": {"mood": "low"}}, RequestError, "must be a list of levels"),
        ({"ordinal": {"mood": ["low", "low"]}}, RequestError, "two different levels"),
        ({"ordinal": ["item"], "nominal": ["item"]}, RequestError, "both ordinal and nominal"),
        ({"ordinal": 3}, RequestError, "ordinal must be a list of names"),
        ({"missing_values": {"itm": [1]}}, UnknownVariableError, "did you mean 'item'"),
    ],
)
def test_what_makes_no_sense_is_refused(how: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        load(TABLE, **how)


def test_ordered_categories_of_pandas_are_ordinal_and_others_are_not() -> None:
    levels = ["low", "mid", "high"]
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(TABLE["mood"], levels, ordered=True),
            "b": pd.Categorical(TABLE["mood"], levels),
            "c": TABLE["sex"],
        }
    )
    data = load(frame)
    assert data.ordinal == ("a",)
    assert data.levels[:2] == (("low", "mid", "high"),) * 2
    assert load(frame, ordinal=["b"], nominal=["a"]).ordinal == ("b",)


def test_an_enum_of_polars_has_an_order_to_be_used() -> None:
    frame = pl.DataFrame(TABLE).with_columns(pl.col("mood").cast(pl.Enum(["low", "mid", "high"])))
    assert load(frame, drop=["part"]).ordinal == ()
    assert load(frame, drop=["part"], ordinal=["mood"]).levels[0] == ("low", "mid", "high")


def test_arrays_have_orders_of_numbers() -> None:
    array = np.array([[3, 1], [1, 2], [2, 1]])
    assert load(array, ordinal=["x0"]).ordinal == ("x0",)
    assert load(array, ordinal=["x0=3<1<2"]).codes[0].tolist() == [0, 1, 2]
    assert load(array, missing_values=[3], missing="drop").codes.tolist() == [[0, 1], [1, 0]]


def test_categories_are_not_cut() -> None:
    table = {"region": np.arange(40) % 20, "pay": np.linspace(0, 1, 40)}
    data = load(table, discretize="quantile", bins=4, nominal=["region"])
    assert list(map(len, data.levels)) == [20, 4]


def test_a_table_that_is_coded_can_be_told_its_orders(tmp_path: Path) -> None:
    data = load({"n": [3, 1, 2, 1], "w": list("abca")})
    told = load(data, ordinal=["n"])
    assert told.ordinal == ("n",)
    assert load(told, nominal=["n"]).ordinal == ()
    assert data.digest() != told.digest()
    assert data.schema.difference(told.schema) == "'n' is nominal here, ordinal there"
    with pytest.raises(DataError, match="without a known order"):
        load(data, ordinal=["w"])
    with pytest.raises(RequestError, match="the table is coded"):
        load(data, missing_values=[1])
    for same in (told.rows(np.arange(4)), told.variables([0, 1]), pickle.loads(pickle.dumps(told))):
        assert same.ordinal == ("n",)
        assert same.digest() == told.digest()
    write_packed(packed_data(told), tmp_path / "t.ibmap")
    packed = open_packed(tmp_path / "t.ibmap")
    for one in (packed, pickle.loads(pickle.dumps(packed)), load(packed)):
        assert (one.ordinal, one.digest(), one.schema.kinds) == (("n",), told.digest(), told.schema.kinds)
    assert load(packed, nominal=["n"]).digest() == data.digest()
    with pytest.raises(UnknownVariableError):
        Table(data.codes, data.names, data.levels, ordinal=("other",))


def test_a_record_batch_keeps_its_names() -> None:
    pa = pytest.importorskip("pyarrow")
    data = load(pa.record_batch({"rain": ["no", "yes", "no"], "wet": [0, 1, 0]}))
    assert (data.names, data.backend) == (("rain", "wet"), "pyarrow")


@pytest.mark.parametrize("value", ["no", -9, -9.5, np.int8(-9), np.str_("no")])
def test_a_single_value_may_stand_for_missing(value: object) -> None:
    kinds = ["yes", "no", "may be"] if isinstance(value, str) else [1, value, 2]
    data = load({"a": kinds * 20, "b": [0, 1, 0] * 20}, missing="testwise", missing_values=value)
    assert (data.codes[0] < 0).sum() == 20
    for odd in (object(), 1j):
        with pytest.raises(RequestError, match="missing_values must be a list of values"):
            load({"a": kinds, "b": kinds}, missing_values=odd)


@pytest.mark.parametrize(
    ("continuous", "said"), [(None, None), ("auto", "auto"), ("all", "all"), (["age"], ["age"])]
)
def test_a_result_can_say_which_columns_were_numbers(continuous: Any, said: Any) -> None:
    table = {"age": [i / 7 for i in range(40)], "sex": [0, 1] * 20}
    if continuous is None:
        table["age"] = [1, 2] * 20
    about = load(table, continuous=continuous)
    assert about.reading.get("continuous") == said
    again = load(table, **{name: about.reading.get(name) for name in ("ordinal", "nominal", "continuous")})
    assert (again.schema.kinds, again.digest()) == (about.schema.kinds, about.digest())


@pytest.mark.parametrize("bins", [None, 3])
@pytest.mark.parametrize("discretize", [None, "quantile"])
def test_a_matrix_is_cut_as_its_columns_are(discretize: str | None, bins: int | None) -> None:
    if discretize is None and bins is not None:
        return
    matrix = np.random.default_rng(0).integers(0, [2, 20, 60], (2000, 3))
    whole = load(matrix, discretize=discretize, bins=bins)
    parts = load(dict(zip(whole.names, matrix.T, strict=True)), discretize=discretize, bins=bins)
    assert (whole.levels, whole.digest()) == (parts.levels, parts.digest())


def test_a_number_that_stands_for_missing_is_no_truth_value() -> None:
    table = {
        "a": [True, False, True, True],
        "b": [1, 0, 1, 1],
        "c": ["1", "1.0", "x", "1"],
        "d": [0.5, 1.0, 2.5, 1.0],
    }
    data = load(table, missing_values=[1], missing="testwise", nominal=["d"])
    assert data.levels == ((False, True), (0,), ("x",), (0.5, 2.5))
    assert data.codes.tolist() == [[1, 0, 1, 1], [-1, 0, -1, -1], [-1, -1, 0, -1], [0, -1, 1, -1]]
    data = load(table, missing_values={"a": ["True"], "c": ["x"]}, missing="testwise", nominal=["d"])
    assert data.levels == ((False,), (0, 1), ("1", "1.0"), (0.5, 1, 2.5))
    assert data.codes[0].tolist() == [-1, 0, -1, -1]


def test_errors_about_orders_name_the_levels_and_show_an_order() -> None:
    words = ["north pole", "south", "west", "east", "up", "down", "in"]
    with pytest.raises(DataError) as raised:
        load({"way": words, "y": [0, 1] * 3 + [0]}, ordinal=["way"])
    assert str(raised.value) == (
        "the levels of 'way' are words without a known order (down, east, in, north pole, south and 2 more): "
        'say it, such as ordinal="way=down<east<in" with the lowest first'
    )
    with pytest.raises(DataError, match=r"lacks the levels 'a', 'c': it has b < d$"):
        load({"x": list("abcd"), "y": [0, 1] * 2}, ordinal=["x=b<d"])
    assert load({"x": [2.5, 1, 3.5], "y": [0, 1, 0]}, ordinal=["x"]).levels[0] == (1, 2.5, 3.5)


def test_a_category_for_missing_values_is_told_of_all_columns_that_lose_their_order() -> None:
    table = {"a": [3, 1, None, 2], "b": [None, 2, 1, 3], "c": [0, 1, 0, 1]}
    words = "no place in the order of 'a', 'b': they are taken as nominal"
    with pytest.warns(DataWarning, match=words):
        data = load(table, ordinal=["a", "b"], missing="category")
    assert data.ordinal == ()


def test_names_with_signs_of_their_own_are_names() -> None:
    table = {"a=b<c": [1, 2, 3], "x<y": [3, 1, 2], "a": ["c", "b", "c"], "u=v": [1, 2, 3]}
    data = load(table, ordinal=["a=b<c", "x<y", "u=v"])
    assert data.ordinal == ("a=b<c", "x<y", "u=v")
    assert load(table, ordinal=["a = c < b"], drop=["a=b<c"]).levels[1] == ("c", "b")
    with pytest.raises(UnknownVariableError):
        load(table, ordinal=["a=c"])


def test_values_that_stand_for_missing_add_to_those_that_are() -> None:
    table = {"n": pd.Series([1, 2, None, 9], dtype="Int64"), "f": [0.0, 9.0, np.nan, 2.0], "y": [0, 1, 0, 1]}
    data = load(table, missing_values=[9], missing="testwise")
    assert data.codes[0].tolist() == [0, 1, -1, -1]
    assert data.codes[1].tolist() == [0, -1, -1, 1]
    gone = np.ma.array([[1, 9], [2, 5], [9, 5]], mask=[[True, False], [False, False], [False, True]])
    assert load(gone, missing_values=[9], missing="testwise").codes.tolist() == [[-1, 0, -1], [-1, 0, -1]]
