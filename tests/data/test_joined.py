"""Two tables as one: labels of both, numbers with words, orders, and what does not go together."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ibmap.data import load
from ibmap.data.frames import open_source
from ibmap.data.joined import joined
from ibmap.errors import IbmapError


def both(one, two, **how):
    """Two tables, loaded as one."""
    return load(joined(open_source(one), open_source(two), ("one", "two"))[0], **how)


def test_labels_of_both_tables_are_those_of_their_rows_one_after_the_other():
    one = {"a": ["x", None, "y"], "b": [1, 2, 1], "group": [True, False, True]}
    two = pl.DataFrame({"group": [False, False], "a": ["w", "y"], "b": [3.0, None]})
    found = both(one, two, missing="testwise")
    assert found.names == ("a", "b", "group", "group_")
    assert found.levels == (("w", "x", "y"), (1, 2, 3), (False, True), ("one", "two"))
    assert found.codes.tolist() == [[1, -1, 2, 0, 2], [0, 1, 0, 2, -1], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1]]


def test_it_does_not_matter_what_a_table_comes_as(tmp_path):
    one, two = (
        pd.DataFrame({"a": list("xyz"), "b": [0.5, 1.5, 2.5]}),
        pd.DataFrame({"a": list("xxz"), "b": [3, 4, 5]}),
    )
    expected = both(one, two, continuous="all", nominal=["a", "group"])
    two.to_csv(tmp_path / "two.csv", index=False)
    for first, second in ((one.to_dict("list"), two), (pl.from_pandas(one), str(tmp_path / "two.csv"))):
        found = both(first, second, continuous="all", nominal=["a", "group"])
        assert found.digest() == expected.digest()
    tables = [load(table, continuous="all", nominal=["a"]) for table in (one, two)]
    assert both(*tables, continuous="all", nominal=["a", "group"]).digest() == expected.digest()


def test_a_table_that_knows_no_value_goes_with_any():
    found = both(
        {"a": [None, None], "b": [0, 1]}, {"a": [1.5, 2.0], "b": [0, 1]}, missing="testwise", continuous=["a"]
    )
    assert np.isnan(found.values[0]).tolist() == [True, True, False, False]
    found = both({"a": ["x", "y"], "b": [0, 1]}, {"a": [np.nan, np.nan], "b": [0, 1]}, missing="testwise")
    assert found.codes[0].tolist() == [0, 1, -1, -1]


def test_declared_categories_of_both_are_levels_and_orders_stay():
    def table(levels, *, ordered):
        return pd.DataFrame({"a": pd.Categorical(["lo", "hi"], levels, ordered=ordered), "b": [0, 1]})

    found = both(table(["lo", "hi"], ordered=True), table(["lo", "so", "hi"], ordered=True))
    assert (found.ordinal, found.levels[0]) == (("a",), ("lo", "so", "hi"))
    assert found.codes[0].tolist() == [0, 2, 0, 2]
    found = both(table(["lo", "hi"], ordered=False), table(["lo", "up", "hi"], ordered=False))
    assert found.levels[0] == ("lo", "up", "hi")
    found = both(table(["lo", "no", "hi"], ordered=False), table(["lo", "up", "hi"], ordered=False))
    assert found.levels[0] == ("hi", "lo", "no", "up")
    for other in (table(["hi", "lo"], ordered=True), table(["lo", "hi"], ordered=False)):
        with pytest.raises(
            IbmapError, match="'a' has an order of its levels, which must be the same in both"
        ):
            both(table(["lo", "hi"], ordered=True), other)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"a": [0, 1]}, "'two' has no column 'b'"),
        ({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, "'one' has no column 'c'"),
        (
            {"a": [0, 1], "b": ["x", "y"]},
            "column 'b' holds numbers in 'one', and text in 'two': make them alike",
        ),
        (
            {"a": [0, 1], "b": np.array(["2020", "2021"], "M8[D]")},
            "in one of the two tables, column 'b' holds values",
        ),
        (iter([pl.DataFrame({"a": [0, 1], "b": [0, 1]})]), "a stream passes once"),
    ],
)
def test_what_does_not_go_together(other, words):
    with pytest.raises(IbmapError, match=words):
        both({"a": [0, 1], "b": [0, 1]}, other)
