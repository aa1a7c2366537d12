"""σ of very many variables without a matrix: of the graph without edges, and of rows that were touched."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.kernels.wide_lists import column_of_lists, mark_list
from ibmap.scores.local_score import ListedScore

MARKS = 4096  #: that tell who may list a column


@dataclass(eq=False)
class Unconditional:
    """What is kept of σ without edges, where σ_xy = σ_yx.

    Attributes
    ----------
    pairs : ndarray of shape (m, 2)
        The least credible pairs (x, y), x < y, least first.
    values : ndarray
        σ_xy of these.
    floor : float
        No other pair is below it.
    row_sum : ndarray
        Σ_y σ_xy of every x.
    """

    pairs: NDArray[np.int32]
    values: Floats
    floor: float
    row_sum: Floats

    def __post_init__(self) -> None:
        ends = self.pairs.T.reshape(-1)
        self._order = np.argsort(ends, kind="stable")
        self._start = np.searchsorted(ends, np.arange(len(self.row_sum) + 1), sorter=self._order)

    def row(self, x: int) -> tuple[NDArray[np.int32], Floats]:
        """Return the columns that are listed for x, and their values."""
        m = len(self.values)
        mine = self._order[self._start[x] : self._start[x + 1]]
        at = mine % m
        return self.pairs[at, np.where(mine < m, 1, 0)], self.values[at]


def unconditional(score: ListedScore, n_listed: int) -> Unconditional:
    """Score all pairs once, and keep the sums and the lowest pairs."""
    return Unconditional(*score.lowest(n_listed))


class LowRows:
    """The lowest values of the rows that were touched, and a floor below which no other value of a row is."""

    def __init__(self, n: int, per_row: int) -> None:
        self._n, self._size = n, min(per_row, n)
        self._slot: dict[int, int] = {}
        self._owners, self._floor = np.empty(64, np.int64), np.empty(64)
        self._keys, self._values = np.empty((64, self._size), np.int32), np.empty((64, self._size))
        self._marks = np.zeros((MARKS, 1), np.uint64)

    def put(self, x: int, row: Floats) -> None:
        """Keep what is lowest in the row of x."""
        slot = self._slot.get(x)
        if slot is None:
            slot = self._slot[x] = len(self._slot)
            if slot == len(self._owners):
                self._grow()
        else:
            mark_list(self._marks, slot, self._keys[slot], False)
        others = row.copy()
        others[x] = np.inf
        low, self._floor[slot] = lowest(others, self._size)
        keys = np.sort(low)
        self._owners[slot] = x
        self._keys[slot] = self._n  # no column
        self._keys[slot, : len(keys)], self._values[slot, : len(keys)] = keys, row[keys]
        mark_list(self._marks, slot, self._keys[slot], True)

    def _grow(self) -> None:
        """Have place for twice as many rows."""
        self._owners, self._floor, self._keys, self._values = (
            np.concatenate([array, np.empty_like(array)])
            for array in (self._owners, self._floor, self._keys, self._values)
        )
        self._marks = np.concatenate([self._marks, np.zeros_like(self._marks)], axis=1)

    def column(self, v: int, out: Floats, exact: NDArray[np.bool_]) -> None:
        """Put σ_iv of every touched i into ``out``, or a bound where it is not listed."""
        m = len(self._slot)
        lists = self._keys[:m], self._values[:m], self._floor[:m]
        column_of_lists(v, self._marks, self._owners[:m], *lists, out, exact)


def lowest(values: Floats, wanted: int) -> tuple[Ints, float]:
    """Return the positions of the lowest values, least first, and what no other value is below.

    Examples
    --------
    >>> lowest(np.array([3.0, 1.0, np.inf, 2.0]), 2)
    (array([1, 3]), 3.0)
    """
    if wanted < len(values):
        some = np.argpartition(values, wanted)[: wanted + 1]
        some = some[np.argsort(values[some], kind="stable")]
        low, floor = some[:-1], float(values[some[-1]])
    else:
        low, floor = np.argsort(values, kind="stable"), np.inf
    return low[values[low] < np.inf], floor
