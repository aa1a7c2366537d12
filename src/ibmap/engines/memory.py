"""The engine for a table in the memory of this process."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ibmap import _core
from ibmap._types import Ints
from ibmap.data import Table
from ibmap.engines.arrangement import Arrangement, arranged_data, colour_sums_of_data
from ibmap.engines.bits import packed_data
from ibmap.engines.engine import Colours, Engine
from ibmap.engines.model import Model
from ibmap.engines.moments import COUNTS_NOTHING
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists
from ibmap.engines.tables import Slices, Tables
from ibmap.engines.triples import SIZE, Triples, seconds_in_memory
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.engines.mixed import MixedEngine


class MemoryEngine(Engine):
    """Count in memory: columns as bit masks, rows split by the variables of the conditioning set.

    Parameters
    ----------
    data : Table
        The table.

    Examples
    --------
    >>> from ibmap.data import load
    >>> engine = MemoryEngine(load(np.array([[0, 0], [0, 1], [1, 1], [1, 1]])))
    >>> engine.tables(Questions.fixed(0, [1], [])).cells.T.tolist()  # slice, level of x, level of y, count
    [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 2]]
    """

    def __init__(self, data: Table) -> None:
        if not isinstance(data, Table):
            raise RequestError(f"expected a Table, not {type(data).__name__}: ibmap.load makes one")
        if len(data.values):
            raise RequestError(COUNTS_NOTHING)
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
        """Return rows of evidence for some x, given their blankets, from the bits; see :class:`Engine`."""
        if model.family == "mixed":
            return self.row_by_row.rows(model, xs, blankets, floor=floor, also=also, exact=exact)
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        which = np.asarray(xs, np.int64)
        found = self.conditionals(model).rows(
            self.table, which, *given, model.log_odds, floor, *others, exact, model.n_threads
        )
        return Rows(*found)

    @cached_property
    def row_by_row(self) -> "MixedEngine":
        """The same table for models of rows, where values may be missing."""
        from ibmap.engines.mixed import MixedEngine

        return MixedEngine(self.data)

    def triples(self, threshold: float, most: int, n_threads: int = 1) -> Triples:
        """Return the ``most`` triples, at most, whose evidence of an interaction exceeds a threshold."""
        return Triples(*_core.triples(self.table, SIZE, threshold, most, n_threads))

    @property
    def seconds_for_triples(self) -> float:
        """Estimate the seconds that one core takes for all triples."""
        return seconds_in_memory(self.schema)

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

    def colour_sums(self, colours: Colours) -> Colours:
        """Return, for every cell, the sum of the scrambled colours of its rows; see :class:`Engine`."""
        return colour_sums_of_data(self.data, colours)

    def arranged(self, arrangement: Arrangement) -> "MemoryEngine":
        """Return the table with its columns and levels in another order."""
        return MemoryEngine(arranged_data(self.data, arrangement))

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MemoryEngine":
        """Resample the rows: as many with replacement, or a share without; all levels stay."""
        data = self.data
        return MemoryEngine(data.rows(drawn_rows(rng, data.n_rows, share, data.clusters, data.strata)))

    def forget_splits(self) -> None:
        """Give back the buffers in which rows are split; the next question gets new ones."""
        self.table.forget()


def drawn_rows(
    rng: np.random.Generator,
    n_rows: int,
    share: float | None = None,
    clusters: Ints | None = None,
    strata: Ints | None = None,
) -> Ints:
    """Return which rows a replicate has, in order: as many as there are, or a share of them, none twice.

    Rows that belong together are drawn together; of every stratum as many as it has, or its share.

    Examples
    --------
    >>> strata = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    >>> rows = drawn_rows(np.random.default_rng(0), 8, None, None, strata)
    >>> np.bincount(strata[rows]).tolist()
    [3, 5]
    """
    if clusters is None and strata is None:
        return _drawn(rng, n_rows, share)
    unit = np.arange(n_rows) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    order = np.argsort(unit, kind="stable")
    start = np.concatenate([[0], np.flatnonzero(np.diff(unit[order])) + 1, [n_rows]])
    if strata is None:
        units = _drawn(rng, len(start) - 1, share)
    else:
        units = _drawn_of_strata(rng, strata[order[start[:-1]]], share)
    return np.sort(np.concatenate([order[start[k] : start[k + 1]] for k in units.tolist()]))


def _drawn(rng: np.random.Generator, n: int, share: float | None) -> Ints:
    if share is None:
        return np.sort(rng.integers(n, size=n))
    return np.sort(rng.choice(n, n_drawn(share, n), replace=False))


def _drawn_of_strata(rng: np.random.Generator, strata: Ints, share: float | None) -> Ints:
    """Return rows of every stratum; where its share is not whole, one more or less."""
    own = [np.flatnonzero(strata == s) for s in np.unique(strata).tolist()]
    if share is None:
        return np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in own])
    ends = np.cumsum([len(rows) for rows in own]) * n_drawn(share, len(strata)) / len(strata)
    sizes = np.diff(np.floor(ends + rng.random()), prepend=0.0).astype(np.int64)
    parts = [rng.choice(rows, size, replace=False) for rows, size in zip(own, sizes.tolist(), strict=True)]
    return np.concatenate(parts)


def n_drawn(share: float, n_rows: int) -> int:
    """Return how many rows a share is; never all of several, or every replicate would be the table."""
    return min(round(share * n_rows), max(n_rows - 1, 1))
