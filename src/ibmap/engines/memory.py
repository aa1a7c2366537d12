"""The engine for a table in the memory of this process."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ibmap import _core
from ibmap._types import Ints
from ibmap.data import CategoricalData
from ibmap.engines.bits import packed_data
from ibmap.engines.engine import EngineBase
from ibmap.engines.model import Model
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists
from ibmap.engines.tables import Slices, Tables


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

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryEngine, (self.data,)

    def tables(self, questions: Questions) -> Tables:
        """Count: one table for every y of every question."""
        asked, table = questions.check(self.schema.n_variables), self.table
        start, cells, slice_start, some_row, set_start, sets = table.count(*asked.arrays)
        given = asked.given_start, asked.given
        slices = Slices(slice_start, lambda: table.keys(*given, slice_start, some_row), set_start, sets)
        return Tables.of(asked, self.schema.cardinalities, start, cells, self.schema.n_rows, slices)

    @cached_property
    def table(self) -> _core.Table:
        """The rows as bits, for the core."""
        bits = self.bits
        return _core.Table(
            self.schema.n_rows,
            np.asarray(bits.levels, np.int64),
            np.ascontiguousarray(bits.bits),
            np.ascontiguousarray(bits.level_sizes, np.int64),
            np.ascontiguousarray(bits.wide_codes, np.int32),
            bits.turned,
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
        self.table.forget()


def drawn_rows(rng: np.random.Generator, n_rows: int, share: float | None = None) -> Ints:
    """Return which rows a replicate has, in order: as many as there are, or a share of them, none twice."""
    if share is None:
        return np.sort(rng.integers(n_rows, size=n_rows))
    return np.sort(rng.choice(n_rows, n_drawn(share, n_rows), replace=False))


def n_drawn(share: float, n_rows: int) -> int:
    """Return how many rows a share is; never all of several, or every replicate would be the table."""
    return min(round(share * n_rows), max(n_rows - 1, 1))
