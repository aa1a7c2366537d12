"""The engine for a table in the memory of this process."""

from collections.abc import Sequence
from functools import cached_property
from threading import local
from typing import Any

import numpy as np

from ibmap import _core
from ibmap._types import Ints
from ibmap.data import CategoricalData
from ibmap.engines.engine import EngineBase
from ibmap.engines.model import Model
from ibmap.engines.packing import pack, packed_data
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists
from ibmap.engines.tables import Slices, Tables
from ibmap.kernels.context import counting_context
from ibmap.kernels.records import Sets
from ibmap.kernels.tables import count_tables, levels_in_rows


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
        self.bits = packed_data(data).bits
        self.packed = pack(data, self.bits)  #: the rows as bits, for kernels
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

    @cached_property
    def table(self) -> _core.Table:
        """The rows as bits, for the core."""
        bits, schema = self.bits, self.schema
        return _core.Table(
            schema.n_rows,
            np.array(schema.cardinalities, np.int64),
            np.ascontiguousarray(bits.complete),
            np.ascontiguousarray(bits.bits),
            np.ascontiguousarray(bits.columns),
            np.ascontiguousarray(bits.order, np.int64),
            np.ascontiguousarray(bits.blocks[0]),
            np.ascontiguousarray(bits.wide_codes, np.int32),
        )

    def rows(
        self,
        model: Model,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return the rows of some x, each given its blanket, from the bits; see :class:`Engine`."""
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        which = np.asarray(xs, np.int64)
        found = self.conditionals(model).rows(
            self.table, which, *given, model.log_odds, floor, *others, exact, model.n_threads
        )
        return Rows(*found)

    def level_counts(self) -> Ints:
        """Return how many rows have each level of each variable, one variable after the other."""
        bits = self.bits
        if bits.narrow.all():
            return np.asarray(bits.level_sizes, np.int64)
        codes = {int(v): bits.wide_codes[bits.wide[v]] for v in np.flatnonzero(~bits.narrow)}
        sizes = [
            np.bincount(codes[v][codes[v] >= 0], minlength=r)
            if v in codes
            else bits.level_sizes[first : first + r]
            for v, (first, r) in enumerate(zip(bits.first.tolist(), bits.levels.tolist(), strict=True))
        ]
        return np.concatenate([NONE, *sizes]).astype(np.int64)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MemoryEngine":
        """Return as many rows, drawn with replacement, or a share of them, none twice; all levels stay."""
        data = self.data
        return MemoryEngine(data.rows(drawn_rows(rng, data.n_rows, share)))

    def forget_splits(self) -> None:
        """Give back the buffers in which rows are split; the next question gets new ones."""
        self._workspaces = local()

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
