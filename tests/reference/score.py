"""The IB-score: the log posteriors of the assertions in the closure of a graph (paper, section 4.1)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.reference.bayesian import IndependenceTest, Posterior, log_posterior
from tests.reference.closure import Adjacency, markov_blanket_closure
from tests.reference.slices import Codes

PairScores = NDArray[np.float64]


def bayesian_test(
    codes: Codes, cardinalities: Sequence[int], *, prior: ArrayLike = 0.5, **options: Any
) -> IndependenceTest:
    """The Bayesian test of this data. `prior` is one number, or an n×n matrix with one for each pair."""
    n = len(cardinalities)
    priors = np.broadcast_to(np.asarray(prior, dtype=float), (n, n))

    def test(x: int, y: int, given: tuple[int, ...]) -> Posterior:
        return log_posterior(codes, cardinalities, x, y, given, prior=float(priors[x, y]), **options)

    return test


def pair_scores_by(test: IndependenceTest, adjacency: Adjacency) -> PairScores:
    """σ_xy(G) for every ordered pair, from scratch, by any test; the diagonal is 0."""
    scores = np.zeros((len(adjacency), len(adjacency)))
    for x, y, given, dependent in markov_blanket_closure(adjacency):
        posterior = test(x, y, given)
        scores[x, y] = posterior.log_dependent if dependent else posterior.log_independent
    return scores


def pair_scores(
    codes: Codes, cardinalities: Sequence[int], adjacency: Adjacency, **test_options: Any
) -> PairScores:
    """σ_xy(G) for every ordered pair, by the Bayesian test with the options of `log_posterior`."""
    return pair_scores_by(bayesian_test(codes, cardinalities, **test_options), adjacency)


def ib_score(codes: Codes, cardinalities: Sequence[int], adjacency: Adjacency, **test_options: Any) -> float:
    """σ(G) = Σ σ_xy(G) over the n(n-1) ordered pairs."""
    return total(pair_scores(codes, cardinalities, adjacency, **test_options))


def total(scores: PairScores) -> float:
    """The sum of all pair scores, rounded once."""
    return math.fsum(scores.flat)
