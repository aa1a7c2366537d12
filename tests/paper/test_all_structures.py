"""The landscape: the fast score of all structures is the score."""

import numpy as np
import pytest

from ibmap.criteria.ib import BoundIBScore
from ibmap.data import Table
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.independence import BayesianTest
from ibmap.paper import all_structures
from ibmap.paper.fits import RANDOM, random_world
from ibmap.search import Climb
from tests.reference.score import ib_score

PAIRS = [(x, y) for x in range(6) for y in range(x + 1, 6)]


def adjacency_of(bits: int) -> np.ndarray:
    adjacency = np.zeros((6, 6), bool)
    for k, (x, y) in enumerate(PAIRS):
        adjacency[x, y] = adjacency[y, x] = bits >> k & 1
    return adjacency


@pytest.mark.parametrize("rows", [10, 100])
def test_fast_scores_of_six_variables_are_those_of_the_reference(rows):
    table = random_world(6, 2, 1000, "random", RANDOM, 0).first(rows)
    scores = all_structures.score_all(table)
    assert scores.shape == (2**15,)
    sample = np.random.default_rng(0).choice(2**15, size=200, replace=False)
    expected = [ib_score(table.codes, [2] * 6, adjacency_of(int(bits))) for bits in sample]
    np.testing.assert_allclose(scores[sample], expected, rtol=1e-9)


def test_fast_scores_are_those_of_the_search():
    table = random_world(6, 4, 1000, "random", RANDOM, 1).first(1000)
    scores = all_structures.score_all(table)
    test = BayesianTest().bind(MemoryEngine(table))
    for bits in np.random.default_rng(1).choice(2**15, size=300, replace=False):
        edges = [pair for k, pair in enumerate(PAIRS) if bits >> k & 1]
        assert Climb().begin(BoundIBScore(test, 6), edges).total == pytest.approx(scores[bits], rel=1e-9)


def test_three_levels_too():
    rng = np.random.default_rng(2)
    table = Table(rng.integers(3, size=(4, 60)), tuple("abcd"), ((0, 1, 2),) * 4)
    scores = all_structures.score_all(table)
    test = BayesianTest().bind(MemoryEngine(table))
    pairs = [(x, y) for x in range(4) for y in range(x + 1, 4)]
    for bits in range(64):
        edges = [pair for k, pair in enumerate(pairs) if bits >> k & 1]
        assert Climb().begin(BoundIBScore(test, 4), edges).total == pytest.approx(scores[bits], rel=1e-9)


def test_some_structures_of_twenty_variables():
    world = random_world(20, 2, 1000, "random", RANDOM, 0)
    adjacency, distance = all_structures.sample_structures(world.truth.adjacency, 1, 7)
    assert distance.tolist() == list(range(191))
    differs = np.triu(adjacency ^ world.truth.adjacency).sum(axis=(1, 2))
    assert differs.tolist() == distance.tolist()
    assert (adjacency == adjacency.transpose(0, 2, 1)).all()
    some = np.arange(0, 191, 10)
    table = world.first(100)
    test = BayesianTest().bind(MemoryEngine(table))
    scores = all_structures.score_structures(table, adjacency[some])
    for score, matrix in zip(scores, adjacency[some], strict=True):
        edges = [tuple(pair) for pair in np.argwhere(np.triu(matrix)).tolist()]
        assert Climb().begin(BoundIBScore(test, 20), edges).total == pytest.approx(score, rel=1e-9)
    again, _ = all_structures.sample_structures(world.truth.adjacency, 1, 7)
    assert (adjacency == again).all()


def test_graphs_have_numbers():
    for bits in (0, 1, 0b101, 2**15 - 1):
        assert all_structures.bits_of(np.argwhere(np.triu(adjacency_of(bits))), 6) == bits
    with pytest.raises(RequestError, match="too many structures"):
        all_structures.all_structures(8)
