"""Adaptive conditionals: node by node, the data choose between pairwise and saturated."""

from typing import Any

from ibmap.criteria.families import FamilyScore
from ibmap.engines.model import Model
from ibmap.errors import RequestError


class AdaptiveScore(FamilyScore):
    """A mixture of two families: s_x(B) = log[(1 - w) e^pairwise + w e^saturated].

    Where the blanket is empty the two are one model with two priors, so pairwise has a constant for every x
    that makes them equal there. With one member they are one model, too; w is small so that the pairwise
    prior decides there. A full table of more cells than rows is not looked at: guessing is as good as knowing
    the margin in so small slices, and independent variables of many levels would look dependent.

    Parameters
    ----------
    saturated_share : float
        w, the prior probability that x has saturated conditionals.
    effect_variance : float
        Prior variance of a log odds ratio, in the pairwise family.
    prior_count : float
        Of each level of x in each configuration, in the saturated family.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None lets the search learn it from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> AdaptiveScore().options()["saturated_share"]
    0.01
    """

    name, tries_arcs = "adaptive", True

    def __init__(
        self,
        *,
        saturated_share: float = 0.01,
        effect_variance: float = 1.0,
        prior_count: float = 0.5,
        expected_neighbours: float | None = 4.0,
        prior: Any = None,
    ) -> None:
        self.saturated_share, self.effect_variance = saturated_share, effect_variance
        self.prior_count, self.expected_neighbours, self.prior = prior_count, expected_neighbours, prior

    def model(self) -> Model:
        """Return the family and the prior of its parameters."""
        if not 0 < self.saturated_share < 1:
            raise RequestError(f"saturated_share must lie between 0 and 1, not {self.saturated_share!r}")
        return Model("adaptive", self.effect_variance, self.prior_count, self.saturated_share)
