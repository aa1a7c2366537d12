"""Log posteriors of assertions → how probable is this graph."""

from ibmap.scores.closure import Assertion, closure_row, markov_blanket_closure
from ibmap.scores.ib_score import Ascent, IBScore

__all__ = ["Ascent", "Assertion", "IBScore", "closure_row", "markov_blanket_closure"]
