"""What is allowed with a warning, and what needs none."""

import json
import os
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ibmap import EvidenceMAP
from ibmap.data import Table, load
from ibmap.data.frames import open_source
from ibmap.data.kinds import MOST_WHOLE
from ibmap.data.quality import (
    FEW_ROWS,
    columns_of_times,
    identifiers,
    missing_together,
    names_like_values,
    no_plain_numbers,
    of_missing_together,
)
from ibmap.errors import DataError, DataWarning
from ibmap.report import report_text
from ibmap.results.result_file import result_of_learned

HERE = Path(__file__).parents[3] / "shared" / "data"
TABLES = Path(os.environ.get("IBMAP_DATA", HERE)) / "benchmarks"
IDENTIFIERS = {("ecoli", "sequence_name"), ("hayes-roth", "name"), ("machine", "model")}


def test_as_many_levels_as_rows_is_allowed_with_a_warning() -> None:
    frame = {"id": list(range(10)), "y": [0, 1] * 5}
    with pytest.warns(DataWarning, match=r"too many levels for 10 rows: 'id' \(10\); cut numbers") as caught:
        data = load(frame)
    assert caught[0].filename == __file__
    assert data.cardinalities.tolist() == [10, 2]
    with pytest.warns(DataWarning, match="'x0'") as caught:
        load(np.column_stack([np.arange(12), np.zeros(12, int)]))
    assert caught[0].filename == __file__
    load({"id": list(range(9)), "y": [0] * 9})  # few rows: no warning
    load(pd.DataFrame({"c": pd.Categorical(["a"] * 10, list("abcdefghijkl")), "y": [0] * 10}))  # declared


@pytest.mark.parametrize("kind", [int, str, "2020-01-{}".format, "12:00:{}".format])
def test_hardly_any_rows_per_level(kind: type) -> None:
    n = 1000
    values = np.arange(n) % (n // FEW_ROWS)
    few, many = (
        [kind(v) for v in column] for column in (values, np.where(values == 0, np.arange(n), values))
    )
    load({"x": few, "y": values % 2})
    with pytest.warns(DataWarning, match=r"too many levels for 1000 rows: 'x' \(204\);") as caught:
        load({"x": many, "y": values % 2})
    assert ("cut numbers with discretize=" in str(caught[0].message)) == (kind is int)
    assert ("group its values, or drop it" in str(caught[0].message)) == (kind is not int)


@pytest.mark.parametrize("form", ["{:,}", "${}", "{} %", "{},5"])
def test_numbers_that_came_as_text(form: str) -> None:
    values = [form.format(1000 + k) for k in range(60)]
    with pytest.warns(DataWarning, match=f"write numbers such as {re.escape(repr(values[0]))} with digits"):
        load({"x": values, "y": [0] * 60})


def test_words_among_numbers() -> None:
    values = [*map(str, range(60)), "unknown", "-"]
    with pytest.warns(DataWarning, match="'-', 'unknown' are not numbers: leave such cells empty"):
        load({"x": values, "y": [0] * 62})


def test_short_tables_may_have_few_rows_per_level() -> None:
    column = [*range(MOST_WHOLE), 0]
    load({"x": column, "y": column})
    with pytest.warns(DataWarning):
        load({"x": [*range(MOST_WHOLE + 1), 0], "y": [0, *column]})


def test_one_warning_for_many_columns() -> None:
    with pytest.warns(DataWarning) as caught:
        load({**{f"id{j}": np.arange(50) for j in range(8)}, "y": np.arange(50) % 2})
    assert [str(warning.message) for warning in caught] == [
        "too many levels for 50 rows: 'id0' (50), 'id1' (50), 'id2' (50), 'id3' (50), 'id4' (50) and 3 more; "
        "cut numbers with discretize='equal-width' or 'quantile', or drop them"
    ]


HEADLESS = {
    "census": ("39, State-gov, 77516, Male\n50, Private, 83311, Male\n38, State-gov, 215646, Female\n", 2),
    "iris": ("5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n7.0,3.2,4.7,1.4,versicolor\n", 5),
    "codes": ("3;1;2\n3;2;2\n1;1;1\n", 3),
    "truths": ("true,false\nfalse,true\ntrue,false\n", 2),
}
NAMED = {
    "names": "age,job\n39,State-gov\n50,Private\n",
    "years": "country,2019,2020,2021\nPeru,3,4,5\nChile,1,2,3\n",
    "numbered": "0,1,2,3\n0,1,2,3\n1,1,0,2\n",
    "numbered from one": "1,2,3\n1,2,3\n1,1,2\n",
    "one name is a value": "male,age,pay\nmale,1,2\nfemale,2,1\n",
    "two columns": "smoker,age\nsmoker,1\nother,2\n",
}


@pytest.mark.parametrize("case", HEADLESS)
def test_a_file_without_a_line_of_names(case: str, tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text(HEADLESS[case][0])
    with pytest.warns(DataWarning, match="the first line of t.csv looks like values, not names: ") as caught:
        load(path, discretize="quantile")
    assert str(caught[0].message).count("', '") + 1 == HEADLESS[case][1]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("case", NAMED)
def test_a_file_with_names_gives_no_doubt(case: str, tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text(NAMED[case])
    load(path)


def test_frames_and_arrays_have_names_already() -> None:
    load(pd.DataFrame([[3, 1], [3, 1]], columns=["3", "1"]))


@pytest.mark.skipif(not TABLES.is_dir(), reason="no data folder: set IBMAP_DATA")
@pytest.mark.parametrize("discretize", [None, "equal-width", "quantile"])
@pytest.mark.parametrize("path", sorted(TABLES.glob("*.csv")), ids=lambda path: path.stem)
def test_only_numbers_and_identifiers_of_the_papers_tables(path: Path, discretize: str | None) -> None:
    catalog = json.loads((TABLES / "catalog.json").read_text())["datasets"]
    found = next(entry for entry in catalog if entry["name"] == path.stem)
    kinds = {name: kind for name, kind, *_ in found["columns"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            names = load(path, discretize=discretize).names
        except DataError:
            assert discretize is None
            return
    said = " ".join(str(warning.message) for warning in caught)
    named = {name for name in names if repr(name) in said}
    meant = {name for name in named if (path.stem, name) in IDENTIFIERS}
    assert "first line" not in said
    assert all(kinds[name] == "numeric" for name in named - meant)
    assert discretize is None or named == meant


def missing_in_the_same_rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (300, 4)).astype(float), columns=list("abcd"))
    frame.loc[:80, ["a", "b"]] = np.nan
    frame.loc[rng.random(300) < 0.2, "c"] = np.nan
    return frame


def test_columns_that_are_missing_together_are_named() -> None:
    with pytest.warns(DataWarning, match="'a', 'b' are missing in the same rows: edges between them") as said:
        load(missing_in_the_same_rows(), missing="category")
    assert "'c'" not in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(missing_in_the_same_rows(), missing="testwise")
        load(missing_in_the_same_rows()[["b", "c", "d"]], missing="category")


def test_warnings_of_a_table_travel_into_the_result() -> None:
    with pytest.warns(DataWarning) as said:
        net = EvidenceMAP(missing="category").fit(missing_in_the_same_rows())
    (words,) = [str(one.message) for one in said]
    assert net.learned_.warnings == (words,)
    assert pickle.loads(pickle.dumps(net.engine_.schema)).warnings == (words,)
    result = result_of_learned(net.learned_, net.engine_)
    assert result.content["warnings"] == [words]
    assert "Note:</strong> missing values are a category" in report_text(result)


def test_missing_together_is_a_correlation_above_one_half():
    """Of 40 rows half miss each: 16 rows that miss both are a correlation of 0.6, 15 one of 0.5."""
    for both, warned in ((16, True), (15, False), (4, False)):
        words = of_missing_together(("job", "pay"), np.array([[20, both], [both, 20]]), 40)
        assert ("'job', 'pay' are missing in the same rows" in words) == warned
    rare = np.array([[8, 6], [6, 8]])  # (6/40 - 0.04) / 0.16 = 0.69, of 6 rows
    assert bool(of_missing_together(("job", "pay"), rare, 40)) == (FEW_ROWS <= 6)


@pytest.mark.parametrize(("n_rows", "first"), [(40, 0), (40, 1), (19_999, 1)])
def test_up_to_twenty_thousand_rows_each_is_looked_at(n_rows: int, first: int) -> None:
    codes = np.zeros((2, n_rows), np.int8)
    codes[:, first::2] = 1
    data = Table(codes, ("pay", "job"), ((1, None), (2, None)))
    assert "are missing in the same rows" in missing_together(data)


@pytest.mark.parametrize(("n_both", "warned"), [(FEW_ROWS - 1, False), (FEW_ROWS, True)])
def test_fewer_than_five_rows_in_which_two_are_missing_are_no_pattern(n_both: int, warned: bool) -> None:
    counts = np.array([[n_both, n_both], [n_both, n_both]])
    assert bool(of_missing_together(("job", "pay"), counts, 400)) == warned


N = 30
JUMPING = [7 * k % 31 for k in range(N)]
#: columns of 30 rows: does it tell rows apart; and still if other numbers are to be cut?
TELLING = {
    "rising": ([*range(N)], True, True),
    "from one": ([*range(1, N + 1)], True, True),
    "falling": ([*range(N, 0, -1)], True, True),
    "rising with gaps": ([3 * k for k in range(N)], True, True),
    "falling with gaps": ([-3 * k for k in range(N)], True, True),
    "shuffled": ([11 * k % N for k in range(N)], True, True),
    "jumping": (JUMPING, True, False),
    "": (JUMPING, True, True),
    "twice": ([*range(N - 1), 0], False, False),
    "text": ([f"p{k}" for k in range(N)], True, True),
    "text twice": ([*(f"p{k}" for k in range(N - 1)), "p0"], False, False),
    "numbers and a word": ([*map(str, range(1, N)), "unknown"], False, False),
    "money": ([f"{k},5" for k in range(N)], False, False),
    "fractions": ([k / 4 for k in range(N)], False, False),
    "a hole": ([*range(N - 1), None], False, False),
    "truth": ([True, False] * (N // 2), False, False),
    "text and numbers": ([k if k % 2 else f"p{k}" for k in range(N)], False, False),
}


@pytest.mark.parametrize("name", TELLING)
def test_columns_that_tell_rows_apart_and_nothing_else(name: str) -> None:
    column, tells, also_cut = TELLING[name]
    table = {name: column, "other": [0, 1] * (N // 2)}
    source = open_source(table)
    assert identifiers(source, [name, "other"]) == [name] * tells
    assert identifiers(source, [name, "other"], cut=True) == [name] * also_cut
    if name != "fractions":  # those are no levels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = load(table, missing="testwise")
        assert identifiers(read, [name, "other"]) == [name] * tells
        assert identifiers(read, [name, "other"], cut=True) == [name] * also_cut


@pytest.mark.parametrize(("n_rows", "tells"), [(MOST_WHOLE - 1, False), (MOST_WHOLE, True)])
@pytest.mark.parametrize("kind", [int, "p{}".format])
def test_in_fewer_than_twenty_rows_nothing_is_an_identifier(n_rows: int, tells: bool, kind: type) -> None:
    table = {"id": [kind(k) for k in range(n_rows)], "y": [k % 2 for k in range(n_rows)]}
    assert identifiers(open_source(table), ["id", "y"]) == ["id"] * tells


def test_times_are_found_among_all_that_cannot_be_read() -> None:
    days = np.array(["2026-11-18", "2026-11-19"], "M8[D]")
    table = {"a": [1, 2], "when": days, "b": ["x", "y"], "odd": [[1], [2]], "then": days}
    table["long"] = days - days[0]
    source = open_source(table)
    assert columns_of_times(source, source.names) == ["when", "then", "long"]
    assert columns_of_times(source, ["a", "b"]) == []
    assert columns_of_times(source, ["odd"]) == []
    assert columns_of_times(source, ["then"]) == ["then"]


@pytest.mark.parametrize(
    ("words", "n_numbers", "said"),
    [
        (["-"], 10, "'-' is not a number: leave such cells empty"),
        (["-"], 8, ""),
        (["-", "?!"], 18, "'-', '?!' are not numbers: leave such cells empty"),
        (["-", "?!"], 17, ""),
        (["-", "?!", "x", "y"], 40, "'-', '?!', 'x', ... are not numbers: leave such cells empty"),
        ([], 10, ""),
    ],
)
def test_a_word_among_ten_numbers_is_taken_for_a_missing_one(
    words: list[str], n_numbers: int, said: str
) -> None:
    found = no_plain_numbers((*words, *map(str, range(n_numbers))))
    assert found.replace(" and 1 more", ", ...") == said or found == said


@pytest.mark.parametrize(
    ("names", "doubt"),
    [
        (["3", "a", "b", "c"], False),
        (["3", "1.5", "b", "c"], True),
        (["3", "1.5", "b", "c", "d"], False),
        (["3", "1.5", "b", "c", "x"], True),
        (["0", "1", "2"], False),
        (["1", "2", "3"], False),
        (["2", "3", "4"], True),
        (["3", "4"], True),
        (["3", "b"], False),
    ],
)
def test_half_of_the_names_and_two_must_look_like_values(names: list[str], doubt: bool) -> None:
    rows = {name: ["x", "y"] if name in "abcdx" else [2, int(float(name) // 1)] for name in names}
    assert bool(names_like_values(pl.DataFrame(rows), "t.csv")) is doubt
