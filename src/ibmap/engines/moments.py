"""The engine of continuous variables: sums of products, which add up over partitions of the rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Floats
from ibmap.data.numbers import NumericData
from ibmap.engines.engine import EngineBase
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Tables
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
    def correlation(self) -> Floats:
        """The correlations; a constant is correlated with nothing."""
        spread = np.sqrt(np.diagonal(self.scatter))
        tiny = spread <= 1e-12 * np.maximum(np.abs(self.mean) * np.sqrt(self.n_rows), 1e-300)
        scale = np.where(tiny, 0.0, 1 / np.where(tiny, 1.0, spread))
        found = np.clip(self.scatter * np.outer(scale, scale), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)


def moments_of(rows: Floats) -> Moments:
    """Return the moments of some rows (rows, variables)."""
    mean = rows.mean(axis=0)
    apart = rows - mean
    return Moments(len(rows), mean, apart.T @ apart)


class MomentsEngine(EngineBase):
    """Continuous variables in memory, for Gaussian tests and scores; it has no tables of counts.

    Parameters
    ----------
    data : NumericData
        The table, see :func:`ibmap.data.numbers.load_numbers`.
    """

    def __init__(self, data: NumericData) -> None:
        self.data, self.schema, self.columns = data, data.schema, data.columns

    def __reduce__(self) -> tuple[Any, ...]:
        return MomentsEngine, (self.data,)

    @cached_property
    def gaussian_moments(self) -> Moments:
        """Number of rows, means and sums of products of all variables."""
        return moments_of(self.data.values.T)

    def tables(self, questions: Questions) -> Tables:
        """Refuse: there are no levels to count."""
        raise RequestError(COUNTS_NOTHING)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MomentsEngine":
        """Return as many rows, drawn with replacement, or a share of them, none twice."""
        from ibmap.engines.memory import drawn_rows

        rows = drawn_rows(rng, self.schema.n_rows, share)
        data = self.data
        return MomentsEngine(replace(data, values=data.values[:, rows]))


def gaussian_moments(engine: Any) -> Moments:
    """Return the moments behind an engine, if its variables are continuous."""
    found = getattr(engine, "gaussian_moments", None)
    if not isinstance(found, Moments):
        raise RequestError(
            "Gaussian tests and scores need numbers, and these variables are categories: pass "
            "columns='values' or 'ranks' (of load_numbers), or use another test or score"
        )
    return found
