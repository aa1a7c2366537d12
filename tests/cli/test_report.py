"""``ibmap report``: from the folder of a result to a page, and every bad input in one line."""

import json

import pytest


@pytest.fixture
def result(ibmap, survey, tmp_path):
    ran = ibmap("learn", survey, "--out", tmp_path / "result")
    assert ran.code == 0
    assert (
        ran.out.splitlines()[-1] == f"to look around: open {tmp_path / 'result' / 'report.html'} in a browser"
    )
    return tmp_path / "result"


def refused(ran, words):
    assert (ran.code in (1, 2), ran.out, ran.err.count("\n")) == (True, "", 1)
    assert words in ran.err


def test_learn_writes_the_same_page_as_report(ibmap, result, tmp_path):
    ran = ibmap("report", result, "--out", tmp_path / "again.html")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"wrote {tmp_path / 'again.html'}")
    assert len((tmp_path / "again.html").read_bytes()) == len((result / "report.html").read_bytes())


def test_a_page_that_is_there_is_replaced_by_force_only(ibmap, result):
    (result / "report.html").write_text("mine")
    refused(ibmap("report", result), "report.html' exists: pass --force")
    assert (result / "report.html").read_text() == "mine"
    ran = ibmap("report", result / "result.json", "--force", "--json")
    told = json.loads(ran.out)
    assert told["out"] == str(result / "report.html")
    assert told["bytes"] == (result / "report.html").stat().st_size < 200_000
    assert told["support"] is False


def test_support_in_the_same_folder_is_shown(ibmap, survey, result, tmp_path):
    ran = ibmap("bootstrap", survey, "--replicates", 4, "--out", result)
    assert f"ibmap report {result} --force shows it beside the posteriors" in ran.out
    ran = ibmap("report", result, "--force")
    assert ran.out.startswith(f"wrote {result / 'report.html'}, with the support of the edges")
    assert "4 replicates of 80% of the rows, seed 0" in (result / "report.html").read_text()
    other = tmp_path / "other"
    assert ibmap("bootstrap", survey, "--replicates", 2, "--learner", "gsmn", "--out", other).code == 0
    refused(ibmap("report", result, "--support", other, "--force"), "of another table or learner")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is damaged: it is not JSON"),
        ('{"format": "ibmap-result", "version": 99}', "comes from a newer ibmap"),
        ('{"format": "ibmap-bootstrap", "version": 1}', "is not a result"),
        ('{"format": "ibmap-result", "version": 1, "variables": ["a"]}', "is damaged"),
        ("[1, 2]", "is not a result"),
    ],
)
def test_damaged_newer_or_other_files(ibmap, tmp_path, text, words):
    (tmp_path / "result.json").write_text(text)
    refused(ibmap("report", tmp_path), words)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_no_result_and_no_folder_to_write_to(ibmap, result, tmp_path):
    refused(ibmap("report", tmp_path / "nowhere"), "there is no file")
    refused(ibmap("report", result, "--out", tmp_path / "no" / "page.html"), "cannot write")
    refused(ibmap("report", result, "--support", tmp_path, "--force"), "ibmap bootstrap --out DIR writes one")
