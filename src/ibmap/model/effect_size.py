"""The size of an effect: log odds ratios, and Cramér's V with everything else equal.

Tables have the shape (..., rows, columns), margins (..., rows) and (..., columns). Sizes are those of tables
of shares, which ``with_margins`` makes of log tables.
"""

import numpy as np

from ibmap._types import Floats
from ibmap.criteria.coding import contrasts

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
    if tables.shape[-2:] == (2, 2):
        return _two_by_two(log_odds_ratio(tables), rows, columns)
    found = np.exp(tables - tables.max(axis=(-2, -1), keepdims=True)) * rows[..., :, None]
    found = found * columns[..., None, :]
    for _ in range(STEPS):
        found *= (columns / found.sum(axis=-2))[..., None, :]
        ratio = rows / found.sum(axis=-1)
        found *= ratio[..., :, None]
        if np.abs(ratio - 1).max() < CLOSE:
            break
    return np.asarray(found)


def _two_by_two(log_ratio: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the shares of two binary variables from the log odds ratio and the margins (Plackett 1965).

    The first cell p of a table with margins a, b and odds ratio 1 / t solves a quadratic equation. As tables
    with t > 1 are turned round, all terms of p = 2 a b / (t + (a + b) (1 - t) + √...) are positive: nothing
    cancels.
    """
    turned = log_ratio < 0
    a, b = rows[..., 0], np.where(turned, columns[..., 1], columns[..., 0])
    t, w = np.exp(-np.abs(log_ratio)), -np.expm1(-np.abs(log_ratio))
    root = np.sqrt(t**2 + 2 * t * w * (a * (1 - b) + b * (1 - a)) + (w * (a - b)) ** 2)
    p = 2 * a * b / (t + (a + b) * w + root)
    same = np.stack([p, a - p, b - p, rows[..., 1] - (b - p)], axis=-1)
    found = np.where(turned[..., None], same[..., [1, 0, 3, 2]], same)
    return np.asarray(np.maximum(found, 0.0).reshape(*a.shape, 2, 2))


def cramers_v(shares: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return Cramér's V of tables of shares with these margins.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> cramers_v(np.diag(half), half, half).round(3).tolist()
    1.0
    """
    expected = rows[..., :, None] * columns[..., None, :]
    chi_square = ((shares - expected) ** 2 / expected).sum(axis=(-2, -1))
    return np.asarray(np.sqrt(chi_square / max(min(shares.shape[-2:]) - 1, 1)))


def slopes(shares: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the derivatives of Cramér's V of each table along the contrasts of its rows and columns.

    ``shares`` has the shape (tables, rows, columns), what is returned (tables, contrasts, contrasts). As the
    margins stay, what a table gains beyond a sum of a row and a column effect is what counts: G - a - b, with
    weights P, G the derivative of V by the probabilities P.
    """
    v = np.maximum(cramers_v(shares, rows, columns), 1e-12)[:, None, None]
    expected = rows[:, :, None] * columns[:, None, :]
    by_share = shares / expected / (v * max(min(shares.shape[1:]) - 1, 1))
    return _along_contrasts(shares, rows, columns, by_share)


def score_correlation(shares: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the correlation of levels, numbered in their order, of tables of shares with these margins.

    Examples
    --------
    >>> rows, columns = np.array([0.5, 0.5]), np.full(3, 1 / 3)
    >>> up = with_margins(np.log(np.array([[4.0, 2.0, 1.0], [1.0, 2.0, 4.0]])), rows, columns)
    >>> score_correlation(up, rows, columns).round(3).tolist()
    0.49
    """
    return np.asarray((shares * _standardised(rows, columns)).sum(axis=(-2, -1)))


def correlation_slopes(shares: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the derivatives of that correlation of each table along the contrasts of rows and columns."""
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
    weighted = shares * by_share
    of_column = weighted.sum(axis=1) / columns
    of_row = weighted.sum(axis=2) - (shares @ of_column[:, :, None])[:, :, 0]
    # column effects taken out, row effects are left; they have a free constant, which the last term fixes
    normal = rows[:, :, None] * np.eye(n_rows) - (shares / columns[:, None, :]) @ shares.swapaxes(1, 2)
    normal += rows[:, :, None] * rows[:, None, :]
    row_effect = np.linalg.solve(normal, of_row[:, :, None])
    column_effect = (
        of_column[:, None, :] - (row_effect * shares).sum(axis=1, keepdims=True) / columns[:, None, :]
    )
    gained = weighted - shares * (row_effect + column_effect)
    return np.asarray(contrasts(n_rows).T @ gained @ contrasts(n_columns))
