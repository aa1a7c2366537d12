"""The engine for a table in the memory of this process."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.data import CategoricalData
from ibmap.engines.engine import Tables, as_indices, subset_batches
from ibmap.kernels.partition import pack_levels
from ibmap.kernels.records import Packed, Sets
from ibmap.kernels.tally import count_cells

WIDE = 32  #: a variable with more levels keeps its codes: bits would take more room than they save time
BLOCK = 256  #: variables that are scored together; their counts and log odds fit the first-level cache

Ints = NDArray[np.int64]


class LocalCounts:
    """Count in memory: columns as bit masks, rows split by the variables of the conditioning set.

    Parameters
    ----------
    data : CategoricalData
        The table.

    Examples
    --------
    >>> from ibmap.data import load
    >>> counts = LocalCounts(load(np.array([[0, 0], [0, 1], [1, 1], [1, 1]])))
    >>> tables = counts.fixed(0, [1], [])
    >>> tables.cells.T.tolist()  # slice, level of x, level of y, count
    [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]]
    """

    def __init__(self, data: CategoricalData) -> None:
        self.n_rows = data.n_rows
        self.cardinalities = data.cardinalities
        self.packed = pack(data.codes, data.cardinalities, data.has_missing)

    def __repr__(self) -> str:
        return f"LocalCounts({len(self.cardinalities)} variables, {self.n_rows} rows)"

    def fixed(self, x: int, ys: ArrayLike, given: ArrayLike) -> Tables:
        """Count x against each of many ys, one conditioning set."""
        ys = self._indices(ys)
        return self._tables(x, ys, np.zeros(len(ys), np.int64), [self._indices(given)])

    def round_robin(self, x: int, members: ArrayLike) -> Tables:
        """Count x against each member, given the other members."""
        members = self._indices(members)
        return self._tables(x, members, np.arange(len(members)), [members[members != y] for y in members])

    def all_subsets(
        self, x: int, y: int, pool: ArrayLike, max_size: int | None = None
    ) -> Iterator[tuple[Ints, Tables]]:
        """Count x against y given every subset of the pool, smallest first, in batches."""
        for given in subset_batches(self._indices(pool), max_size):
            yield given, self._tables(x, np.full(len(given), y), np.arange(len(given)), list(given))

    def _indices(self, variables: ArrayLike) -> Ints:
        return as_indices(variables, len(self.cardinalities))

    def _tables(self, x: int, ys: Ints, which: Ints, given: list[Ints]) -> Tables:
        """Count table t given the set ``given[which[t]]``."""
        self._indices([x])
        start = np.cumsum([0] + [len(g) for g in given], dtype=np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *given])
        log_possible = np.array([np.log(self.cardinalities[g]).sum() for g in given])
        sets = new_sets(self.n_rows)
        first, cells = count_cells(self.packed, sets, x, ys, which, flat, start)
        return Tables(x, ys, log_possible[which], first, cells)


def new_sets(n_rows: int) -> Sets:
    """Make room for four partitions of the rows; every thread needs its own."""
    n = max(n_rows, 64)
    return Sets(
        np.empty((4, n), np.uint32),
        np.empty((4, n), np.uint64),
        np.empty((4, n + 1), np.int64),
        np.empty((4, n), np.int64),
        np.empty((4, n), np.int64),
        np.empty((4, n + 1), np.int64),
        np.empty(n, np.int64),
    )


def pack(codes: NDArray[Any], levels: Ints, has_missing: bool) -> Packed:
    """Turn codes into bits, one row of bits per level, and again word by word in blocks of variables."""
    n_rows = codes.shape[1]
    n_words = max(1, -(-n_rows // 64))
    narrow = levels <= WIDE
    first = np.where(narrow, np.cumsum(np.where(narrow, levels, 0)) - levels, -1)
    level_bits = np.empty((int(levels[narrow].sum()), n_words), np.uint64)
    padded = np.full((int(narrow.sum()), 64 * n_words), -1, np.int8)
    padded[:, :n_rows] = codes if narrow.all() else codes[narrow]
    pack_levels(padded, levels[narrow], first[narrow], level_bits)
    complete = narrow & (codes.min(axis=1, initial=0) >= 0) if has_missing else narrow
    order = np.flatnonzero(complete)
    if levels.size and levels.min() != levels.max():
        order = order[np.argsort(levels[order], kind="stable")]
    blocks, rows = _blocks(levels, first, order)
    by_column = level_bits[rows]
    level_sizes = np.bitwise_count(level_bits).sum(axis=1, dtype=np.int64)
    wide = np.where(narrow, -1, np.cumsum(~narrow) - 1)
    return Packed(
        n_rows,
        np.asarray(levels, np.int64),
        first,
        level_bits,
        level_sizes,
        blocks,
        order,
        np.flatnonzero(~complete),
        np.ascontiguousarray(by_column.T),
        level_sizes[rows].astype(np.int32),
        _bytes(by_column, n_rows if (levels[order] > 2).any() else 0),
        wide,
        codes[~narrow].astype(np.int32),
        has_missing,
    )


def _bytes(by_column: NDArray[np.uint64], n_rows: int) -> NDArray[np.uint8]:
    """Return columns of bits as rows of bytes, with room to read 64 of them wherever a column begins."""
    out = np.zeros((n_rows, len(by_column) + 64), np.uint8)
    if n_rows:
        out[:, : len(by_column)] = np.unpackbits(
            by_column.view(np.uint8), axis=1, count=n_rows, bitorder="little"
        ).T
    return out


def _blocks(levels: Ints, first: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Cut the order into blocks of equal levels; list which row of bits stands in each column.

    Columns come in multiples of 8; what is left over repeats the last variable and is never read.
    """
    blocks, rows, start, column = [], [np.empty(0, np.int64)], 0, 0
    while start < len(order):
        n_levels = levels[order[start]]
        same = np.searchsorted(levels[order], n_levels, side="right")
        stop = min(int(same), start + BLOCK)
        stride = -(-(stop - start) // 8) * 8
        blocks.append((n_levels, start, stop, column, stride))
        members = order[np.minimum(np.arange(start, start + stride), stop - 1)]
        rows += [first[members] + level for level in range(1, n_levels)]
        column += (n_levels - 1) * stride
        start = stop
    return np.array(blocks, np.int64).reshape(-1, 5), np.concatenate(rows)
