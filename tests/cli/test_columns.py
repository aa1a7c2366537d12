"""Columns can be left out, or chosen, wherever a table is read."""

import json

import numpy as np
import polars as pl
import pytest

from ibmap.report.content import header
from ibmap.results.result_file import read_result


@pytest.fixture
def people(tmp_path):
    """A table with an identifier, a number with fractions and a name with commas."""
    rows = [f"{i},{i / 7},{i % 2},{i % 2 if i % 20 else 1},{'' if i % 9 else i % 3}" for i in range(300)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(['id,weight,smoke,cough,"tea, or not"', *rows]) + "\n")
    return path


def variables(ran):
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)["variables"]


@pytest.mark.parametrize(
    "given",
    [
        ["--drop", "id,weight,tea, or not"],
        ["--drop", "tea, or not,weight", "--drop", " id"],
        ["--only", "cough,smoke"],
        ["--only", "cough", "--only", "smoke"],
        ["--only", "id,cough,smoke", "--drop", "id"],
    ],
)
def test_columns_left_out_are_not_looked_at(ibmap, people, given):
    assert variables(ibmap("learn", people, "--json", *given)) == ["smoke", "cough"]


def test_every_verb_that_reads_a_table(ibmap, people, tmp_path):
    out, drop = tmp_path / "out", ["--drop", "id,weight,tea, or not"]
    ran = ibmap("test", people, "smoke", "cough", *drop)
    assert (ran.code, ran.err) == (0, "")
    assert ibmap("learn", people, "--out", out, *drop).code == 0
    ran = ibmap("bootstrap", people, "--replicates", 3, "--json", *drop)
    assert variables(ran) == ["smoke", "cough"]
    ran = ibmap("evaluate", out / "graph.json", "--data", people, "--queries", 5, *drop)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Log score ")


def test_a_result_knows_which_columns_it_is_about(ibmap, people, tmp_path):
    out = tmp_path / "out"
    given = ["--drop", "tea, or not,id", "--only", "id,smoke,cough,weight", "--discretize", "quantile"]
    assert ibmap("learn", people, "--out", out, *given).code == 0
    known = read_result(out)
    assert known.content["data"]["drop"] == ["tea, or not", "id"]
    assert known.content["data"]["only"] == ["id", "smoke", "cough", "weight"]
    assert dict(header(known))["data"] == (
        "people.csv (discretize quantile, drop tea, or not, id, only id, smoke, cough, weight)"
    )
    ran = ibmap("explain", out, "smoke", "cough")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("smoke and cough are ")


def test_results_without_a_choice_of_columns(ibmap, survey, tmp_path):
    out = tmp_path / "out"
    assert ibmap("learn", survey, "--out", out).code == 0
    content = json.loads((out / "result.json").read_text())
    assert (content["data"]["drop"], content["data"]["only"]) == (None, None)
    del content["data"]["drop"], content["data"]["only"]  # as older results are
    (out / "result.json").write_text(json.dumps(content))
    assert ibmap("explain", out, "smoke", "cough").code == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--drop", "smoek"], "there is no variable 'smoek'; did you mean 'smoke'?"),
        (["--only", "smoke,tea, or"], "there is no variable 'tea'; "),
        (["--only", "smoke"], "the table has 1 feature(s): structure learning needs at least two variables"),
        (["--only", "smoke", "--drop", "smoke"], "the table has no columns"),
        (["--drop", ""], "there is no variable ''; "),
    ],
)
def test_columns_that_cannot_be_chosen(refused, people, given, words):
    assert words in refused(people, *given)


def test_advice_names_the_option(ibmap, people):
    given = "--missing", "category", "--learner", "ibmap-hc"  # the other one takes minutes for 300 levels
    ran = ibmap("learn", people, *given, "--drop", "weight")
    assert ran.warns("left out 'id'", "--only keeps it", kind="note")
    ran = ibmap("learn", people, *given, "--only", "id,smoke,cough")
    assert ran.warns("'id' (300)", "--discretize 'equal-width'", "--drop it")
    ran = ibmap("learn", people, *given, "--drop", "id")
    assert ran.refuses("'weight'", "--discretize 'equal-width'", "--drop it")


def test_what_was_said_when_learning_is_not_said_again(ibmap, people, tmp_path):
    out = tmp_path / "out"
    assert "note" in ibmap("learn", people, "--only", "id,smoke", "--out", out).err
    ran = ibmap("explain", out, "id", "smoke")
    assert (ran.code, ran.err) == (0, "")


def test_bins_by_column(ibmap, people, tmp_path):
    out = tmp_path / "out"
    given = ["--only", "id,weight,smoke", "--discretize", "quantile", "--bins", "weight=2, id=3"]
    assert ibmap("learn", people, "--out", out, *given).code == 0
    known = read_result(out)
    assert {name: len(levels) for name, levels in known.content["levels"].items()} == {
        "id": 3,
        "weight": 2,
        "smoke": 2,
    }
    assert known.content["data"]["bins"] == {"weight": 2, "id": 3}
    assert "bins weight=2, id=3, only id, weight, smoke" in dict(header(known))["data"]
    assert ibmap("explain", out, "id", "weight").code == 0


def test_columns_that_only_tell_rows_apart_are_left_out(ibmap, tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 60)
    table = pl.DataFrame({"a": a, "b": a ^ (rng.random(60) < 0.1), "c": rng.integers(0, 2, 60)})
    table.write_csv(tmp_path / "plain.csv")
    marked = table.with_columns(
        pl.Series("", range(60)), pl.Series("who", [f"p{7 * i % 61}" for i in range(60)])
    )
    marked.write_csv(tmp_path / "marked.csv")
    plain = json.loads(ibmap("learn", tmp_path / "plain.csv", "--json").out)
    ran = ibmap("learn", tmp_path / "marked.csv", "--json", "--out", tmp_path / "out")
    assert json.loads(ran.out)["edges"] == plain["edges"]
    assert (
        "note: left out 'column_3', 'who': every row has a different value (an identifier?); --only keeps"
        in ran.err
    )
    assert ibmap("explain", tmp_path / "out", "a", "b").code == 0
    ran = ibmap("learn", tmp_path / "marked.csv", "--only", "a,b,who")
    assert "left out" not in ran.err
    numbers = table.with_columns(pl.Series("pay", [(7 * i) % 61 for i in range(60)]))
    numbers.write_csv(tmp_path / "pay.csv")
    assert "left out 'pay'" in ibmap("learn", tmp_path / "pay.csv", "--learner", "ibmap-hc").err
    assert "'pay' is numeric" in ibmap("learn", tmp_path / "pay.csv").err
    cut = ibmap("learn", tmp_path / "pay.csv", "--discretize", "quantile", "--bins", "3")
    assert (cut.err, cut.code) == ("", 0)
