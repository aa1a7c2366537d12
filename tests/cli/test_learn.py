import json
import re
import subprocess
import sys

import polars as pl
import pytest

from ibmap import BayesianTest, Graph
from ibmap._files import claimed
from ibmap._text import probability
from ibmap.cli import screen
from ibmap.cli.learn import FILES
from ibmap.data import load
from ibmap.learners import Step, Visit, evidence_map, ibmap_hc

PAPER = ["--learner", "ibmap-hc"]
KEYS = ["variables", "edges", "posteriors", "score", "n_tests", "n_iter", "seconds", "learner", "test"]
KEYS += ["untested", "copies", "warnings"]


def test_json_is_all_there_is_on_stdout(ibmap, survey):
    ran = ibmap("learn", survey, "--json")
    assert ran.code == 0
    assert ran.err == ""
    result = json.loads(ran.out)
    assert list(result) == KEYS
    assert result["variables"] == ["smoke", "cough", "tea"]
    assert result["edges"] == [["smoke", "cough"]]
    assert result["score"] == pytest.approx(evidence_map(load(survey)).score, rel=1e-12)
    assert (result["learner"], result["test"]) == ("evidence-map", "none")


def test_result_files_hold_the_graph_and_near_misses(ibmap, survey, tmp_path):
    ran = ibmap("learn", survey, "--json", "--out", tmp_path / "a" / "b")
    names = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert names == sorted(FILES)
    text = (tmp_path / "a" / "b" / "graph.json").read_text()
    assert json.loads(text) == json.loads(ran.out)
    assert Graph.from_json(text).edges == (("smoke", "cough"),)
    edges = pl.read_csv(tmp_path / "a" / "b" / "edges.csv")
    logs = [f"log_{name}" for name in ("posterior_xy", "posterior_yx", "bayes_factor")]
    posteriors = ["x", "y", "posterior", *logs[:2], "in_graph", logs[2]]
    effects = ["strength", "sign", "log_odds_ratio", "log_odds_ratio_se", "strength_se"]
    effects += ["averaged_log_odds_ratio", "averaged_low", "averaged_high"]
    assert edges.columns == [*posteriors, *effects]
    assert edges["in_graph"].to_list() == [True, False, False]


@pytest.mark.parametrize("name", FILES)
def test_older_results_are_replaced_by_force_only(ibmap, survey, tmp_path, name):
    older = tmp_path / name
    older.write_text("older")
    ran = ibmap("learn", tmp_path / "no table", "--out", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.refuses(repr(str(older)), "--force")
    assert older.read_text() == "older"
    assert ibmap("learn", survey, "--out", tmp_path, "--force").code == 0
    assert older.read_text() != "older"
    assert Graph.from_json((tmp_path / "graph.json").read_text()).n_edges == 1


def test_screen_shows_summary_edges_near_misses_and_provenance(ibmap, survey):
    ran = ibmap("learn", survey, *PAPER, "--prior-counts", "0.5", "--patience", "1")
    assert ran.out.startswith("1 direct association among 3 variables; ")
    assert re.search(r"undecided pairs|most probable of the others", ran.out)
    origin = "Learned from 300 rows by ibmap-hc(patience=1), test bayesian(prior_counts=0.5) in "
    assert ran.out.splitlines()[-1].startswith(origin)
    assert "Posterior: the geometric mean of two, one from each end of the edge." in ran.out
    learned = ibmap_hc(load(survey), BayesianTest(prior_counts=0.5), patience=1)
    (_, _, one, other), *_ = learned.edge_table.first(1, 0)
    (line,) = [line for line in ran.out.splitlines() if line.startswith("smoke")][:1]
    assert f"{probability(one)}   " in line + "   "
    assert f"{probability(other)}   " in line + "   "
    assert re.search(r"strongest edges +posterior +first end +second end", ran.out)
    assert "first end" not in ibmap("learn", survey).out
    assert ran.err == ""
    assert (
        "Posterior: how probable it is that these two are directly associated; lower where"
        in ibmap("learn", survey).out
    )


def test_top_limits_the_edges_shown(ibmap, survey):
    options = ["--require", "smoke,tea", "--require", "tea,cough", "--top", "1"]
    out = ibmap("learn", survey, *options).out
    assert "3 direct associations (" in out
    assert "... and 2 more" in out
    assert not any(line.endswith(" ") for line in out.splitlines())
    out = ibmap("learn", survey, *options[:-1], 0).out
    assert out.startswith("3 direct associations")
    assert out.count("\n") == 1


def test_start_required_and_forbidden(ibmap, survey, tmp_path):
    assert ibmap("learn", survey, "--out", tmp_path, "--require", "tea,cough").code == 0
    ran = ibmap("learn", survey, "--start", tmp_path / "graph.json", "--forbid", "cough, smoke", "--json")
    assert ran.code == 2
    assert "both in the start graph and forbidden" in ran.err
    ran = ibmap("learn", survey, "--forbid", "cough, smoke", "--require", "smoke,tea", "--json")
    edges = json.loads(ran.out)["edges"]
    assert ["smoke", "tea"] in edges
    assert ["smoke", "cough"] not in edges


def test_names_with_commas_and_markup_are_shown_as_they_are(ibmap, tmp_path):
    names = ["[red]blood[/red]", "height, cm", ":smile:", "a,b"]
    frame = pl.DataFrame({name: [(row >> k) % 2 for row in range(64)] for k, name in enumerate(names)})
    frame.write_csv(tmp_path / "t.csv")
    options = ["--require", "height, cm,[red]blood[/red]", "--require", ":smile:,a,b"]
    ran = ibmap("learn", tmp_path / "t.csv", *options)
    assert ran.code == 0
    assert all(name in ran.out for name in names)
    ran = ibmap(
        "test", tmp_path / "t.csv", "a,b", ":smile:", "--given", "height, cm,[red]blood[/red]", "--json"
    )
    assert json.loads(ran.out)["given"] == ["height, cm", "[red]blood[/red]"]


def test_ambiguous_names_are_refused(ibmap, tmp_path):
    names = ["a", "b", "c", "a,b", "b,c"]
    frame = pl.DataFrame({name: [(row >> k) % 2 for row in range(64)] for k, name in enumerate(names)})
    frame.write_csv(tmp_path / "t.csv")
    ran = ibmap("learn", tmp_path / "t.csv", "--require", "a,b,c")
    assert ran.code == 2
    assert "can be read in 2 ways" in ran.err
    ran = ibmap("test", tmp_path / "t.csv", "a", "b", "--given", "b,c")
    assert ran.code == 2
    assert "can mean" in ran.err


def test_missing_and_continuous_columns_on_request(ibmap, tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"{i / 8},{'' if i % 7 == 0 else i % 2}\n" for i in range(40))
    )
    for policy in ("drop", "category", "testwise"):
        options = ["--missing", policy, "--discretize", "quantile", "--bins", "3", "--json"]
        assert ibmap("learn", tmp_path / "t.csv", *options).code == 0


def test_version(ibmap):
    ran = ibmap("--version")
    assert (ran.code, ran.out) == (0, "ibmap 0.2.0\n")


def test_learn_imports_neither_scikit_learn_nor_pandas_nor_linear_algebra(survey):
    code = (
        "import sys; from ibmap.cli.app import app\n"
        "try: app(sys.argv[1:], prog_name='ibmap')\n"
        "except SystemExit as left: assert not left.code\n"
        "slow = {'pandas', 'scipy.linalg', 'scipy.stats', 'sklearn', 'networkx'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    command = [sys.executable, "-c", code, "learn", str(survey)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_dash_reads_the_table_from_stdin(survey):
    command = [sys.executable, "-m", "ibmap", "learn", "-", "--json"]
    run = subprocess.run(command, input=survey.read_bytes(), capture_output=True, check=True)
    assert json.loads(run.stdout)["variables"] == ["smoke", "cough", "tea"]


@pytest.mark.parametrize(
    ("learner", "options", "said"),
    [
        ("gsmn", ["--symmetry", "and"], ["gsmn(symmetry=and)", "bayesian"]),
        (
            "gsmn",
            ["--test", "chi-square", "--alpha", "0.01"],
            ["gsmn", "chi-square(alpha=0.01, dof=adjusted)"],
        ),
        (
            "hhc-mn",
            ["--max-condition", "1", "--ties", "dependent"],
            ["hhc-mn(max_condition=1)", "bayesian(ties=dependent)"],
        ),
        (
            "mi",
            ["--max-neighbours", "2", "--factor", "1.0", "--jobs", "2"],
            ["mi(factor=1.0, max_neighbours=2)", "none"],
        ),
    ],
)
def test_other_learners(ibmap, survey, tmp_path, learner, options, said):
    ran = ibmap("learn", survey, "--learner", learner, *options, "--json", "--out", tmp_path / "result")
    assert ran.code == 0
    result = json.loads(ran.out)
    assert list(result) == KEYS
    assert result["edges"] == [["smoke", "cough"]]
    assert result["score"] is None
    assert [result["learner"], result["test"]] == said
    edges = pl.read_csv(tmp_path / "result" / "edges.csv")
    assert edges.select("x", "y", "in_graph").rows() == [("smoke", "cough", True)]
    shown = ibmap("learn", survey, "--learner", learner, *options).out
    assert "posterior" not in shown
    assert "undecided pairs" not in shown
    assert f" by {said[0]}{f', test {said[1]}' * (said[1] != 'none')} in " in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--learner", "mi", "--test", "bayesian"], "mi has no option --test"),
        (["--learner", "mi", "--prior-counts", "ones"], "mi has no option --prior-counts"),
        (["--learner", "gsmn", "--max-condition", "2"], "gsmn has no option --max-condition"),
        (["--learner", "gsmn", "--require", "smoke,tea"], "gsmn has no option --require"),
        (["--max-neighbours", "2"], "evidence-map has no option --max-neighbours"),
        (["--symmetry", "and"], "evidence-map has no option --symmetry"),
        (["--learner", "hhc-mn", "--symmetry", "xor"], "symmetry must be 'or' or 'and'"),
        (["--learner", "hhc-mn", "--factor", "2"], "hhc-mn has no option --factor"),
        (["--learner", "pc"], "unknown learner 'pc'; there are evidence-map, ibmap-hc, gsmn, hhc-mn, mi"),
    ],
)
def test_options_that_a_learner_lacks_are_refused_by_name(refused, survey, arguments, words):
    assert words in refused(survey, *arguments)


def test_the_line_that_moves_tells_ascents_or_variables():
    line = screen._Line()
    assert "scoring all pairs" in line.__rich__()
    line(Step(1, "a", "b", True, 2.0, -3.0))
    assert line.__rich__().startswith("learning: 1 ascent, 1 edge, score -3.000, ")
    line(Visit(2, "b", ("a",)))
    assert line.__rich__().startswith("learning: 2 variables visited, ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*PAPER, "--score", "saturated", "--prior", "0.9"], ("saturated", "--prior")),
        ([*PAPER, "--score", "saturated", "--test", "bayesian"], ("saturated", "--test")),
        ([*PAPER, "--search", "rounds"], ("additive", "--search")),
        ([*PAPER, "--score", "saturated", "--search", "rounds", "--patience", "3"], ("rounds", "climb")),
        (["--score", "bjp"], ("'bjp' does not have", "ibmap-hc")),
        (["--engine", "abacus"], ("abacus", "memory")),
        (["--score", "bic"], ("bic", "ib, bjp, pairwise")),
        (["--learner", "gsmn", "--score", "saturated"], ("gsmn", "--score")),
    ],
)
def test_what_cannot_be_combined_is_one_line(refused, survey, arguments, words):
    line = refused(survey, *arguments)
    assert all(word in line for word in words)


@pytest.mark.parametrize("search", ["climb", "steepest", "rounds"])
def test_a_score_and_a_search_go_all_the_way(ibmap, survey, tmp_path, search):
    out = tmp_path / "r"
    ran = ibmap("learn", survey, "--score", "saturated", "--search", search, "--out", out)
    assert ran.code == 0, ran.err
    assert json.loads((out / "result.json").read_text())["provenance"]["search"]["name"] == search
    assert "the score" in ibmap("explain", out, "smoke", "cough", "--details").out
    assert ibmap("report", out, "--force").code == 0
    assert ibmap("plot", out, tmp_path / "net.svg").code == 0
    assert ibmap("convert", out, tmp_path / "net.graphml").code == 0
    ran = ibmap(
        "bootstrap", survey, "--score", "saturated", "--search", search, "--replicates", 5, "--out", out
    )
    assert ran.code == 0, ran.err


def test_a_twin_is_refused_before_it_works_for_nothing(ibmap, survey, tmp_path):
    out = tmp_path / "result"
    out.mkdir()
    with claimed(out / ".ibmap-graph.json.tmp"):
        for more in ([], ["--force"]):
            assert ibmap("learn", survey, "--out", out, *more).refuses("another run is writing to", out)
        assert ibmap("bootstrap", survey, "--out", out, "--replicates", 2).code == 0  # other files
    assert ibmap("learn", survey, "--out", out).code == 0
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_file_that_appears_meanwhile_is_not_replaced(ibmap, survey, tmp_path, monkeypatch):
    out = tmp_path / "result"
    learning = sys.modules["ibmap.cli.learn"]
    real = learning.result_files

    def slow(*given):
        (out / "graph.json").write_text("somebody else's")
        return real(*given)

    monkeypatch.setattr(learning, "result_files", slow)
    assert ibmap("learn", survey, "--out", out).refuses("graph.json", "exists", "--force")
    assert [path.name for path in out.iterdir()] == ["graph.json"]


@pytest.mark.parametrize("verb", ["explain", "report", "convert", "evaluate", "plot", "learn"])
def test_every_reader_finishes_what_a_killed_run_had_begun(ibmap, survey, tmp_path, verb):
    out, new = tmp_path / "result", tmp_path / "new"
    assert ibmap("learn", survey, "--out", out).code == 0
    assert ibmap("learn", survey, "--out", new, "--forbid", "smoke,cough").code == 0
    renames = {}
    for k, name in enumerate(FILES):  # killed between two renames: the first file is new, the others are not
        place = out / (name if k == 0 else f".ibmap-{k}.tmp")
        place.write_bytes((new / name).read_bytes())
        renames[f".ibmap-{k}.tmp"] = name
    (out / ".ibmap-commit").write_text(json.dumps({"rename": renames, "remove": []}))
    arguments = {
        "explain": ["explain", out, "smoke", "cough"],
        "report": ["report", out, "--force"],
        "convert": ["convert", out, "-", "--to", "dot"],
        "evaluate": ["evaluate", out / "graph.json", "--truth", new / "graph.json"],
        "plot": ["plot", out, tmp_path / "net.png"],
        "learn": ["learn", survey, "--start", out / "graph.json"],
    }
    assert ibmap(*arguments[verb]).code == 0
    for name in FILES[:3]:
        assert (out / name).read_bytes() == (new / name).read_bytes()
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
