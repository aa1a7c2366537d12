"""How levels enter a design: by contrasts, or where they have an order by scores."""

import numpy as np

from ibmap._types import Floats


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
