"""Partial correlations and the Gaussian Bayes factor, the slow way: regressions, and draws."""

import math
from typing import Any

import numpy as np
from scipy import stats


def partial_correlation(rows: Any, x: int, y: int, given: list[int]) -> float:
    """Correlate what two regressions on the given variables leave."""
    rows = rows - rows.mean(axis=0)
    left = []
    for v in (x, y):
        fitted = rows[:, given] @ np.linalg.lstsq(rows[:, given], rows[:, v], rcond=None)[0] if given else 0.0
        left.append(rows[:, v] - fitted)
    return float(left[0] @ left[1] / math.sqrt((left[0] @ left[0]) * (left[1] @ left[1])))


def log_bayes_factor(r: float, m: int, draws: int = 400_000) -> float:
    """Average the likelihood over covariances that are drawn from both priors."""
    rng = np.random.default_rng(0)
    dependent = stats.invwishart.rvs(3, np.eye(2), draws, random_state=rng)
    x, y, c = dependent[:, 0, 0], dependent[:, 1, 1], dependent[:, 0, 1]
    single = stats.invwishart.rvs(2, np.eye(1), (2, draws), random_state=rng).reshape(2, draws)
    zero = np.zeros(draws)
    return _log_mean(_log_likelihood(x, y, c, r, m)) - _log_mean(_log_likelihood(*single, zero, r, m))


def _log_likelihood(x: Any, y: Any, c: Any, r: float, m: int) -> Any:
    det = x * y - c * c
    return -m / 2 * np.log(det) - m * (x + y - 2 * r * c) / det / 2


def _log_mean(logs: Any) -> float:
    return float(logs.max() + np.log(np.exp(logs - logs.max()).mean()))
