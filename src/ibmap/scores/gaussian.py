"""A local score of continuous variables: the evidence of linear regressions, in closed form."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Floats, Ints
from ibmap.engines import Engine
from ibmap.engines.moments import Moments, gaussian_moments
from ibmap.independence import IndependenceTest
from ibmap.independence.gaussian import SINGULAR, inverse_of, partial_correlations
from ibmap.scores.families import PriorOptions, PriorScore
from ibmap.scores.local_score import Rows


class GaussianScore(PriorOptions):
    """Evidence of x given its blanket by a linear regression with Zellner's prior, one row's worth of it.

    With m = rows - 1, k neighbours and the share v of the variance that they leave, it is
    (m - k) / 2 · log(1 + m) - m / 2 · log(1 + m v). It is additive, so every search works with it.

    Parameters
    ----------
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None: learned from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

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

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return t_xy for each of some x, given its blanket."""
        evidence, values = np.zeros((len(xs), self.n)), np.zeros(len(xs))
        for row, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
            members = np.asarray(blanket, np.int64)
            left, evidence[row] = self._row(x, members)
            values[row] = self._evidence(left, len(members))
        return self._with_prior(xs, blankets, Rows(evidence, values))

    def value(self, x: int, blanket: Ints) -> float:
        """Return half of s_x(B) and of the prior of its edges."""
        return float(self.rows([x], [blanket]).values[0])

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
