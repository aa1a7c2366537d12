"""How probable is this graph: local scores, which give searches rows of evidence."""

from ibmap.scores.adaptive import AdaptiveScore
from ibmap.scores.bjp import BJPScore
from ibmap.scores.closure import Assertion, markov_blanket_closure
from ibmap.scores.gaussian import GaussianScore
from ibmap.scores.ib import IBScore
from ibmap.scores.local_score import LocalScore, LocalScoreBase, Score, TableScore
from ibmap.scores.pairwise import PairwiseScore
from ibmap.scores.registry import SCORES, as_score
from ibmap.scores.saturated import SaturatedScore

__all__ = [
    "SCORES",
    "AdaptiveScore",
    "Assertion",
    "BJPScore",
    "GaussianScore",
    "IBScore",
    "LocalScore",
    "LocalScoreBase",
    "PairwiseScore",
    "SaturatedScore",
    "Score",
    "TableScore",
    "as_score",
    "markov_blanket_closure",
]
