"""Log-linear conditionals with ordered levels, by the book: one vector of features for every row and level.

p(x = l | row) ∝ exp(θ·φ(row, l)). The features of a level are its contrasts, and, for every column of every
member, that column times the contrasts of the level, or times its score where the levels of x have an order.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from tests.reference.loglinear import VAGUE, contrasts
from tests.reference.saturated import complete
from tests.reference.slices import Codes

Matrix = NDArray[np.float64]


def scores(r: int) -> Matrix:
    """Equally spaced, with mean 0; the mean squared difference of two different levels is 2."""
    plain = np.arange(r) - (r - 1) / 2
    pairs = [(plain[i] - plain[j]) ** 2 for i in range(r) for j in range(r) if i != j]
    return np.asarray(plain[:, None] * np.sqrt(2 / np.mean(pairs)) if r > 1 else np.zeros((1, 0)))


def coding(v: int, cards: Sequence[int], ordinal: Collection[int]) -> Matrix:
    """What every level of a variable has in a design."""
    return scores(cards[v]) if v in ordinal else contrasts(cards[v])


class Model:
    """Features, the mode, and the Hessian there."""

    def __init__(
        self,
        codes: Codes,
        cards: Sequence[int],
        ordinal: Collection[int],
        x: int,
        blanket: Sequence[int],
        variance: float = 1.0,
    ) -> None:
        self.codes, self.cards, self.ordinal, self.x = codes, cards, ordinal, x
        self.precision, self.rows = 4 / variance, complete(codes, [x, *blanket])
        of_x = np.broadcast_to(contrasts(cards[x]), (len(self.rows), cards[x], cards[x] - 1))
        parts, self.place, at = [of_x], {}, cards[x] - 1
        for y in blanket:
            parts.append(self.features(y, self.rows))
            self.place[y] = list(range(at, at + parts[-1].shape[2]))
            at += parts[-1].shape[2]
        self.phi = np.concatenate(parts, axis=2)
        self.prior = np.array([VAGUE] * (cards[x] - 1) + [self.precision] * (at - cards[x] + 1))
        self.theta = np.zeros(at)
        for _ in range(200):
            gradient, hessian = self.slopes(self.theta)
            step = np.linalg.solve(hessian, gradient) if at else gradient
            while self.height(self.theta + step) < self.height(self.theta) - 1e-12:
                step = step / 2
            self.theta = self.theta + step
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        self.hessian = self.slopes(self.theta)[1]

    def features(self, y: int, rows: Sequence[int]) -> Matrix:
        """(rows, levels of x, effects of y)."""
        of_y = coding(y, self.cards, self.ordinal)[self.codes[y][list(rows)]]
        both = np.einsum("lq,rc->rlqc", coding(self.x, self.cards, self.ordinal), of_y)
        return both.reshape(len(of_y), self.cards[self.x], both.shape[2] * both.shape[3])

    def shares(self, theta: Matrix) -> Matrix:
        """Probabilities of the levels of x in every row."""
        odds = self.phi @ theta
        odds = odds - odds.max(axis=1, keepdims=True)
        return np.asarray(np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True))

    def likelihood(self, theta: Matrix) -> float:
        """Log likelihood."""
        seen = self.shares(theta)[np.arange(len(self.rows)), self.codes[self.x][self.rows]]
        return float(np.log(seen).sum())

    def height(self, theta: Matrix) -> float:
        """Log posterior, up to a constant."""
        return self.likelihood(theta) - float((self.prior * theta**2).sum()) / 2

    def slopes(self, theta: Matrix) -> tuple[Matrix, Matrix]:
        """Gradient, and negative Hessian, of the log posterior."""
        share, own = self.shares(theta), self.codes[self.x][self.rows]
        mean = np.einsum("rl,rli->ri", share, self.phi)
        seen = self.phi[np.arange(len(self.rows)), own]
        information = np.einsum("rl,rli,rlj->ij", share, self.phi, self.phi) - mean.T @ mean
        return (seen - mean).sum(axis=0) - self.prior * theta, information + np.diag(self.prior)

    def value(self) -> float:
        """s_x(B): Laplace's approximation of the log evidence."""
        logs = np.log(self.prior).sum() - np.linalg.slogdet(self.hessian)[1]
        return self.height(self.theta) + float(logs) / 2

    def left_out(self) -> float:
        """Log likelihood, less the parameters that the data have set, for all rows of the table."""
        inverse = np.linalg.inv(self.hessian) if len(self.theta) else self.hessian
        found = self.likelihood(self.theta) - (1 - self.prior * np.diag(inverse)).sum()
        return float(found) * self.codes.shape[1] / max(len(self.rows), 1)

    def inside(self, y: int) -> float:
        """t of a member, from its effects and their block of the inverse of H."""
        mine = self.place[y]
        inverse, effect = np.linalg.inv(self.hessian)[np.ix_(mine, mine)], self.theta[mine]
        logs = np.linalg.slogdet(inverse)[1] + len(mine) * np.log(self.precision)
        return float(effect @ np.linalg.solve(inverse, effect) + logs) / 2

    def outside(self, y: int) -> float:
        """t of a variable that is not in the blanket, on the rows that know it: one Newton step."""
        keep = [i for i, r in enumerate(self.rows) if self.codes[y][r] >= 0]
        rows, share, phi = [self.rows[i] for i in keep], self.shares(self.theta)[keep], self.phi[keep]
        new = self.features(y, rows)
        mean, mean_new = np.einsum("rl,rli->ri", share, phi), np.einsum("rl,rli->ri", share, new)
        gradient = (new[np.arange(len(rows)), self.codes[self.x][rows]] - mean_new).sum(axis=0)
        own = np.einsum("rl,rli,rlj->ij", share, new, new) - mean_new.T @ mean_new
        cross = np.einsum("rl,rli,rlj->ij", share, new, phi) - mean_new.T @ mean
        whole = own - cross @ np.linalg.solve(self.hessian, cross.T) + self.precision * np.eye(len(own))
        logs = len(own) * np.log(self.precision) - np.linalg.slogdet(whole)[1]
        return float(gradient @ np.linalg.solve(whole, gradient) + logs) / 2
