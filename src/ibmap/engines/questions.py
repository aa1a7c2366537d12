"""What is asked of an engine: batches of (x, some ys, a conditioning set)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _core
from ibmap._types import Bools, Floats, Ints
from ibmap.errors import RequestError

BATCH_SUBSETS = 256  #: subsets that are counted together before anyone looks at the answers
FIRST_SUBSETS = 4  #: of a size, before all others: most questions end at the first or second
NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Questions:
    """A batch: question q is about ``x[q]`` against each of its ys, given its conditioning set.

    Attributes
    ----------
    x : ndarray of int
        The variable of each question.
    y, y_start : ndarray of int
        The ys of all questions one after the other, and where those of each begin (and the end).
    given, given_start : ndarray of int
        The same for the conditioning sets.
    """

    x: Ints
    y: Ints
    y_start: Ints
    given: Ints
    given_start: Ints

    def __len__(self) -> int:
        return len(self.x)

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """What the core takes: x, ys and conditioning sets, each after where they begin."""
        return self.x, self.y_start, self.y, self.given_start, self.given

    def same(self, other: "Questions") -> bool:
        """Whether two batches ask the same, in the same order."""
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[name], theirs[name]) for name in Questions.__dataclass_fields__)

    @cached_property
    def of_table(self) -> Ints:
        """The question that each table answers."""
        return np.repeat(np.arange(len(self.x)), self.y_start[1:] - self.y_start[:-1])

    def log_possible(self, levels: Ints) -> Floats:
        """Return the logarithm of how many configurations each table's conditioning set could have."""
        sums = np.concatenate([[0.0], np.cumsum(np.log(levels[self.given]))])
        return np.asarray((sums[self.given_start[1:]] - sums[self.given_start[:-1]])[self.of_table])

    @property
    def x_of_table(self) -> Ints:
        """The x of each table."""
        return self.x[self.of_table]

    def check(self, n: int) -> "Questions":
        """Return the questions, if all they name is among n variables."""
        if not _core.are_variables(n, self.x, self.y, self.given):
            for variables in (self.x, self.y, self.given):
                as_indices(variables, n)
        return self

    @staticmethod
    def of(parts: Sequence[tuple[int, Ints, Ints]]) -> "Questions":
        """Return the batch of some (x, ys, given)."""
        y_start = np.cumsum([0, *(len(ys) for _, ys, _ in parts)], dtype=np.int64)
        given_start = np.cumsum([0, *(len(given) for _, _, given in parts)], dtype=np.int64)
        x = np.array([x for x, _, _ in parts], np.int64)
        y = np.concatenate([NONE, *(ys for _, ys, _ in parts)])
        return Questions(
            x, y, y_start, np.concatenate([NONE, *(given for _, _, given in parts)]), given_start
        )

    @staticmethod
    def fixed(x: int, ys: ArrayLike, given: ArrayLike) -> "Questions":
        """Ask about x against each of many ys, one conditioning set."""
        ys, given = np.array(ys, np.int64).reshape(-1), np.array(given, np.int64).reshape(-1)
        ends = np.array([0, len(ys)]), np.array([0, len(given)])
        return Questions(np.array([x], np.int64), ys, ends[0], given, ends[1])

    @staticmethod
    def round_robin(x: int, members: ArrayLike) -> "Questions":
        """Ask about x against each member, given the other members."""
        members = np.asarray(members, np.int64).reshape(-1)
        m = len(members)
        others = np.tile(members, (m, 1))[~np.eye(m, dtype=bool)]
        return Questions(np.full(m, x), members, np.arange(m + 1), others, np.arange(m + 1) * max(m - 1, 0))

    @staticmethod
    def each(xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> "Questions":
        """Ask about x_i against y_i given the first ``sizes[i]`` of ``given[i]``."""
        flat = given[np.arange(given.shape[1]) < sizes[:, None]]
        return Questions(xs, ys, np.arange(len(xs) + 1), flat, np.concatenate([[0], np.cumsum(sizes)]))

    @staticmethod
    def rows(xs: Sequence[int], blankets: Sequence[Ints], n: int, among: Bools | None = None) -> "Questions":
        """Ask about each x against all, or those ``among`` them, outside its blanket, given the blanket."""
        sizes = [len(blanket) for blanket in blankets]
        given = np.concatenate([NONE, *blankets])
        question = np.repeat(np.arange(len(sizes)), sizes)
        outside = np.ones((len(sizes), n), bool) if among is None else np.tile(among, (len(sizes), 1))
        outside[np.arange(len(sizes)), xs] = False
        outside[question, given] = False
        of_table, y = outside.nonzero()
        y_start = np.searchsorted(of_table, np.arange(len(sizes) + 1))
        given_start = np.cumsum([0, *sizes], dtype=np.int64)
        return Questions(np.array(xs, np.int64), y, y_start, given, given_start)


def as_indices(variables: ArrayLike, n: int) -> Ints:
    """Return variables as an array of column indices, each of them between 0 and n - 1.

    Examples
    --------
    >>> as_indices([0, 2], 3)
    array([0, 2])
    """
    indices = np.asarray(variables, dtype=np.int64).reshape(-1)
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        raise RequestError(f"there are {n} variables: indices run from 0 to {n - 1}, not {indices.tolist()}")
    return indices


def subset_batches(pool: Ints, max_size: int | None = None) -> Iterator[Ints]:
    """Yield all subsets of a pool, smallest first, as rows of arrays; those of an array have one size.

    Examples
    --------
    >>> [batch.tolist() for batch in subset_batches(np.array([4, 7]))]
    [[[]], [[4], [7]], [[4, 7]]]
    """
    largest = len(pool) if max_size is None else min(max_size, len(pool))
    for size in range(largest + 1):
        subsets, wanted = combinations(pool.tolist(), size), FIRST_SUBSETS
        while batch := list(islice(subsets, wanted)):
            yield np.array(batch, np.int64).reshape(len(batch), size)
            wanted = min(4 * wanted, BATCH_SUBSETS)
