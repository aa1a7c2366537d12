"""A local score of continuous variables: the evidence of linear regressions, in closed form."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Floats, Ints
from ibmap.criteria.families import PriorOptions, PriorScore
from ibmap.engines import Engine
from ibmap.engines.moments import Moments, gaussian_moments
from ibmap.engines.rows import ManyVariables, Rows, as_lists, rows_of_matrix
from ibmap.independence import IndependenceTest
from ibmap.independence.gaussian import SINGULAR, inverse_of, partial_correlations


class GaussianScore(PriorOptions):
    """Evidence of a linear regression of x on its blanket, with Zellner's unit-information prior.

    With m = rows - 1, k neighbours and v, the share of the variance that they leave unexplained, it is
    (m - k) / 2 · log(1 + m) - m / 2 · log(1 + m v). It is additive, so every search works with it.

    Parameters
    ----------
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

    Examples
    --------
    >>> GaussianScore().name, GaussianScore().options()
    ('gaussian', {'expected_neighbours': 4.0, 'prior': None})
    """

    name, continuous = "gaussian", True

    def __init__(self, *, expected_neighbours: float | None = 4.0, prior: Any = None) -> None:
        self.expected_neighbours, self.prior = expected_neighbours, prior

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "BoundGaussianScore":
        """Bind the score to an engine of continuous variables."""
        return BoundGaussianScore(gaussian_moments(engine), *self.checked_prior())


class BoundGaussianScore(PriorScore):
    """The score, bound to moments."""

    def __init__(
        self, moments: Moments, expected_neighbours: float | None = 4.0, prior: ArrayLike | None = None
    ) -> None:
        super().__init__(len(moments.correlation), expected_neighbours, prior)
        self._correlation, self._m = moments.correlation, float(max(moments.n_rows - 1, 0))

    def rows(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets; they are exact."""
        which, given = np.asarray(xs, np.int64), as_lists(blankets)
        evidence, values = np.zeros((len(which), self.n)), np.zeros(len(which))
        for row, (x, members) in enumerate(zip(which.tolist(), given.one_by_one(), strict=True)):
            odds = self.prior_odds[0] if len(self.prior_odds) == 1 else self.prior_odds[x]
            left, t = self._row(x, members)
            evidence[row] = t + odds
            prior = (np.broadcast_to(odds, self.n)[members]).sum()
            values[row] = (self._evidence(left, len(members)) + prior) / 2
        evidence[np.arange(len(which)), which] = 0.0
        return rows_of_matrix(evidence, values, which, given, floor=np.inf if exact else floor, also=also)

    def _evidence(self, left: Any, k: Any) -> Any:
        """Return the log evidence, against no neighbours, if a share of the variance is left."""
        m = self._m
        return (m - k) / 2 * np.log1p(m) - m / 2 * np.log1p(m * np.maximum(left, SINGULAR))

    def _row(self, x: int, members: Ints) -> tuple[float, Floats]:
        """Return the share of variance that the members leave, and t of all variables."""
        others = np.setdiff1d(np.arange(self.n), np.append(members, x))
        k, t = len(members), np.zeros(self.n)
        inverse = inverse_of(self._correlation[np.ix_(members, members)])
        weights = inverse @ self._correlation[members, x]
        left = max(1.0 - float(weights @ self._correlation[members, x]), SINGULAR)
        now = self._evidence(left, k)
        r = partial_correlations(self._correlation, x, others, members)
        t[others] = self._evidence(left * (1 - r**2), k + 1) - now
        without = left + weights**2 / np.maximum(np.diagonal(inverse), SINGULAR)
        t[members] = now - self._evidence(without, k - 1)
        return left, t
