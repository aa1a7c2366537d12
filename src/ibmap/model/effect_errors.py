"""How sure the data are of effects: standard errors, by the information that each end of an edge has.

The standard error of an effect is the mean of the two that its ends have, each given its own neighbours:
right if both ends say the same, an upper bound otherwise.
"""

import numpy as np

from ibmap._core import PseudoLikelihood
from ibmap._types import Floats, Ints
from ibmap.criteria.coding import contrasts
from ibmap.model.blanket_counts import BlanketCounts

EXACT = 400  #: parameters of a variable up to which its information matrix is not approximated


class EffectErrors:
    """Standard errors of functions of the effects of all edges, along the contrasts of both ends.

    Parameters
    ----------
    goal : PseudoLikelihood
        What the effects maximise.
    counts : BlanketCounts
        What was counted for it.
    theta : ndarray
        Its maximum.
    effect_variance : float
        Prior variance of a log odds ratio.
    """

    def __init__(
        self, goal: PseudoLikelihood, counts: BlanketCounts, theta: Floats, effect_variance: float
    ) -> None:
        self._counts, self._theta, self._precision = counts, theta, 4.0 / effect_variance
        self._start, self._covariances = goal.covariances(theta, EXACT)
        self._large: dict[int, _LargeVariable] = {}

    def of_slopes(self, edges: Ints, slopes: Floats) -> Floats:
        """Return the standard errors of a function of the effects of each edge, from its slopes.

        The edges have the same numbers of levels; ``slopes`` has the shape (edges, contrasts of the first
        variable, contrasts of the second).
        """
        return (self._of_ends(edges, 0, slopes) + self._of_ends(edges, 1, slopes.swapaxes(1, 2))) / 2

    def _of_ends(self, edges: Ints, side: int, slopes: Floats) -> Floats:
        ends, size = self._counts.layout.end_of_edge[edges, side], int(np.prod(slopes.shape[1:]))
        start, along = self._start[ends], slopes.reshape(len(ends), size)
        exact = self._start[ends + 1] > start
        found = np.empty(len(ends))
        if exact.any():  # variables of very many levels have no such matrix, which would fill the memory
            covariances = self._covariances[start[exact, None] + np.arange(size**2)].reshape(-1, size, size)
            found[exact] = np.einsum("ei,eij,ej->e", along[exact], covariances, along[exact], optimize=True)
        for k in np.flatnonzero(~exact).tolist():
            found[k] = self._large_variable(ends[k]).variance(ends[k], slopes[k])
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))

    def along_contrasts(self, edge: int) -> Floats:
        """Return the standard errors of the effects of an edge, along all pairs of contrasts."""
        first, second = self._counts.layout.end_of_edge[edge].tolist()
        return np.asarray((self._along_contrasts(first) + self._along_contrasts(second).T) / 2)

    def _along_contrasts(self, end: int) -> Floats:
        layout = self._counts.layout
        q, p = (layout.levels[layout.ends[end, :2]] - 1).tolist()
        found = self._covariances[self._start[end] : self._start[end + 1]]
        variances = (
            found[:: q * p + 1].reshape(q, p) if len(found) else self._large_variable(end).variances(end)
        )
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def _large_variable(self, end: int) -> "_LargeVariable":
        v = int(self._counts.layout.ends[end, 0])
        if v not in self._large:
            self._large[v] = _LargeVariable(self._counts, self._theta, v, self._precision)
        return self._large[v]


class _LargeVariable:
    """The information about the effects on a variable with many levels, or many neighbours.

    The covariance of its levels is replaced by the mean over all slices, as in ``_core/large.hpp``.
    """

    def __init__(self, counts: BlanketCounts, theta: Floats, v: int, precision: float) -> None:
        layout, (codes, seen) = counts.layout, counts.of_variable(v)
        levels = layout.levels[layout.graph.neighbours(v)].tolist()
        designs = [contrasts(r)[codes[:, k]] for k, r in enumerate(levels)]
        design = np.concatenate([np.ones((len(codes), 1)), *designs], axis=1)
        self._first_end, self._first = int(layout.end_start[v]), np.cumsum([1, *(r - 1 for r in levels)])
        logs = layout.log_odds(theta, v, codes.T)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        shares /= shares.sum(axis=1, keepdims=True)
        n, c = seen.sum(axis=1).astype(float), contrasts(int(layout.levels[v]))
        mean = (n[:, None] * shares).sum(axis=0) / max(n.sum(), 1)
        covariance = c.T @ (np.diag(mean) - (n[:, None] * shares).T @ shares / max(n.sum(), 1)) @ c
        omega, self._vectors = np.linalg.eigh(covariance)
        mu, self._basis = np.linalg.eigh((design.T * n) @ design)
        self._curvature = np.outer(omega, mu) + precision

    def _columns(self, end: int) -> slice:
        k = end - self._first_end
        return slice(int(self._first[k]), int(self._first[k + 1]))

    def variance(self, end: int, slope: Floats) -> float:
        """Return the variance of a function of the effects of a neighbour, from its slope."""
        turned = self._vectors.T @ slope @ self._basis[self._columns(end)]
        return float((turned**2 / self._curvature).sum())

    def variances(self, end: int) -> Floats:
        """Return the variances of the effects of a neighbour, along all pairs of contrasts."""
        return np.asarray(self._vectors**2 @ (1 / self._curvature) @ (self._basis[self._columns(end)] ** 2).T)
