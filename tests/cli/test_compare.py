"""``ibmap compare``: two files, or one and a column."""

import json
from datetime import date

import polars as pl
import pytest

from ibmap import compare
from tests.learners.test_comparing import smokers, two_groups


@pytest.fixture
def tables(tmp_path):
    women, men = (pl.DataFrame(smokers(400, strength, seed)) for seed, strength in ((1, 0.0), (2, 0.6)))
    women.write_csv(tmp_path / "women.csv")
    men.write_csv(tmp_path / "men.csv")
    both = [frame.with_columns(pl.lit(sex).alias("sex")) for frame, sex in ((women, "f"), (men, "m"))]
    pl.concat(both).write_csv(tmp_path / "all.csv")
    return tmp_path


def test_two_files_or_one_say_the_same(ibmap, tables):
    two = ibmap("compare", tables / "women.csv", tables / "men.csv", "--permutations", 39, "--json")
    one = ibmap("compare", tables / "all.csv", "--by", "sex", "--permutations", 39, "--json")
    first, second = json.loads(two.out), json.loads(one.out)
    assert first["edges"] == second["edges"]
    assert first["edges"][0]["p_adjusted"] == 0.025
    assert (first["labels"], second["labels"]) == (["women.csv", "men.csv"], ["sex=f", "sex=m"])


def test_screen_and_files(ibmap, tables):
    out = tables / "out"
    ran = ibmap("compare", tables / "women.csv", tables / "men.csv", "--permutations", 19, "--out", out)
    assert "women.csv (400 rows) has 1 edge, men.csv (400 rows) has 3; 1 of them is the same" in ran.out
    assert "smokes - coughs" in ran.out
    assert {path.name for path in out.iterdir()} == {
        *("comparison.json", "differences.csv", "comparison.html", "comparison.svg")
    }
    assert pl.read_csv(out / "differences.csv")["x"][0] == "smokes"
    assert (out / "comparison.svg").read_text().startswith("<svg")
    assert ibmap("compare", tables / "women.csv", tables / "men.csv", "--out", out).refuses("--force")


def test_columns_may_be_chosen(ibmap, tables):
    ran = ibmap("compare", tables / "all.csv", tables / "men.csv", "--permutations", 5)
    assert ran.refuses("'men.csv' has no column 'sex'")
    ran = ibmap("compare", tables / "all.csv", tables / "men.csv", "--drop", "sex", "--permutations", 5)
    assert ran.code == 0
    ran = ibmap("compare", tables / "men.csv", tables / "all.csv", "--permutations", 5)
    assert ran.refuses("'men.csv' has no column 'sex'")
    ran = ibmap("compare", tables / "all.csv", tables / "men.csv", "--only", "sex,tea")
    assert ran.refuses("'men.csv' has no column 'sex'")


def test_bad_input(ibmap, tables):
    assert ibmap("compare", tables / "men.csv").refuses("--by")
    assert ibmap("compare", tables / "all.csv", "--by", "size").refuses("there is no variable 'size'")
    men = pl.read_csv(tables / "men.csv")
    men.with_columns(pl.lit(date(2020, 1, 1)).alias("tea")).write_parquet(tables / "odd.parquet")
    ran = ibmap("compare", tables / "men.csv", tables / "odd.parquet")
    assert ran.refuses("in one of the two tables, column 'tea' holds values of type Date")


def test_tables_of_any_columns(ibmap, tmp_path):
    table = pl.DataFrame(two_groups(0.0, 3.0)).with_columns(pl.col("sleep").fill_nan(None))
    table.with_row_index("id").write_csv(tmp_path / "all.csv")
    for site in "ab":
        table.filter(pl.col("site") == site).drop("site").write_csv(tmp_path / f"{site}.csv")
    options = ("--permutations", 19, "--json")
    one = ibmap("compare", tmp_path / "all.csv", "--by", "site", *options)
    assert "left out 'id'" in one.err
    assert "'dose', 'pressure', 'sleep' are numeric; " in one.err
    assert "of the cells are missing: each question uses the rows where its columns are known" in one.err
    two = ibmap("compare", tmp_path / "a.csv", tmp_path / "b.csv", *options)
    first, second = json.loads(one.out), json.loads(two.out)
    assert first["edges"] == second["edges"]
    worst = first["edges"][0]
    assert {worst["x"], worst["y"]} == {"dose", "pressure"}
    frames = [pl.read_csv(tmp_path / f"{site}.csv") for site in "ab"]
    found = compare(*frames, n_permutations=19, random_state=0)
    assert found.to_dict()["edges"] == first["edges"]
    assert ibmap("compare", tmp_path / "all.csv", "--by", "site", "--missing", "impute").refuses(
        "does not impute"
    )
    numbers = ("--only", "dose,pressure", "--test", "gaussian", "--permutations", 5)
    assert ibmap("compare", tmp_path / "a.csv", tmp_path / "b.csv", *numbers).code == 0
    ran = ibmap("compare", tmp_path / "all.csv", "--by", "dose")
    assert (ran.code, "'dose' must have two values to tell two groups apart" in ran.err) == (2, True)
