"""Adaptive conditionals: node by node, the data choose between pairwise and saturated."""

from typing import Any

from ibmap.criteria.families import FamilyScore
from ibmap.engines.model import Model
from ibmap.errors import RequestError


class AdaptiveScore(FamilyScore):
    """A mixture of the pairwise and the saturated score: s_x(B) = log[(1 - w) e^pairwise + w e^saturated].

    With an empty blanket both are the same model with different priors; a constant for every x makes them
    equal there. With one neighbour they are the same model, too; w is small so that the pairwise prior
    decides. Full tables with more cells than rows are left out: in slices so small, independent variables of
    many levels would look dependent.

    Parameters
    ----------
    saturated_share : float
        w, the prior probability that x has saturated conditionals.
    effect_variance : float
        Prior variance of a log odds ratio (pairwise score).
    prior_count : float
        Prior count of each level of x in each configuration (saturated score).
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

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
