"""Pairwise conditionals: x given its blanket is log-linear, one block of effects per neighbour."""

from typing import Any

from ibmap.criteria.families import FamilyScore
from ibmap.engines.model import Model


class PairwiseScore(FamilyScore):
    """Log-linear evidence: (multinomial) logistic conditionals with main effects of the neighbours.

    Every log odds ratio has the prior N(0, ``effect_variance``), whichever levels it compares, so that
    renaming levels changes nothing. The evidence is Laplace's approximation; that of a variable outside the
    blanket is one Newton step from the model without it. It pays for (r_x - 1)(r_y - 1) effects per
    neighbour, however many neighbours there are, and does not see interactions of three variables.

    A variable whose levels have an order enters by equally spaced scores: it has one effect where others have
    r - 1, and two of them have a single one (linear-by-linear association, which has a sign).

    Parameters
    ----------
    effect_variance : float
        Prior variance of a log odds ratio.
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

    Examples
    --------
    >>> PairwiseScore().options()
    {'effect_variance': 1.0, 'expected_neighbours': 4.0, 'prior': None}
    """

    name = "pairwise"

    def __init__(
        self, *, effect_variance: float = 1.0, expected_neighbours: float | None = 4.0, prior: Any = None
    ) -> None:
        self.effect_variance, self.expected_neighbours = effect_variance, expected_neighbours
        self.prior = prior

    def model(self) -> Model:
        """Return the family and the prior of its parameters."""
        return Model("pairwise", effect_variance=self.effect_variance)
