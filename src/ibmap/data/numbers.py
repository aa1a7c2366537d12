"""Numbers as conditionals take them: normal scores of ranks, or values, standardised."""

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats

NUMBERS = ("ranks", "values")  #: what of a number counts: the normal score of its rank, or its value


def scores(values: Floats, numbers: str = "ranks", weights: Floats | None = None) -> Floats:
    """Return what of some numbers counts: the normal scores of their ranks, or their values; NaN stays.

    Examples
    --------
    >>> scores(np.array([1.0, np.nan, 30.0])).round(2).tolist()
    [-0.67, nan, 0.67]
    """
    if numbers == "values":
        return values
    known, out = ~np.isnan(values), np.full(len(values), np.nan)
    out[known] = normal_scores(values[known], None if weights is None else weights[known])
    return out


def standard_columns(
    values: Floats, numbers: str = "ranks", weights: Floats | None = None
) -> NDArray[np.float32]:
    """Return two columns of every number, as conditionals take it: (2, numbers, rows).

    The first is the number, or the normal score of its rank, with mean 0 and variance ½: as a fair coin has.
    The second is its square, without what the first says of it, with the same variance. A constant is 0.

    Examples
    --------
    >>> standard_columns(np.array([[1.0, 2.0, 30.0]])).round(2).tolist()
    [[[-0.8700000047683716, 0.0, 0.8700000047683716]], [[0.5, -1.0, 0.5]]]
    """
    out = np.full((2, *values.shape), np.nan, np.float32)
    for k, row in enumerate(values):
        known = ~np.isnan(row)
        w = np.ones(int(known.sum())) if weights is None else weights[known]
        if not w.any():
            continue
        first = standardised(scores(row, numbers, weights)[known], w)
        square = first**2
        left = square - np.average(square, weights=w)
        left = left - first * ((w * left) @ first) / max((w * first) @ first, 1e-300)
        out[0, k, known], out[1, k, known] = first / np.sqrt(2), standardised(left, w) / np.sqrt(2)
    return out


def standardised(values: Floats, weights: Floats | None = None) -> Floats:
    """Return numbers with mean 0 and variance 1; those that do not vary, beyond rounding, are 0."""
    highest = float(np.abs(values).max(initial=0.0))
    if not highest:
        return np.zeros_like(values)
    scaled = values / highest  # neither overflows nor vanishes
    apart = scaled - np.average(scaled, weights=weights)
    spread = float(np.sqrt(np.average(apart**2, weights=weights)))
    return apart / spread if spread > 1e-12 else np.zeros_like(values)


def normal_scores(values: Floats, weights: Floats | None = None) -> Floats:
    """Return the quantiles of a normal distribution that belong to the ranks of some numbers."""
    from scipy.special import ndtri

    _, inverse = np.unique(values, return_inverse=True)
    counts = np.bincount(inverse, weights)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray(ndtri(middle / counts.sum())[inverse])
