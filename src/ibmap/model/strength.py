"""The size of an effect: log odds ratios, and Cramér's V with everything else equal.

Tables have the shape (..., rows, columns), margins (..., rows) and (..., columns).
"""

import numpy as np

from ibmap._types import Floats
from ibmap.scores.large_model import contrasts

STEPS = 500  #: of fitting margins, at most
CLOSE = 1e-9


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

    ``tables`` has the shape (tables, rows, columns), what is returned (tables, contrasts, contrasts). As the
    margins stay, what a table gains beyond a sum of a row and a column effect is what counts: G - a - b, with
    weights P, G the derivative of V by the probabilities P.
    """
    shares, expected = with_margins(tables, rows, columns), rows[:, :, None] * columns[:, None, :]
    v = np.maximum(cramers_v(tables, rows, columns), 1e-12)[:, None, None]
    by_share = shares / expected / (v * max(min(tables.shape[1:]) - 1, 1))
    return _along_contrasts(shares, rows, columns, by_share)


def score_correlation(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the correlation of levels, numbered in their order, of log tables, given these margins.

    Examples
    --------
    >>> up = np.log(np.array([[4.0, 2.0, 1.0], [1.0, 2.0, 4.0]]))
    >>> score_correlation(up, np.array([0.5, 0.5]), np.full(3, 1 / 3)).round(3).tolist()
    0.49
    """
    shares = with_margins(tables, rows, columns)
    return np.asarray((shares * _standardised(rows, columns)).sum(axis=(-2, -1)))


def correlation_slopes(tables: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the derivatives of that correlation of each table along the contrasts of rows and columns."""
    shares = with_margins(tables, rows, columns)
    return _along_contrasts(shares, rows, columns, _standardised(rows, columns))


def _standardised(rows: Floats, columns: Floats) -> Floats:
    """Return the products of the numbers of two levels, each with mean 0 and variance 1 under its margin."""

    def numbers(shares: Floats) -> Floats:
        level = np.arange(shares.shape[-1])
        left = level - (shares @ level)[..., None]
        return np.asarray(left / np.sqrt(np.maximum((shares * left**2).sum(axis=-1), 1e-12))[..., None])

    return np.asarray(numbers(rows)[..., :, None] * numbers(columns)[..., None, :])


def _along_contrasts(shares: Floats, rows: Floats, columns: Floats, by_share: Floats) -> Floats:
    """Return derivatives along contrasts, from those by the probabilities; the margins stay."""
    n_rows, n_columns = shares.shape[1:]
    normal = np.concatenate(
        [
            np.concatenate([rows[:, :, None] * np.eye(n_rows), shares], axis=2),
            np.concatenate([shares.swapaxes(1, 2), columns[:, :, None] * np.eye(n_columns)], axis=2),
        ],
        axis=1,
    )
    sums = np.concatenate([(shares * by_share).sum(axis=2), (shares * by_share).sum(axis=1)], axis=1)
    effects = (np.linalg.pinv(normal, hermitian=True) @ sums[:, :, None])[:, :, 0]
    gained = shares * (by_share - effects[:, :n_rows, None] - effects[:, None, n_rows:])
    return np.asarray(contrasts(n_rows).T @ gained @ contrasts(n_columns))
