"""Sums of products of numbers, which add up over partitions of the rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Bools, Floats
from ibmap.errors import RequestError

#: what those are told who want to count
COUNTS_NOTHING = (
    "these variables are numbers, and this needs levels to count: cut them (discretize='quantile'), or use "
    "evidence-map, ibmap-hc, gsmn or hhc-mn with the test 'gaussian'"
)


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, means, and sums of products of deviations; those of partitions are added with ``+``.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 1.0], [5.0, 9.0]])
    >>> whole = moments_of(rows)
    >>> parts = moments_of(rows[:2]) + moments_of(rows[2:])
    >>> np.allclose(parts.scatter, whole.scatter), np.allclose(parts.mean, whole.mean)
    (True, True)
    """

    n_rows: int
    mean: Floats
    scatter: Floats

    def __add__(self, other: "Moments") -> "Moments":
        n, apart = self.n_rows + other.n_rows, other.mean - self.mean
        between = np.outer(apart, apart) * (self.n_rows * other.n_rows / n)
        return Moments(n, self.mean + apart * (other.n_rows / n), self.scatter + other.scatter + between)

    @cached_property
    def is_constant(self) -> Bools:
        """Which variables do not vary, beyond rounding."""
        spread = np.sqrt(np.diagonal(self.scatter))
        return np.asarray(spread <= 1e-12 * np.maximum(np.abs(self.mean) * np.sqrt(self.n_rows), 1e-300))

    @cached_property
    def correlation(self) -> Floats:
        """The correlations; a constant is correlated with nothing."""
        spread = np.sqrt(np.diagonal(self.scatter))
        scale = np.where(self.is_constant, 0.0, 1 / np.where(self.is_constant, 1.0, spread))
        found = np.clip(self.scatter * np.outer(scale, scale), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)


def moments_of(rows: Floats) -> Moments:
    """Return the moments of some rows (rows, variables)."""
    mean = rows.mean(axis=0)
    apart = rows - mean
    return Moments(len(rows), mean, apart.T @ apart)


def gaussian_moments(engine: Any) -> Moments:
    """Return the moments behind an engine, if its variables are continuous."""
    found: Moments | None = engine.gaussian_moments
    if found is None:
        raise RequestError(
            "Gaussian tests and scores need numbers in all rows of all columns: load the table with "
            "continuous='all', or use another test or score"
        )
    return found
