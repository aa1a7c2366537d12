"""Workbooks: the table on a sheet is the table that a text file with the same cells holds."""

import csv
import datetime
import warnings

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.errors import DataError, DataWarning, IbmapError

DAY = datetime.datetime(2020, 1, 2)
BIG = 2**53


def workbook(path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet{k}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def text_file(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[_in_text(value) for value in row] for row in rows])
    return path


def _in_text(value):
    """As a spreadsheet writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def tried(path, **how):
    """What comes out: a table, or that it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            data = load(path, missing="testwise", **how)
        except IbmapError as error:
            return str(error).replace(path.name, "")
    types = [[type(level) for level in levels] for levels in data.levels]
    return data.names, data.levels, types, data.codes.tolist()


CELLS = {
    "whole": st.integers(-5, 300) | st.none(),
    "float": st.sampled_from([0.5, 1.0, 1 / 3, 1 / 3 + 1e-12, 1e-12, 2.0000000001]),
    "truth": st.booleans() | st.none(),
    "words": st.sampled_from(["a", "B b", "é", "NA", " a ", "#", "True story"]),
    "text of numbers": st.sampled_from(["007", "7", "1.50", "1e3"]),
    "any": st.sampled_from([1, 2.5, True, "a", "1", None, 1 / 3, 0.333333333, "true", 3.0]),
}


@st.composite
def tables(draw):
    """Columns of which the last rows may be of another kind than those before."""
    kinds = draw(st.lists(st.tuples(*[st.sampled_from(sorted(CELLS))] * 2), min_size=2, max_size=4))
    early, late = draw(st.integers(1, 5)), draw(st.integers(0, 2))
    columns = [
        draw(st.lists(CELLS[one], min_size=early, max_size=early))
        + draw(st.lists(CELLS[other], min_size=late, max_size=late))
        for one, other in kinds
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return [[f"x{j}" for j in range(len(kinds))], *[row for row in rows if any(v is not None for v in row)]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tables())
@example([["a", "b"], [1, 1 / 3], [2, "late"]])
@example([["a", "b"], [True, 1], [5, 2]])
def test_a_workbook_is_read_as_the_same_text(tmp_path, rows):
    if len(rows) > 1:
        assert tried(workbook(tmp_path / "t.xlsx", rows)) == tried(text_file(tmp_path / "t.csv", rows))


@pytest.mark.parametrize(
    ("early", "late", "levels"),
    [
        ([0, 1, 2], "late", ("0", "1", "2", "late")),
        ([0, 1, 2], DAY, ("0", "1", "2", "2020-01-02 00:00:00")),
        ([True, False], "maybe", ("false", "maybe", "true")),
        ([True, False], 5, ("5", "false", "true")),
        ([1, 2], True, ("1", "2", "true")),
        (["a", "b"], 0.5, ("0.5", "a", "b")),
    ],
)
def test_all_rows_decide_the_type_of_a_column(tmp_path, early, late, levels):
    rows = [[i % 2, early[i % len(early)] if i < 1200 else late] for i in range(1300)]
    data = load(workbook(tmp_path / "t.xlsx", [["a", "c"], *rows]))
    assert data.levels == ((0, 1), levels)
    assert (data.codes[1] == levels.index(str(late).lower())).sum() == 100


@pytest.mark.parametrize("missing", ["error", "drop", "category", "testwise"])
def test_no_late_value_is_missing(tmp_path, missing):
    rows = [[i % 2, i % 3 if i < 1200 else "late"] for i in range(1300)]
    assert load(workbook(tmp_path / "t.xlsx", [["a", "c"], *rows]), missing=missing).n_rows == 1300


@pytest.mark.parametrize(
    "value", [DAY, datetime.time(3, 4), datetime.timedelta(hours=30), DAY.replace(hour=7)]
)
def test_dates_and_times_are_refused_unless_they_are_dropped(tmp_path, value):
    path = workbook(tmp_path / "t.xlsx", [["a", "b", "when"], [0, 1, value], [1, 0, None], [1, 1, value]])
    with pytest.raises(DataError, match="column 'when' holds values of type"):
        load(path, missing="testwise")
    assert load(path, drop=["when"]).names == ("a", "b")


@pytest.mark.parametrize("value", [datetime.time(3, 4), datetime.timedelta(hours=30)])
def test_times_beside_words_are_refused(tmp_path, value):
    path = workbook(tmp_path / "t.xlsx", [["a", "when"], [0, value], [1, "late"]])
    with pytest.raises(DataError, match=r"column 'when' on sheet 'Sheet1' of t.xlsx holds times beside"):
        load(path)


# Where the table is

TABLE = [["age", "town"], [31, "Ulm"], [40, "Bonn"], [31, "Ulm"]]
EMPTY = [None, None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_empty_rows_and_columns_around_a_table_change_nothing(tmp_path, above, left, between):
    rows = [*[EMPTY] * above, *TABLE[:2], *[EMPTY] * between, *TABLE[2:]]
    shifted = [[None] * left + row for row in rows]
    assert tried(workbook(tmp_path / "t.xlsx", shifted)) == tried(workbook(tmp_path / "u.xlsx", TABLE))


@pytest.mark.parametrize("title", [["A survey"], [None, "A survey"], [None, None, None, "A survey"]])
@pytest.mark.parametrize("more", [[], [EMPTY], [["of 2020"], EMPTY]])
def test_a_title_is_left_out_with_a_warning(tmp_path, title, more):
    with pytest.warns(DataWarning, match=r"sheet 'Sheet1' of t.xlsx: left out 'A survey'.*above the names"):
        data = load(workbook(tmp_path / "t.xlsx", [title, *more, *TABLE]))
    assert data.names == ("age", "town")
    assert data.levels == ((31, 40), ("Bonn", "Ulm"))


@pytest.mark.parametrize(
    "rows",
    [
        [["age"], [31, "Ulm"], [40, "Bonn"]],  # a name is missing
        [["age", None, None], [31, "Ulm", 1], [40, "Bonn", 2]],
        [["a", "b", None, "d"], *[[1, 2, 3, 4]] * 3],
        [["first", None, "second", None], ["a", "b", "c", "d"], *[[1, 2, 3, 4]] * 3],  # names in two rows
        [["answer"], *[["yes", "no"], ["no", "yes"]] * 3],  # or a title above a row
        [["answer"], *[[True, False], [False, True]] * 3],
    ],
)
def test_names_that_are_not_certain_are_refused(tmp_path, rows):
    with pytest.raises(DataError, match=r"row \d on sheet 'Sheet1' of t.xlsx does not hold the names of all"):
        load(workbook(tmp_path / "t.xlsx", rows))


def test_a_name_twice_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"duplicate column names: 'a' in row 2 on sheet 'Sheet1' of t.xlsx"):
        load(workbook(tmp_path / "t.xlsx", [[], ["a", "b", " a"], [1, 2, 3]]))


def test_an_index_needs_no_name(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "x"]})
    frame.to_excel(tmp_path / "t.xlsx")
    frame.to_csv(tmp_path / "t.csv")
    assert tried(tmp_path / "t.xlsx") == tried(tmp_path / "t.csv")


@pytest.mark.parametrize("rows", [[], [["a", "b"]], [[None], ["a"]]])
def test_a_sheet_without_a_table_is_named(tmp_path, rows):
    with pytest.raises(DataError, match=r"there is no table on sheet 'Sheet1' of t.xlsx"):
        load(workbook(tmp_path / "t.xlsx", rows))


# Numbers


@pytest.mark.parametrize("values", [[BIG, BIG + 1, 7], [BIG, BIG + 1, "late"], [-BIG, "9007199254740993", 1]])
def test_whole_numbers_that_workbooks_round_are_refused(tmp_path, values):
    rows = [["x", "y"], *[[value, k] for k, value in enumerate(values)]]
    path = workbook(tmp_path / "t.xlsx", [[None] * 3, *[[None, *row] for row in rows]])
    with pytest.raises(
        DataError, match=r"column 'x' on sheet 'Sheet1' of t.xlsx holds whole numbers from 2\^53"
    ):
        load(path)


@pytest.mark.parametrize("more", [[], ["late"]])
def test_whole_numbers_in_text_stay_distinct(tmp_path, more):
    values = [str(BIG), str(BIG + 1), "7", *more]
    rows = [["x", "y"], *[[value, k] for k, value in enumerate(values)]]
    data = load(workbook(tmp_path / "t.xlsx", [[None, *row] for row in rows]))
    assert list(data.levels[0]) == sorted(values if more else map(int, values))


def test_numbers_below_stay_numbers(tmp_path):
    values = [BIG - 1, BIG - 2, 1 - BIG]
    data = load(workbook(tmp_path / "t.xlsx", [["x", "y"], *[[value, k] for k, value in enumerate(values)]]))
    assert data.levels[0] == tuple(sorted(values))


def test_fractions_keep_all_their_digits(tmp_path):
    values = [1 / 3, 1 / 3 + 1e-12, 1e-11, 1e17, "late"]
    rows = [["x", "y"], *[[value, k] for k, value in enumerate(values[:4])]]
    edges = load(workbook(tmp_path / "t.xlsx", rows), bins={"x": 2}, discretize="equal-width").bin_edges["x"]
    assert (edges[0], edges[-1]) == (1e-11, 1e17)
    rows = [["x", "y"], *[[value, k] for k, value in enumerate(np.array(values, object)[[0, 1, 2, 4]])]]
    assert len(load(workbook(tmp_path / "t.xlsx", rows)).levels[0]) == 4


# Sheets

OTHER = [["a", "b"], [0, 1], [1, 1]]


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_sheets_are_named_behind_the_file(tmp_path, as_path):
    path = workbook(tmp_path / "t.xlsx", TABLE, OTHER)
    assert load(as_path(path.with_name("t.xlsx#Sheet2"))).names == ("a", "b")
    assert load(as_path(path.with_name("t.xlsx#Sheet1"))).names == ("age", "town")
    with pytest.raises(DataError, match=r"t.xlsx has no sheet 'sheet 2': it has 'Sheet1', 'Sheet2'"):
        load(as_path(path.with_name("t.xlsx#sheet 2")))
    with pytest.raises(DataError, match=r"there is no file '.*none.xlsx'"):
        load(as_path(path.with_name("none.xlsx#Sheet1")))


def test_a_file_may_have_the_mark_in_its_name(tmp_path):
    workbook(tmp_path / "t.xlsx", TABLE)
    assert load(workbook(tmp_path / "t.xlsx#Sheet2.xlsx", OTHER)).names == ("a", "b")
    assert load(f"{workbook(tmp_path / 'a#1.xlsx', TABLE, OTHER)}#Sheet2").names == ("a", "b")
    (tmp_path / "t.xlsx#1.csv").write_text("c,d\n1,2\n")
    assert load(tmp_path / "t.xlsx#1.csv").names == ("c", "d")


def test_the_reader_has_nothing_to_log(tmp_path, caplog):
    load(workbook(tmp_path / "t.xlsx", [["a", "b", "empty"], [1, 2, None], [2, "x", None]]), drop=["empty"])
    assert not caplog.records
