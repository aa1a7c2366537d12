"""Engines agree: rows in several places give the same networks, explanations and files as rows in memory."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from ibmap import (
    DAGHC,
    GSMN,
    HHCMN,
    IBMAP,
    BayesianTest,
    Bootstrap,
    Learned,
    MutualInformation,
    Table,
    accuracy,
)
from ibmap.criteria import SCORES
from ibmap.engines import ENGINES as BY_NAME
from ibmap.engines import Engine, Questions, Slices, Tables, add_tables, as_engine, ask
from ibmap.errors import EngineError, RequestError
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information
from ibmap.learners.bootstrap import bootstrap
from ibmap.results.result_file import result_content
from tests.engines.partitioned import (
    ENGINES,
    MemoryEngine,
    PartitionedEngine,
    data_of,
    with_wide_columns,
)
from tests.reference.tables import random_table

OTHERS = [engine for engine in ENGINES if engine is not MemoryEngine]
LEARNERS: dict[str, Any] = {
    "ibmap-hc": ibmap_hc,
    "ibmap-hc, patience": partial(ibmap_hc, patience=4),
    "ibmap-hc, jeffreys": partial(ibmap_hc, test=BayesianTest(prior_counts="jeffreys", slices="all")),
    "ibmap-hc, start": partial(ibmap_hc, required=[("v0", "v3")], forbidden=[("v1", "v2")]),
    "saturated, climb": partial(ibmap_hc, score="saturated"),
    "saturated, steepest": partial(ibmap_hc, score="saturated", search="steepest"),
    "saturated, rounds": partial(ibmap_hc, score="saturated", search="rounds"),
    "pairwise, rounds": partial(ibmap_hc, score="pairwise", search="rounds"),
    "adaptive, rounds": partial(ibmap_hc, score="adaptive", search="rounds"),
    "gsmn": gsmn,
    "gsmn, chi-square": partial(gsmn, test="chi-square"),
    "hhc-mn": hhc_mn,
    "hhc-mn, g-square": partial(hhc_mn, test="g-square", max_condition=2),
    "mi": mutual_information,
    "ibmap-hc, bjp": partial(ibmap_hc, score="bjp", patience=3),
    "dag-hc": dag_hc,
    "dag-hc, bdeu": partial(dag_hc, score="bdeu", tabu=0, max_parents=2, required=[("v0", "v3")]),
}


def _options(learner: Any) -> dict[str, Any]:
    return getattr(learner, "keywords", {})


TABLES: dict[str, Table] = {
    "binary": data_of(*random_table(300, 8, 2, 0.0, seed=1)),
    "levels": data_of(*random_table(250, 7, 5, 0.0, seed=2)),
    "missing": data_of(*random_table(250, 6, 3, 0.08, seed=3)),
    "wide": data_of(*with_wide_columns(random_table(200, 4, 3, 0.0, seed=4), 40)),
}


def assert_same(one: Learned, other: Learned) -> None:
    assert one.graph == other.graph
    assert one.n_tests == other.n_tests
    assert [step[:4] for step in one.history] == [step[:4] for step in other.history]
    if one.score is None:
        assert other.score is None
        return
    assert one.score == pytest.approx(other.score, rel=1e-9)
    assert one.pair_scores == pytest.approx(other.pair_scores, rel=1e-9, abs=1e-300)
    assert one.edge_table.pairs[: one.edge_table.n_edges].tolist() == (
        other.edge_table.pairs[: other.edge_table.n_edges].tolist()
    )


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner(engine: Any, table: str, learner: str) -> None:
    data = TABLES[table]
    expected = LEARNERS[learner](data)
    assert_same(LEARNERS[learner](engine(data)), expected)
    assert_same(LEARNERS[learner](data, engine=engine), expected)


@pytest.mark.filterwarnings("ignore::ibmap.errors.SearchWarning")
@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("table", [name for name in TABLES if name != "missing"])
@pytest.mark.parametrize("options", [{}, {"view": "directed"}, {"posterior": "averaged"}], ids=str)
def test_evidence_map(engine: Any, table: str, options: dict[str, Any]) -> None:
    """Missing cells count as the first level: tables with gaps need their rows in one memory."""
    known = TABLES[table]
    data = Table(np.maximum(known.codes, 0), known.names, known.levels)
    expected = evidence_map(data, **options)
    assert_same(evidence_map(engine(data), **options), expected)
    assert_same(evidence_map(data, engine=engine, **options), expected)


@pytest.mark.filterwarnings("ignore:v0 and v1 are the same")
@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize(
    "learner",
    [IBMAP(), IBMAP(criterion="saturated", search="rounds"), GSMN(), HHCMN(), MutualInformation(), DAGHC()],
)
def test_estimators_explain_and_bootstrap(engine: Any, learner: Any) -> None:
    data = TABLES["levels"]
    mine, theirs = (learner.__class__(**learner.get_params()).fit(source) for source in (data, engine(data)))
    for x, y in (("v0", "v1"), ("v2", "v5")):
        one, other = mine.explain(x, y).to_dict(), theirs.explain(x, y).to_dict()
        assert (one["joined"], one["counts"]) == (other["joined"], other["counts"])
        assert (one["gain_of_flip"] is None) == (mine.learned_.score is None)
        assert (one["gain_of_flip"] or 0.0) == pytest.approx(other["gain_of_flip"] or 0.0, rel=1e-6)
        for here, there in zip(one["views"], other["views"], strict=True):
            assert {**here, "numbers": 0} == {**there, "numbers": 0}
            assert here["numbers"] == pytest.approx(there["numbers"], rel=1e-9)
    with_engine = learner.__class__(**{**learner.get_params(), "engine": engine})
    replicates = {"n_replicates": 6, "random_state": 0}
    one, other = (Bootstrap(each, **replicates).fit(data).support_.rows() for each in (learner, with_engine))
    assert one == other


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("subsample", [None, 0.5])
def test_the_bootstrap(engine: Any, subsample: float | None) -> None:
    data = TABLES["missing"]
    found = [
        bootstrap(source, ibmap_hc, n_replicates=5, random_state=3, subsample=subsample)
        for source in (data, engine(data))
    ]
    assert found[0].support().rows() == found[1].support().rows()


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("test", [None, "chi-square"])
def test_accuracy(engine: Any, test: Any) -> None:
    data = TABLES["levels"]
    graph = ibmap_hc(data).graph
    one = accuracy(graph, data, test=test, queries=20, random_state=0)
    assert accuracy(graph, engine(data), test=test, queries=20, random_state=0) == one
    assert accuracy(graph, data, engine=engine, test=test, queries=20, random_state=0) == one


@pytest.mark.parametrize("engine", OTHERS)
def test_results(engine: Any) -> None:
    data = TABLES["levels"]
    learned = ibmap_hc(data)
    one, other = (result_content(learned, source) for source in (data, engine(data)))
    assert {**one, "made_at": 0} == {**other, "made_at": 0}
    assert json.loads(json.dumps(one, default=str))["counts"] == [
        list(map(list, table)) for table in one["counts"]
    ]


@pytest.mark.parametrize("engine", [MemoryEngine, *OTHERS])
@pytest.mark.parametrize("table", TABLES)
def test_pairs_are_asked_about_once(engine: Any, table: str) -> None:
    data = TABLES[table]
    seen = []
    for tables in engine(data).pairs():
        for t in range(len(tables)):
            x, y = int(tables.x[t]), int(tables.y[t])
            seen.append((x, y))
            both = (data.codes[x] >= 0) & (data.codes[y] >= 0)
            assert tables.n_rows[t] == both.sum()
    assert sorted(seen) == [(x, y) for x in range(data.n_variables) for y in range(x + 1, data.n_variables)]


# What can go wrong


class Forgetful(PartitionedEngine):
    """Loses a partition."""

    def tables(self, questions: Questions) -> Tables:
        return add_tables([part.tables(questions) for part in self._parts[1:]])


class Confused(Engine):
    """Answers for another table, or to other questions."""

    def __init__(self, data: Table, other: Table, shift: int = 0) -> None:
        self.schema, self._inner, self._shift = data.schema, MemoryEngine(other), shift

    def tables(self, questions: Questions) -> Tables:
        return self._inner.tables(replace(questions, x=(questions.x + self._shift) % 3))


DATA = data_of(*random_table(60, 5, 3, 0.0, seed=5))


@pytest.mark.parametrize("learner", ["ibmap-hc", "saturated, rounds", "gsmn", "hhc-mn", "mi", "dag-hc"])
def test_an_engine_that_loses_a_partition_is_found_out(learner: str) -> None:
    with pytest.raises(EngineError, match=r"answered for \d+ of 60 rows: a partition is missing"):
        LEARNERS[learner](Forgetful(DATA))


def test_an_engine_that_answers_for_another_table_is_found_out() -> None:
    other = data_of(*random_table(60, 5, 2, 0.0, seed=5))
    with pytest.raises(EngineError, match="another table: its variables have other levels"):
        ibmap_hc(Confused(DATA, other))
    with pytest.raises(EngineError, match="other questions"):
        ask(Confused(DATA, DATA, shift=1), Questions.fixed(0, [3], [4]))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (data_of(*random_table(61, 5, 3, 0.0, seed=5)), "n_rows is 60 here, 61 there"),
        (data_of(*random_table(60, 6, 3, 0.0, seed=5)), "n_variables is 5 here, 6 there"),
        (Table(DATA.codes, tuple("abcde"), DATA.levels), "called 'v0' here, 'a' there"),
        (Table(DATA.codes, DATA.names, (("x", "y", "z"),) * 5), "'v0' has other levels"),
    ],
)
def test_a_table_and_the_engine_of_another_are_refused(other: Table, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        as_engine(DATA, MemoryEngine(other))
    with pytest.raises(EngineError, match=words):
        IBMAP(engine=MemoryEngine(other)).fit(DATA)


def test_tables_of_different_questions_cannot_be_added() -> None:
    engine = MemoryEngine(DATA)
    one, other = (engine.tables(Questions.fixed(0, [1], given)) for given in ([2], [3]))
    with pytest.raises(EngineError, match="different questions"):
        one + other
    fewer = MemoryEngine(data_of(*random_table(60, 5, 2, 0.0, seed=5))).tables(Questions.fixed(0, [1], [2]))
    with pytest.raises(EngineError, match="numbers of levels differ"):
        one + fewer
    with pytest.raises(EngineError, match="margins of others"):
        one.margins() + one.margins()


@pytest.mark.parametrize(
    ("source", "engine", "words"),
    [
        (DATA, "spark", "unknown engine 'spark'; there are memory"),
        (DATA, 7, "7 is not an engine"),
        (DATA, lambda data: data, "made a Table, not an engine"),
        (MemoryEngine(DATA), "memory", "behind an engine already"),
        ({"a": [1, 2]}, None, "expected a Table or an engine, not dict"),
        (MemoryEngine, None, "expected a Table or an engine"),
    ],
)
def test_what_is_no_engine_is_refused(source: Any, engine: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        as_engine(source, engine)


def test_an_engine_without_a_bootstrap_says_so() -> None:
    with pytest.raises(RequestError, match="Confused cannot resample its rows"):
        bootstrap(Confused(DATA, DATA), ibmap_hc, n_replicates=2)


def test_engines_and_scores_by_name() -> None:
    assert next(iter(BY_NAME)) == "memory"
    assert {learner.keywords["score"] for learner in LEARNERS.values() if "score" in _options(learner)} == (
        {*SCORES, "bdeu"} - {"ib", "gaussian", "mixed"}  # which count nothing
    )
    assert isinstance(as_engine(DATA, "memory"), Engine)
    assert isinstance(as_engine(DATA).tables(Questions.fixed(0, [1], [])).slices, Slices)
