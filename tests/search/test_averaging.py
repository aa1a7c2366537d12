"""When the best graph gives way to a mean over graphs: at which numbers, and by which meetings of pairs."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ibmap.criteria.families import PriorScore, log_prior_odds
from ibmap.search import averaging
from ibmap.search.averaging import averaged_posteriors, tournament
from ibmap.search.rivals import Rivals

N = 8
PAIRS = np.array(list(combinations(range(N), 2))[:12])


def judged(
    monkeypatch: pytest.MonkeyPatch,
    t: tuple[float, float] = (3.0, 3.0),
    over_rivals: float = 1.0,
    sampled: float = 0.5,
    n_edges: int = 12,
    neighbours: float = 2.0,
) -> Any:
    """What comes of edges that say t at their ends, and of these over rivals, and of sampled graphs."""
    evidence, pairs = np.full((N, N), 50.0), PAIRS[:n_edges]
    evidence[pairs[:, 0], pairs[:, 1]], evidence[pairs[:, 1], pairs[:, 0]] = t
    native = SimpleNamespace(floor=-np.inf, matrix=lambda: evidence)
    score = PriorScore(N, neighbours, None)
    state = SimpleNamespace(native=native, evidence=lambda x, y: evidence[x, y])
    search: Any = SimpleNamespace(state=state, pairs=pairs, score=score)
    asked = []

    def drawn(_: object, given: np.ndarray, shift: float, locked: np.ndarray) -> np.ndarray:
        asked.append((given[0, 1], shift))
        out = np.full((N, N), 0.9)
        out[pairs[:, 0], pairs[:, 1]] = out[pairs[:, 1], pairs[:, 0]] = sampled
        return out

    monkeypatch.setattr(averaging, "sampled", drawn)
    log_odds = np.full((n_edges, 2), over_rivals)
    found = averaged_posteriors(search, Rivals(log_odds, log_odds, log_odds), np.zeros((N, N), bool))
    return found, asked


def test_graphs_are_sampled_where_rivals_take_enough_away_and_leave_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert judged(monkeypatch)[1]
    assert judged(monkeypatch, t=(1.0, 2.8))[1], "rivals take .9 in the mean of both ends"
    assert not judged(monkeypatch, t=(1.0, 2.6))[1], "they take .8"
    assert judged(monkeypatch, over_rivals=1.38, t=(9.0, 9.0))[1], "a posterior of .799"
    assert not judged(monkeypatch, over_rivals=1.39, t=(9.0, 9.0))[1], "a posterior of .8006"
    assert judged(monkeypatch, t=(90.0, 90.0), over_rivals=1.0)[1]
    assert not judged(monkeypatch, t=(90.0, 90.0), over_rivals=9.5)[1], "log odds of 10 count as no more"
    assert judged(monkeypatch, n_edges=10)[1]
    assert not judged(monkeypatch, n_edges=9)[1], "so few edges are not doubted as a whole"


def test_the_mean_over_graphs_is_taken_where_it_doubts_the_best_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = judged(monkeypatch, sampled=0.61)
    assert (found[PAIRS[:, 0], PAIRS[:, 1]] == 0.61).all()
    assert judged(monkeypatch, sampled=0.63)[0] is None


@pytest.mark.parametrize("neighbours", [2.0, 3.0, 8.0])
def test_no_more_than_eight_neighbours_are_expected(
    monkeypatch: pytest.MonkeyPatch, neighbours: float
) -> None:
    (_, [(evidence, shift)]) = judged(monkeypatch, neighbours=neighbours)
    assert (evidence, shift) == (3.0, 0.0)
    monkeypatch.setattr(averaging, "NEIGHBOURS", 1.0)
    (_, [(evidence, shift)]) = judged(monkeypatch, neighbours=neighbours)
    less = (log_prior_odds(N, 1.0) - log_prior_odds(N, neighbours))[0, 0]
    assert shift == pytest.approx(less)
    assert evidence == pytest.approx(3.0 + less)


@pytest.mark.parametrize("n", range(2, 12))
def test_in_a_tournament_each_pair_meets_once_and_nobody_twice_in_a_round(n: int) -> None:
    rounds = [np.stack(pairs, axis=1) for pairs in tournament(n)]
    assert all(len(np.unique(pairs)) == pairs.size == 2 * (n // 2) for pairs in rounds)
    met = sorted(tuple(sorted(pair)) for pairs in rounds for pair in pairs.tolist())
    assert met == list(combinations(range(n), 2))
