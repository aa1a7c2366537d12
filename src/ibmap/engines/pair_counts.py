"""Every pair of variables at once, for rows in several places: counts are added, and made into tables once.

Variables that are narrow and complete in all places are counted against each other by tiles, without level 0;
pairs with any other variable are asked about one x at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Bools, Ints
from ibmap.engines.engine import PAIRS_AT_ONCE
from ibmap.engines.memory import MemoryEngine, new_sets
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.tables import Slices, Tables
from ibmap.kernels.context import counting_context
from ibmap.kernels.pair_counts import cells_of_pairs, count_pairs

TILE = 64  #: variables that are counted against a block at a time
COUNTS_AT_ONCE = 1 << 22  #: of one trip


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Which pairs are counted by tiles, and where their counts stand: by variable, then by level.

    Attributes
    ----------
    levels : ndarray of int
        Number of levels of each variable.
    regular : ndarray of int
        The variables that are narrow and complete everywhere, by number of levels, then by index.
    sizes : ndarray of int
        How many rows have each level of them, in their order.
    """

    levels: Ints
    regular: Ints
    sizes: Ints = field(default_factory=lambda: NONE)

    @cached_property
    def ends(self) -> Ints:
        """Where the counts of each regular variable begin, and the end: levels 1, 2, ..."""
        return np.concatenate([[0], np.cumsum(self.levels[self.regular] - 1)])

    def shape(self, first: int, last: int) -> tuple[int, int]:
        """Return how many counts a trip brings: of some regular variables, with themselves and later ones."""
        return int(self.ends[last] - self.ends[first]), int(self.ends[-1] - self.ends[first])

    def trips(self) -> Iterator[tuple[int, int]]:
        """Yield which regular variables are counted against themselves and all later ones, in one trip."""
        first, n = 0, len(self.regular)
        while first < n - 1:
            width = int(self.ends[-1] - self.ends[first])
            enough = int(np.searchsorted(self.ends, self.ends[first] + COUNTS_AT_ONCE // max(width, 1)))
            last = min(max(enough, first + 1), n)
            yield first, last
            first = last

    def others(self) -> Iterator[Questions]:
        """Yield questions about every pair that is not counted by tiles, x < y."""
        n = len(self.levels)
        rest = np.ones(n, bool)
        rest[self.regular] = False
        parts, size = [], 0
        for x in range(n - 1):
            ys = np.arange(x + 1, n) if rest[x] else np.flatnonzero(rest[x + 1 :]) + x + 1
            if len(ys):
                parts.append((x, ys, NONE))
                size += len(ys)
            if size >= PAIRS_AT_ONCE:
                yield Questions.of(parts)
                parts, size = [], 0
        if parts:
            yield Questions.of(parts)


def regular_variables(levels: Ints, complete: Bools, narrow: Bools) -> Ints:
    """Return the variables that are counted by tiles, in their order."""
    found = np.flatnonzero(complete & narrow)
    return found[np.argsort(levels[found], kind="stable")]


def counts_of(engine: MemoryEngine, layout: PairLayout, first: int, last: int) -> NDArray[np.int64]:
    """Count some regular variables against themselves and all later ones, in the rows of one place."""
    packed, ends = engine.packed, layout.ends
    out = np.zeros(layout.shape(first, last), np.int64)
    position = np.full(len(layout.levels), -1)
    position[layout.regular] = np.arange(len(layout.regular))
    where = position[packed.order]  # of the variables in the order of this place; -1: not regular elsewhere
    wanted = np.flatnonzero((where >= first) & (where < last))
    if not len(wanted):
        return out
    context, kept = counting_context(packed, new_sets(1))
    words = np.arange(packed.level_bits.shape[1], dtype=np.uint32)
    width = int(((packed.blocks[:, 0] - 1) * packed.blocks[:, 4]).max())
    for _, start, stop, _, _ in packed.blocks.tolist():
        mine = wanted[(wanted >= start) & (wanted < stop)]
        for x in range(int(mine[0]), int(mine[-1]) + 1, TILE) if len(mine) else ():
            last_x = min(x + TILE, int(mine[-1]) + 1)
            n_levels = int(packed.levels[packed.order[x]])
            rows = _indices(where[x:last_x], n_levels, layout, by_variable=True)
            for b, (y_levels, begin, end, _, stride) in enumerate(packed.blocks.tolist()):
                if end <= x:
                    continue
                tile = np.empty((TILE * (n_levels - 1), width + 32), np.int32)
                count_pairs(context, words, tile, x, last_x, b)
                columns = _indices(where[begin:end], y_levels, layout, by_variable=False, stride=stride)
                _put(tile, rows, columns, out, int(ends[first]))
    del kept
    return out


def _indices(where: Ints, levels: int, layout: PairLayout, *, by_variable: bool, stride: int = 0) -> Ints:
    """Return (place in the layout, row or column of a tile) of levels 1, 2, ... of some variables."""
    known = np.flatnonzero(where >= 0)
    level = np.arange(levels - 1)
    place = layout.ends[where[known]][:, None] + level
    tile = known[:, None] * (levels - 1) + level if by_variable else known[:, None] + level * stride
    return np.stack([place.reshape(-1), tile.reshape(-1)])


def _put(tile: NDArray[np.int32], rows: Ints, columns: Ints, out: NDArray[np.int64], first: int) -> None:
    """Copy the counts of a tile to their places, where these are among the ones that were asked for."""
    rows = rows[:, (rows[0] >= first) & (rows[0] < first + len(out))]
    columns = columns[:, columns[0] >= first]
    out[np.ix_(rows[0] - first, columns[0] - first)] = tile[np.ix_(rows[1], columns[1])]


def tables_of(
    counts: NDArray[Any], layout: PairLayout, first: int, last: int, n_rows: int
) -> Iterator[Tables]:
    """Yield the tables of all pairs that were counted, x < y, in batches."""
    counts = np.ascontiguousarray(counts, np.int64)
    ends, order, n = layout.ends - layout.ends[first], layout.regular, len(layout.regular)
    sizes = np.ascontiguousarray(layout.sizes)
    begins = np.zeros(len(layout.levels), np.int64)
    begins[order] = np.cumsum(layout.levels[order]) - layout.levels[order]
    levels, i = np.array(layout.levels), first
    while i < min(last, n - 1):
        until = i + 1
        while until < min(last, n - 1) and (until - i) * (n - i) < PAIRS_AT_ONCE:
            until += 1
        one = np.repeat(np.arange(i, until), n - 1 - np.arange(i, until))
        other = np.concatenate([np.arange(k + 1, n) for k in range(i, until)])
        turned = order[one] > order[other]
        x, y = np.where(turned, order[other], order[one]), np.where(turned, order[one], order[other])
        row = np.where(turned, -1 - ends[one], ends[one])
        start, cells = (
            np.empty(len(x) + 1, np.int64),
            np.empty((4, int((levels[x] * levels[y]).sum())), np.int64),
        )
        cells_of_pairs(counts, row, ends[other], x, y, levels, begins, sizes, start, cells)
        cells = np.ascontiguousarray(cells[:, : start[-1]])
        yield _answer(x, y, layout, begins, start, cells, n_rows)
        i = until


def _answer(
    x: Ints, y: Ints, layout: PairLayout, begins: Ints, start: Ints, cells: Ints, n_rows: int
) -> Tables:
    """Return tables as the answer to one question per pair."""
    every, none = np.arange(len(x) + 1), np.zeros(len(x) + 1, np.int64)
    levels = layout.levels[x]
    owner = np.repeat(np.arange(len(x)), levels)
    level = np.arange(len(owner)) - np.repeat(np.cumsum(levels) - levels, levels)
    sizes = layout.sizes[begins[x][owner] + level]
    seen = sizes > 0
    sets = np.stack([np.zeros(int(seen.sum()), np.int64), level[seen], sizes[seen]])
    set_start = np.searchsorted(owner[seen], every)
    slices = Slices(every, lambda: NONE, set_start, sets)
    return Tables.of(Questions(x, y, every, NONE, none), layout.levels, start, cells, n_rows, slices)
