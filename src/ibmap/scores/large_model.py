"""Log-linear models of variables with many levels: as in ``kernels/loglinear.py``, but for one approximation.

With q = r - 1 contrasts of x and a design of width w, the negative Hessian H = Σ_k n_k W_k ⊗ d_k d_kᵀ + Λ has
(q w)² entries: hours, where x and its neighbours have dozens of levels. For evidence, the covariance W_k of
the contrasts of x in slice k is replaced by its mean W̄ over all rows. Then H = W̄ ⊗ X + Λ with X = Σ_k n_k
d_k d_kᵀ, and in the eigenvectors of W̄ (eigenvalues ω) and of Λ^-½ X Λ^-½ (eigenvalues μ) it is diagonal: all
that is asked of it comes from the matrix 1 / (1 + ω_a μ_j), ``shrink``. Mode and likelihood are exact.
"""

from collections.abc import Iterator
from typing import Self

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.kernels.large_sums import (
    add_curvature,
    add_outside,
    add_pairs,
    add_residuals,
    log_likelihood_of,
)

STEPS = 50  #: of Newton's method, at most; eight are usual
INNER = 100  #: conjugate gradients for a step, at most
ROUGH = 0.1  #: what may be left of the slope, squared, far from the mode
CLOSE = 1e-9  #: twice the log posterior that the next step could gain, where it ends
COMBINED = 256  #: combinations of levels that are looked at as one
AT_ONCE = 1 << 21  #: numbers of an array for several variables, at most


class LargeModel:
    """x given its blanket, at the mode.

    Parameters
    ----------
    counts : array of shape (slices, levels of x)
        Rows with each level, in each slice.
    code : array of shape (slices, members)
        The level of each member of the blanket.
    levels, columns : arrays
        Number of levels of each member, and of its columns in the design: one if they have an order.
    of_intercept, of_effect : float
        Precisions of the prior.
    start : array of shape (contrasts of x, width) or None
        Where the search for the mode begins.
    """

    def __init__(
        self,
        counts: Floats,
        code: Ints,
        levels: Ints,
        columns: Ints,
        of_intercept: float,
        of_effect: float,
        start: Floats | None = None,
    ) -> None:
        self._counts, self._code, self._levels, self._columns = counts, code, levels, columns
        self._of_intercept, self._of_effect = of_intercept, of_effect
        self._first = np.cumsum([1, *columns])  # columns of the design, of every member
        self._coding, self._at = _coded(code, levels, columns)
        self._sizes, self._of_x = counts.sum(axis=1), contrasts(counts.shape[1])
        q, width = self._of_x.shape[1], self._coding.shape[1]
        self._precision = np.full(width, of_effect)
        self._precision[0] = of_intercept
        pairs = np.zeros((len(self._coding), len(self._coding)))
        add_pairs(self._at, self._sizes, pairs)
        root = 1 / np.sqrt(self._precision)
        scaled = self._coding * root
        self._mu, basis = np.linalg.eigh(scaled.T @ pairs @ scaled)
        self._mu, self._basis = np.maximum(self._mu, 0.0), root[:, None] * basis
        self._share, self._scratch = np.empty(counts.shape), np.empty(counts.shape[1])
        self.theta = np.zeros((q, width)) if start is None else start
        if start is None:
            shares = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
            self.theta[:, 0] = self._of_x.T @ np.log(shares)
        self._find_mode()

    @property
    def value(self) -> float:
        """Log evidence."""
        return self._height + 0.5 * float(np.log(self._shrink).sum())

    @property
    def left_out(self) -> float:
        """Log likelihood, less the number of parameters that the data and not the prior have set."""
        prior = 0.5 * float((self._precision * self.theta**2).sum())
        return self._height + prior - float((1 - self._shrink).sum())

    def inside(self, j: int) -> float:
        """Return t of member j, from its effects and their covariance."""
        mine = slice(self._first[j], self._first[j + 1])
        part, effect = self._basis[mine], self._vectors.T @ self.theta[:, mine]
        covariance = (part * self._shrink[:, None, :]) @ part.T
        size, log_det = _solved(covariance, effect)
        return 0.5 * (size + log_det + effect.size * float(np.log(self._of_effect)))

    def length(self, j: int) -> float:
        """Return the length of the effects of member j."""
        return float(np.linalg.norm(self.theta[:, self._first[j] : self._first[j + 1]]))

    def without(self, j: int) -> Self:
        """Return the model without member j."""
        out = slice(self._first[j], self._first[j + 1])
        code, levels = np.delete(self._code, j, axis=1), np.delete(self._levels, j)
        start, columns = np.delete(self.theta, out, axis=1), np.delete(self._columns, j)
        return type(self)(self._counts, code, levels, columns, self._of_intercept, self._of_effect, start)

    def outside(self, levels: Ints, columns: Ints, start: Ints, cells: Ints) -> Floats:
        """Return t of variables that are not in the model, from their tables with x: one step from zero.

        ``levels`` and ``columns`` are theirs, ``start`` is where their cells begin, and where the last ends.
        """
        out = np.zeros(len(levels))
        for some in self._alike(levels, columns):
            r, r_columns = int(levels[some[0]]), int(columns[some[0]])
            left, cross = (
                np.zeros((len(some), r, self._counts.shape[1])),
                np.zeros((len(some), r, len(self._coding))),
            )
            for i, y in enumerate(some.tolist()):
                add_outside(self._at, self._share, cells, int(start[y]), int(start[y + 1]), left[i], cross[i])
            of_y = coding(r, r_columns)
            score = (of_y.T @ left @ self._of_x @ self._vectors).swapaxes(
                1, 2
            )  # variable, contrast of x, of y
            own = (of_y.T * cross[:, None, :, 0]) @ of_y
            shared = (of_y.T @ cross @ self._coding @ self._basis)[:, None]  # of y, in the eigenvectors of X
            weights = self._omega[:, None, None]
            taken = (shared * (weights**2 * self._shrink[:, None, :])) @ shared.swapaxes(2, 3)
            matrix = weights * own[:, None] - taken + self._of_effect * np.eye(r_columns)
            for i, y in enumerate(some.tolist()):
                size, log_det = _solved(matrix[i], score[i])
                out[y] = 0.5 * (size - log_det + score[i].size * np.log(self._of_effect))
        return out

    def _alike(self, levels: Ints, columns: Ints) -> Iterator[Ints]:
        """Yield variables with the same numbers of levels, more than one, and columns, some at a time."""
        for r, r_columns in np.unique(np.stack([levels, columns], axis=1)[levels > 1], axis=0).tolist():
            mine = np.flatnonzero((levels == r) & (columns == r_columns))
            each = self.theta.shape[0] * r * max(self.theta.shape[1], r)
            n_parts = -(-len(mine) * each // AT_ONCE)
            yield from np.array_split(mine, min(n_parts, len(mine)))

    def _find_mode(self) -> None:
        """Raise the log posterior by Newton's method.

        A step is halved until it does not lower the log posterior, which is concave: there is one mode.
        """
        self._height = self._at_theta(self.theta)
        for _ in range(STEPS):
            slope = self._slope()
            step = self._newton_step(slope)
            if (slope * step).sum() < CLOSE:
                break
            length = 1.0
            while (found := self._at_theta(self.theta + length * step)) < self._height and length > 1e-6:
                length *= 0.5
            if found < self._height:
                self._at_theta(self.theta)
                break
            self.theta, self._height = self.theta + length * step, found
        self._diagonalise()

    def _at_theta(self, theta: Floats) -> float:
        """Return the log posterior, up to a constant, and set the probabilities of the levels."""
        likelihood = log_likelihood_of(self._odds(theta), self._at, self._counts, self._share)
        return likelihood - 0.5 * float((self._precision * theta**2).sum())

    def _odds(self, theta: Floats) -> Floats:
        """Return what 1 and every level of every member add to the log odds of each level of x."""
        return np.ascontiguousarray(self._coding @ theta.T @ self._of_x.T)

    def _slope(self) -> Floats:
        """Return the gradient of the log posterior."""
        table = np.zeros((len(self._coding), self._counts.shape[1]))
        add_residuals(self._at, self._counts, self._sizes, self._share, self._scratch, table)
        return self._of_x.T @ table.T @ self._coding - self._precision * self.theta

    def _curvature(self, direction: Floats) -> Floats:
        """Return H times a direction, with the covariances of all slices."""
        table = np.zeros((len(self._coding), self._counts.shape[1]))
        add_curvature(self._odds(direction), self._at, self._sizes, self._share, self._scratch, table)
        return self._of_x.T @ table.T @ self._coding + self._precision * direction

    def _diagonalise(self) -> None:
        """Set the eigenvectors and eigenvalues of W̄, and what they make of H."""
        weighted = self._share * (self._sizes / max(self._sizes.sum(), 1.0))[:, None]
        covariance = np.diag(weighted.sum(axis=0)) - weighted.T @ self._share
        omega, self._vectors = np.linalg.eigh(self._of_x.T @ covariance @ self._of_x)
        self._omega = np.maximum(omega, 0.0)
        self._shrink = 1 / (1 + np.outer(self._omega, self._mu))

    def _newton_step(self, slope: Floats) -> Floats:
        """Solve H step = slope by conjugate gradients, with the covariances of all slices in H.

        The approximated H is the preconditioner. They end where what is left is small against the slope: far
        from the mode soon, near to it later.
        """
        self._diagonalise()
        step, rest = np.zeros(slope.shape), slope
        solved = self._approximately(rest)
        direction, size = solved, float((rest * solved).sum())
        enough = max(size * min(ROUGH, np.sqrt(size)), 0.1 * CLOSE)
        for _ in range(INNER):
            if size <= enough:
                break
            curved = self._curvature(direction)
            length = size / float((direction * curved).sum())
            step = step + length * direction
            rest = rest - length * curved
            solved = self._approximately(rest)
            before, size = size, float((rest * solved).sum())
            direction = solved + size / before * direction
        return step

    def _approximately(self, slope: Floats) -> Floats:
        """Return H⁻¹ slope, with the approximated H."""
        found = self._vectors @ ((self._vectors.T @ slope @ self._basis) * self._shrink) @ self._basis.T
        return np.asarray(found)


def contrasts(r: int) -> Floats:
    """Return orthonormal contrasts of r levels (Helmert's), (r, r - 1): a level against those before it.

    Examples
    --------
    >>> contrasts(3).round(3)
    array([[-0.707, -0.408],
           [ 0.707, -0.408],
           [ 0.   ,  0.816]])
    """
    before = np.arange(1, r)
    below = np.where(np.arange(r)[:, None] < before, -1.0, 0.0)
    below[before, before - 1] = before
    return np.asarray(below / np.sqrt(before * (before + 1.0)))


def coding(r: int, n_columns: int) -> Floats:
    """Return how r levels enter a design: by contrasts, or in one column by their scores.

    Examples
    --------
    >>> coding(3, 1).round(3).T
    array([[-1.,  0.,  1.]])
    """
    if n_columns == r - 1:
        return contrasts(r)
    scores = (np.arange(r) - (r - 1) / 2) * np.sqrt(12 / (r * (r + 1)))
    return np.asarray(scores[:, None])


def _coded(code: Ints, levels: Ints, columns: Ints) -> tuple[Floats, Ints]:
    """Return rows of which those of a slice add up to its design, and which ones every slice has.

    The first row is 1 and every slice has it. The others stand for the combinations of levels of several
    members, as many together as have few: there is less to add up then.
    """
    ends, codings = (
        np.cumsum([1, *columns]),
        [coding(*both) for both in zip(levels.tolist(), columns.tolist(), strict=True)],
    )
    parts, at, n_rows = [np.eye(1, int(ends[-1]))], [], 1
    j = 0
    while j < len(levels):
        found, of_slice = np.unique(code[:, j], return_inverse=True)
        rows = np.zeros((len(found), int(ends[-1])))
        rows[:, ends[j] : ends[j + 1]] = codings[j][found]
        while (j := j + 1) < len(levels):
            both, where = np.unique(of_slice * levels[j] + code[:, j], return_inverse=True)
            if len(both) > min(COMBINED, len(code) / 4):
                break
            rows, of_slice = rows[both // levels[j]], where
            rows[:, ends[j] : ends[j + 1]] = codings[j][both % levels[j]]
        parts.append(rows)
        at.append(of_slice + n_rows)
        n_rows += len(rows)
    return np.concatenate(parts), np.array(at, np.int64).reshape(len(at), len(code)).T.copy()


def _solved(matrices: Floats, vectors: Floats) -> tuple[float, float]:
    """Return Σ vᵀ M⁻¹ v and Σ log det M over positive definite matrices."""
    factors = np.linalg.cholesky(matrices)
    log_det = 2 * float(np.log(np.diagonal(factors, axis1=1, axis2=2)).sum())
    solved = np.linalg.solve(factors, vectors[:, :, None])
    return float((solved**2).sum()), log_det
