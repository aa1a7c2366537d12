"""Rows of evidence without those that hardly matter: for searches without a matrix of all pairs."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.scores.local_score import LocalScore, rows_at_once

NUMBERS = 1 << 22  #: that dense rows may hold together


class LikelyRow(NamedTuple):
    """What is kept of a row of t_xy.

    Attributes
    ----------
    ys : ndarray
        Who is listed, in order: members, all y whose t_xy is above a floor, and those that were asked for.
    ts : ndarray
        t_xy of these.
    elsewhere : float
        Σ e^t_xy over all other y.
    value : float
        s_x(B).
    """

    ys: NDArray[np.int32]
    ts: Floats
    elsewhere: float
    value: float


class Asked(NamedTuple):
    """Whose rows are wanted, with the prior log odds of edges; of each what is above a floor, and some y."""

    xs: Sequence[int]
    blankets: Sequence[Ints]
    prior_odds: float
    floor: float
    wanted: Sequence[Any]

    def some(self, which: Sequence[int]) -> "Asked":
        """Return the same about some of them."""
        xs, blankets = [self.xs[q] for q in which], [self.blankets[q] for q in which]
        return self._replace(xs=xs, blankets=blankets, wanted=[self.wanted[q] for q in which])


def likely_rows(
    score: LocalScore,
    xs: Sequence[int],
    blankets: Sequence[Ints],
    floor: float,
    wanted: Sequence[Sequence[int] | Ints],
) -> Iterator[LikelyRow]:
    """Yield what is above a floor in the row of each of some x, beside members and those that are wanted.

    The floor is not above zero. Rows are made some at a time, by the score itself if it can leave out some.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> from ibmap.scores import PairwiseScore
    >>> a = np.arange(64) % 2
    >>> engine = MemoryEngine(load({"a": a, "b": a, "c": np.arange(64) // 32}))
    >>> (row,) = likely_rows(PairwiseScore().bind(engine, None), [0], [np.array([], int)], 0.0, [[]])
    >>> row.ys.tolist()
    [1]
    """
    fused: Any = getattr(score, "likely", None)
    at_once = max(getattr(score, "likely_at_once", 1), NUMBERS // max(score.n, 1))
    for first in range(0, len(xs), at_once):
        some = slice(first, first + at_once)
        if fused is not None:
            yield from fused(xs[some], blankets[some], floor, wanted[some])
        else:
            yield from from_dense(score, xs[some], blankets[some], floor, wanted[some])


def from_dense(
    score: LocalScore, xs: Sequence[int], blankets: Sequence[Ints], floor: float, wanted: Sequence[Any]
) -> Iterator[LikelyRow]:
    """Yield the same of rows that are made whole, some at a time."""
    at_once = rows_at_once(score)
    if len(xs) > at_once:
        for first in range(0, len(xs), at_once):
            some = slice(first, first + at_once)
            yield from from_dense(score, xs[some], blankets[some], floor, wanted[some])
        return
    rows = score.rows(xs, blankets)
    for x, blanket, row, value, also in zip(xs, blankets, *rows[:2], wanted, strict=True):
        listed = row > floor
        listed[blanket] = True
        listed[np.asarray(also, np.int64)] = True
        listed[x] = False
        ys = np.flatnonzero(listed)
        listed[x] = True
        yield LikelyRow(ys.astype(np.int32), row[ys], float(np.exp(row[~listed]).sum()), float(value))
