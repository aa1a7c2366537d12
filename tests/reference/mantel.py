"""Mantel's statistics by the book: one slice after the other, with the covariance of a permutation."""

from collections.abc import Collection, Sequence

import numpy as np

from tests.reference.ordinal import coding
from tests.reference.slices import Codes


def mantel(
    codes: Codes, cards: Sequence[int], ordinal: Collection[int], x: int, y: int, given: Sequence[int]
) -> tuple[float, int] | None:
    """M² and its degrees of freedom; None if neither x nor y has an order (two levels have one)."""
    of_x, of_y = (coding(v, cards, ordinal) for v in (x, y))
    if of_x.shape[1] > 1 and of_y.shape[1] > 1:
        return None
    size = of_x.shape[1] * of_y.shape[1]
    total, spread = np.zeros(size), np.zeros((size, size))
    slices: dict[tuple[int, ...], list[int]] = {}
    for row in np.flatnonzero((codes[[x, y, *given]] >= 0).all(axis=0)).tolist():
        slices.setdefault(tuple(codes[list(given), row].tolist()), []).append(row)
    for rows in slices.values():
        if len(rows) > 1:
            a, b = of_x[codes[x][rows]], of_y[codes[y][rows]]
            a, b = a - a.mean(axis=0), b - b.mean(axis=0)
            total += (a.T @ b).ravel()
            spread += np.kron(a.T @ a, b.T @ b) / (len(rows) - 1)
    values, directions = np.linalg.eigh(spread)
    varies = values > 1e-8  # the rest is rounding
    return float(((directions.T @ total)[varies] ** 2 / values[varies]).sum()), int(varies.sum())
