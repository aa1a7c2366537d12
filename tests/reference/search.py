"""IBMAP-HC: hill climbing on the IB-score (paper, algorithms 1 and 2), every score computed from scratch.

Answers of the test are remembered, so that a flip costs only the tests of the two variables whose blanket
changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from tests.reference.bayesian import IndependenceTest
from tests.reference.closure import Adjacency
from tests.reference.score import PairScores, bayesian_test, pair_scores_by, total
from tests.reference.slices import Codes

TOLERANCE = 1e-9
"""Differences below it are rounding and decide nothing."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Ascent:
    """A flip that was accepted, and the score of the graph after it."""

    pair: Pair
    added: bool
    score: float


@dataclass(frozen=True)
class Result:
    """Where the search ended and how it got there."""

    adjacency: Adjacency
    score: float
    n_ascents: int
    history: tuple[Ascent, ...]
    pair_scores: PairScores


def ibmap_hc(
    codes: Codes | None,
    cardinalities: Sequence[int],
    *,
    patience: int = 0,
    start: Adjacency | None = None,
    required: Iterable[Pair] = (),
    forbidden: Iterable[Pair] = (),
    test: IndependenceTest | None = None,
    **test_options: Any,
) -> Result:
    """Climb from `start` (no edges) until a proposal, and `patience` further ones, do not raise the score.

    `test` replaces the Bayesian test of the data; then `codes` may be None.
    """
    n = len(cardinalities)
    if test is None:
        if codes is None:
            raise ValueError("without codes a test is needed")
        test = bayesian_test(codes, cardinalities, **test_options)
    test = cache(test)
    required_pairs, forbidden_pairs = ordered(required), ordered(forbidden)
    if required_pairs & forbidden_pairs:
        raise ValueError(f"both required and forbidden: {sorted(required_pairs & forbidden_pairs)}")
    free = [pair for pair in combinations(range(n), 2) if pair not in required_pairs | forbidden_pairs]

    graph = initial_graph(n, start, required_pairs, forbidden_pairs)  # Algorithm 1, line 1
    scores = pair_scores_by(test, graph)  # line 2
    history: list[Ascent] = []
    untried = list(free)
    failures = 0
    while untried and failures <= patience:  # line 3
        pair = least_credible_pair(scores, untried)  # Algorithm 2, line 1
        neighbour = flipped(graph, pair)  # Algorithm 2, line 2
        neighbour_scores = pair_scores_by(test, neighbour)  # Algorithm 1, line 5
        if total(neighbour_scores) - total(scores) > TOLERANCE:  # line 6
            graph, scores = neighbour, neighbour_scores  # lines 9 and 10
            history.append(Ascent(pair, bool(graph[pair]), total(scores)))
            untried = list(free)
            failures = 0
        else:
            untried.remove(pair)
            failures += 1
    return Result(graph, total(scores), len(history), tuple(history), scores)


def least_credible_pair(scores: PairScores, pairs: Sequence[Pair]) -> Pair:
    """The pair with the smallest σ_xy + σ_yx; the smallest (i, j) of those that tie with it."""
    values = [float(scores[x, y] + scores[y, x]) for x, y in pairs]
    smallest = min(values)
    tied = smallest + TOLERANCE * max(1.0, abs(smallest))
    return min(pair for pair, value in zip(pairs, values, strict=True) if value <= tied)


def initial_graph(n: int, start: Adjacency | None, required: set[Pair], forbidden: set[Pair]) -> Adjacency:
    """The start with every required edge and no forbidden one."""
    graph = np.zeros((n, n), dtype=bool) if start is None else np.array(start, dtype=bool)
    for pairs, present in ((required, True), (forbidden, False)):
        for x, y in pairs:
            graph[x, y] = graph[y, x] = present
    return graph


def flipped(graph: Adjacency, pair: Pair) -> Adjacency:
    """A copy with the edge added if absent, removed if present."""
    x, y = pair
    other = graph.copy()
    other[x, y] = other[y, x] = not graph[x, y]
    return other


def ordered(pairs: Iterable[Pair]) -> set[Pair]:
    """Unordered pairs, written (i, j) with i < j."""
    return {(min(pair), max(pair)) for pair in pairs}
