"""Continuous columns on the command line: read, learned from, shown, written, asked about; or refused."""

import json
from datetime import date, time, timedelta

import numpy as np
import polars as pl
import pytest

from ibmap.report.content import header, page_content
from ibmap.results.result_file import read_result


@pytest.fixture
def farm():
    """Soil and rain make the yield, the yield makes the price; the wind has nothing to do with it."""
    rng = np.random.default_rng(1)
    soil, rain, wind, noise, more = rng.normal(size=(5, 400))
    grown = 0.7 * soil + 0.5 * rain + 0.6 * noise
    columns = {"soil": 10 * soil + 50, "rain": rain, "yield": grown, "price": 20 - 3 * grown + more}
    return pl.DataFrame({**columns, "wind": wind})


@pytest.fixture
def write(tmp_path):
    """Write a frame to a file, return its path."""

    def to_file(frame, name="table.csv"):
        frame.write_csv(tmp_path / name)
        return tmp_path / name

    return to_file


EDGES = [["soil", "rain"], ["soil", "yield"], ["rain", "yield"], ["yield", "price"]]


@pytest.mark.parametrize(
    ("given", "who"),
    [
        (["--test", "gaussian"], "ibmap-hc, test gaussian in "),
        (["--test", "gaussian", "--learner", "gsmn"], "gsmn, test gaussian in "),
        (["--test", "fisher-z", "--alpha", "0.001"], "gsmn, test fisher-z(alpha=0.001) in "),
        (["--score", "gaussian"], "evidence-map(score=gaussian) in "),
        (["--continuous", "all"], "evidence-map in "),
        (["--continuous", "all", "--numbers", "ranks"], "evidence-map in "),
        (["--continuous", "all", "--learner", "ibmap-hc"], "ibmap-hc, test gaussian in "),
        (["--learner", "ibmap-hc", "--score", "gaussian", "--search", "rounds"], "search=rounds) in "),
    ],
)
def test_learners_of_numbers(ibmap, write, farm, given, who):
    ran = ibmap("learn", write(farm), *given)
    chosen = "--test" in given and "--learner" not in given
    assert (ran.code, "evidence-map uses no test" in ran.err, ran.err.count("\n")) == (0, chosen, chosen)
    assert ran.out.startswith("4 direct associations among 5 variables")
    assert who in ran.out
    assert "r -0." in ran.out
    assert json.loads(ibmap("learn", write(farm), *given, "--json").out)["edges"] == EDGES


def test_hhc_mn_finds_who_is_next_to_whom(ibmap, write, farm):
    found = ibmap(
        "learn", write(farm), "--learner", "hhc-mn", "--test", "fisher-z", "--alpha", 0.001, "--json"
    )
    assert json.loads(found.out)["edges"] == EDGES[1:]


def test_a_result_of_numbers_is_written_and_read_again(ibmap, write, farm, tmp_path):
    out, table = tmp_path / "out", write(farm)
    assert ibmap("learn", table, "--test", "gaussian", "--out", out).code == 0
    result = read_result(out)
    assert result.content["data"]["continuous"] == "all"
    assert result.content["levels"] == {}
    assert dict(header(result))["data"] == "table.csv (continuous all, numbers values)"
    edges = pl.read_csv(out / "edges.csv").filter(pl.col("in_graph")).sort("partial_correlation")
    assert edges[0, "y"] == "price"
    assert edges[0, "partial_correlation"] == pytest.approx(result.learned.effects.strength.min())
    assert edges[0, "correlation"] < edges[0, "partial_correlation"] < -0.5
    content = page_content(result)
    assert content["continuous"]
    assert content["pairs"]["sign"][:4] == np.sign(content["pairs"]["partial_correlation"][:4]).tolist()
    assert "yield falls where price rises" in content["pairs"]["effect_in_words"][0]
    assert "The partial correlation r" in (out / "report.html").read_text()


def test_questions_to_a_result_of_numbers(ibmap, write, farm, tmp_path):
    out, table, unseen = tmp_path / "out", write(farm[:200]), write(farm[200:], "unseen.csv")
    assert ibmap("learn", table, "--continuous", "all", "--out", out).code == 0
    ran = ibmap("explain", out, "soil", "price")
    assert (ran.code, ran.err) == (0, "")
    assert "soil is independent of price given rain and yield" in ran.out
    assert "correlation of soil and price, other variables ignored: -0." in ran.out
    found = json.loads(ibmap("explain", out, "yield", "soil", "--json").out)
    assert "rise together, everything else equal" in found["effect"]
    assert (found["counts"], found["views"][0]["n_slices"]) == ([], None)
    assert ibmap("explain", out, "soil", "price", "--data", unseen).refuses("its values differ")
    assert ibmap("plot", out, tmp_path / "net.svg").code == 0
    text = ibmap("convert", out, "-", "--to", "graphml").out
    assert "partial_correlation" in text
    assert ibmap("report", out, "--force").code == 0
    ran = ibmap("evaluate", out, "--data", unseen, "--queries", 5)
    assert (ran.code, ran.err) == (0, "")
    assert "Log score -0." in ran.out
    assert "times as large as without edges" in ran.out
    found = json.loads(ibmap("evaluate", out, "--data", unseen, "--queries", 5, "--json").out)
    assert found["log_score"] > found["log_score_empty_graph"] + 0.2
    assert found["accuracy"] > found["accuracy_empty_graph"]


def test_models_of_numbers_or_of_bins(ibmap, write, farm, tmp_path):
    out, table = tmp_path / "out", write(farm)
    assert ibmap("learn", table, "--continuous", "all", "--out", out).code == 0
    for verb in (["ask", out, "soil"], ["sample", out], ["impute", out, table], ["score", out, table]):
        assert ibmap(*verb).refuses("there is no model", "ibmap fit RESULT FILE writes one")
    assert "by maximum-likelihood" in ibmap("fit", out, table).out
    assert "mean" in ibmap("ask", out, "soil").out
    ran = ibmap("fit", out / "graph.json", table, "--out", tmp_path / "model.json")
    assert (ran.code, "numeric" in ran.err) == (0, True)
    assert ibmap("fit", out, table, "--discretize", "quantile", "--bins", 3, "--force").code == 0
    assert ibmap("ask", out, "soil").out.startswith("P(soil)")


def test_bootstrap_and_test_of_numbers(ibmap, write, farm, tmp_path):
    table, out = write(farm), tmp_path / "out"
    assert ibmap("learn", table, "--test", "gaussian", "--out", out).code == 0
    ran = ibmap("bootstrap", table, "--test", "gaussian", "--replicates", 5, "--out", out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("4 edges in more than 50%")
    assert ibmap("report", out, "--force").out.endswith(
        "with the support of the edges: open it in a browser\n"
    )
    ran = ibmap("test", table, "soil", "price", "--given", "yield", "--test", "fisher-z")
    assert ran.out.startswith("soil and price are independent given yield: p-value = ")
    assert "partial correlation" in ran.out
    found = json.loads(ibmap("test", table, "soil", "price", "--continuous", "all", "--json").out)
    assert list(found)[5:] == ["log_p_independent", "log_p_dependent", "partial_correlation", "n_rows"]
    assert found["partial_correlation"] == pytest.approx(np.corrcoef(farm["soil"], farm["price"])[0, 1])


def test_searches_of_numbers_are_saved_and_told(ibmap, write, farm, tmp_path):
    table, known = write(farm), tmp_path / "known.toml"
    known.write_text('forbidden = [["soil", "rain"]]\nprior = [["rain", "wind", 0.000001]]\n')
    for given in (["--test", "gaussian"], ["--continuous", "all"]):
        more = ["--checkpoint", tmp_path / "search.json", "--require", "soil,wind"]
        ran = ibmap("learn", table, *given, "--knowledge", known, *more, "--json")
        assert ran.code == 0
        edges = json.loads(ran.out)["edges"]
        assert ["soil", "wind"] in edges
        assert ["rain", "wind"] in edges
        assert ["soil", "rain"] not in edges


@pytest.mark.parametrize(
    ("more", "said", "levels"),
    [
        ({}, "'soil', 'rain', 'yield', 'price' and 1 more are numeric", []),
        ({"wet": ["no", "yes"] * 200}, "'wet' is categorical", ["wet"]),
        ({"crop": list("abcd") * 100}, "'crop' is categorical", ["crop"]),
    ],
)
def test_columns_are_chosen_by_kind_and_the_choice_is_told(ibmap, write, farm, tmp_path, more, said, levels):
    table, out = (
        write(farm.with_columns(**{name: pl.Series(values) for name, values in more.items()})),
        tmp_path / "out",
    )
    ran = ibmap("learn", table, "--out", out)
    assert ran.code == 0
    assert ran.warns(said, kind="note")
    assert [*read_result(out).content["levels"]] == levels
    again = ibmap("learn", table, "--json")
    assert json.loads(again.out)["edges"] == EDGES
    assert "their partial correlation is" in ibmap("explain", out, "soil", "yield").out
    assert ibmap("report", out, "--force").code == 0


def test_columns_that_are_named_leave_the_others_as_they_are(ibmap, write):
    """Kinds by name or pattern overrule single columns: the rest, and missing values, are as without."""
    rng = np.random.default_rng(2)
    mood = rng.integers(0, 6, (200, 4)).astype(float)
    mood[:, 1] = mood[:, 0]
    mood[rng.random(mood.shape) < 0.02] = np.nan
    table = pl.DataFrame(mood, schema=["q1", "q2", "r1", "r2"]).fill_nan(None)
    table = write(table.with_columns(pay=pl.Series(rng.normal(size=200)), sex=pl.Series(["f", "m"] * 100)))
    for given, said in [
        (["--continuous", "q*"], "'q1', 'q2', 'pay' are numeric; 'r1', 'r2', 'sex' are categorical"),
        (["--ordinal", "q*"], "'pay' is numeric; 'q1', 'q2' are ordinal; 'r1', 'r2', 'sex' are"),
        (["--ordinal", "q*", "--nominal", "all"], "left out 'pay': more than 100 levels"),
        (["--continuous", "all", "--nominal", "r?,sex"], "'q1', 'q2', 'pay' are numeric; 'r1', 'r2', 's"),
    ]:
        ran = ibmap("learn", table, *given)
        assert ran.code == 0, ran.err
        assert said in ran.err
        assert "each question uses the rows where its columns are known" in ran.err
    assert ibmap("learn", table, "--continuous", "z*").refuses("there is no variable 'z*'")


def test_what_is_wrong_with_a_table_of_numbers(ibmap, write, farm):
    gaps = farm.with_columns(pl.when(pl.int_range(400) < 3).then(None).otherwise("rain").alias("rain"))
    ran = ibmap("learn", write(gaps))
    assert ran.warns("0.1% of the cells are missing: each question uses the rows", kind="note")
    ran = ibmap("learn", write(gaps), "--learner", "ibmap-hc")
    assert ran.refuses(
        "'rain' (3)", "--missing", "'soil' holds", "--test 'gaussian'", "--bins", "evidence-map"
    )
    assert ibmap("learn", write(gaps), "--test", "gaussian").refuses("'rain' (3)", "--missing 'drop'")
    for policy, said in (
        ("category", "missing numbers cannot be a category"),
        ("testwise", "numbers in all rows"),
    ):
        assert ibmap("learn", write(gaps), "--test", "gaussian", "--missing", policy).refuses(said)
    ran = ibmap("learn", write(gaps), "--test", "gaussian", "--missing", "drop")
    assert "Learned from 397 rows" in ran.out
    endless = farm.with_columns(pl.when(pl.int_range(400) < 1).then(np.inf).otherwise("rain").alias("rain"))
    assert ibmap("learn", write(endless), "--test", "gaussian").refuses("'rain' holds infinite values")
    words = farm.with_columns(note=pl.Series([f"note {i // 2}" for i in range(400)]))
    ran = ibmap("learn", write(words), "--test", "gaussian")
    assert ran.refuses("'note' has 200 levels without an order", "drop it")


@pytest.mark.parametrize("given", [["--test", "gaussian"], ["--continuous", "all"], ["--test", "fisher-z"]])
def test_tables_that_say_little_have_an_answer(ibmap, write, farm, given):
    copies = farm.with_columns(
        twice=2 * pl.col("soil"), both=pl.col("soil") + pl.col("rain"), one=pl.lit(3.5)
    )
    ran = ibmap("learn", write(copies), *given, "--json")
    assert ran.code == 0
    edges = json.loads(ran.out)["edges"]
    assert ["soil", "twice"] in edges
    assert not [edge for edge in edges if "one" in edge]
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"x{i}": rng.normal(size=20) for i in range(60)})
    ran = ibmap("learn", write(wide), *given)
    assert ran.code == 0
    assert "among 60 variables" in ran.out
    constant = pl.DataFrame({"a": [1.5] * 9, "b": [2.5] * 9})
    assert ibmap("learn", write(constant), *given).out.startswith("No direct association among 2 variables")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--numbers", "valeus"], "--numbers must be 'ranks' or 'values', not 'valeus'"),
        (["--continuous", "sol"], "there is no variable 'sol'; did you mean 'soil'?"),
        (["--test", "gaussian", "--discretize", "quantile"], "--discretize cuts numbers"),
        (["--continuous", "all", "--bins", "4"], "--bins cuts numbers"),
        (["--test", "gaussian", "--preset", "paper"], "--preset paper is for categories"),
        (["--continuous", "all", "--learner", "mi"], "these variables are numbers"),
        (["--continuous", "all", "--learner", "dag-hc"], "these variables are numbers"),
        (["--continuous", "all", "--view", "directed"], "these variables are numbers"),
        (["--continuous", "all", "--learner", "gsmn", "--test", "bayesian"], "these variables are numbers"),
        (["--continuous", "all", "--score", "pairwise"], "these variables are numbers"),
        (["--test", "gaussian", "--learner", "evidence-map"], "evidence-map uses no test"),
        (
            ["--test", "fisher-z", "--learner", "ibmap-hc"],
            "has none: use the Bayesian test ('gaussian' for numbers)",
        ),
        (["--test", "gaussian", "--prior-counts", "bdeu"], "gaussian has no option --prior-counts"),
        (["--continuous", "all", "--engine", "gpu"], "takes no numbers and no missing values"),
    ],
)
def test_requests_that_make_no_sense_for_numbers(refused, write, farm, given, words):
    assert words in refused(write(farm), *given)


def odd(kind):
    """A column of a kind that people have, for 200 rows, and what is said of it."""
    rng = np.random.default_rng(8)
    day, n = date(2024, 1, 1), 200
    return {
        "dates": ([day + timedelta(days=k) for k in range(n)], "left out 'odd': dates and times are neither"),
        "durations": ([timedelta(hours=k % 9) for k in range(n)], "left out 'odd': dates and times"),
        "times": ([time(k % 24) for k in range(n)], "left out 'odd': dates and times"),
        "a stray word": ([*map(str, rng.normal(size=n - 1)), "oops"], "'oops' is not a number: leave such"),
        "unused levels": (
            pl.Series(["a", "b"] * 100, dtype=pl.Enum(["a", "b", "z"])),
            "'odd' is categorical",
        ),
        "one value": ([2.5] * n, "left out 'odd': the same value in all rows"),
        "all different text": ([f"row {k}" for k in range(n)], "left out 'odd': every row has a different"),
        "large numbers": (1e9 + rng.normal(size=n), "'odd' are numeric"),
        "huge numbers": (1e300 * rng.normal(size=n), "'odd' are numeric"),
        "denormals": (1e-310 * rng.normal(size=n), "'odd' are numeric"),
        "never with pay": ([None if k % 2 else f"k{k % 3}" for k in range(n)], "are imputed five times"),
        "infinities": ([*rng.normal(size=n - 1), np.inf], "column 'odd' holds infinite values (inf)"),
        "lists": ([[1, 2]] * n, "column 'odd' holds values of type List"),
        "nothing": (pl.Series([None] * n, dtype=pl.Float64), "no value at all in 'odd'"),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        *("dates", "durations", "times", "a stray word", "unused levels", "one value", "all different text"),
        *("large numbers", "huge numbers", "denormals", "never with pay", "infinities", "lists", "nothing"),
    ],
)
def test_every_odd_column_has_an_answer_or_one_line(ibmap, farm, tmp_path, kind):
    values, said = odd(kind)
    pay = [1.5 * k if k % 2 else None for k in range(200)] if kind == "never with pay" else np.arange(200) / 7
    table = farm[:200].with_columns(odd=pl.Series(values), pay=pl.Series(pay))
    table.write_parquet(tmp_path / "t.parquet")
    ran = ibmap("learn", tmp_path / "t.parquet", "--json")
    if kind in ("infinities", "lists", "nothing"):
        assert ran.refuses(said)
        return
    assert ran.code == 0, ran.err
    assert said in ran.err.replace("'soil', 'rain', 'yield', 'price' and 3 more are", "'odd' are")
    assert ["yield", "price"] in json.loads(ran.out)["edges"]
    assert all(np.isfinite(pair["posterior"]) for pair in json.loads(ran.out).get("pairs", []))
