"""How probable is this graph: local scores, which give searches rows of evidence."""

from ibmap.scores.closure import Assertion, markov_blanket_closure
from ibmap.scores.ib import IBScore
from ibmap.scores.local_score import LocalScore, LocalScoreBase, Rows, Score, TableScore
from ibmap.scores.mpl import MPLScore
from ibmap.scores.registry import SCORES, as_score

__all__ = [
    "SCORES",
    "Assertion",
    "IBScore",
    "LocalScore",
    "LocalScoreBase",
    "MPLScore",
    "Rows",
    "Score",
    "TableScore",
    "as_score",
    "markov_blanket_closure",
]
