"""Result files: provenance as data, and files of older versions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap import IBMAP, BayesianTest, load
from ibmap.criteria import SaturatedScore
from ibmap.data.packed_file import write_packed
from ibmap.engines import MemoryEngine, ThreadEngine, as_engine
from ibmap.engines.bits import packed_data
from ibmap.engines.gpu import GpuEngine
from ibmap.errors import RequestError
from ibmap.learners import evidence_map, gsmn, ibmap_hc, mutual_information
from ibmap.results.explain import explain
from ibmap.results.provenance import Foreign, Provenance
from ibmap.results.result_file import (
    as_result,
    read_result,
    result_content,
    result_of,
    result_of_learned,
    result_text,
)
from ibmap.search import Rounds
from tests.number_tables import table_of_numbers

OLD = json.loads((Path(__file__).parent / "version_1.json").read_text())
DATA = load(dict(zip("abc", map(np.array, OLD["rows"]), strict=True)))
PRIOR = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.5], [0.9, 0.5, 0.5]])
LEARNED = {
    "ibmap-hc": ibmap_hc(DATA, BayesianTest(prior_counts="jeffreys", prior=PRIOR), patience=3),
    "gsmn": gsmn(DATA, "chi-square", symmetry="and"),
    "mi": mutual_information(DATA, max_neighbours=2),
    "saturated": ibmap_hc(DATA, score=SaturatedScore(prior_count=1.0), search="rounds"),
}


def test_a_result_says_how_its_table_was_read_and_not_what_a_learner_was_told(tmp_path: Path) -> None:
    table = {"a": [0, 1, -9, 1] * 20, "b": [1, 0, 0, 1] * 20, "c": ["x", "y", "y", "z"] * 20}
    how: dict[str, Any] = {
        "missing": "testwise",
        "missing_values": [-9],
        "ordinal": ["c=x<y<z"],
        "drop": ["b"],
    }
    data = load(table, **how)
    with pytest.raises(RequestError, match="load it again with missing='drop'"):
        IBMAP(missing="drop").fit(data)
    net = IBMAP(missing="error").fit(data)  # all is read already
    for source in (data, MemoryEngine(data), ThreadEngine(data, 2), load(data)):
        said = result_content(net.learned_, source, {"path": "t.csv", "missing": "error"})["data"]
        assert {name: said[name] for name in how} == how
    assert as_result(net).content["data"]["missing"] == "testwise"
    write_packed(packed_data(data), tmp_path / "t.ibmap")
    assert load(tmp_path / "t.ibmap").reading == {"missing": "testwise"}  # not "error", though nobody asks


def test_what_a_gpu_holds_is_not_how_columns_were_read() -> None:
    data = load({"a": [0, 1] * 20, "b": [0, 1] * 20})
    assert result_content(ibmap_hc(data), GpuEngine(data, "numpy"))["data"]["continuous"] is None
    values = np.random.default_rng(0).normal(size=(2, 9))
    numbers = table_of_numbers(values, ("a", "b"), reading={"continuous": "all"})
    learned = evidence_map(numbers, score="gaussian")
    assert result_content(learned, numbers)["data"]["continuous"] == "all"


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
    evidence = score.rows([0, 2], blankets).matrix(3)
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


@given(
    st.integers(1, 5),
    st.sampled_from([np.nan, 0.5]),
    st.lists(st.sampled_from([np.nan, 0.5, 0.2, 0.8, 0.4999999999999999]), min_size=10, max_size=10),
)
@pytest.mark.parametrize("kind", ["test", "score"])
def test_priors_by_pair_survive_a_file(kind: str, n: int, diagonal: float, values: list[float]) -> None:
    """Below, at and above one half, or left to the expected neighbours; the diagonal means nothing."""
    names, above = tuple("abcde"[:n]), np.triu_indices(n, 1)
    prior = np.full((n, n), diagonal)
    prior[above] = np.array(values[: len(above[0])])
    prior.T[above] = prior[above]
    part = BayesianTest(prior=prior) if kind == "test" else SaturatedScore(prior=prior)
    made = json.loads(json.dumps(Provenance("ibmap-hc", **{kind: part}).to_dict(names)))
    again = getattr(Provenance.from_dict(made, names), kind).prior
    assert np.array_equal(again[above], prior[above], equal_nan=True)
    assert np.array_equal(again.T[above], prior[above], equal_nan=True)
