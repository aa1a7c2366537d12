"""DAG-HC: the moves of the slow twin, what was told beforehand, degenerate tables, what a result holds."""

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import DAGHC, Learned, load, read_result
from ibmap.criteria.directed import directed_score
from ibmap.engines import MemoryEngine
from ibmap.engines.rows import ManyVariables, Rows, rows_of_matrix
from ibmap.errors import RequestError
from ibmap.learners import dag_hc, explain
from ibmap.learners.dag_hc import climb_dags
from ibmap.results.provenance import Provenance
from ibmap.results.result_file import result_of_learned, result_text
from ibmap.search.dag import DagClimb, moral, oriented, pair_log_odds
from tests.engines.partitioned import HiddenEngine, data_of, with_wide_columns
from tests.reference import dag as twin
from tests.reference import directed
from tests.reference.tables import Codes, categorical_tables, random_table


def arcs_of(learned: Learned) -> twin.Dag:
    index = learned.graph.index
    assert learned.arcs is not None
    return frozenset((index(x), index(y)) for x, y in learned.arcs)


def told(n: int, seed: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Some pairs to require, and others to forbid."""
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(n), 2))
    kinds = rng.choice(3, size=len(pairs), p=[0.15, 0.15, 0.7])
    required, forbidden = ([p for p, k in zip(pairs, kinds, strict=True) if k == kind] for kind in (0, 1))
    return required, forbidden


@settings(max_examples=40)
@given(
    table=categorical_tables(max_rows=60, max_columns=5, max_levels=4, missing=True),
    tabu=st.sampled_from([0, 3, 10]),
    size=st.sampled_from([None, 1.0]),
    max_parents=st.sampled_from([None, 0, 1, 2]),
    seed=st.integers(0, 9),
    shakes=st.sampled_from([0, 2]),
)
def test_it_makes_the_moves_of_the_twin(
    table: Codes, tabu: int, size: float | None, max_parents: int | None, seed: int, shakes: int
) -> None:
    codes, cards = table
    n, data = len(cards), data_of(codes, cards)
    required, forbidden = told(n, seed) if seed % 2 else ([], [])
    matrices = [np.zeros((n, n), bool) for _ in range(2)]
    for matrix, pairs in zip(matrices, (required, forbidden), strict=True):
        for i, j in pairs:
            matrix[i, j] = matrix[j, i] = True
    options: dict[str, Any] = {"score": "bic"} if size is None else {"score": "bdeu"}
    for kind, pairs in (("required", required), ("forbidden", forbidden)):
        options[kind] = [(f"v{i}", f"v{j}") for i, j in pairs]
    most = n if max_parents is None else max_parents
    try:
        start = oriented(*matrices, most)
    except RequestError:
        with pytest.raises(RequestError, match="cannot be the arcs"):
            dag_hc(data, tabu=tabu, max_parents=max_parents, **options)
        return
    families = directed_score(options["score"], MemoryEngine(data))
    bounds = [(min(p), max(p)) for p in required], [(min(p), max(p)) for p in forbidden]
    learned = climb_dags(families, Provenance("dag-hc"), *bounds, most, tabu=tabu, shakes=shakes)
    rows = codes.shape[1]

    def lead(dag: twin.Dag, other: twin.Dag) -> float:
        both = [[twin.parents_of(one, x) for x in range(n)] for one in (dag, other)]
        return directed.lead(codes, cards, *both, size)

    best, history, gained = twin.climb(
        n,
        cache(lambda x, y, parents: directed.evidence(codes, cards, x, y, parents, size)),
        frozenset((int(y), int(x)) for x, y in np.argwhere(start)),
        {frozenset(pair) for pair in required},
        {frozenset(pair) for pair in forbidden},
        most,
        tabu,
        max(1e-9, 1e-12 * rows * np.log(max(rows, 1))),
        shakes,
        lead,
    )
    index = learned.graph.index
    assert [(index(s.x), index(s.y), s.added) for s in learned.history] == history
    assert arcs_of(learned) == best
    assert {frozenset(map(index, edge)) for edge in learned.graph.edges} == twin.moral(best)
    assert sum(step.gain for step in learned.history) == pytest.approx(gained, abs=1e-7)
    assert np.isfinite(learned.pair_scores).all()
    arcs = frozenset((int(y), int(x)) for x, y in np.argwhere(start))
    for step in learned.history:  # the score of a step is that of the structure after it
        arcs ^= {(index(step.x), index(step.y))}
        parents = [twin.parents_of(arcs, x) for x in range(n)]
        assert step.score == pytest.approx(directed.total(codes, cards, parents, size), abs=1e-7)
    assert arcs == best
    parents = [twin.parents_of(best, x) for x in range(n)]
    assert learned.score == pytest.approx(directed.total(codes, cards, parents, size), abs=1e-7)


@settings(max_examples=60)
@given(n=st.integers(1, 6), seed=st.integers(0, 999), most=st.integers(0, 6))
def test_required_edges_are_oriented_if_they_can_be(n: int, seed: int, most: int) -> None:
    required, forbidden = (np.zeros((n, n), bool) for _ in range(2))
    rng = np.random.default_rng(seed)
    for i, j in combinations(range(n), 2):
        kind = rng.choice(3)
        for matrix in (required, forbidden)[kind : kind + 1]:
            matrix[i, j] = matrix[j, i] = True

    def fits(arcs: np.ndarray) -> bool:
        return bool(arcs.sum(axis=1).max() <= most and not (moral(arcs) & forbidden).any())

    def any_order(rest: list[int]) -> bool:
        """Whether some order of the variables will do: by trial of all."""
        if not rest:
            return True
        for x in rest:
            mine = np.zeros((n, n), bool)
            mine[x, [y for y in rest if required[x, y]]] = True
            if fits(mine) and any_order([y for y in rest if y != x]):
                return True
        return False

    try:
        arcs = oriented(required, forbidden, most)
    except RequestError:
        assert not any_order(list(range(n)))
        return
    assert fits(arcs)
    assert np.array_equal(arcs | arcs.T, required)
    assert not twin.has_cycle(frozenset((int(y), int(x)) for x, y in np.argwhere(arcs)), n)


def test_a_cycle_of_four_without_chords_is_refused() -> None:
    table = load(random_table(100, 4, 2, 0.0, seed=0)[0].T)
    a, b, c, d = table.names
    with pytest.raises(RequestError, match="the required edges cannot be the arcs"):
        dag_hc(table, required=[(a, b), (b, c), (c, d), (d, a)], forbidden=[(a, c), (b, d)])
    with pytest.raises(RequestError, match="both required and forbidden"):
        dag_hc(table, required=[(a, b)], forbidden=[(b, a)])


def collider(rows: int = 2000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, rows))
    return {"a": a, "b": b, "c": (a & b) ^ (rng.random(rows) < 0.05), "d": rng.integers(2, size=rows)}


def test_parents_of_a_common_child_are_married() -> None:
    net = DAGHC().fit(collider())
    assert net.dag_ == (("a", "c"), ("b", "c"))
    assert net.graph_.edges == (("a", "b"), ("a", "c"), ("b", "c"))
    posterior = {(x, y): p for x, y, p, *_ in net.edges_.rows()}
    assert posterior["a", "b"] > 0.99
    assert posterior["a", "d"] < 0.2


def test_a_forbidden_marriage_costs_an_arc() -> None:
    net = DAGHC(forbidden=[("a", "b")]).fit(collider())
    assert not net.graph_.has_edge("a", "b")
    assert net.graph_.n_edges == 2  # a - c - b, not as a collider
    assert all(child != "c" for _, child in net.dag_) or len({c for _, c in net.dag_}) == 2


def test_an_edge_that_is_required_is_an_arc() -> None:
    net = DAGHC(required=[("a", "d")]).fit(collider())
    assert {"a", "d"} in map(set, net.dag_)
    assert net.learned_.required == (("a", "d"),)


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
@pytest.mark.parametrize("tabu", [0, 20])
def test_degenerate_tables_have_an_answer(score: str, tabu: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 80))
    tables: dict[str, tuple[list[Any], int]] = {
        "one row": ([[0], [0], [0]], 0),
        "duplicates": ([a, a, a], 3),  # learned as one
        "determined": ([a, b, 3 * a + b], 2),  # a ← c → b
        "constants": ([a, np.zeros(80, int), np.zeros(80, int), b], 0),
    }
    for columns, n_edges in tables.values():
        codes = np.array(columns)
        learned = dag_hc(data_of(codes, (codes.max(axis=1) + 1).tolist()), score=score, tabu=tabu)
        assert np.isfinite(learned.pair_scores).all()
        assert learned.graph.n_edges == n_edges or (score == "bdeu" and n_edges == 2)  # it likes copies
    nobody = dag_hc(data_of(np.zeros((0, 5), int), []), score=score)
    assert nobody.graph.n_edges == 0
    assert nobody.score == 0.0
    unknown = np.full((3, 40), -1)
    unknown[:, 0] = 0
    assert dag_hc(data_of(unknown, [1, 2, 2]), score=score, tabu=tabu).graph.n_edges == 0


def test_tabu_finds_better_optima_and_keeps_the_best() -> None:
    data = data_of(*random_table(300, 12, 3, 0.0, seed=5))
    plain, longer = (dag_hc(data, tabu=tabu) for tabu in (0, 30))
    assert plain.score is not None
    assert longer.score is not None
    assert longer.score >= plain.score
    assert all(step.gain > 0 for step in plain.history)
    assert longer.history[-1].score == longer.score == max(step.score for step in longer.history)


def test_shakes_find_better_optima() -> None:
    data = data_of(*random_table(300, 12, 3, 0.0, seed=5))
    plain, shaken = (dag_hc(data, shakes=shakes) for shakes in (0, 3))
    assert shaken.learner == "dag-hc(shakes=3)"
    assert plain.score is not None
    assert shaken.score is not None
    assert shaken.score >= plain.score
    assert shaken.history[: len(plain.history)] == plain.history
    assert shaken.history[-1].score == pytest.approx(shaken.score)


def test_a_callback_hears_of_every_arc_and_may_end_it() -> None:
    table, heard = load(collider()), []
    learned = dag_hc(table, callback=heard.append, tabu=3)
    assert tuple(heard[: len(learned.history)]) == learned.history
    assert len(heard) > len(learned.history)
    stopped = dag_hc(table, callback=lambda step: step.n == 1)
    assert stopped.graph.n_edges == 1


def test_rows_that_come_back_are_not_asked_for_again_and_may_be_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = data_of(*random_table(200, 6, 3, 0.0, seed=2))
    learned = dag_hc(data, tabu=50)
    monkeypatch.setattr("ibmap.search.dag.CACHED", 0)
    again = dag_hc(data, tabu=50)
    assert again.graph == learned.graph
    assert again.history == learned.history
    assert again.n_tests > learned.n_tests


def test_wide_columns_and_hidden_rows() -> None:
    data = data_of(*with_wide_columns(random_table(300, 4, 3, 0.0, seed=4), 40))
    here, there = dag_hc(data), dag_hc(HiddenEngine(data))
    assert here.arcs == there.arcs
    assert here.n_tests == there.n_tests


def test_the_log_odds_of_a_pair_are_what_its_arcs_are_worth() -> None:
    arcs = np.zeros((4, 4), bool)
    arcs[2, [0, 1]] = arcs[3, 2] = True  # 0 → 2 ← 1, 2 → 3
    ancestors = arcs | (arcs @ arcs)
    t = np.arange(16.0).reshape(4, 4)
    odds = pair_log_odds(t, arcs, ancestors)
    assert np.array_equal(odds, odds.T)
    assert odds[0, 2] == t[2, 0]
    assert odds[0, 1] == min(t[2, 0], t[2, 1])
    assert odds[0, 3] == t[3, 0]  # 3 → 0 would close a cycle


def test_the_climb_needs_no_statistics() -> None:
    class Toy:
        """Every variable likes the next one as a parent, with a worth that no other parent changes."""

        n, tolerance, adds_up = 4, 1e-9, True

        def lead(self, xs: Any, parents: Any, others: Any) -> float:
            raise AssertionError("gains add up")

        def rows(self, xs: Any, parents: ManyVariables) -> Rows:
            t = [np.where(np.arange(4) == (x + 1) % 4, 4.0 - x, -1.0) for x in xs]
            return rows_of_matrix(np.array(t), np.zeros(len(xs)), xs, parents)

    none = np.zeros((4, 4), bool)
    climb = DagClimb(Toy(), none, none, none, 4, 0)
    while climb.advance():
        pass
    assert np.argwhere(climb.arcs).tolist() == [[0, 1], [1, 2], [2, 3]]  # 0 → 3 would close the cycle


def test_results_keep_the_directed_graph(tmp_path: Any) -> None:
    data = load(collider())
    learned = dag_hc(data, score="bdeu", equivalent_sample_size=2.0)
    assert learned.learner == "dag-hc(score=bdeu, equivalent_sample_size=2.0)"
    file = tmp_path / "result.json"
    file.write_text(result_text(result_of_learned(learned, data)))
    back = read_result(file).learned
    assert back.arcs == learned.arcs
    assert back.graph == learned.graph
    assert learned.to_dict()["arcs"] == [["a", "c"], ["b", "c"]]


def test_an_explanation_names_arcs_and_common_children() -> None:
    data = load(collider())
    learned = dag_hc(data)
    table = {(x, y): (one + other) / 2 for x, y, one, other in learned.edge_table.first()}
    for pair, words in (
        ("ab", "Both are parents of c."),
        ("ac", "a is a parent of c."),
        ("ad", "Neither is a parent of the other, and they have no child."),
    ):
        why = explain(data, learned, *pair)
        assert words in why.words()
        assert why.log_posterior == pytest.approx(table[pair[0], pair[1]])
        assert why.gain_of_flip is not None
        assert why.gain_of_flip < 0
    assert "b is independent of a (no other parents)" in explain(data, learned, "a", "b").details()
    assert "a is dependent on b given c" in explain(data, learned, "a", "b", test="bayesian").words()


def test_an_explanation_adds_an_arc_where_it_makes_no_cycle() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=500)
    b = a ^ (rng.random(500) < 0.2)
    data = load({"a": a, "b": b, "c": b ^ (rng.random(500) < 0.2)})
    learned = dag_hc(data)
    assert learned.graph.edges == (("a", "b"), ("b", "c"))
    assert learned.pair_scores is not None
    gain = explain(data, learned, "a", "c").gain_of_flip
    assert -np.logaddexp(0.0, gain) == pytest.approx(learned.pair_scores[0, 2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tabu": -1}, "tabu must be 0 or more"),
        ({"tabu": None}, "tabu must be 0 or more"),
        ({"tabu": True}, "tabu must be"),
        ({"shakes": -1}, "shakes must be 0 or more"),
        ({"max_parents": 1.5}, "max_parents must be 0 or more, a whole number"),
        ({"criterion": "ib"}, "score must be 'bic', 'bdeu' or 'qnml'"),
        ({"equivalent_sample_size": 3}, "belongs to the score 'bdeu'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"required": [("a", "a")]}, "two different variables"),
    ],
)
def test_senseless_requests(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        DAGHC(**options).fit(collider(20))
