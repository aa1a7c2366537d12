"""EvidenceMAP: the recommended learner, and everything that can be done with what it learns."""

from importlib import import_module
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph, PairwiseScore, hamming, read_result, simulate_random
from ibmap.criteria import SCORES
from ibmap.criteria.families import FamilyScore
from ibmap.data import load
from ibmap.engines import MemoryEngine, ThreadEngine
from ibmap.errors import RequestError
from ibmap.exchange import read, write
from ibmap.learners import Checkpoint, evidence_map, explain
from ibmap.learners.bootstrap import bootstrap
from ibmap.report import write_report
from ibmap.results.result_file import result_of_learned, result_text
from ibmap.search import SEARCHES
from ibmap.search.gains import Swaps, whole_evidence
from ibmap.search.rivals import Rivals, rivals
from ibmap.search.state import State
from tests.chains import noisy_chain
from tests.engines.partitioned import ENGINES, HiddenEngine, data_of
from tests.reference.tables import random_table
from tests.rows import whole

FAMILIES = [name for name, score in SCORES.items() if isinstance(score(), FamilyScore)]
CHAIN = noisy_chain(6, 300)


def test_finds_a_chain() -> None:
    learned = evidence_map(CHAIN)
    names = CHAIN.names
    assert learned.graph.edges == tuple(pairwise(names))
    assert str(learned.provenance) == "evidence-map"


def test_is_closer_to_the_truth_than_the_paper() -> None:
    from ibmap import IBMAP

    world = simulate_random(20, 2, 1600, random_state=3)
    ours, theirs = EvidenceMAP().fit(world.data), IBMAP().fit(world.data)
    assert hamming(ours.graph_, world.graph) < hamming(theirs.graph_, world.graph)


@pytest.mark.parametrize("search", [*SEARCHES])
@pytest.mark.parametrize("score", FAMILIES)
def test_the_whole_product(score: str, search: str, tmp_path: Any) -> None:
    """Explain, report, bootstrap, result file, formats and constraints, for every score and search."""
    names = CHAIN.names
    options: dict[str, Any] = {"score": score, "search": search}
    learned = evidence_map(
        CHAIN, **options, required=[(names[0], names[5])], forbidden=[(names[2], names[3])]
    )
    assert learned.graph.has_edge(names[0], names[5])
    assert not learned.graph.has_edge(names[2], names[3])
    told = explain(CHAIN, learned, names[0], names[1])
    assert told.joined
    assert "directly associated" in told.words()
    result = result_of_learned(learned, CHAIN)
    (tmp_path / "result.json").write_text(result_text(result), encoding="utf-8")
    again = read_result(tmp_path).learned
    assert again.graph == learned.graph
    assert again.rivals == learned.rivals
    assert again.provenance.to_dict(names) == learned.provenance.to_dict(names)
    assert explain(CHAIN, again, names[0], names[1]).words() == told.words()
    write_report(result, tmp_path / "report.html")
    write(result.network, tmp_path / "graph.graphml")
    assert read(tmp_path / "graph.graphml").graph == learned.graph
    found = bootstrap(CHAIN, lambda engine: evidence_map(engine, **options), n_replicates=4, random_state=0)
    assert found.learned.graph.n_edges >= 5


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree(engine: Any) -> None:
    data = data_of(*random_table(200, 7, 3, 0.0, seed=4))
    one, other = evidence_map(data), evidence_map(engine(data))
    assert one.graph == other.graph
    np.testing.assert_allclose(one.pair_scores, other.pair_scores, rtol=1e-6, atol=1e-9)
    assert one.score == pytest.approx(other.score, rel=1e-9)


def test_missing_values_need_all_rows_in_one_memory() -> None:
    data = data_of(*random_table(200, 7, 3, 0.1, seed=4))
    one, other = evidence_map(data), evidence_map(ThreadEngine(data, 2))
    assert one.graph == other.graph
    assert one.score == other.score
    with pytest.raises(RequestError, match="needs all rows in memory"):
        evidence_map(HiddenEngine(data))


@pytest.mark.parametrize("search", [*SEARCHES])
def test_a_search_that_was_stopped_goes_on(search: str, tmp_path: Any) -> None:
    world = simulate_random(15, 3, 400, random_state=1)
    data, whole = load(world.data), evidence_map(load(world.data), search=search)
    for stop in (1, 3, 8):
        path = tmp_path / f"{search}{stop}.json"
        options: dict[str, Any] = {"search": search, "checkpoint": Checkpoint(path, every=0.0)}
        evidence_map(data, **options, callback=lambda step, stop=stop: step.n >= stop)
        again = evidence_map(data, **options)
        assert again.graph == whole.graph
        assert again.score == pytest.approx(whole.score, rel=1e-12)
        assert [step[:4] for step in again.history] == [step[:4] for step in whole.history]


def test_renaming_columns_permutes_the_result() -> None:
    world = simulate_random(12, 3, 500, random_state=5)
    order = np.random.default_rng(0).permutation(12)
    one, other = (evidence_map(load(data)).graph.adjacency for data in (world.data, world.data[:, order]))
    assert np.array_equal(one[np.ix_(order, order)], other)


def test_the_prior_is_learned_or_told() -> None:
    world = simulate_random(30, 1, 800, random_state=2)
    learned = evidence_map(load(world.data))
    found = learned.provenance.score.options()["expected_neighbours"]  # type: ignore[union-attr]
    assert 0.3 < found < 3
    told = evidence_map(load(world.data), expected_neighbours=7.0)
    assert told.provenance.score.options()["expected_neighbours"] == 7.0  # type: ignore[union-attr]
    assert str(told.provenance) == "evidence-map(expected_neighbours=7.0)"
    assert told.graph.n_edges >= learned.graph.n_edges


def test_knowledge_about_a_pair_counts() -> None:
    prior = np.full((6, 6), np.nan)
    prior[0, 1] = prior[1, 0] = np.nextafter(1.0, 0.0)
    rows = noisy_chain(6, 40)
    assert evidence_map(rows).graph.has_edge(*rows.names[:2])
    assert not evidence_map(rows, prior=prior).graph.has_edge(*rows.names[:2])


def copies(n_rows: int = 300) -> Any:
    """b is a noisy effect of a, and c nearly a copy of a: who is adjacent to b is uncertain."""
    rng = np.random.default_rng(5)
    a = rng.integers(2, size=n_rows)
    c = np.where(rng.random(n_rows) < 0.03, 1 - a, a)
    b = np.where(rng.random(n_rows) < 0.3, 1 - a, a)
    return load({"a": a, "b": b, "c": c, "d": rng.integers(2, size=n_rows)})


def test_an_edge_that_could_be_another_one_is_not_certain() -> None:
    learned = evidence_map(copies())
    (edge,) = [set(edge) for edge in learned.graph.edges if "b" in edge]
    other = {"a", "c"} - edge
    x, y = sorted(edge)
    (stays, comes, share), *_ = learned.stand_ins(x, y)
    assert {stays, comes} == {"b", *other}
    assert share > 0.5
    words = explain(copies(), learned, x, y)
    assert f"Without this edge, b might be directly associated with {comes}" in words.words()
    assert words.log_posterior < np.log(0.99)
    certain = explain(copies(), learned, "a", "c")
    assert certain.log_posterior == pytest.approx(0.0, abs=1e-6)
    assert learned.stand_ins("a", "c") == ()


def test_posterior_over_rivals_by_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibmap.search.rivals.SURE", np.inf)
    data = copies()
    score = PairwiseScore().bind(MemoryEngine(data), None)
    pairs = np.array([[0, 1], [0, 2]])
    blankets = [[1, 2], [0], [0], []]
    running = Swaps().begin(score, pairs.tolist())
    exact = whole(score, range(4), [np.array(b, int) for b in blankets], exact=True).evidence
    every = np.array(whole_evidence(running.state))
    evidence = np.where(exact != 0.0, exact, every)
    found = rivals(running)
    for k, (x, y) in enumerate(pairs.tolist()):
        odds = []
        for i, j in ((x, y), (y, x)):
            outside = [z for z in range(4) if z != i and z not in blankets[i]]
            rest = np.array([z for z in blankets[i] if z != j], int)
            without = whole(score, [i], [rest]).evidence[0]
            best = max(outside, key=lambda z: without[z])  # is judged inside the blanket
            members = [np.sort(np.append(rest, best))]
            without[best] = whole(score, [i], members, exact=True).evidence[0, best]
            now = 1 + np.exp(evidence[i, outside]).sum()
            odds.append(evidence[i, j] + np.log(now) - np.log(1 + np.exp(without[outside]).sum()))
        assert found.log_odds[k] == pytest.approx(odds)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "ib"}, "'ib' does not have"),
        ({"score": "nothing"}, "unknown score"),
        ({"score": object()}, "is not a score"),
        ({"score": PairwiseScore(), "expected_neighbours": 3.0}, "prior of its own"),
        ({"expected_neighbours": 0}, "positive number"),
        ({"prior": 1.0}, "strictly between 0 and 1"),
        ({"search": "luck"}, "unknown search"),
    ],
)
def test_bad_requests(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        evidence_map(CHAIN, **options)


def test_odd_tables() -> None:
    a = np.arange(40) % 2
    for table in (
        {"a": a, "b": a, "c": 1 - a, "d": a * 0},
        {"a": [1], "b": [0]},
    ):
        learned = evidence_map(load(table))
        assert np.isfinite(learned.score)
        assert isinstance(learned.graph, Graph)
    rows = np.arange(30)
    assert np.isfinite(evidence_map(data_of(np.array([rows, rows % 2, rows % 3]), [30, 2, 3])).score)


def test_a_criterion_of_ones_own_is_taken() -> None:
    """It needs rows, and nothing else: no family of conditionals, no prior to learn."""
    from examples.own_score import BIC

    world = simulate_random(8, 2, n_rows=2000, potentials="symmetric", random_state=3)
    learned = EvidenceMAP(criterion=BIC()).fit(world.data).learned_
    assert learned.graph == world.graph
    assert learned.rivals is not None
    with pytest.raises(RequestError, match="a prior of its own"):
        EvidenceMAP(criterion=BIC(), expected_neighbours=2.0).fit(world.data)


@pytest.mark.parametrize(
    ("seen_from_ends", "missed_by", "stays"),
    [
        ((-3.0, 0.4), 9.9, False),  # rivals are likelier, and neither end speaks for the edge
        ((-3.0, 0.6), 9.9, True),  # one end speaks for it
        ((-0.1, 0.4), 9.9, True),  # on average the edge is likelier than its rivals
        ((-3.0, 0.4), 10.1, True),  # the score insists
    ],
)
def test_which_edges_are_left_out(
    monkeypatch: pytest.MonkeyPatch, seen_from_ends: tuple[float, float], missed_by: float, stays: bool
) -> None:
    """Log odds against rivals, of both ends; and by how much the score would miss the edge."""
    data = noisy_chain(4, 200)

    def told(search: Any) -> Rivals:
        found = rivals(search)
        return found._replace(log_odds=np.tile(seen_from_ends, (len(found.log_odds), 1)))

    real = State.evidence
    monkeypatch.setattr(import_module("ibmap.learners.evidence_map"), "rivals", told)
    monkeypatch.setattr(State, "evidence", lambda self, x, y: np.full_like(real(self, x, y), missed_by))
    learned = evidence_map(data, view="undirected")
    assert learned.graph.n_edges == (3 if stays else 0)


def test_an_empty_graph_does_not_push_the_prior_below_a_quarter_of_a_neighbour() -> None:
    rng = np.random.default_rng(0)
    learned = evidence_map(load(rng.integers(2, size=(4000, 12))))
    assert learned.graph.n_edges == 0
    by: Any = learned.provenance.score
    assert by.expected_neighbours == 0.25


def three_way(rows: int, seed: int = 0) -> tuple[Any, Graph]:
    """Four times two coins and their exclusive or, nine times in ten; and three coins more."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (15, rows))
    codes[2:12:3] = codes[0:12:3] ^ codes[1:12:3] ^ (rng.random((4, rows)) < 0.1)
    data = data_of(codes, [2] * 15)
    triples = [data.names[i : i + 3] for i in range(0, 12, 3)]
    return data, Graph(data.names, [pair for three in triples for pair in combinations(three, 2)])


@pytest.mark.parametrize("engine", ENGINES)
def test_variables_that_matter_only_together_are_found(engine: Any) -> None:
    data, truth = three_way(400)
    learned = evidence_map(engine(data))
    assert learned.graph == truth
    assert learned.pair_scores is not None
    assert learned.pair_scores[learned.graph.adjacency].min() > np.log(0.99)


@pytest.mark.parametrize("score", ["saturated", "pairwise"])
def test_only_scores_that_see_interactions_look_for_them(score: str) -> None:
    data, truth = three_way(400)
    assert (evidence_map(data, score=score).graph == truth) == (score == "saturated")


def test_joining_a_triple_heeds_what_is_forbidden() -> None:
    data, truth = three_way(400)
    learned = evidence_map(data, forbidden=[("v0", "v2")])
    assert not learned.graph.has_edge("v0", "v2")
    assert {edge for edge in truth.edges if not {*edge} <= {"v0", "v1", "v2"}} <= {*learned.graph.edges}
