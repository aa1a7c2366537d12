"""Averages over graphs: those of an enumeration, only where the posterior is flat, the same in any order."""

from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ibmap import simulate_random
from ibmap.criteria import AdaptiveScore, SaturatedScore
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.learners import evidence_map
from ibmap.search import Climb, Swaps, averaging
from ibmap.search.averaging import sampled, tournament
from ibmap.search.gains import whole_evidence
from tests.learners.test_orders import assert_same, shuffled


def coupled(n: int, rows: int, seed: int = 0) -> Table:
    """Fair coins, each of eight neighbours: any handful tells the majority of a row."""
    world = simulate_random(n, 8, rows, potentials="symmetric", random_state=seed)
    return load(world.data)


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_samples_have_the_posteriors_of_all_graphs(monkeypatch: pytest.MonkeyPatch, shift: float) -> None:
    """With more prior odds of an edge, too, than the score has."""
    rng = np.random.default_rng(1)
    a = rng.integers(2, size=40)
    columns = [np.where(rng.random(40) < 0.45, a, rng.integers(2, size=40)) for _ in range(4)]
    score = AdaptiveScore(expected_neighbours=1.5).bind(MemoryEngine(load(np.array(columns).T)), None)
    search: Any = Swaps().begin(score)
    while not search.finished:
        search.advance(100)
    pairs, weights, shares = list(combinations(range(4), 2)), 0.0, np.zeros((4, 4))
    for chosen in range(1 << len(pairs)):
        edges = np.zeros((4, 4), bool)
        for k, (x, y) in enumerate(pairs):
            edges[x, y] = edges[y, x] = bool(chosen >> k & 1)
        weight = np.exp(sum(score.value(x, np.flatnonzero(edges[x])) for x in range(4)) + 100)
        weight *= np.exp(shift * edges.sum() / 2)
        weights, shares = weights + weight, shares + weight * edges
    monkeypatch.setattr(averaging, "KEPT", 3000)
    evidence = whole_evidence(search.state)
    assert evidence is not None
    before = search.n_tests
    found = sampled(search, evidence + shift, shift, np.zeros((4, 4), bool))
    assert found == pytest.approx(shares / weights, abs=0.03)
    assert search.n_tests > before
    assert (search.n_tests - before) % 3 == 0


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_in_a_tournament_all_pairs_meet_once(n: int) -> None:
    met = [frozenset(pair) for x, y in tournament(n) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    assert sorted(map(sorted, met)) == sorted(map(list, combinations(range(n), 2)))
    for x, y in tournament(n):
        assert len({*x.tolist(), *y.tolist()}) == 2 * len(x)


def test_where_many_graphs_are_as_good_the_best_directed_one_is_not_shown() -> None:
    world = simulate_random(75, 6, 100, potentials="symmetric", random_state=9401)
    table = world.to_table()
    learned = evidence_map(table)
    worth = learned.view_scores or {}
    assert worth["directed"] > worth["undirected"]
    assert learned.arcs is None
    assert evidence_map(table, view="directed").arcs is not None
    assert evidence_map(table, view="undirected").graph == learned.graph
    assert (learned.graph.adjacency != world.graph.adjacency).sum() / 2 < 1.01 * world.graph.n_edges


def test_strongly_coupled_variables_have_modest_posteriors(monkeypatch: pytest.MonkeyPatch) -> None:
    averages = []
    monkeypatch.setattr(averaging, "sampled", lambda *given: averages.append(sampled(*given)) or averages[-1])
    data = coupled(60, 300)
    learned = evidence_map(data)
    assert len(averages) == 1
    assert learned.graph.n_edges == int((averages[0] > 0.5).sum()) // 2
    posteriors = learned.posteriors or []
    assert all(p > 0.5 for p in posteriors)
    assert learned.pair_scores is not None
    assert np.array_equal(learned.pair_scores, learned.pair_scores.T)
    other, names = shuffled(data, 1)
    assert_same(learned, evidence_map(other), names)


def test_constraints_hold() -> None:
    data = coupled(60, 300)
    found = evidence_map(data).graph.edges[0]
    absent = next(
        pair for pair in combinations(data.names, 2) if not evidence_map(data).graph.has_edge(*pair)
    )
    learned = evidence_map(data, required=[absent], forbidden=[found])
    assert learned.graph.has_edge(*absent)
    assert not learned.graph.has_edge(*found)


@pytest.mark.parametrize("score", ["adaptive", "pairwise", "saturated", "mixed", "gaussian"])
@pytest.mark.parametrize("search", ["swaps", "rounds", "steepest"])
def test_posteriors_are_averaged_everywhere_where_that_is_wanted(
    score: str, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    averages = []
    monkeypatch.setattr(averaging, "sampled", lambda *given: averages.append(sampled(*given)) or averages[-1])
    world = simulate_random(8, 2, 600, potentials="symmetric", log_odds=3.0, random_state=1)
    noise = np.random.default_rng(0).normal(0, 0.3, world.data.shape)
    data = load(world.data + noise, continuous="all") if score == "gaussian" else load(world.data)
    learned = evidence_map(data, score=score, search=search, posterior="averaged")
    assert len(averages) == 1
    assert learned.graph.n_edges == int((averages[0] > 0.5).sum()) // 2 > 1
    assert learned.provenance.options["posterior"] == "averaged"
    assert learned.view_scores is None
    likely = averages[0][np.triu(averages[0] > 0.5)]
    assert sorted(learned.posteriors or []) == pytest.approx(np.sort(likely))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"posterior": "mean"}, "posterior must be 'averaged', not 'mean'"),
        ({"view": "directed"}, "leave out view='directed'"),
        ({"search": "climb"}, "search='swaps', 'rounds' or 'steepest'"),
        ({"score": SaturatedScore(), "search": Climb()}, "search='swaps', 'rounds' or 'steepest'"),
    ],
)
def test_what_has_no_averages_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        evidence_map(coupled(10, 50), **{"posterior": "averaged", **options})


def test_averages_of_very_many_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("ibmap.search.climb"), "MATRIX", 9)
    with pytest.raises(RequestError, match=r"too large for 10 variables \(up to 9\)"):
        evidence_map(coupled(10, 50), posterior="averaged")


def test_elsewhere_nothing_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(averaging, "sampled", never)
    for potentials, tau in (("random", 2), ("symmetric", 3)):
        world = simulate_random(40, tau, 500, potentials=potentials, random_state=1)
        evidence_map(load(world.data))
