"""Log-linear conditionals by the book: dense matrices, one row of the table after the other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.reference.saturated import complete, log_prior_odds
from tests.reference.slices import Codes

Matrix = NDArray[np.float64]
VAGUE = 0.02
LARGE = 24  #: parameters of an effect, beyond which H is approximated


def contrasts(r: int) -> Matrix:
    """Any orthonormal contrasts of r levels do; these come from a QR decomposition."""
    return np.linalg.qr(np.column_stack([np.ones(r), np.eye(r)[:, 1:]]))[0][:, 1:]


def design(codes: Codes, cards: Sequence[int], rows: Sequence[int], members: Sequence[int]) -> Matrix:
    """One row for every row of the table: 1, and the contrasts of every member."""
    blocks = [np.ones((len(rows), 1))] + [contrasts(cards[v])[codes[v][rows]] for v in members]
    return np.column_stack(blocks)


class Fit:
    """The mode of the posterior, and what Laplace's approximation makes of it."""

    def __init__(
        self, codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], variance: float
    ) -> None:
        self.cards, self.x, self.blanket = cards, x, list(blanket)
        self.rows = complete(codes, [x, *blanket])
        self.contrast = contrasts(cards[x])
        self.q = cards[x] - 1
        self.precision = 4 / variance
        self.d = design(codes, cards, self.rows, self.blanket)
        width = self.d.shape[1]
        self.prior = np.tile([VAGUE] + [self.precision] * (width - 1), self.q)
        self.theta = np.zeros(self.q * width)
        for _ in range(200):
            gradient, hessian = self._slopes(codes)
            step = np.linalg.solve(hessian, gradient) if len(gradient) else gradient
            size = 1.0
            while self._height(codes, self.theta + size * step) < self._height(codes, self.theta) - 1e-12:
                size /= 2
            self.theta = self.theta + size * step
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        self.hessian = self._slopes(codes)[1]
        if (cards[x] - 1) * (max(cards) - 1) > LARGE:
            self.hessian = self.rough(self.d, self.d) + np.diag(self.prior)

    def shares(self, theta: Matrix) -> Matrix:
        """Probabilities of the levels of x in every row."""
        odds = self.d @ theta.reshape(self.q, self.d.shape[1]).T @ self.contrast.T
        odds -= odds.max(axis=1, keepdims=True)
        return np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)

    def _height(self, codes: Codes, theta: Matrix) -> float:
        seen = self.shares(theta)[np.arange(len(self.rows)), codes[self.x][self.rows]]
        return float(np.log(seen).sum() - (self.prior * theta**2).sum() / 2)

    def _slopes(self, codes: Codes) -> tuple[Matrix, Matrix]:
        share = self.shares(self.theta)
        left = (np.eye(self.cards[self.x])[codes[self.x][self.rows]] - share) @ self.contrast
        gradient = (left.T @ self.d).ravel() - self.prior * self.theta
        return gradient, self.information(share, self.d, self.d) + np.diag(self.prior)

    def information(self, share: Matrix, one: Matrix, other: Matrix) -> Matrix:
        """Σ W ⊗ (one otherᵀ) over the rows, W the covariance of the contrasts of x."""
        mean = share @ self.contrast
        w = np.einsum("rl,li,lj->rij", share, self.contrast, self.contrast) - mean[:, :, None] * mean[:, None]
        total = np.einsum("rij,ra,rb->iajb", w, one, other)
        return total.reshape(self.q * one.shape[1], self.q * other.shape[1])

    def rough(self, one: Matrix, other: Matrix) -> Matrix:
        """The information with the mean W̄ of all rows in place of every W."""
        share = self.shares(self.theta)
        mean = share @ self.contrast
        w = np.einsum("rl,li,lj->rij", share, self.contrast, self.contrast) - mean[:, :, None] * mean[:, None]
        return np.kron(w.mean(axis=0) if len(w) else np.zeros(w.shape[1:]), one.T @ other)

    def value(self, codes: Codes) -> float:
        """s_x(B), Laplace's approximation of the log evidence."""
        logs = np.log(self.prior).sum() - np.linalg.slogdet(self.hessian)[1]
        return self._height(codes, self.theta) + logs / 2


def evidence_outside(
    codes: Codes, cards: Sequence[int], x: int, y: int, blanket: Sequence[int], variance: float
) -> float:
    """t of a variable that is not in the blanket, on the rows that know it: one Newton step."""
    fit = Fit(codes, cards, x, blanket, variance)
    keep = [i for i, r in enumerate(fit.rows) if codes[y][r] >= 0]
    rows, d, share = [fit.rows[i] for i in keep], fit.d[keep], fit.shares(fit.theta)[keep]
    new = contrasts(cards[y])[codes[y][rows]]
    left = (np.eye(cards[x])[codes[x][rows]] - share) @ fit.contrast
    score = (left.T @ new).ravel()
    if (cards[x] - 1) * (max(cards) - 1) > LARGE:
        cross, own = fit.rough(new, d), fit.rough(new, new)
    else:
        cross, own = fit.information(share, new, d), fit.information(share, new, new)
    inner = own - cross @ np.linalg.solve(fit.hessian, cross.T)
    whole = inner + fit.precision * np.eye(len(score))
    logs = len(score) * np.log(fit.precision) - np.linalg.slogdet(whole)[1]
    return float(score @ np.linalg.solve(whole, score) + logs) / 2


def evidence_inside(
    codes: Codes,
    cards: Sequence[int],
    x: int,
    y: int,
    blanket: Sequence[int],
    variance: float,
    strong: float = np.inf,
) -> float:
    """t of a member, from its effects and its block of the inverse of H; if they are strong, by fits."""
    fit = Fit(codes, cards, x, blanket, variance)
    at = 1 + sum(cards[v] - 1 for v in blanket[: list(blanket).index(y)])
    width = fit.d.shape[1]
    mine = [a * width + at + b for a in range(fit.q) for b in range(cards[y] - 1)]
    inverse = np.linalg.inv(fit.hessian)[np.ix_(mine, mine)]
    effect = fit.theta[mine]
    if np.linalg.norm(effect) > strong:
        same = codes[:, fit.rows]
        rest = Fit(same, cards, x, [v for v in blanket if v != y], variance)
        return fit.value(codes) - rest.value(same)
    logs = np.linalg.slogdet(inverse)[1] + len(mine) * np.log(fit.precision)
    return float(effect @ np.linalg.solve(inverse, effect) + logs) / 2


def evidence(
    codes: Codes,
    cards: Sequence[int],
    x: int,
    y: int,
    blanket: Sequence[int],
    variance: float = 1.0,
    c: float = 4.0,
) -> float:
    """t_xy with the prior odds."""
    which = evidence_inside if y in blanket else evidence_outside
    return which(codes, cards, x, y, blanket, variance) + log_prior_odds(len(cards), c)


def value(
    codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], variance: float = 1.0, c: float = 4.0
) -> float:
    """Half of s_x(B) and of the prior of its edges."""
    found = Fit(codes, cards, x, blanket, variance).value(codes)
    return (found + len(blanket) * log_prior_odds(len(cards), c)) / 2
