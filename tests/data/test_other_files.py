"""Files of SPSS, Stata, SAS and Excel, and Feather: their labels, orders and missing values."""

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from ibmap.data import load
from ibmap.errors import DataError, DataWarning

openpyxl = pytest.importorskip("openpyxl")
pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "mood": [1.0, 3.0, 9.0, 1.0, 2.0, 3.0],
        "sex": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        "town": ["Ulm", "Bonn", "", "Ulm", "Bonn", "Ulm"],
        "scale": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
    }
)
LABELS = {
    "mood": {1.0: "low", 2.0: "mid", 3.0: "high", 9.0: "refused"},
    "sex": {1.0: "woman", 2.0: "man", 3.0: "other"},
    "scale": {1.0: "never", 7.0: "always"},
}


@pytest.fixture
def sav(tmp_path: Path) -> Path:
    pyreadstat.write_sav(
        FRAME,
        tmp_path / "survey.sav",
        variable_value_labels=LABELS,
        missing_ranges={"mood": [9]},
        variable_measure={"mood": "ordinal", "scale": "ordinal", "sex": "nominal"},
    )
    return tmp_path / "survey.sav"


def test_labels_of_spss_are_levels_in_order_and_user_missing_values_are_missing(sav: Path) -> None:
    data = load(sav, missing="testwise")
    assert data.names == ("mood", "sex", "town", "scale")
    assert data.levels[0] == ("low", "mid", "high")
    assert data.codes[0].tolist() == [0, 2, -1, 0, 1, 2]
    assert data.levels[1] == ("woman", "man")
    assert data.codes[2].tolist() == [1, 0, -1, 1, 0, 1]
    assert data.levels[3] == ("never", "2", "3", "4", "5", "always")
    assert data.ordinal == ("mood", "scale")
    assert load(sav, missing="testwise", nominal=["scale"]).ordinal == ("mood",)
    assert load(sav, missing="drop", only=["sex", "scale"]).ordinal == ("scale",)


def test_compressed_and_portable_files_of_spss(tmp_path: Path) -> None:
    frame = FRAME[["sex", "scale"]]
    pyreadstat.write_sav(frame, tmp_path / "t.zsav", compress=True)
    pyreadstat.write_por(frame, tmp_path / "t.por")
    for name in ("t.zsav", "t.por"):
        assert load(tmp_path / name).codes.tolist() == [[0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 5]]


def test_files_of_stata(tmp_path: Path) -> None:
    labels = {"sex": {1: "woman", 2: "man"}}
    FRAME[["sex", "scale"]].astype({"sex": int}).to_stata(
        tmp_path / "t.DTA", value_labels=labels, write_index=False
    )
    data = load(tmp_path / "t.DTA", ordinal=["scale"])
    assert data.levels == (("woman", "man"), (1, 2, 3, 4, 5, 7))
    assert data.ordinal == ("scale",)


def workbook(path: Path, *sheets: tuple[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [["age", "town "], [31, "Ulm"], [None, "NA"], [40, " Bonn"], [None, None], [31, "Ulm"]]


def test_workbooks_of_excel(tmp_path: Path) -> None:
    data = load(workbook(tmp_path / "t.xlsx", ("one", ROWS)), missing="testwise")
    assert data.names == ("age", "town")
    assert data.levels == ((31, 40), ("Bonn", "Ulm"))
    assert data.codes.tolist() == [[0, -1, 1, 0], [1, -1, 0, 1]]


def test_other_sheets_are_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ("one", ROWS), ("notes", [["a"]]))
    with pytest.warns(DataWarning, match="read 'one', not 'notes'"):
        load(path, missing="testwise")


def test_numbers_beside_words_for_missing(tmp_path: Path) -> None:
    rows = [["a", "b"], [1, "x"], ["NA", "y"], [2, "x"]]
    data = load(workbook(tmp_path / "t.xlsx", ("one", rows)), missing="testwise")
    assert data.levels == ((1, 2), ("x", "y"))


def test_feather_is_arrow(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2, 1], "b": ["x", "y", "x"]})
    frame.write_ipc(tmp_path / "t.feather", compression="lz4")
    assert load(tmp_path / "t.feather").codes.tolist() == [[0, 1, 0], [0, 1, 0]]
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(20))
    with pytest.raises(DataError, match="Feather file of version 1"):
        load(tmp_path / "old.feather")


@pytest.mark.parametrize(
    ("suffix", "words"),
    [
        (".sav", "not a readable file of SPSS"),
        (".dta", "not a readable file of Stata"),
        (".sas7bdat", "not a readable file of SAS"),
        (".xlsx", "not an Excel workbook that can be read"),
        (".ods", "not a LibreOffice workbook that can be read"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, suffix: str, words: str) -> None:
    (tmp_path / f"t{suffix}").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=rf"{words}.*\w") as error:
        load(tmp_path / f"t{suffix}")
    assert "\n" not in str(error.value)
    with pytest.raises(DataError, match="there is no file"):
        load(tmp_path / f"none{suffix}")


@pytest.mark.parametrize(
    ("suffix", "package", "words"),
    [
        (".sav", "pyreadstat", "is an SPSS file: to read it, pip install pyreadstat"),
        (".dta", "pyreadstat", "is a Stata file: to read it, pip install pyreadstat"),
        (".xlsx", "fastexcel", "is an Excel workbook: to read it, pip install fastexcel"),
    ],
)
def test_a_library_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, package: str, words: str
) -> None:
    (tmp_path / f"t{suffix}").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=words):
        load(tmp_path / f"t{suffix}")


@pytest.mark.parametrize(
    ("start", "words"),
    [(b"$FL2", "SPSS file, which is read if"), (b"<stata_dta>", "Stata"), (b"PK\x03\x04", "Excel")],
)
def test_files_under_another_name_are_recognised(tmp_path: Path, start: bytes, words: str) -> None:
    (tmp_path / "t.csv").write_bytes(start + b" and more")
    with pytest.raises(DataError, match=words):
        load(tmp_path / "t.csv")


def test_large_files_are_refused(sav: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBMAP_MAX_BYTES", "10")
    with pytest.raises(DataError, match="IBMAP_MAX_BYTES"):
        load(sav)
