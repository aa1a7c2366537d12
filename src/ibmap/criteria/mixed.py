"""Conditionals of any columns: the evidence of categories, ordered levels and numbers, in one network."""

from typing import Any

from ibmap.criteria.families import EvidenceScore, PriorOptions
from ibmap.engines import Engine
from ibmap.engines.model import Model
from ibmap.independence import IndependenceTest


class MixedScore(PriorOptions):
    """Evidence of x given its blanket by a linear regression, or a log-linear model if x has levels.

    A neighbour enters with contrasts of its levels, with a score of ordered levels, or as a standardised
    number; with its square, too, where that has evidence. One prior of effects serves all kinds, and the
    scale of the effects of x is averaged over, from weak to strong ones. Main effects of the neighbours that
    have levels are mixed with a full table of these, as in :class:`AdaptiveScore`.

    Parameters
    ----------
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None: learned from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> MixedScore().name, MixedScore().options()
    ('mixed', {'expected_neighbours': 4.0, 'prior': None})
    """

    name, mixed = "mixed", True

    def __init__(self, *, expected_neighbours: float | None = 4.0, prior: Any = None) -> None:
        self.expected_neighbours, self.prior = expected_neighbours, prior

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> EvidenceScore:
        """Bind the score to an engine; it asks no test."""
        return EvidenceScore(engine, Model("mixed", n_threads=n_threads), *self.checked_prior())
