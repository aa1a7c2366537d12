"""Searches for directed graphs that share rows: orders of families, walks, graphs without an edge."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.criteria.directed import arc_odds, directed_score
from ibmap.engines import MemoryEngine
from ibmap.search.best_dag import DagSearches, as_matrix, searched_log_odds
from ibmap.search.dag import moral
from tests.core.interrupting import interrupted
from tests.engines.partitioned import data_of
from tests.reference import dag as twin
from tests.reference.tables import random_table

Family = tuple[int, tuple[int, ...]]
TOLERANCE = 1e-9


class Scores:
    """Random scores of all families, and the rows that follow from them; who asked is noted by the book."""

    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.noted = n, dict[Family, float]()
        self.value = {
            (x, parents): float(rng.normal(0, 3) - 2 * k)
            for x in range(n)
            for k in range(n)
            for parents in combinations([y for y in range(n) if y != x], k)
        }

    def row(self, x: int, parents: Any) -> tuple[np.ndarray, float]:
        mine = tuple(int(p) for p in parents)
        here, t = self.value[x, mine], np.zeros(self.n)
        for y in set(range(self.n)) - {x}:
            other = self.value[x, tuple(sorted({*mine} ^ {y}))]
            t[y] = here - other if y in mine else other - here
        if all(t[p] >= 0 for p in mine):
            self.noted[x, mine] = here
        for y in set(range(self.n)) - {x, *mine}:
            if t[y] > TOLERANCE:
                self.noted[x, tuple(sorted({*mine, y}))] = here + t[y]
        return t, here

    def total(self, arcs: list[tuple[int, int]]) -> float:
        return sum(self.value[x, tuple(sorted(y for c, y in arcs if c == x))] for x in range(self.n))

    def search(self, seed: int = 0) -> Any:
        rows = [self.row(x, ()) for x in range(self.n)]
        none = np.zeros((self.n, self.n), bool)
        t, value = np.array([t for t, _ in rows]), np.array([value for _, value in rows])
        return _core.DagSearch(none, none, self.n, TOLERANCE, 1 << 20, t, value, self.row, seed)


def best_by_orders(scores: Scores) -> float:
    """All orders: the best of the noted families of each variable, its parents before it."""
    return max(
        sum(
            max(v for (child, mine), v in scores.noted.items() if child == x and {*mine} <= {*order[:k]})
            for k, x in enumerate(order)
        )
        for order in permutations(range(scores.n))
    )


def as_dag(arcs: list[tuple[int, int]]) -> twin.Dag:
    return frozenset((y, x) for x, y in arcs)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_orders_find_the_best_graph_of_the_families_that_were_noted(n: int, seed: int) -> None:
    scores = Scores(n, seed)
    search = scores.search(seed)
    search.climb(10)
    search.shake(list(range(n)), 10)
    start = search.arcs()
    for x in range(n):
        mine = tuple(sorted(y for child, y in start if child == x))
        scores.noted[x, mine] = scores.value[x, mine]
    before = scores.total(start)
    score, arcs = search.by_orders([start], 100, 3)
    assert score == pytest.approx(scores.total(arcs), abs=1e-9)
    assert score == pytest.approx(best_by_orders(scores), abs=1e-9)
    assert score >= before - 1e-9
    assert not twin.has_cycle(as_dag(arcs), n)
    assert search.score == score


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_a_climb_is_that_of_the_twin(n: int, seed: int) -> None:
    scores = Scores(n, seed)

    def gain(x: int, y: int, mine: tuple[int, ...]) -> float:
        return float(scores.row(x, mine)[0][y])

    search = scores.search()
    search.climb(5)

    def lead(one: twin.Dag, other: twin.Dag) -> float:
        return scores.total([arc[::-1] for arc in one]) - scores.total([arc[::-1] for arc in other])

    found = twin.climb(n, gain, frozenset(), set(), set(), n, 5, TOLERANCE, 0, lead)
    assert as_dag(search.arcs()) == found[0]
    assert search.score == pytest.approx(scores.total(search.arcs()), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_what_is_tried_leaves_no_trace(n: int, seed: int) -> None:
    scores = Scores(n, seed)
    search = scores.search()
    search.climb(10)
    arcs, before = search.arcs(), search.score
    for x, y in permutations(range(n), 2):
        for what, tried in (("without", search.without(x, y)), ("with", search.with_arc(x, y))):
            changed, climbed, found = tried
            assert search.arcs() == arcs
            assert search.score == before
            if changed == -np.inf:
                continue
            assert climbed >= changed - 1e-9
            if climbed <= 1e-6:  # only what is new is told
                touched = {child for child, _ in found}
                lost = {x, y} | {child for child, parent in arcs if parent in (x, y)}
                found = [arc for arc in arcs if arc[0] not in touched and arc[0] not in lost] + found
                assert not twin.has_cycle(as_dag(found), n)
                assert frozenset((x, y)) not in twin.moral(as_dag(found)) or what == "with"
                continue
            assert scores.total(found) == pytest.approx(before + climbed, abs=1e-7)
            assert (frozenset((x, y)) in twin.moral(as_dag(found))) == (what == "with")
            assert not twin.has_cycle(as_dag(found), n)


@pytest.mark.parametrize("name", ["bdeu", "qnml"])
def test_walks_keep_the_score_and_searches_the_constraints(name: str) -> None:
    codes, cards = random_table(400, 12, 3, 0.0, seed=5)
    rng = np.random.default_rng(0)
    for x in range(1, 12):
        codes[x] = np.where(rng.random(400) < 0.6, codes[x // 2] % cards[x], codes[x])
    score = directed_score(name, MemoryEngine(data_of(codes, cards)), 1.0, arc_odds(12, 3.0))
    none, forbidden = np.zeros((12, 12), bool), np.zeros((12, 12), bool)
    forbidden[0, 1] = forbidden[1, 0] = True
    searches = DagSearches(score, none, forbidden)
    searches.pilot()
    first = searches.score
    searches.finish()
    assert searches.score >= first - 1e-9
    assert not moral(searches.matrix)[0, 1]
    odds, rivals = searched_log_odds(searches)
    edges = moral(searches.matrix)
    assert (odds[edges] >= -1e-6).all()
    assert {(i, j) for i, j in np.argwhere(np.triu(edges)).tolist()} == set(rivals)
    native = searches.native
    native.load(searches.arcs)
    for _ in range(5):
        native.walk(10)
        assert native.score == pytest.approx(searches.score, rel=1e-12)
        assert (moral(as_matrix(native.arcs(), 12)) == edges).all()
    total = score.total([np.flatnonzero(row) for row in searches.matrix])
    assert searches.score == pytest.approx(total, rel=1e-12)


def test_what_makes_no_sense_is_refused() -> None:
    search = Scores(3, 0).search()
    for call in (
        lambda: search.load([(0, 3)]),
        lambda: search.load([(0, 1), (1, 0)]),
        lambda: search.rank([0, 0, 1]),
        lambda: search.rank([0, 1]),
        lambda: search.shake([3], 1),
        lambda: search.without(1, 1),
        lambda: search.with_arc(0, -1),
        lambda: search.by_orders([], 1, 1),
    ):
        with pytest.raises(ValueError, match=r"no such|not a permutation|a rank|two variables|begin with"):
            call()


def test_ctrl_c_is_answered() -> None:
    scores = Scores(7, 1)
    search = scores.search()
    search.climb(10)
    arcs = search.arcs()
    interrupted(lambda: search.by_orders([arcs], 2**31 - 1, 3))
