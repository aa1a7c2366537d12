import json
import re
import sys

import pytest

from ibmap import Graph, exchange
from tests.exchange.networks import NASTY

pytest.importorskip("matplotlib")
from matplotlib import pyplot

TRUE = Graph(["smoke", "cough", "tea"], [("smoke", "cough"), ("smoke", "tea")])
BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".jpg": b"\xff\xd8", ".eps": b"%!PS"}


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    pyplot.close("all")


@pytest.fixture
def truth(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(TRUE.to_json())
    return path


@pytest.fixture
def result(ibmap, survey, tmp_path):
    assert ibmap("learn", survey, "--out", tmp_path / "result").code == 0
    return tmp_path / "result"


@pytest.mark.parametrize("suffix", BEGINS)
def test_the_suffix_tells_the_format(ibmap, truth, tmp_path, suffix):
    out = tmp_path / f"net{suffix}"
    ran = ibmap("plot", truth, out)
    assert (ran.code, ran.out, ran.err) == (0, f"wrote {out}: 2 edges among 3 variables\n", "")
    assert out.read_bytes().startswith(BEGINS[suffix])


def test_results_and_all_that_convert_reads(ibmap, result, tmp_path):
    for name in ("net.graphml", "net.dot", "net.adjacency.csv"):
        exchange.write(exchange.read(result / "result.json"), tmp_path / name)
    for source in (result, result / "edges.csv", *sorted(tmp_path.glob("net.*"))):
        ran = ibmap("plot", source, tmp_path / "net.svg", "--force", "--json")
        about = json.loads(ran.out)
        assert (about["variables"], about["edges"]) == (3, 1)
        assert about["posteriors"] == ("adjacency" not in source.name)
        assert "<!-- 3 variables, 1 edge -->" in (tmp_path / "net.svg").read_text()


def test_a_comparison_tells_what_is_right_false_and_missing(ibmap, result, truth, tmp_path):
    out = tmp_path / "both.svg"
    ran = ibmap("plot", result, out, "--truth", truth)
    assert re.findall(r"\d+", ran.out.removeprefix(f"wrote {out}: ")) == ["1", "0", "1", "3"]
    assert "<!-- 1 missing -->" in out.read_text()
    about = json.loads(ibmap("plot", truth, out, "--truth", result, "--force", "--json").out)
    assert (about["right"], about["false"], about["missing"]) == (1, 1, 0)


def test_scores(ibmap, result, survey, tmp_path):
    out = tmp_path / "scores.svg"
    ran = ibmap("plot", result, out, "--scores")
    score = json.loads((result / "result.json").read_text())["score"]
    assert ran.out.startswith(f"wrote {out}: ")
    assert f"{score:.3f}" in ran.out
    assert "<!-- ascent -->" in out.read_text()
    assert ibmap("learn", survey, "--learner", "gsmn", "--out", tmp_path / "rival").code == 0
    ran = ibmap("plot", tmp_path / "rival", tmp_path / "no.png", "--scores")
    assert ran.refuses("gsmn", "score")


@pytest.mark.parametrize("layout", ["circular", "spring", "shell"])
def test_layouts(ibmap, truth, tmp_path, layout):
    assert ibmap("plot", truth, tmp_path / "a.png", "--layout", layout).code == 0


def test_any_names_and_many_of_them(ibmap, tmp_path):
    (tmp_path / "nasty.json").write_text(Graph.complete(NASTY).to_json())
    assert ibmap("plot", tmp_path / "nasty.json", tmp_path / "nasty.png").code == 0
    (tmp_path / "many.json").write_text(Graph([f"v{i}" for i in range(81)]).to_json())
    ran = ibmap("plot", tmp_path / "many.json", tmp_path / "many.png")
    assert ran.out.endswith("many.png: 0 edges among 81 variables, with the names that fit\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("truth.json", "a.txt"), "a.txt': it must end in .eps, "),
        (("truth.json", "a"), "a': it must end in ."),
        (("truth.json", "a.pgf"), "a.pgf': it must end in ."),
        (("truth.json", "survey.png"), "exists: pass --force"),
        (("none.json", "a.png"), "there is no file 'none.json'"),
        ((".", "a.png", "--layout", "spiralling"), "unknown layout 'spiralling'"),
        (("truth.json", "a.png", "--layout", "rescale"), "the layout 'rescale' does not work"),
        (("truth.json", "a.png", "--truth", "other.json"), "must have the same variables"),
        (("truth.json", "a.png", "--scores"), "is not a result: ibmap learn --out DIR"),
        (("truth.json", "a.png", "--scores", "--truth", "truth.json"), "are two pictures"),
        (("truth.json", "none/a.png"), "cannot write"),
    ],
)
def test_bad_requests_are_one_line_and_leave_nothing(ibmap, truth, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.json").write_text(Graph("ab").to_json())
    (tmp_path / "survey.png").write_text("mine")
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = ibmap("plot", *arguments)
    assert (ran.code in (1, 2), ran.out, ran.err.count("\n")) == (True, "", 1)
    assert words in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_without_matplotlib(ibmap, truth, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = ibmap("plot", truth, tmp_path / "a.png")
    assert ran.code == 2
    assert "pip install matplotlib" in ran.err
