"""The engine for a table in the memory of this process."""

from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.data import CategoricalData
from ibmap.engines.engine import EngineBase
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Slices, Tables
from ibmap.kernels.context import counting_context
from ibmap.kernels.partition import pack_levels
from ibmap.kernels.records import Packed, Sets
from ibmap.kernels.tables import count_tables, levels_in_rows

WIDE = 32  #: a variable with more levels keeps its codes: bits would cost more memory than they save time
PADDED = 1 << 20  #: bytes of codes that are padded together: fresh memory for all of them costs more
BLOCK = 256  #: variables that are scored together; their counts and log odds fit the first-level cache


class MemoryEngine(EngineBase):
    """Count in memory: columns as bit masks, rows split by the variables of the conditioning set.

    Parameters
    ----------
    data : CategoricalData
        The table.

    Examples
    --------
    >>> from ibmap.data import load
    >>> engine = MemoryEngine(load(np.array([[0, 0], [0, 1], [1, 1], [1, 1]])))
    >>> engine.tables(Questions.fixed(0, [1], [])).cells.T.tolist()  # slice, level of x, level of y, count
    [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]]
    """

    def __init__(self, data: CategoricalData) -> None:
        self.data, self.schema = data, data.schema
        self.packed = pack(data.codes, data.cardinalities, data.has_missing)  #: the rows as bits, for kernels
        self._workspaces = local()

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryEngine, (self.data,)

    def tables(self, questions: Questions) -> Tables:
        """Count: one table for every y of every question."""
        asked = questions.check(self.schema.n_variables)
        start, cells, slice_start, some_row, set_start, sets = count_tables(
            *self._workspace(), asked.x, asked.y, asked.y_start, asked.given, asked.given_start
        )

        def find_keys() -> Ints:
            """Look up the levels of the given variables in one row of every slice."""
            return levels_in_rows(self._workspace()[0], asked.given, asked.given_start, some_row, slice_start)

        levels, n_rows = self.schema.cardinalities, self.schema.n_rows
        slices = Slices(slice_start, find_keys, set_start, sets)
        return Tables.of(asked, levels, start, cells, n_rows, slices)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MemoryEngine":
        """Return as many rows, drawn with replacement, or a share of them, none twice; all levels stay."""
        data = self.data
        codes = data.codes[:, drawn_rows(rng, data.n_rows, share)]
        return MemoryEngine(CategoricalData(codes, data.names, data.levels, data.bin_edges, data.backend))

    def _workspace(self) -> tuple[Ints, Ints]:
        """Return what the calling thread counts with: the rows and buffers, and how far they are split."""
        mine = self._workspaces
        if not hasattr(mine, "numbers"):
            mine.numbers, mine.arrays = counting_context(self.packed, new_sets(self.schema.n_rows))
            mine.reached = np.full(6 + self.schema.n_variables, -1, np.int64)
        return mine.numbers, mine.reached


def drawn_rows(rng: np.random.Generator, n_rows: int, share: float | None = None) -> Ints:
    """Return which rows a replicate has, in order: as many as there are, or a share of them, none twice."""
    if share is None:
        return np.sort(rng.integers(n_rows, size=n_rows))
    return np.sort(rng.choice(n_rows, n_drawn(share, n_rows), replace=False))


def n_drawn(share: float, n_rows: int) -> int:
    """Return how many rows a share is; never all of several, or every replicate would be the table."""
    return min(round(share * n_rows), max(n_rows - 1, 1))


def new_sets(n_rows: int) -> Sets:
    """Return buffers for four partitions of the rows; every thread needs its own."""
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
    step = max(1, PADDED // (64 * n_words))
    padded = np.full((step, 64 * n_words), -1, np.int8)
    variables = np.flatnonzero(narrow)
    for few in (variables[i : i + step] for i in range(0, len(variables), step)):
        padded[: len(few), :n_rows] = codes[few]
        pack_levels(padded[: len(few)], levels[few], first[few], level_bits)
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
    """Return columns of bits as rows of bytes, padded so that 64 can be read wherever a column begins."""
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
