"""Sheets of a workbook on the command line."""

import json
from pathlib import Path

import openpyxl
import pytest

from ibmap.data import load
from ibmap.data.workbooks import sheet_of


@pytest.fixture
def book(tmp_path: Path) -> Path:
    found = openpyxl.Workbook()
    found.active.append(["only notes"])
    sheet = found.create_sheet("the data")
    for row in [["a", "b", "c"], *[[i % 2, i % 2, i % 3] for i in range(60)]]:
        sheet.append(row)
    found.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_a_sheet_is_learned_from_and_found_again(ibmap, book, tmp_path):
    code, _, err = ibmap("learn", f"{book}#the data", "--out", tmp_path / "out")
    assert (code, "error" in err) == (0, False)
    path = json.loads((tmp_path / "out" / "result.json").read_text())["data"]["path"]
    assert sheet_of(Path(path)) == (book.resolve(), "the data")
    assert ibmap("explain", tmp_path / "out", "a", "b")[0] == 0
    book.unlink()
    code, _, err = ibmap("explain", tmp_path / "out", "a", "b")
    assert code == 2
    assert "there is no table" in err


def test_a_sheet_that_is_not_there_is_one_line(ibmap, book):
    code, _, err = ibmap("learn", f"{book}#data")
    assert code == 1
    assert err.strip() == "ibmap: error: t.xlsx has no sheet 'data': it has 'Sheet', 'the data'"


def test_suffixes_in_capitals_and_names_of_several_lines(book, tmp_path):
    loud = book.rename(tmp_path / "T.XLSX")
    assert sheet_of(Path(f"{loud}#the data")) == (loud, "the data")
    assert sheet_of(Path(f"{loud}#the\ndata")) == (loud, "the\ndata")
    assert load(f"{loud}#the data").n_rows == 60
