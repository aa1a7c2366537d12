"""Scores that say how probable a graph is, as sums over its variables."""

from ibmap.criteria.adaptive import AdaptiveScore
from ibmap.criteria.bjp import BJPScore
from ibmap.criteria.closure import Assertion, markov_blanket_closure
from ibmap.criteria.gaussian import GaussianScore
from ibmap.criteria.ib import IBScore
from ibmap.criteria.local_score import LocalScore, Score, TableScore
from ibmap.criteria.mixed import MixedScore
from ibmap.criteria.pairwise import PairwiseScore
from ibmap.criteria.registry import SCORES, as_score
from ibmap.criteria.saturated import SaturatedScore

__all__ = [
    "SCORES",
    "AdaptiveScore",
    "Assertion",
    "BJPScore",
    "GaussianScore",
    "IBScore",
    "LocalScore",
    "MixedScore",
    "PairwiseScore",
    "SaturatedScore",
    "Score",
    "TableScore",
    "as_score",
    "markov_blanket_closure",
]
