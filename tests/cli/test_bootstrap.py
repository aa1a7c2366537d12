import json

import polars as pl

from ibmap import IBMAP, BayesianTest, Bootstrap, Graph


def test_json_is_what_python_says(ibmap, survey):
    options = ["--replicates", 12, "--seed", 4, "--threshold", 0.8, "--prior-counts", "jeffreys", "--jobs", 2]
    result = json.loads(ibmap("bootstrap", survey, *options, "--json").out)
    net = Bootstrap(IBMAP(BayesianTest(prior_counts="jeffreys")), 12, random_state=4).fit(survey)
    assert Graph.from_json(result) == net.averaged(0.8)
    assert [tuple(row) for row in result["support"]] == net.support_.rows()
    assert (result["n_replicates"], result["seed"], result["threshold"]) == (12, 4, 0.8)


def test_the_screen_and_the_files(ibmap, survey, tmp_path):
    ran = ibmap("bootstrap", survey, "--replicates", 10, "--out", tmp_path / "trust")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("1 edge in more than 50% of 10 replicates; the whole table has 1")
    assert "1.00" in ran.out
    assert "smoke - cough" in ran.out
    assert "seed 0, 300 rows" in ran.out
    assert pl.read_csv(tmp_path / "trust" / "support.csv").columns == ["x", "y", "support", "in_graph"]
    assert Graph.from_json((tmp_path / "trust" / "averaged.json").read_text()).n_edges == 1
    again = ["bootstrap", survey, "--replicates", 2, "--out", tmp_path / "trust"]
    ran = ibmap(*again)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "support.csv' exists: pass --force to replace it\n" in ran.err
    assert ibmap(*again, "--force").code == 0


def test_other_learners_and_their_limits(ibmap, survey):
    for learner in ("gsmn", "mi"):
        assert ibmap("bootstrap", survey, "--learner", learner, "--replicates", 3).code == 0
    ran = ibmap("bootstrap", survey, "--learner", "gsmn", "--patience", 3)
    assert (ran.code, ran.err) == (1, "ibmap: error: gsmn has no option --patience\n")
    assert ibmap("bootstrap", survey, "--replicates", 0).code == 2
