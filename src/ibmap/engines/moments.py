"""The engine of continuous variables: sums of products, which add up over partitions of the rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.data.numbers import NumericData
from ibmap.engines.engine import EngineBase
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Tables
from ibmap.errors import RequestError

TINY = 1e-9  #: a share of a variance that is not told from nothing

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


class MomentsEngine(EngineBase):
    """Continuous variables in memory, for Gaussian tests and scores; it has no tables of counts.

    Parameters
    ----------
    data : NumericData
        The table, see :func:`ibmap.data.numbers.load_numbers`.
    """

    def __init__(self, data: NumericData) -> None:
        self.data, self.schema = data, data.schema

    def __reduce__(self) -> tuple[Any, ...]:
        return MomentsEngine, (self.data,)

    @cached_property
    def gaussian_moments(self) -> Moments:
        """Number of rows, means and sums of products of all variables."""
        return moments_of(self.data.values.T)

    def log_left_out(self, x: int, given: Ints) -> float:
        """Return how well others predict a variable: the sum of log densities, in standard deviations.

        Each row is predicted by a linear regression on the other rows: Student's t, with n - k - 2 degrees
        of freedom for k given variables.
        """
        from scipy.special import gammaln

        n, free = self.schema.n_rows, self.schema.n_rows - len(given) - 2
        if free < 1:
            name = self.schema.names[x]
            raise RequestError(f"{n} rows are too few to predict {name!r} from {len(given)} neighbours")
        rows = self._standard[:, [x, *given]]
        basis, scales, _ = np.linalg.svd(np.column_stack([np.ones(n), rows[:, 1:]]), full_matrices=False)
        basis = basis[:, scales > 1e-7 * scales[0]]
        left = rows[:, 0] - basis @ (basis.T @ rows[:, 0])
        kept = np.maximum(1.0 - (basis**2).sum(axis=1), TINY)  # one less the leverage of each row
        spread = np.maximum((left**2).sum() - left**2 / kept, TINY) / free
        z2 = left**2 / (kept * spread)
        constant = gammaln((free + 1) / 2) - gammaln(free / 2) - np.log(free * np.pi) / 2
        return float((constant - (np.log(spread / kept) + (free + 1) * np.log1p(z2 / free)) / 2).sum())

    @cached_property
    def _standard(self) -> Floats:
        """The rows, each variable with mean 0 and variance 1; a constant is 0."""
        values, moments = self.data.values.T - self.gaussian_moments.mean, self.gaussian_moments
        spread = np.sqrt(np.diagonal(moments.scatter) / max(moments.n_rows, 1))
        return np.asarray(values / np.where(moments.is_constant, np.inf, spread))

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
