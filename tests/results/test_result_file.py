"""Result files: provenance as data, and files of older versions."""

import json
from pathlib import Path

import numpy as np
import pytest

from ibmap import BayesianTest, load
from ibmap.engines import as_engine
from ibmap.learners import gsmn, ibmap_hc, mutual_information
from ibmap.results.explaining import explain
from ibmap.results.provenance import Foreign, Provenance
from ibmap.results.result_file import read_result, result_of, result_of_learned, result_text
from ibmap.scores import SaturatedScore
from ibmap.search import Rounds

OLD = json.loads((Path(__file__).parent / "version_1.json").read_text())
DATA = load(dict(zip("abc", map(np.array, OLD["rows"]), strict=True)))
PRIOR = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.5], [0.9, 0.5, 0.5]])
LEARNED = {
    "ibmap-hc": ibmap_hc(DATA, BayesianTest(prior_counts="jeffreys", prior=PRIOR), patience=3),
    "gsmn": gsmn(DATA, "chi-square", symmetry="and"),
    "mi": mutual_information(DATA, max_neighbours=2),
    "saturated": ibmap_hc(DATA, score=SaturatedScore(prior_count=1.0), search="rounds"),
}


@pytest.mark.parametrize("name", ["ibmap-hc", "gsmn", "mi"])
def test_files_of_version_1_are_read(name: str) -> None:
    known, learned = result_of(OLD[name]).learned, LEARNED[name]
    assert known.graph == learned.graph
    assert known.score == pytest.approx(learned.score)
    assert [step[:4] for step in known.history] == [step[:4] for step in learned.history]
    assert known.n_tests == learned.n_tests
    assert (known.learner, known.test) == (learned.learner, learned.test)
    assert known.edge_table.columns["x"] == learned.edge_table.columns["x"]
    one, other = (explain(DATA, which, "a", "c").to_dict() for which in (known, learned))
    assert {**one, "flips": 0} == {**other, "flips": 0}


@pytest.mark.parametrize("name", LEARNED)
def test_a_file_holds_what_is_needed_to_ask_again(name: str, tmp_path: Path) -> None:
    learned = LEARNED[name]
    (tmp_path / "result.json").write_text(result_text(result_of_learned(learned, DATA)))
    known = read_result(tmp_path).learned
    assert known.provenance.to_dict(DATA.names) == learned.provenance.to_dict(DATA.names)
    for pair in (("a", "b"), ("a", "c")):
        assert explain(DATA, known, *pair).to_dict() == explain(DATA, learned, *pair).to_dict()
    for name, column in learned.edge_table.columns.items():
        assert (
            list(known.edge_table.columns[name]) == pytest.approx(list(column), nan_ok=True) or name in "xy"
        )


def test_explanations_ask_the_score_that_learned_the_network() -> None:
    learned = LEARNED["saturated"]
    score = SaturatedScore(prior_count=1.0).bind(as_engine(DATA), None)
    found = explain(DATA, learned, "a", "c")
    blankets = [learned.graph.neighbours(v) for v in (0, 2)]
    evidence = score.rows([0, 2], blankets).evidence
    expected = (evidence[0, 2] + evidence[1, 0]) / 2
    sign = -1 if learned.graph.has_edge("a", "c") else 1
    assert found.gain_of_flip == pytest.approx(sign * expected)


def test_a_test_of_another_program_is_named_and_not_asked() -> None:
    found = Provenance.from_dict(
        {
            "learner": {"name": "gsmn", "options": {}},
            "test": {"name": "mine", "options": {}, "foreign": True},
        },
        DATA.names,
    )
    assert found.test == Foreign("mine")
    assert found.test_label == "mine"


def test_provenance_is_data() -> None:
    found = LEARNED["saturated"].provenance
    assert (found.learner, found.test) == ("ibmap-hc", None)
    assert isinstance(found.search, Rounds)
    assert found.to_dict(DATA.names)["score"]["options"] == {
        "prior_count": 1.0,
        "expected_neighbours": 4.0,
        "prior": None,
    }
    assert str(found) == "ibmap-hc(score=saturated, search=rounds)"
