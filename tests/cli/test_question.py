import json
import math

import pandas as pd
import pytest

from tests.learners.test_mixed import people

KEYS = [
    "x",
    "y",
    "given",
    "independent",
    "test",
    "log_p_independent",
    "log_p_dependent",
    "n_rows",
    "n_slices",
]


def test_json_of_the_bayesian_test(ibmap, survey):
    ran = ibmap("test", survey, "smoke", "cough", "--given", "tea", "--json")
    result = json.loads(ran.out)
    assert list(result) == KEYS
    assert (result["x"], result["y"], result["given"]) == ("smoke", "cough", ["tea"])
    assert (result["n_rows"], result["n_slices"]) == (300, 3)
    assert math.exp(result["log_p_independent"]) + math.exp(result["log_p_dependent"]) == pytest.approx(1)
    assert result["log_p_independent"] < -20


@pytest.mark.parametrize("name", ["chi-square", "g-square", "mutual-information"])
def test_json_of_classical_tests(ibmap, survey, name):
    result = json.loads(ibmap("test", survey, "smoke", "cough", "--test", name, "--json").out)
    assert list(result) == [
        "x",
        "y",
        "given",
        "independent",
        "test",
        "statistic",
        "p_value",
        "n_rows",
        "n_slices",
    ]
    assert (result["n_rows"], result["n_slices"]) == (300, 1)
    assert (result["p_value"] is None) == (name == "mutual-information")


def test_words_come_first(ibmap, survey):
    out = ibmap("test", survey, "smoke", "cough", "--given", "tea").out
    assert out.startswith("smoke and cough are dependent given tea: P = 1 - ")
    out = ibmap("test", survey, "smoke", "tea").out
    assert out.startswith("smoke and tea are independent: P = 0.")
    out = ibmap("test", survey, "smoke", "tea", "--test", "chi-square").out
    assert out.startswith("smoke and tea are independent: p-value = ")


def test_options_reach_the_test(ibmap, survey):
    options = ["--prior", "0.9", "--prior-counts", "bdeu", "--combine", "global", "--slices", "all"]
    out = ibmap("test", survey, "smoke", "tea", *options).out
    assert "bayesian(prior=0.9, prior_counts=bdeu, combine=global, slices=all)" in out


def test_each_test_uses_the_rows_complete_in_its_columns(ibmap, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(f"{i % 2},{i % 3},{'' if i % 4 else 1}\n" for i in range(24)))
    rows = [
        json.loads(ibmap("test", path, "a", "b", *given, "--missing", "testwise", "--json").out)["n_rows"]
        for given in ([], ["--given", "c"])
    ]
    assert rows == [24, 6]


def test_tables_of_any_columns(ibmap, tmp_path):
    table = pd.DataFrame(people())
    table.loc[::20, "weight"] = None
    table["id"] = range(1, len(table) + 1)
    table["one"] = 1
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    ran = ibmap("test", path, "sex", "weight")
    assert ran.out.startswith("sex and weight are dependent: P = ")
    assert "570 rows; test mixed" in ran.out
    ran = ibmap("test", path, "sex", "weight", "--given", "size")
    assert ran.out.startswith("sex and weight are independent given size: P = 0.")
    found = json.loads(ibmap("test", path, "one", "size", "--given", "sex,risk", "--json").out)
    assert (found["independent"], found["test"], found["n_rows"]) == (True, "mixed", 600)
    assert "n_slices" not in found
    assert json.loads(ibmap("test", path, "sex", "diet", "--json").out)["test"] == "bayesian"
    assert ibmap("test", path, "sex", "sizes").refuses("there is no variable 'sizes'")
    assert "missing values" in ibmap("test", path, "sex", "weight", "--test", "chi-square").err
