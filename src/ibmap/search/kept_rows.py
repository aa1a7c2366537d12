"""Rows of very many variables: what could matter of each is kept, and the sum of the rest."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.scores.local_score import NONE


class Kept(NamedTuple):
    """A row, with the prior of edges that the search began with."""

    ys: NDArray[np.int32]  #: who is listed, in order
    ts: Floats  #: t_xy of these
    elsewhere: float  #: Σ e^t_xy over all others

    def find(self, y: int) -> float | None:
        """Return t_xy; None if y is not listed."""
        at = int(self.ys.searchsorted(y))
        return float(self.ts[at]) if at < len(self.ys) and self.ys[at] == y else None


NOTHING = Kept(np.empty(0, np.int32), np.empty(0), 0.0)


def joined(rows: Sequence[Kept]) -> tuple[Ints, Ints, Floats]:
    """Return rows one after the other: the number of the row, who is listed, and t_xy."""
    owner = np.repeat(np.arange(len(rows)), [len(row.ys) for row in rows])
    ys = np.concatenate([NONE, *(row.ys for row in rows)])
    return owner, ys, np.concatenate([np.empty(0), *(row.ts for row in rows)])


def looked_up(keys: Ints, values: Floats, wanted: Ints) -> Floats:
    """Return the values of wanted keys among sorted ones; NaN where there is none.

    Examples
    --------
    >>> looked_up(np.array([2, 5]), np.array([0.5, 0.25]), np.array([5, 3]))
    array([0.25,  nan])
    """
    if not len(keys):
        return np.full(len(wanted), np.nan)
    at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], np.nan)


def ordered(x: int, y: int) -> tuple[int, int]:
    """Return a pair with the smaller one first."""
    return (x, y) if x < y else (y, x)


def columns_of(ends: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return pairs as two lists."""
    return [x for x, _ in ends], [y for _, y in ends]
