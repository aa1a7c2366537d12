"""What an engine that counts must offer: three shapes of question, answered with tables.

Counts are integers and add up over any partition of the rows, so an engine may sit on one machine, a cluster
or a GPU; nothing above this room knows which one it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.errors import RequestError
from ibmap.kernels.records import Packed

Ints = NDArray[np.int64]

BATCH_SUBSETS = 256  #: subsets that are counted together before anyone looks at the answers


@dataclass(frozen=True, eq=False)
class Tables:
    """A batch of contingency tables of x against some y, as lists of their observed cells.

    Table t owns the cells ``start[t]:start[t + 1]``, sorted by slice, then level of x, then level of y.
    Nothing that was not observed takes space: thousands of levels or 70 conditioning columns are no matter.

    Attributes
    ----------
    x : int
        The variable that all tables share.
    y : ndarray of int
        The other variable of each table.
    log_possible : ndarray of float
        Logarithm of the number of configurations that the conditioning set of each table could have.
    start : ndarray of int
        First cell of each table, and the end.
    cells : ndarray of int, shape (4, cells)
        Slice, level of x, level of y, count. Slices are numbered within each table from 0, without gaps.
    """

    x: int
    y: Ints
    log_possible: NDArray[np.float64]
    start: Ints
    cells: Ints

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_rows(self) -> Ints:
        """Rows counted in each table."""
        sums = np.concatenate([[0], np.cumsum(self.cells[3])])
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]])

    @property
    def n_slices(self) -> Ints:
        """Observed slices of each table."""
        last = np.append(self.cells[0], -1)[self.start[1:] - 1]
        return np.where(self.start[1:] > self.start[:-1], last + 1, 0)


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
        subsets = combinations(pool.tolist(), size)
        while batch := list(islice(subsets, BATCH_SUBSETS)):
            yield np.array(batch, np.int64).reshape(len(batch), size)


class Counts(Protocol):
    """An engine: the three shapes of question (see ``docs/design.md``)."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def cardinalities(self) -> Ints:
        """Number of levels of each variable."""
        ...

    @property
    def packed(self) -> Packed | None:
        """The rows as bits in this process, for kernels that can use them; None where they are elsewhere."""
        ...

    def fixed(self, x: int, ys: Ints, given: Ints) -> Tables:
        """Count x against each of many ys, one conditioning set."""
        ...

    def round_robin(self, x: int, members: Ints) -> Tables:
        """Count x against each member, given the other members."""
        ...

    def all_subsets(
        self, x: int, y: int, pool: Ints, max_size: int | None = None
    ) -> Iterator[tuple[Ints, Tables]]:
        """Count x against y given every subset of the pool, smallest first, in batches.

        Each batch is (subsets, tables): the rows of ``subsets`` are conditioning sets of one size.
        """
        ...
