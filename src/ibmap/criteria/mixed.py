"""Conditionals of any columns: the evidence of categories, ordered levels and numbers, in one network."""

from typing import Any

from ibmap.criteria.families import EvidenceScore, PriorOptions
from ibmap.engines import Engine
from ibmap.engines.model import Model
from ibmap.independence import IndependenceTest


class MixedScore(PriorOptions):
    """Evidence of a linear regression of x on its blanket, or of a log-linear model if x has levels.

    A neighbour enters by contrasts of its levels, by a score of ordered levels, or as a standardised number
    (and its square, if there is evidence for it). All kinds share one prior of effects; the scale of the
    effects of x is averaged over, from weak to strong. Main effects of the neighbours that have levels are
    mixed with a full table of these, as in :class:`AdaptiveScore`.

    Parameters
    ----------
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

    Examples
    --------
    >>> MixedScore().name, MixedScore().options()
    ('mixed', {'expected_neighbours': 4.0, 'prior': None})
    """

    name, mixed = "mixed", True

    def __init__(self, *, expected_neighbours: float | None = 4.0, prior: Any = None) -> None:
        self.expected_neighbours, self.prior = expected_neighbours, prior

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> EvidenceScore:
        """Bind the score to an engine; it needs no test."""
        return EvidenceScore(engine, Model("mixed", n_threads=n_threads), *self.checked_prior())
