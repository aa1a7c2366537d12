"""From a result to a model and its use: fit, ask, sample, impute, score."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def fitted(ibmap, survey: Path, tmp_path: Path) -> Path:
    """The folder of a result, with a model in it."""
    assert ibmap("learn", survey, "--out", tmp_path / "result").code == 0
    ran = ibmap("fit", tmp_path / "result", survey)
    assert ran.code == 0
    assert "fitted to 300 rows by maximum-likelihood" in ran.out
    return tmp_path / "result"


def test_ask_says_how_it_knows(ibmap, fitted: Path) -> None:
    ran = ibmap("ask", fitted, "cough", "--given", "smoke=yes")
    assert ran.out.startswith("P(cough | smoke=yes), exact\n  0: 0.")
    found = json.loads(ibmap("ask", fitted, "cough", "--given", "smoke=yes", "--json").out)
    assert found["method"] == "exact"
    assert found["probabilities"]["1"] > 0.7
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (["cuogh"], "did you mean 'cough'"),
        (["cough", "--given", "smoke=perhaps"], "'no', 'yes'"),
        (["cough", "--given", "smoke=yes", "--given", "smoke=no"], "has two values of smoke"),
        (["cough", "--given", "cough=1"], "both asked about and given"),
        (["cough", "--given", "smoke"], "Y=VALUE"),
        (["cough", "--given", "smok=yes"], "did you mean 'smoke'"),
    ],
)
def test_questions_that_make_no_sense(ibmap, fitted: Path, question: list[str], words: str) -> None:
    assert ibmap("ask", fitted, *question).refuses(words)


def test_sample_draws_rows(ibmap, fitted: Path, tmp_path: Path) -> None:
    shown = ibmap("sample", fitted, "--rows", 4, "--seed", 1)
    assert shown.out.splitlines()[0] == "smoke,cough,tea"
    assert shown.out == ibmap("sample", fitted, "--rows", 4, "--seed", 1).out
    assert len(shown.out.splitlines()) == 5
    ran = ibmap("sample", fitted, "--rows", 7, "--out", tmp_path / "rows.parquet")
    assert "7 rows, drawn exactly" in ran.out
    assert pl.read_parquet(tmp_path / "rows.parquet").shape == (7, 3)
    assert ibmap("sample", fitted, "--out", tmp_path / "rows.parquet").refuses("exists", "--force")
    assert ibmap("sample", fitted, "--out", tmp_path / "rows.txt").refuses(".parquet")
    assert ibmap("sample", fitted, "--rows", 0).refuses("--rows must be 1 or more")


def test_impute_fills_gaps_and_leaves_the_rest(ibmap, fitted: Path, tmp_path: Path) -> None:
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("id,cough,smoke,tea\n7,1,,a\n8,,no,b\n9,0,no,\n")
    ran = ibmap("impute", fitted, gaps, "--out", tmp_path / "filled.csv")
    assert "3 cells filled" in ran.out
    found = pl.read_csv(tmp_path / "filled.csv")
    assert found["id"].to_list() == [7, 8, 9]
    assert found["smoke"].to_list() == ["yes", "no", "no"]
    assert found["cough"].to_list() == [1, 0, 0]
    assert found["tea"][2] in ("a", "b", "c")


def test_unseen_levels_are_refused_where_rows_are_scored(ibmap, fitted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("smoke,cough,tea\nyes,1,z\nno,0,a\n")
    assert ibmap("score", fitted, other).refuses("'tea'", "'z'", "--unseen")
    assert ibmap("score", fitted, other, "--unseen", "missing").code == 0
    assert ibmap("impute", fitted, other, "--unseen", "error").refuses("'z'")


def test_score_shows_odd_rows(ibmap, fitted: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("smoke,cough,tea\nyes,1,a\nyes,0,a\nno,0,b\n")
    ran = ibmap("score", fitted, rows, "--top", 1, "--out", tmp_path / "scores.csv")
    assert "3 rows, on average" in ran.out
    assert pl.read_csv(tmp_path / "scores.csv").height == 3
    found = json.loads(ibmap("score", fitted, rows, "--top", 1, "--json").out)
    assert found["oddest"][0]["row"] == 1
    assert found["means"]["log_likelihood"] < 0


def test_a_table_of_other_columns_is_refused(ibmap, fitted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("smoke,cough\nyes,1\nno,0\n")
    for verb in ("score", "impute"):
        assert ibmap(verb, fitted, other).refuses("not fit the model", "'tea'")
    assert ibmap("fit", fitted, other, "--force").refuses("only the graph has 'tea'")


def test_models_that_cannot_be_read(ibmap, fitted: Path, tmp_path: Path) -> None:
    model = fitted / "model.json"
    found = json.loads(model.read_text())
    for change, words in (({"version": 9}, "newer"), ({"fields": []}, "damaged"), ({"format": "x"}, "not a")):
        model.write_text(json.dumps({**found, **change}))
        assert ibmap("ask", fitted, "cough").refuses(words)
    assert ibmap("ask", tmp_path / "no.json", "cough").refuses("there is no model", "ibmap fit")


def test_fit_writes_uai_from_any_network(ibmap, survey: Path, tmp_path: Path) -> None:
    graph = tmp_path / "net.csv"
    graph.write_text("x,y\nsmoke,cough\ncough,tea\n")
    assert ibmap("fit", graph, survey).refuses("--out MODEL")
    ran = ibmap("fit", graph, survey, "--out", tmp_path / "m.uai", "--method", "pseudo-likelihood", "--json")
    assert json.loads(ran.out)["method"] == "pseudo-likelihood"
    assert ibmap("ask", tmp_path / "m.uai", "x0", "--given", "x1=1").code == 0
    assert ibmap("fit", graph, survey, "--out", tmp_path / "m.uai").refuses("exists", "--force")
    assert ibmap("fit", graph, survey, "--out", tmp_path / "n.json", "--method", "em").refuses("--method")


def test_a_table_is_cut_as_it_was_learned_from(ibmap, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    lines = [f"{k % 7 + 0.5},{'low' if k % 7 < 3 else 'high'}" for k in range(70)]
    table.write_text("\n".join(["size,kind", *lines]) + "\n")
    out = tmp_path / "result"
    assert ibmap("learn", table, "--discretize", "quantile", "--bins", 2, "--out", out).code == 0
    assert ibmap("fit", out, table).code == 0
    new = tmp_path / "new.csv"
    new.write_text("size,kind\n0.75,\n99.0,\n")
    assert ibmap("impute", out, new).out.splitlines()[1:] == ["0.75,low", "99.0,high"]


def test_a_model_remembers_what_stands_for_missing_values(ibmap, tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"a": [0, 1, 0, 1, -9] * 20, "b": [0, 1, 0, 1, 1] * 20, "c": ["x", "y", "y", "x", "?"] * 20}
    )
    table.write_csv(tmp_path / "t.csv")
    how = ("--missing-values=-9", "--missing", "testwise")
    assert ibmap("learn", tmp_path / "t.csv", *how, "--out", tmp_path / "result").code == 0
    assert ibmap("fit", tmp_path / "result", tmp_path / "t.csv", *how).code == 0
    assert ibmap("score", tmp_path / "result", tmp_path / "t.csv").code == 0
    ran = ibmap("impute", tmp_path / "result", tmp_path / "t.csv", "--out", tmp_path / "filled.csv")
    assert ran.code == 0
    assert pl.read_csv(tmp_path / "filled.csv")["a"].unique().sort().to_list() == [0, 1]


def test_a_packed_table_has_no_cells_to_fill(ibmap, fitted: Path, survey: Path, tmp_path: Path) -> None:
    assert ibmap("pack", survey, tmp_path / "t.ibmap").code == 0
    assert ibmap("impute", fitted, tmp_path / "t.ibmap").refuses(
        "this needs the table that it was packed from"
    )


def test_interactions_are_in_the_model_and_on_the_screen(ibmap, tmp_path):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 500))
    frame = pl.DataFrame({"a": a, "b": b, "c": c, "y": a ^ b ^ (rng.random(500) < 0.05)})
    frame.write_csv(tmp_path / "xor.csv")
    assert ibmap("learn", tmp_path / "xor.csv", "--out", tmp_path / "out").code == 0
    ran = ibmap("fit", tmp_path / "out", tmp_path / "xor.csv")
    assert "answered exactly, for a model with interactions of a, b and y" in ran.out
    ran = ibmap("fit", tmp_path / "out", tmp_path / "xor.csv", "--force", "--json")
    assert json.loads(ran.out)["interactions"] == [["a", "b", "y"]]
    ran = ibmap("ask", tmp_path / "out", "y", "--given", "a=1", "--given", "b=1")
    assert ran.out.startswith("P(y | a=1, b=1), exact for a model with interactions of a, b and y\n")
    assert float(ran.out.split("1: ")[-1]) < 0.1


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table of words and numbers, with holes."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 300)
    height = np.round(rng.normal(165, 7, 300) + 12 * (sex == "m"), 1)
    weight = np.round(height - 100 + rng.normal(0, 8, 300)).astype(int)
    columns = {"sex": sex.tolist(), "height": height.tolist(), "weight": weight.tolist()}
    columns["height"][3] = columns["sex"][4] = columns["weight"][5] = None
    file = tmp_path / "people.csv"
    pl.DataFrame(columns).write_csv(file)
    return file


def test_words_and_numbers_are_modelled_together(ibmap, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "mixed"
    assert ibmap("learn", people, "--out", out).code == 0
    ran = ibmap("fit", out, people)
    assert "fitted to 300 rows by pseudo-likelihood" in ran.out
    assert "answered exactly" in ran.out
    ran = ibmap("ask", out, "height", "--given", "sex=m")
    assert ran.out.startswith("height given sex=m, exact\n  mean 17")
    found = json.loads(ibmap("ask", out, "weight", "--given", "height=180", "--json").out)
    assert found["method"] == "exact"
    assert found["low"] < found["mean"] < found["high"]
    assert sum(found["histogram"]["share"]) > 0.98
    assert ibmap("ask", out, "sex", "--given", "height=150").out.startswith("P(sex | height=150.0), exact")
    assert ibmap("ask", out, "sex", "--given", "height=tall").refuses("'height' is a number", "'tall'")
    header, *rows = ibmap("sample", out, "--rows", 50).out.splitlines()
    assert header == "sex,height,weight"
    assert all("." not in row.split(",")[2] for row in rows)  # whole numbers stay whole
    assert json.loads(ibmap("score", out, people, "--json").out)["n_rows"] == 300
    ran = ibmap("evaluate", out, "--data", people)
    assert "Log score -" in ran.out
    assert "test mixed" in ran.out


def test_gaps_are_filled_with_medians_and_draws(ibmap, people: Path, tmp_path: Path) -> None:
    out, before = tmp_path / "mixed", pl.read_csv(people)
    for verb in (["learn", people, "--out", out], ["fit", out, people]):
        assert ibmap(*verb).code == 0
    assert "3 cells filled" in ibmap("impute", out, people, "--out", tmp_path / "filled.csv").out
    filled = pl.read_csv(tmp_path / "filled.csv")
    assert filled.dtypes == before.dtypes
    assert filled.null_count().sum_horizontal().item() == 0
    assert ibmap("impute", out, people, "--draws", 2).refuses("--out")
    ran = ibmap("impute", out, people, "--draws", 3, "--out", tmp_path / "drawn.csv")
    assert "by draws, 3 times" in ran.out
    drawn = [pl.read_csv(tmp_path / f"drawn-{k}.csv") for k in (1, 2, 3)]
    assert len({table["height"][3] for table in drawn}) > 1
    assert all(table["height"][7] == before["height"][7] for table in drawn)


def test_bins_are_filled_with_the_median_of_their_values(ibmap, people: Path, tmp_path: Path) -> None:
    model = tmp_path / "cut.json"
    net = tmp_path / "net.csv"
    net.write_text("x,y\nsex,height\nheight,weight\n")
    how = ["--discretize", "quantile", "--bins", 3, "--missing", "testwise", "--out", model]
    assert ibmap("fit", net, people, *how).code == 0
    assert ibmap("impute", model, people, "--out", tmp_path / "filled.csv").code == 0
    before, filled = pl.read_csv(people), pl.read_csv(tmp_path / "filled.csv")
    assert filled.dtypes == before.dtypes
    assert filled["height"][3] in before["height"].to_list()


def test_what_is_read_is_not_replaced(ibmap, fitted: Path, survey: Path) -> None:
    """By no verb, not even with --force; a model may be fitted again."""
    before = {file: file.read_bytes() for file in (survey, *fitted.iterdir())}
    for words in (
        ("impute", fitted, survey, "--out", survey),
        ("score", fitted, survey, "--out", survey),
        ("fit", fitted, survey, "--out", survey),
        ("fit", fitted, survey, "--out", fitted / "result.json"),
        ("convert", fitted, fitted / "result.json"),
        ("interactions", survey, "--out", survey),
    ):
        assert ibmap(*words, "--force").refuses("is the input, or a part of it"), words
    assert {file: file.read_bytes() for file in before} == before
    assert ibmap("fit", fitted, survey, "--force").code == 0
