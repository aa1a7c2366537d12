"""The state of the climb, whole or listed above a floor, against a matrix and a look at all pairs."""

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.engines.rows import credibility, rows_of_matrix
from tests.reference.search import least_credible_pair


class Made:
    """A state, and beside it all that it should know: evidence is random, and ties often."""

    def __init__(self, seed: int, n: int, whole: bool, floor: float) -> None:
        self.rng, self.n, self.state = np.random.default_rng(seed), n, _core.Climb(n, whole, floor)
        self.evidence, self.values = np.empty((n, n)), np.empty(n)
        self.edges, self.closed = set[Any](), set[Any]()
        self.locked = {pair for pair in combinations(range(n), 2) if self.rng.random() < 0.1}
        for pair in self.locked:
            self.state.lock(*pair)
        self.put(range(n))

    def blanket(self, x: int) -> Any:
        return np.array(sorted(sum(pair) - x for pair in self.edges if x in pair), np.int64)

    @property
    def sigma(self) -> Any:
        return credibility(self.evidence, range(self.n), [self.blanket(x) for x in range(self.n)])

    def put(self, xs: Any) -> None:
        """Let some rows have other evidence."""
        xs = np.array(xs, np.int64)
        self.evidence[xs] = np.round(self.rng.normal(-1, 3, (len(xs), self.n)), 1)
        self.evidence[xs, xs] = 0.0
        self.values[xs] = self.rng.normal(size=len(xs))
        self.tell(xs)

    def tell(self, xs: Any) -> None:
        """Let the state know rows as they stand."""
        state, blankets = self.state, [self.blanket(x) for x in xs]
        start, listed = state.listed(xs)
        also = [listed[a:b] for a, b in pairwise(start)]
        found = rows_of_matrix(self.evidence[xs], self.values[xs], xs, blankets, floor=state.floor, also=also)
        state.put(xs, *found)

    def step(self) -> None:
        x, y = (int(v) for v in sorted(self.rng.choice(self.n, 2, replace=False)))
        kind = self.rng.integers(4)
        if kind == 0:
            self.state.close(x, y)
            self.closed.add((x, y))
        elif kind == 1:
            self.state.open_all()
            self.closed = set()
        else:
            self.state.toggle(x, y)
            self.edges ^= {(x, y)}
            self.put([x, y])

    def check(self) -> None:
        state, sigma = self.state, self.sigma
        while len(unknown := state.unknown()):
            self.tell(unknown)
        free = sorted(set(combinations(range(self.n), 2)) - self.locked - self.closed)
        expected = least_credible_pair(sigma, free) if free else None
        if state.lists_enough():
            assert state.least_credible() == expected
        elif expected:
            assert sigma[expected] + sigma[expected[::-1]] >= -2 * np.logaddexp(0, state.floor) - 1e-6
        assert [tuple(pair) for pair in state.edges().tolist()] == sorted(self.edges)
        assert state.total() == pytest.approx(self.values.sum())
        for x, y in [self.rng.permutation(self.n)[:2].tolist() for _ in range(5)]:
            assert state.find(x, y) == pytest.approx(sigma[x, y], rel=1e-12) or np.isnan(state.find(x, y))
            assert state.is_edge(x, y) == ((min(x, y), max(x, y)) in self.edges)
            assert state.value(x) == self.values[x]
        if state.is_whole:
            assert state.matrix() == pytest.approx(sigma, rel=1e-12)
        else:
            self.check_near_misses(sigma)

    def check_near_misses(self, sigma: Any) -> None:
        found = [tuple(pair) for pair in self.state.near_misses(5).tolist()]
        assert not self.edges.intersection(found)
        known = {pair: self.state.find(*pair) + self.state.find(*pair[::-1]) for pair in found}
        if not np.isnan(list(known.values())).any():
            assert list(known) == sorted(known, key=lambda pair: (known[pair], pair))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 9),
    kept=st.sampled_from([(True, -np.inf), (False, -np.inf), (False, -2.0), (False, 0.0), (False, 3.0)]),
)
def test_the_least_credible_pair_is_that_of_all_pairs(seed: int, n: int, kept: Any) -> None:
    made = Made(seed, n, *kept)
    for _ in range(25):
        made.check()
        made.step()
    made.check()


def test_more_variables_than_a_tile() -> None:
    made = Made(0, 150, True, -np.inf)
    for _ in range(3):
        made.check()
        made.step()


def test_a_matrix_that_somebody_else_has_filled() -> None:
    state = _core.Climb(3, True, -np.inf)
    state.matrix()[:] = [[0, -1, -2], [-1, 0, -3], [-2, -3, 0]]
    state.begin(np.array([-3.0, -4.0, -5.0]))
    assert (state.least_credible(), state.total()) == ((1, 2), -12.0)
    matrix = state.matrix()
    del state
    assert matrix[0, 1] == -1.0  # it lives as long as somebody looks at it


def test_hardly_any_variables() -> None:
    for n in (0, 1):
        for whole in (True, False):
            state = _core.Climb(n, whole, -np.inf)
            assert state.least_credible() is None
            assert (state.total(), len(state.edges()), len(state.unknown())) == (0.0, 0, 0)


ROW = (np.array([0]), np.array([0, 2]), np.array([1, 2], np.int32), np.zeros(2), np.zeros(1), np.zeros(1))


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("toggle", (0, 3)),
        ("lock", (-1, 0)),
        ("close", (1, 1)),
        ("find", (0, 9)),
        ("is_edge", (5, 0)),
        ("value", (3,)),
        ("blankets", (np.array([3]),)),
        ("listed", (np.array([-1]),)),
        ("begin", (np.zeros(2),)),
        ("put", (np.array([3]), *ROW[1:])),
        ("put", (ROW[0], np.array([0, 3]), *ROW[2:])),
        ("put", (ROW[0], np.array([0, 1]), np.array([1], np.int32), np.zeros(1), *ROW[4:])),
        ("put", (*ROW[:2], np.array([2, 1], np.int32), *ROW[3:])),
        ("put", (*ROW[:2], np.array([0, 1], np.int32), *ROW[3:])),
        ("put", (*ROW[:2], np.array([1, 3], np.int32), *ROW[3:])),
        ("put", (*ROW[:5], np.zeros(2))),
    ],
)
def test_what_leads_out_of_bounds_is_refused(method: str, arguments: Any) -> None:
    state = _core.Climb(3, True, -np.inf)
    state.put(*ROW)
    with pytest.raises(ValueError, match=r"variable|value"):
        getattr(state, method)(*arguments)


def test_there_is_no_matrix_of_lists() -> None:
    with pytest.raises(ValueError, match="no matrix"):
        _core.Climb(3, False, 0.0).matrix()
    with pytest.raises(ValueError, match="range"):
        _core.Climb(-1, True, 0.0)
