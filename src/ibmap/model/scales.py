"""What numbers and their standard scores have to do with each other.

A model of numbers is about z, which has mean 0 and variance 1: the normal score of a rank, or the
standardised value, as the network was learned. Scores become values again by the empirical quantile function,
linear between order statistics, so that what is frequent in the table is about as frequent in what is drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ibmap._types import Floats
from ibmap.errors import DataError

MOST_VALUES = 2000  #: different values that are kept; of more, as many quantiles
MOST_DECIMALS = 6  #: that are counted
MOST_ROWS = 1 << 53  #: whose values a scale counts: floats hold them


@dataclass(frozen=True)
class Scale:
    """A number's values and their standard scores.

    Attributes
    ----------
    mean, spread : float
        Of the values, or of the normal scores of their ranks.
    decimals : int or None
        How many all values have, so that those that are made have no more; 0 of whole numbers.
    values : tuple of float
        The different values, ascending; empty where scores are standardised values.
    counts : tuple of int
        How often each of them comes.

    Examples
    --------
    >>> scale = Scale.of(np.array([1.0, 1.0, 2.0, 100.0]))
    >>> scale.scores(np.array([1.0, 100.0, np.nan])).round(2).tolist()
    [-0.92, 1.47, nan]
    >>> scale.values_at(scale.scores(np.array([2.0]))).tolist()
    [2.0]
    """

    mean: float
    spread: float
    decimals: int | None
    values: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        finite = np.isfinite([self.mean, self.spread, *self.values]).all() and self.spread > 0
        if (
            not finite
            or len(self.values) != len(self.counts)
            or not 1 <= min(self.counts, default=1) <= sum(self.counts, 1) <= MOST_ROWS
        ):
            raise DataError("a scale has finite numbers, a spread above 0, and a count for every value")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            raise DataError(f"the decimals of a scale must be 0 to {MOST_DECIMALS}, or None")
        if np.any(np.diff(self.values) <= 0):
            raise DataError("the values of a scale must ascend")

    @classmethod
    def of(cls, values: Floats, numbers: str = "ranks") -> Self:
        """Return the scale of a column; NaN is missing.

        Parameters
        ----------
        values : ndarray
            The column.
        numbers : {"ranks", "values"}
            What counts of it.
        """
        known = np.sort(values[~np.isnan(values)])
        decimals = next((d for d in range(MOST_DECIMALS + 1) if np.array_equal(known.round(d), known)), None)
        if numbers == "values":
            return cls(*_mean_and_spread(known), decimals)
        if len(distinct := np.unique(known)) > MOST_VALUES:
            known = known[np.linspace(0, len(known) - 1, MOST_VALUES).round().astype(np.int64)]
            distinct = np.unique(known)
        counts = np.diff(np.searchsorted(known, [*distinct, np.inf]))
        shape = tuple(distinct.tolist()), tuple(counts.tolist())
        raw = cls(0.0, 1.0, decimals, *shape).scores(distinct)
        mean = float(np.average(raw, weights=counts)) if len(raw) else 0.0
        spread = float(np.sqrt(np.average((raw - mean) ** 2, weights=counts))) if len(raw) > 1 else 1.0
        return cls(mean, spread, decimals, *shape)

    def scores(self, values: Floats) -> Floats:
        """Return the standard scores of values; NaN stays."""
        found = np.asarray(values, np.float64)
        if self.values:
            from scipy.special import ndtri

            last = np.cumsum(self.counts)
            middle = (last - np.array(self.counts) / 2) / last[-1]
            known = ~np.isnan(found)
            scores = np.full(found.shape, np.nan)
            scores[known] = ndtri(np.interp(found[known], self.values, middle))
            found = scores
        return np.asarray((found - self.mean) / self.spread)

    def values_at(self, scores: Floats) -> Floats:
        """Return the values that have some scores; between order statistics linear, beyond them the last."""
        found = np.asarray(scores, np.float64) * self.spread + self.mean
        if self.values:
            from scipy.special import ndtr

            last = np.cumsum(self.counts)
            places = np.stack(
                [last - self.counts, last - 1], axis=1
            ).ravel()  # of equal values, first and last
            found = np.interp(ndtr(found) * last[-1] - 0.5, places, np.repeat(self.values, 2))
        return np.asarray(found if self.decimals is None else np.round(found, self.decimals))

    def to_dict(self) -> dict[str, Any]:
        """Return the scale as JSON can hold it."""
        about: dict[str, Any] = {"mean": self.mean, "spread": self.spread, "decimals": self.decimals}
        return {**about, "values": list(self.values), "counts": list(self.counts)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Return a scale from what :meth:`to_dict` returned."""
        values, counts = tuple(map(float, found["values"])), tuple(map(int, found["counts"]))
        decimals = None if found["decimals"] is None else int(found["decimals"])
        return cls(float(found["mean"]), float(found["spread"]), decimals, values, counts)


def _mean_and_spread(values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation; of what does not vary, beyond rounding, 1."""
    if not len(values):
        return 0.0, 1.0
    highest = float(np.abs(values).max()) or 1.0
    scaled = values / highest
    spread = float(scaled.std())
    return float(scaled.mean() * highest), spread * highest if spread > 1e-12 else 1.0


def labels_of(scale: Scale, scores: Floats) -> list[Any]:
    """Return values by their scores, whole numbers as such; None where there is none."""
    values: Sequence[float] = scale.values_at(scores).tolist()
    return [None if value != value else int(value) if scale.decimals == 0 else value for value in values]
