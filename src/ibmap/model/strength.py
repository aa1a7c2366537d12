"""The size of an effect: log odds ratios, and Cramér's V with everything else equal.

Tables have the shape (..., rows, columns), margins (..., rows) and (..., columns).
"""

import numpy as np

from ibmap._types import Floats
from ibmap.scores.large_model import contrasts

STEPS = 500  #: of fitting margins, at most
CLOSE = 1e-9
STEP = 1e-4  #: of a difference quotient
AT_ONCE = 1 << 18  #: cells that are fitted together


def log_odds_ratio(tables: Floats) -> Floats:
    """Return the log odds ratio of tables of two binary variables.

    Examples
    --------
    >>> np.exp(log_odds_ratio(np.log([[4.0, 1.0], [1.0, 2.0]]))).round(6).tolist()
    8.0
    """
    return np.asarray(tables[..., 1, 1] - tables[..., 1, 0] - tables[..., 0, 1] + tables[..., 0, 0])


def with_margins(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return probabilities with these margins and the odds ratios of log tables.

    Examples
    --------
    >>> with_margins(np.zeros((2, 2)), np.array([0.5, 0.5]), np.array([0.25, 0.75])).tolist()
    [[0.125, 0.375], [0.125, 0.375]]
    """
    found = np.exp(tables - tables.max(axis=(-2, -1), keepdims=True)) * rows[..., :, None]
    found = found * columns[..., None, :]
    for _ in range(STEPS):
        found *= (columns / found.sum(axis=-2))[..., None, :]
        ratio = rows / found.sum(axis=-1)
        found *= ratio[..., :, None]
        if np.abs(ratio - 1).max() < CLOSE:
            break
    return np.asarray(found)


def cramers_v(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return Cramér's V of log tables, given these margins.

    Examples
    --------
    >>> same = np.log(np.array([[1.0, 1e-9], [1e-9, 1.0]]))
    >>> cramers_v(same, np.array([0.5, 0.5]), np.array([0.5, 0.5])).round(3).tolist()
    1.0
    """
    expected = rows[..., :, None] * columns[..., None, :]
    chi_square = ((with_margins(tables, rows, columns) - expected) ** 2 / expected).sum(axis=(-2, -1))
    return np.asarray(np.sqrt(chi_square / max(min(tables.shape[-2:]) - 1, 1)))


def slopes(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the derivatives of Cramér's V of each table along the contrasts of its rows and columns.

    ``tables`` has the shape (tables, rows, columns), what is returned (tables, contrasts, contrasts).
    """
    c, d = contrasts(tables.shape[1]), contrasts(tables.shape[2])
    moves = np.einsum("ak,bl->klab", c, d).reshape(-1, 1, *tables.shape[1:]) * STEP
    found = np.empty((len(moves), len(tables)))
    some = max(1, AT_ONCE // tables.size)
    for first in range(0, len(moves), some):
        part = moves[first : first + some]
        ahead, behind = (cramers_v(tables + side * part, rows, columns) for side in (1, -1))
        found[first : first + some] = (ahead - behind) / (2 * STEP)
    return np.asarray(found.T.reshape(len(tables), c.shape[1], d.shape[1]))
