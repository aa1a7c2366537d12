import json
import re

import polars as pl
import pytest
from typer.main import get_command

from ibmap import IBMAP, BayesianTest, Bootstrap, Graph
from ibmap.cli.app import app
from ibmap.cli.bootstrap import frequency_summary
from ibmap.results.bootstrap import read_support
from ibmap.results.result_file import read_result


def test_json_is_what_python_says(ibmap, survey):
    options = ["--replicates", 12, "--seed", 4, "--threshold", 0.8, "--jobs", 2]
    options += ["--learner", "ibmap-hc", "--prior-counts", "jeffreys"]
    result = json.loads(ibmap("bootstrap", survey, *options, "--json").out)
    net = Bootstrap(IBMAP(BayesianTest(prior_counts="jeffreys")), 12, random_state=4).fit(survey)
    assert Graph.from_json(result) == net.averaged(0.8)
    assert [tuple(row) for row in result["support"]] == net.support_.rows()
    assert (result["n_replicates"], result["seed"], result["threshold"]) == (12, 4, 0.8)


def test_the_screen_and_the_files(ibmap, survey, tmp_path):
    ran = ibmap("bootstrap", survey, "--replicates", 10, "--out", tmp_path / "trust")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "1 edge in more than 50% of 10 replicates of 80% of the rows; the whole table has 1"
    )
    assert "1.00" in ran.out
    assert "smoke - cough" in ran.out
    assert "seed 0, 300 rows" in ran.out
    assert pl.read_csv(tmp_path / "trust" / "support.csv").columns == ["x", "y", "support", "in_graph"]
    assert Graph.from_json((tmp_path / "trust" / "averaged.json").read_text()).n_edges == 1
    assert ran.out.endswith(f"wrote {tmp_path / 'trust'}: support.csv and averaged.json\n")
    again = ["bootstrap", survey, "--replicates", 2, "--out", tmp_path / "trust"]
    ran = ibmap(*again)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "support.csv' exists: pass --force to replace it\n" in ran.err
    assert ibmap(*again, "--force").code == 0


def test_the_table_ends_with_what_is_near_one_half(ibmap, survey):
    drawn = ["bootstrap", survey, "--replicates", 9, "--with-replacement", "--prior", 0.2]
    lines = ibmap(*drawn, "--top", 1).out.splitlines()
    rows = json.loads(ibmap(*drawn, "--json").out)["support"]
    assert len(rows) == 3
    assert "... and 2 more" in lines
    assert lines[-4].startswith("3 edges: 1 in all replicates, ")
    assert lines[-3].count(" - ") >= 1
    assert not any(line.endswith(" ") for line in lines)
    assert sum("tea" in line for line in lines) == 1
    ran = ibmap(*drawn, "--about", "tea")
    assert "smoke - cough" not in ran.out
    assert "2 edges of tea: " in ran.out
    ran = ibmap("bootstrap", survey, "--about", "te")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'tea'?" in ran.err
    ran = ibmap("bootstrap", survey, "--replicates", 2, "--top", 0)
    assert ran.out.startswith("1 edge in more than 50% of 2 replicates")
    assert ran.out.count("\n") == 1


def test_frequency_summary():
    rows = [["a", "b", share, True] for share in (1.0, 1.0, 0.95, 0.9, 0.85, 0.6, 0.55, 0.1, 0.09)]
    counts, nearest = frequency_summary(rows, "a")
    assert counts.startswith("9 edges of a: 2 in all")
    assert re.findall(r"[\d.]+%?", counts) == ["9", "2", "2", "90%", "4", "10%", "90%", "1", "10%"]
    assert nearest.endswith(": a - b 0.55, a - b 0.60, a - b 0.85, a - b 0.10")
    assert len(frequency_summary(rows[:2])) == 1
    assert frequency_summary([]) == []


def test_subsamples_say_so_everywhere(ibmap, survey, tmp_path):
    options = ["--replicates", 6, "--subsample", 0.63]
    ran = ibmap("bootstrap", survey, *options, "--out", tmp_path)
    assert ran.out.startswith("1 edge in more than 50% of 6 replicates of 63% of the rows; the whole")
    result = json.loads(ibmap("bootstrap", survey, *options, "--json").out)
    assert result == json.loads((tmp_path / "averaged.json").read_text())
    assert result["subsample"] == 0.63
    net = Bootstrap(random_state=0, n_replicates=6, subsample=0.63).fit(survey)
    assert [tuple(row) for row in result["support"]] == net.support_.rows()
    assert ibmap("learn", survey, "--out", tmp_path).code == 0
    assert ibmap("report", tmp_path, "--force").code == 0
    assert "6 replicates of 63% of the rows, seed 0" in (tmp_path / "report.html").read_text()
    ran = ibmap("bootstrap", survey, "--subsample", 1.5)
    assert ran.refuses("--subsample", "1.5")


def test_with_replacement(ibmap, survey):
    ran = ibmap("bootstrap", survey, "--replicates", 6, "--with-replacement", "--json")
    assert json.loads(ran.out)["subsample"] is None
    assert json.loads(ibmap("bootstrap", survey, "--replicates", 6, "--json").out)["subsample"] == 0.8
    ran = ibmap("bootstrap", survey, "--subsample", 0.5, "--with-replacement")
    assert ran.refuses("--subsample", "--with-replacement")


def test_the_file_holds_what_json_says_and_fits_the_result(ibmap, survey, tmp_path):
    out = tmp_path / "result"
    assert ibmap("learn", survey, "--out", out).code == 0
    ran = ibmap("bootstrap", survey, "--replicates", 4, "--out", out)
    assert f"ibmap report {out} --force" in ran.out.splitlines()[-1]
    text = (out / "averaged.json").read_text()
    assert text == ibmap("bootstrap", survey, "--replicates", 4, "--json").out
    assert json.loads(text)["whole"] == [["smoke", "cough"]]
    assert read_support(out, read_result(out)).frequencies["smoke", "cough"] == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--learner", "ibmap-hc", "--combine", "global", "--patience", 2, "--prior", 0.4],
        ["--require", "smoke,tea", "--forbid", "cough,smoke"],
        ["--start", "complete.json", "--score", "saturated"],
        ["--knowledge", "known.toml"],
        ["--learner", "gsmn", "--test", "chi-square", "--alpha", 0.9, "--symmetry", "and"],
        ["--learner", "hhc-mn", "--max-condition", 0, "--ties", "dependent", "--symmetry", "or"],
        ["--learner", "mi", "--factor", 0.1, "--max-neighbours", 1, "--symmetry", "and"],
    ],
)
def test_the_options_of_learn_give_the_network_of_learn(ibmap, survey, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "complete.json").write_text(Graph.complete(["smoke", "cough", "tea"]).to_json())
    (tmp_path / "known.toml").write_text('required = [["tea", "cough"]]\nprior = [["smoke", "tea", 0.01]]\n')
    learned = json.loads(ibmap("learn", survey, *options, "--json").out)
    found = json.loads(ibmap("bootstrap", survey, *options, "--replicates", 2, "--json").out)
    assert found["whole"] == learned["edges"]
    assert (found["learner"], found["test"]) == (learned["learner"], learned["test"])


def test_learn_and_bootstrap_have_the_same_options_of_the_search():
    own = {
        "--preset",
        "--replicates",
        "--subsample",
        "--with-replacement",
        "--stability",
        "--seed",
        "--strata",
        "--threshold",
        "--about",
        "--checkpoint",
    }
    learn, bootstrap = (get_command(app).commands[verb] for verb in ("learn", "bootstrap"))
    one, other = ({option for p in verb.params for option in p.opts} for verb in (learn, bootstrap))
    assert one ^ other == own


def test_other_learners_and_their_limits(ibmap, survey):
    for learner in ("gsmn", "mi"):
        assert ibmap("bootstrap", survey, "--learner", learner, "--replicates", 3).code == 0
    ran = ibmap("bootstrap", survey, "--learner", "gsmn", "--patience", 3)
    assert ran.code == 2
    assert "gsmn has no option --patience" in ran.err
    assert "ibmap-hc has" in ran.err
    assert ibmap("bootstrap", survey, "--replicates", 0).code == 2
