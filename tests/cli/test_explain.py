import json
import re

import pytest

from ibmap import BayesianTest, Graph
from ibmap.data import load
from ibmap.learners import explain, ibmap_hc
from ibmap.results.result_file import read_result

PAPER = ["--learner", "ibmap-hc"]


@pytest.fixture
def result(ibmap, survey, tmp_path):
    assert (
        ibmap("learn", survey, "--out", tmp_path / "result", *PAPER, "--prior-counts", "jeffreys").code == 0
    )
    return tmp_path / "result"


def test_words_first_details_on_request(ibmap, result):
    ran = ibmap("explain", result, "smoke", "cough")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert re.match("smoke and cough are (?!not).*posterior", lines[0])
    assert lines[1] == "Evidence for a direct association: Bayes factor above a million."
    assert re.match(r"The odds of cough=1 are \d+ times as high with smoke=yes as with smoke=no", lines[2])
    assert lines[3].startswith("smoke is dependent on cough")
    assert "smoke \\ cough" in ran.out
    assert "Ascent" not in ran.out
    assert "slice" not in ran.out
    more = ibmap("explain", result, "smoke", "cough", "--details").out
    assert more.startswith(ran.out)
    assert "Ascent 1 of 1 added the edge: the score rose by " in more
    assert "test bayesian(prior_counts=jeffreys)" in more
    assert "300 rows; 1 slice" in more
    ran = ibmap("explain", result / "result.json", "tea", "smoke", "--details")
    assert ran.out.startswith("tea and smoke are not ")
    assert "The search never flipped this pair.\nAdding it now would change the score by -" in ran.out


def test_what_was_known_beforehand_is_said_first(ibmap, survey, tmp_path):
    out, known = tmp_path / "known", tmp_path / "known.toml"
    known.write_text('forbidden = [["cough", "smoke"]]')
    assert ibmap("learn", survey, "--out", out, "--require", "tea,smoke", "--knowledge", known).code == 0
    ran = ibmap("explain", out, "tea", "smoke")
    assert re.match("tea and smoke are (?!not).* because the edge was required; posterior", ran.out)
    more = ibmap("explain", out, "tea", "smoke", "--details").out
    assert "\nThe search was not free to flip this pair.\nRemoving it now would change" in more
    ran = ibmap("explain", out, "smoke", "cough")
    assert re.match("smoke and cough are not .* because the edge was forbidden; posterior", ran.out)
    found = json.loads(ibmap("explain", out, "smoke", "tea", "--json").out)
    assert (found["required"], found["forbidden"]) == (True, False)
    assert "because" not in ibmap("explain", out, "cough", "tea").out
    content = json.loads((out / "result.json").read_text())
    assert (content["required"], content["forbidden"]) == ([["smoke", "tea"]], [["smoke", "cough"]])
    old = {key: value for key, value in content.items() if key not in ("required", "forbidden")}
    (out / "result.json").write_text(json.dumps(old))
    assert re.match("tea and smoke are (?!not)[^;]*; posterior", ibmap("explain", out, "tea", "smoke").out)
    for nonsense in (7, [["smoke"]], [["smoke", "coffee"]], [["tea", "tea"]]):
        (out / "result.json").write_text(json.dumps(old | {"required": nonsense}))
        assert "is damaged" in ibmap("explain", out, "tea", "smoke").err


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], {}),
        ([*PAPER, "--patience", 2, "--jobs", 2, "--require", "smoke,tea"], {"patience": 2}),
        (["--start", "start.json"], {"start": "1 edges"}),
        (["--learner", "hhc-mn", "--symmetry", "or", "--max-condition", 1, "--ties", "dependent"],
         {"symmetry": "or", "max_condition": 1}),
        (["--learner", "mi", "--factor", 2], {"factor": 2.0}),
    ],
)  # fmt: skip
def test_results_keep_the_options_of_the_search(ibmap, survey, tmp_path, monkeypatch, given, kept):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "start.json").write_text(Graph(["smoke", "cough", "tea"], [("smoke", "tea")]).to_json())
    assert ibmap("learn", survey, *given, "--out", tmp_path / "r").code == 0
    assert read_result(tmp_path / "r").learned.provenance.options == kept


def test_json_is_what_python_says(ibmap, result, survey):
    found = json.loads(ibmap("explain", result, "smoke", "cough", "--json").out)
    data, test = load(survey), BayesianTest(prior_counts="jeffreys")
    expected = explain(data, ibmap_hc(data, test), "smoke", "cough").to_dict()
    assert found == json.loads(json.dumps(expected))


def test_results_keep_what_was_learned(result, survey):
    known = read_result(result)
    test = BayesianTest(prior_counts="jeffreys")
    learned = ibmap_hc(load(survey), test)
    assert known.learned.graph == learned.graph
    assert known.learned.history == learned.history
    assert known.learned.score == learned.score
    assert known.learned.test == test.name
    rows = learned.edges_frame.rows()
    assert known.content["near_misses"] == [list(row[:5]) for row in rows if not row[5]]
    assert known.network.numbers[0]["log_posterior_xy"] == rows[0][3]
    assert sum(map(sum, known.content["counts"][0])) == 300
    assert known.content["levels"]["tea"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "options", [["--learner", "gsmn"], ["--learner", "mi"], ["--learner", "gsmn", "--test", "chi-square"]]
)
def test_other_learners(ibmap, survey, tmp_path, options):
    assert ibmap("learn", survey, "--out", tmp_path / "r", *options).code == 0
    ran = ibmap("explain", tmp_path / "r", "smoke", "cough")
    assert ran.code == 0
    assert "smoke is dependent on cough" in ran.out


def test_a_prior_per_pair_is_remembered(ibmap, survey, tmp_path):
    prior = tmp_path / "prior.csv"
    prior.write_text("x,y,prior\nsmoke,tea,0.9\n")
    ibmap("learn", survey, "--out", tmp_path / "r", *PAPER, "--prior", prior)
    prior.unlink()
    known = read_result(tmp_path / "r")
    assert known.learned.provenance.test.prior.tolist() == [[0.5, 0.5, 0.9], [0.5, 0.5, 0.5], [0.9, 0.5, 0.5]]
    found = json.loads(ibmap("explain", tmp_path / "r", "smoke", "cough", "--json").out)
    assert found["test"] == "bayesian(prior=per pair)"


def test_a_table_that_moved_or_changed(ibmap, result, survey, tmp_path):
    moved = survey.rename(tmp_path / "moved.csv")
    ran = ibmap("explain", result, "smoke", "tea")
    assert ran.code == 2
    assert "any more: pass --data FILE" in ran.err
    assert ibmap("explain", result, "smoke", "tea", "--data", moved).code == 0
    moved.write_text("\n".join(moved.read_text().splitlines()[:200]))
    ran = ibmap("explain", result, "smoke", "tea", "--data", moved)
    assert "is not the table of this result: it has 199 rows" in ran.err


DAMAGES = [
    ("{", "is damaged: it is not JSON"),
    ("[]", "is not a result"),
    ("x,y,posterior\na,b,0.9\n", "is not a result: ibmap learn --out DIR writes result.json"),
    ("", "is not a result"),
    ('{"variables": ["a"], "edges": []}', "is not a result: ibmap learn --out DIR writes result.json"),
    ('{"format": "ibmap-result", "version": 3}', "comes from a newer ibmap (format 3, this one reads 2)"),
    ('{"format": "ibmap-result", "version": 1}', "is damaged: "),
    ('{"format": "ibmap-result", "version": 2}', "is damaged: "),
]


@pytest.mark.parametrize(("text", "words"), DAMAGES)
def test_damaged_newer_or_of_another_kind(ibmap, tmp_path, text, words):
    (tmp_path / "result.json").write_text(text)
    ran = ibmap("explain", tmp_path, "a", "b")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert words in ran.err


def test_every_key_that_goes_missing_is_noticed(ibmap, result):
    whole = json.loads((result / "result.json").read_text())
    for key in ("variables", "edges", "history", "n_rows", "data", "provenance", "counts", "score", "levels"):
        (result / "result.json").write_text(json.dumps({k: v for k, v in whole.items() if k != key}))
        ran = ibmap("explain", result, "smoke", "cough")
        assert (ran.code, ran.err.count("\n")) == (1, 1)
        assert "is damaged" in ran.err


def test_unknown_names(ibmap, result):
    assert "did you mean 'cough'?" in ibmap("explain", result, "smoke", "couhg").err
    assert "both 'smoke'" in ibmap("explain", result, "smoke", "smoke").err
    assert "there is no file" in ibmap("explain", result / "no", "a", "b").err


def test_a_table_of_the_same_shape_with_other_values_is_refused(ibmap, survey, result):
    lines = survey.read_text().splitlines()
    survey.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    ran = ibmap("explain", result, "smoke", "cough")
    assert (ran.code, ran.out) == (1, "")
    assert "is not the table of this result: its values differ; learn again" in ran.err
    known = json.loads((result / "result.json").read_text())
    del known["data"]["digest"]  # as older versions wrote it
    (result / "result.json").write_text(json.dumps(known))
    assert ibmap("explain", result, "smoke", "cough").code == 0
