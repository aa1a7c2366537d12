"""Two views of one table: when a directed graph is tried, which view wins, and what people are told."""

import sys
import weakref
from dataclasses import replace
from itertools import combinations
from typing import Any, cast

import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph, Learned, read_result, simulate_random
from ibmap.criteria.directed import arc_odds, directed_score
from ibmap.criteria.left_out import directed_left_out
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine
from ibmap.engines.model import Model
from ibmap.errors import RequestError
from ibmap.learners import evidence_map, explain
from ibmap.learners.views import BEYOND, SIZES, Judge, all_gains, more_than_main_effects, predicted
from ibmap.report import write_report
from ibmap.results.directed import arcs_of
from ibmap.results.result_file import result_of_learned, result_text
from ibmap.search.best_dag import DagSearches
from tests.engines.partitioned import ENGINES, data_of


def common_children(n_rows: int = 1500, n: int = 4, seed: int = 0) -> Table:
    """Pairs of causes, each with a child that is one almost only if both are, and a child of that child."""
    rng, columns = np.random.default_rng(seed), {}
    for k in range(n):
        a, b = rng.random((2, n_rows)) < 0.4
        c = np.where(a & b, rng.random(n_rows) < 0.95, rng.random(n_rows) < 0.1)
        columns |= {f"a{k}": a, f"b{k}": b, f"c{k}": c, f"d{k}": c ^ (rng.random(n_rows) < 0.2)}
    return load({name: column.astype(int) for name, column in columns.items()})


DATA = common_children()


def test_the_directed_view_wins_where_causes_have_common_children() -> None:
    learned = evidence_map(DATA)
    assert learned.arcs is not None
    assert learned.view_scores is not None
    assert learned.view_scores["directed"] > learned.view_scores["undirected"]
    expected = [(f"{x}{k}", f"{y}{k}") for k in range(4) for x, y in ("ab", "ac", "bc", "cd")]
    assert sorted(learned.graph.edges) == sorted(expected)
    assert "predicts each value from the rest of its row better" in learned.view_in_words
    told = explain(DATA, learned, "a0", "b0")
    assert "Both are parents of c0." in told.words()
    assert "each row left out in turn" in told.details()


def test_no_directed_view_where_effects_add_up() -> None:
    world = simulate_random(30, 3, 1000, random_state=1)
    learned = evidence_map(load(world.data))
    assert learned.arcs is None
    assert learned.view_scores is None
    assert learned.view_in_words == ""


def test_a_view_can_be_told() -> None:
    world = simulate_random(15, 2, 500, random_state=1)
    data = load(world.data)
    directed, undirected = (evidence_map(data, view=view) for view in ("directed", "undirected"))
    assert directed.arcs is not None
    assert directed.view_scores is not None
    assert directed.view_scores["directed"] < directed.view_scores["undirected"]
    assert "worse" in directed.view_in_words
    assert undirected.view_scores is None
    assert evidence_map(DATA, view="undirected").arcs is None
    assert str(directed.provenance) == "evidence-map(view=directed)"
    with pytest.raises(RequestError, match="view must be 'undirected' or 'directed'"):
        evidence_map(data, view="both")


def test_constraints_and_priors_hold_in_the_directed_view(tmp_path: Any) -> None:
    prior = np.full((16, 16), np.nan)
    i, j = DATA.names.index("c1"), DATA.names.index("d1")
    prior[i, j] = prior[j, i] = np.nextafter(1.0, 0.0)
    told: Any = {"required": [("a0", "a1")], "forbidden": [("a2", "b2")], "prior": prior}
    learned = evidence_map(DATA, **told, view="directed")
    assert learned.graph.has_edge("a0", "a1")
    assert not learned.graph.has_edge("a2", "b2")
    weaker = explain(DATA, learned, "c1", "d1").log_odds
    assert weaker == pytest.approx(explain(DATA, evidence_map(DATA), "c1", "d1").log_odds - 34, abs=3)
    result = result_of_learned(learned, DATA)
    (tmp_path / "result.json").write_text(result_text(result), encoding="utf-8")
    again = read_result(tmp_path).learned
    assert again.view_scores == learned.view_scores
    assert again.arcs == learned.arcs
    assert explain(DATA, again, "a0", "a1").words() == explain(DATA, learned, "a0", "a1").words()
    write_report(result, tmp_path / "report.html")
    assert "each row left out in turn" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree(engine: Any) -> None:
    one, other = evidence_map(DATA), evidence_map(engine(DATA))
    assert one.arcs == other.arcs
    assert one.view_scores == pytest.approx(other.view_scores, rel=1e-9)


def test_the_score_of_a_directed_view_has_its_prior() -> None:
    learned = evidence_map(DATA)
    by: Any = learned.provenance.score
    odds = arc_odds(len(DATA.names), by.expected_neighbours, by.prior)
    score = directed_score(learned.arc_score, MemoryEngine(DATA), 1.0, odds)
    arcs = arcs_of(learned)
    assert learned.score == pytest.approx(score.total([np.flatnonzero(row) for row in arcs]), rel=1e-9)
    plain = directed_score(learned.arc_score, MemoryEngine(DATA), 1.0)
    assert score.row(2, np.array([0])) == pytest.approx(
        plain.row(2, np.array([0])) + odds[0, 0] * (np.arange(16) != 2)
    )


def test_the_prior_of_arcs_counts_once_in_the_choice_of_the_view() -> None:
    """Half of the leave-one-out pseudo-likelihood, and the log prior odds of every arc."""
    learned = evidence_map(DATA)
    assert learned.view_scores is not None
    by: Any = learned.provenance.score
    odds, arcs = arc_odds(len(DATA.names), by.expected_neighbours, by.prior), arcs_of(learned)
    fits = directed_left_out(MemoryEngine(DATA), arcs, 3.0).sum() / 2
    assert learned.view_scores["directed"] == pytest.approx(fits + (odds * arcs).sum(), rel=1e-9)


def beyond_main_effects(learned: Learned, engine: MemoryEngine) -> dict[int, float]:
    """By how much the evidence of full tables surpasses that of main effects, where they are small enough."""
    out, levels = {}, engine.schema.cardinalities
    for x in range(learned.graph.n_variables):
        blanket = learned.graph.neighbours(x)
        among, alone = (
            [
                2 * engine.rows(Model(family), [x], [given], floor=np.inf).value[0]
                for family in ("pairwise", "saturated")
            ]
            for given in (blanket, [])
        )
        if len(blanket) > 1 and np.prod([levels[v] for v in (x, *blanket)]) <= engine.schema.n_rows:
            out[x] = among[1] - alone[1] - (among[0] - alone[0])
    return out


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_what_counts_as_more_than_main_effects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = DATA.codes + (rng.random(DATA.codes.shape) < 0.1 * (seed // 2))
    data = data_of(codes, (codes.max(axis=1) + 1).tolist())
    engine, learned = MemoryEngine(data), evidence_map(data, view="undirected")
    by: Any = learned.provenance.score
    blankets = [learned.graph.neighbours(x) for x in range(16)]
    values = by.bind(engine, None).rows(np.arange(16), blankets, floor=np.inf).value
    mixed = more_than_main_effects(learned, engine, values)
    expected = [x for x, beyond in beyond_main_effects(learned, engine).items() if beyond > BEYOND]
    assert np.flatnonzero(mixed).tolist() == expected
    assert len(expected) >= 2
    assert (predicted(learned, engine) < 0).all()


def test_stopped_searches_compare_nothing() -> None:
    learned = EvidenceMAP(callback=lambda step: step.n >= 3).fit(DATA).learned_
    assert learned.view_scores is None


def test_steps_lead_to_the_graph() -> None:
    learned = evidence_map(DATA)
    assert {(step.x, step.y) for step in learned.history} == set(learned.arcs or ())
    assert learned.history[-1].score == pytest.approx(learned.score, rel=1e-12)
    assert learned.n_iter == len(learned.history)


def hub(n_rows: int, n_levels: int, seed: int = 0) -> Table:
    """A column of many levels with twelve children of two."""
    rng = np.random.default_rng(seed)
    column, shares = rng.integers(n_levels, size=n_rows), rng.random((12, n_levels))
    children = {f"c{k}": (rng.random(n_rows) < share[column]).astype(int) for k, share in enumerate(shares)}
    return load({"hub": column, **children})


def test_the_larger_of_two_scores_wins() -> None:
    """Tables of 40 levels cost BDeu much, qNML little: it finds the children of a hub."""
    learned = evidence_map(hub(1000, 40), view="directed")
    assert learned.arc_score == "qnml"
    assert len(learned.graph.neighbours(0)) >= 8


def test_many_levels_leave_out_the_undirected_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the undirected search has begun")

    monkeypatch.setattr(sys.modules["ibmap.learners.evidence_map"], "raise_score", never)
    monkeypatch.setattr(sys.modules["ibmap.learners.views"], "WORTH_IT", 0)
    names = hub(1000, 40).names
    free = evidence_map(hub(1000, 40))
    told = evidence_map(hub(1000, 40), required=[names[1:3]], forbidden=[names[:2]], expected_neighbours=2.0)
    for learned in (free, told):
        assert len(learned.graph.neighbours(0)) >= 8
        assert learned.view_scores is not None
        assert learned.view_scores["directed"] > learned.view_scores["undirected"]
        assert "predicts each value from the rest of its row better" in learned.view_in_words
        assert explain(hub(1000, 40), learned, *learned.graph.edges[-1]).words()
    assert told.graph.has_edge(*names[1:3])
    assert not told.graph.has_edge(*names[:2])
    assert told.provenance.score.expected_neighbours == 2.0  # type: ignore[union-attr]


@pytest.mark.parametrize(("n", "tau", "n_rows"), [(12, 1, 300), (100, 1, 600)])
def test_many_levels_without_direction_are_searched_as_ever(
    n: int, tau: int, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strong effects that add up, few rows: full tables look good on the few edges that they find."""
    data = simulate_random(n, tau, n_rows, levels=9, log_odds=4.0, random_state=1).to_table()
    learned = evidence_map(data)
    monkeypatch.setattr(sys.modules["ibmap.learners.evidence_map"], "directed_first", lambda *_: None)
    other = evidence_map(data)
    assert learned.arcs is None
    assert (learned.graph, learned.history) == (other.graph, other.history)


def test_all_gains_are_those_of_single_flips() -> None:
    data = hub(400, 10)
    learned = evidence_map(data, view="undirected", forbidden=[("hub", "c0")])
    some = replace(learned, graph=Graph(data.names, [("c0", "c1"), ("hub", "c2")]))
    engine, index = MemoryEngine(data), some.graph.index
    score = cast(Any, learned.provenance.score).bind(engine, None)
    rows = score.rows(np.arange(13), [some.graph.neighbours(x) for x in range(13)]).matrix(13)
    expected = 0.0
    for x, y in combinations(data.names, 2):
        gain = (rows[index(x), index(y)] + rows[index(y), index(x)]) / 2
        if {x, y} != {"hub", "c0"}:
            expected += max(-gain if some.graph.has_edge(x, y) else gain, 0.0)
    assert expected > 1
    assert all_gains(some, engine) == pytest.approx(expected, rel=1e-12)


def test_a_judge_takes_the_prior_counts_that_predict_best() -> None:
    data = hub(300, 40)
    engine, arcs = MemoryEngine(data), np.zeros((13, 13), bool)
    judge = Judge(engine, SIZES)
    for child in range(1, 13):  # families that have not changed are not counted again
        arcs = arcs.copy()
        arcs[child, 0] = True
        sums = [directed_left_out(engine, arcs, size).sum() for size in SIZES]
        assert judge(arcs) == pytest.approx(max(sums), rel=1e-12)
    assert np.argmax(sums) > 0


def test_posteriors_compare_with_the_best_graph_without_an_edge() -> None:
    """A near copy could stand in for a: neither is certain, and each names the other."""
    rng = np.random.default_rng(3)
    a, b = rng.random((2, 2000)) < 0.5
    near = a ^ (rng.random(2000) < 0.003)
    c = np.where(a & b, rng.random(2000) < 0.8, rng.random(2000) < 0.3)
    columns = {"a": a, "near": near, "b": b, "c": c, "d": c ^ (rng.random(2000) < 0.2)}
    learned = evidence_map(load({k: v.astype(int) for k, v in columns.items()}), view="directed")
    posterior = dict(zip(learned.graph.edges, learned.posteriors or (), strict=True))
    edge = ("a", "c") if ("a", "c") in posterior else ("near", "c")
    assert posterior["a", "near"] > 0.999
    assert posterior[edge] < 0.99
    rivals = {frozenset(rival[:2]) for rival in (learned.rivals or {})[edge]}
    assert frozenset({"a", "near", "c"} - {edge[0]}) in rivals


def test_a_search_for_directed_graphs_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps rows of evidence up to a quarter of a gigabyte, beyond what the garbage collector sees."""
    made, plain = [], DagSearches.__init__

    def noted(self: DagSearches, *arguments: Any) -> None:
        plain(self, *arguments)
        made.append(weakref.ref(self))

    monkeypatch.setattr(DagSearches, "__init__", noted)
    evidence_map(DATA, view="directed")
    assert made
    assert not [one for one in made if one() is not None]
