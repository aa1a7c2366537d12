"""Saturated conditionals: a Dirichlet-multinomial for every configuration (MPL, Pensar et al. 2017)."""

from typing import Any

from ibmap.criteria.families import FamilyScore
from ibmap.engines.model import Model


class SaturatedScore(FamilyScore):
    """Marginal pseudo-likelihood: x given each configuration of its blanket is a Dirichlet-multinomial.

    s_x(B) = Σ_l [log Γ(r a) - log Γ(n_l + r a) + Σ_i log Γ(n_il + a) - log Γ(a)] over the observed
    configurations l of B, r the levels of x. It sees every interaction, and pays for all of them: large
    blankets need many rows.

    Parameters
    ----------
    prior_count : float
        a, the prior count of each level of x in each configuration.
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

    Examples
    --------
    >>> SaturatedScore().options()
    {'prior_count': 0.5, 'expected_neighbours': 4.0, 'prior': None}
    """

    name = "saturated"

    def __init__(
        self, *, prior_count: float = 0.5, expected_neighbours: float | None = 4.0, prior: Any = None
    ) -> None:
        self.prior_count, self.expected_neighbours, self.prior = prior_count, expected_neighbours, prior

    def model(self) -> Model:
        """Return the family and the prior of its parameters."""
        return Model("saturated", prior_count=self.prior_count)
