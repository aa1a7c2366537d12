"""Models: which conditionals an engine makes rows of, as data."""

from dataclasses import dataclass, field

import numpy as np

from ibmap._types import Floats

VAGUE = 0.02  #: precision of intercepts
DIRECTED = ("bic", "bdeu", "qnml")  #: scores of directed graphs; see ``criteria/directed.py``
MOST_LEVELS = 100  #: of a variable that there are conditionals of; one with more has no edges


@dataclass(frozen=True, eq=False)
class Model:
    """A family of conditionals, the prior of its parameters, and that of edges.

    Attributes
    ----------
    family : str
        "pairwise" (main effects), "saturated" (a full table), or "adaptive" (the mixture of both); "mixed"
        (levels and numbers, effects of any scale); of directed graphs "bic", "bdeu" or "qnml", where
        blankets are parents.
    effect_variance, prior_count, saturated_share : float
        Prior variance of a log odds ratio; prior count of a level in a configuration, or of "bdeu" those of
        all cells of a family together; prior probability of a full table, in the mixture.
    log_odds : ndarray of shape (1, 1) or (n, n)
        Log prior odds of an edge: of all alike, or of each.
    n_threads : int
        Threads that may make rows.
    rough : bool
        Whether t_xy of members is not needed: fits for it alone may be left out.
    """

    family: str
    effect_variance: float = 1.0
    prior_count: float = 0.5
    saturated_share: float = 0.01
    log_odds: Floats = field(default_factory=lambda: np.zeros((1, 1)))
    n_threads: int = 1
    rough: bool = False

    @property
    def most_levels(self) -> float:
        """Levels that a variable may have; one with more has no edges."""
        return np.inf if self.family in DIRECTED else MOST_LEVELS

    @property
    def precision(self) -> float:
        """Precision of an effect: the variance of a log odds ratio is four times that of an effect."""
        return 4.0 / self.effect_variance

    @property
    def key(self) -> tuple[str, float, float, float]:
        """What the evidence depends on, the prior of edges aside."""
        return self.family, self.effect_variance, self.prior_count, self.saturated_share
