"""Rows of evidence: what a search needs of a criterion, whoever made them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Bools, Floats, Ints

NONE = np.empty(0, np.int64)


class Rows(NamedTuple):
    """Compressed rows: for each of some x, given its blanket, t_xy of the ys that matter.

    t_xy is the log evidence, seen from x, that y belongs to the blanket of x given the rest of it: one sign,
    whether y is in the blanket or not. Where a criterion has a prior of edges, it is in t_xy.

    Examples
    --------
    >>> rows = rows_of_matrix(np.array([[0.0, 2.0, -9.0]]), np.array([-3.0]), [0], [[]], floor=-6.0)
    >>> rows.y.tolist(), rows.t.tolist(), rows.value.tolist()
    ([1], [2.0], [-3.0])
    """

    start: Ints  #: where each row begins, and the end
    y: NDArray[np.int32]  #: who is listed: above a floor, members of the blanket, and whoever was asked for
    t: Floats  #: t_xy of these
    rest: Floats  #: Σ e^t of the ys that are not listed
    value: Floats  #: s_x(B)

    def matrix(self, n: int) -> Floats:
        """Return t_xy with a column for each of n variables; 0 for x itself, and for variables not listed."""
        out = np.zeros((len(self.value), n))
        out[np.repeat(np.arange(len(self.value)), np.diff(self.start)), self.y] = self.t
        return out


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Return rows one after the other."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.start[-1] for part in parts)])
    starts = [part.start[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    none = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0))
    fields = [starts, *([part[k] for part in parts] for k in range(1, 5))]
    return Rows(*(np.concatenate([first, *field]) for first, field in zip(none, fields, strict=True)))


class Lists(NamedTuple):
    """Lists of variables one after the other, such as blankets.

    Examples
    --------
    >>> lists = as_lists([[3], [], [0, 2]])
    >>> lists.start, lists.members
    (array([0, 1, 1, 3]), array([3, 0, 2]))
    """

    start: Ints  #: where each begins, and the end
    members: Ints

    @property
    def size(self) -> int:
        """How many lists there are."""
        return len(self.start) - 1

    def some(self, which: slice) -> "Lists":
        """Return some of them, one after the other."""
        start = self.start[which.start : which.stop + 1]
        return Lists(start - start[0], self.members[start[0] : start[-1]])

    def with_one_more(self, more: Ints) -> "Lists":
        """Return ascending lists, each with one more variable.

        Examples
        --------
        >>> as_lists([[3], []]).with_one_more(np.array([0, 2])).one_by_one()
        [array([0, 3]), array([2])]
        """
        every = np.arange(self.size)
        owner = np.concatenate([np.repeat(every, np.diff(self.start)), every])
        members = np.concatenate([self.members, more])
        return Lists(self.start + np.arange(self.size + 1), members[np.lexsort((members, owner))])

    def one_by_one(self) -> list[Ints]:
        """Return each as an array of its own."""
        ends = self.start.tolist()
        return [self.members[begin:end] for begin, end in pairwise(ends)]


ManyVariables = Lists | Sequence[Sequence[int] | Ints]  #: a list of variables for each of some x


def as_lists(lists: ManyVariables) -> Lists:
    """Return lists of variables one after the other."""
    if isinstance(lists, Lists):
        return lists
    start = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return Lists(start, np.concatenate([NONE, *(np.asarray(one, np.int64) for one in lists)]))


def no_lists(n: int) -> Lists:
    """Return n empty lists."""
    return Lists(np.zeros(n + 1, np.int64), NONE)


def rows_of_matrix(
    evidence: Floats,
    value: Floats,
    xs: Sequence[int] | Ints,
    blankets: ManyVariables,
    *,
    floor: float = -np.inf,
    also: ManyVariables | None = None,
) -> Rows:
    """Return rows that were made whole, with what matters in them: see :class:`Rows`."""
    listed: Bools = evidence > floor
    for some in map(as_lists, (blankets, also or no_lists(len(xs)))):
        listed[np.repeat(np.arange(len(xs)), np.diff(some.start)), some.members] = True
    own = np.arange(len(xs)), np.asarray(xs, np.int64)
    listed[own] = True
    rest = np.where(listed, 0.0, np.exp(np.minimum(evidence, 0.0))).sum(axis=1)
    listed[own] = False
    where, ys = np.nonzero(listed)
    start = np.searchsorted(where, np.arange(len(xs) + 1))
    return Rows(start, ys.astype(np.int32), evidence[where, ys], rest, np.asarray(value, float))


def credibility(evidence: Floats, xs: Sequence[int] | Ints, blankets: Sequence[Ints]) -> Floats:
    """Return σ_xy = -softplus(∓t_xy): the log posterior of what a graph asserts, seen from each of some x.

    It asserts dependence from the members of the blanket, and independence from all others.

    Examples
    --------
    >>> credibility(np.array([[0.0, 2.0, -2.0]]), [0], [np.array([1])]).round(4)
    array([[ 0.    , -0.1269, -0.1269]])
    """
    signed = evidence.copy()
    for row, blanket in zip(signed, blankets, strict=True):
        row[blanket] *= -1.0
    sigma = -np.logaddexp(0.0, signed)
    sigma[np.arange(len(sigma)), xs] = 0.0
    return sigma
