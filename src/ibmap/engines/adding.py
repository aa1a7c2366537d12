"""Tables of several partitions of the rows, added up: counts are integers, so the order does not matter."""

from collections.abc import Sequence

import numpy as np

from ibmap._types import Ints
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Slices, Tables
from ibmap.errors import EngineError
from ibmap.kernels.merging import add_to_places, cells_of_places

EMPTY = 8  #: places per observed cell beyond which cells are sorted instead: most places would be empty
FEW = 1 << 12  #: and as many places as always pay


class Places:
    """A place for every possible cell of some tables, one table after the other.

    Parameters
    ----------
    n_slices, n_x, n_y : ndarray of int
        The size of each table.
    """

    def __init__(self, n_slices: Ints, n_x: Ints, n_y: Ints) -> None:
        self.sizes = np.array([n_x, n_y], np.int64)
        self.offset = np.concatenate([[0], np.cumsum(n_slices * n_x * n_y)])

    @staticmethod
    def of_tables(asked: Questions, levels: Ints, slice_start: Ints) -> "Places":
        """Return the places of the tables that answer some questions."""
        n_slices = np.diff(slice_start)[asked.of_table]
        return Places(n_slices, levels[asked.x_of_table], levels[asked.y])

    @staticmethod
    def of_sets(asked: Questions, levels: Ints, slice_start: Ints) -> "Places":
        """Return the places of the sets of (slice, level of x)."""
        return Places(np.diff(slice_start), levels[asked.x], np.ones(len(asked), np.int64))

    def __len__(self) -> int:
        return int(self.offset[-1])

    def pays(self, n_cells: int) -> bool:
        """Whether there are not many more places than cells to put there."""
        return len(self) <= EMPTY * n_cells + FEW

    def add(self, to: Ints, start: Ints, cells: Ints, number: Ints, first_slice: Ints) -> None:
        """Add cells (slice, level of x, level of y, count) to their places."""
        add_to_places(start, cells, number, first_slice, self.sizes, self.offset, to)

    def cells(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the first cell of each table, and the cells."""
        start = np.empty(self.sizes.shape[1] + 1, np.int64)
        cells = np.empty((4, np.count_nonzero(places)), np.int64)
        cells_of_places(places, self.sizes, self.offset, start, cells)
        return start, cells


def as_cells(sets: Ints) -> Ints:
    """Return sets (slice, level of x, rows) as cells of a y with one level."""
    return np.stack([sets[0], sets[1], np.zeros(sets.shape[1], np.int64), sets[2]])


def add_tables(parts: Sequence[Tables]) -> Tables:
    """Add up the answers of several partitions of the rows to the same questions.

    Slices are matched by their keys, and come in the order of the keys.
    """
    first, asked = parts[0], parts[0].answered()[0]
    for part in parts[1:]:
        other = part.answered()[0]
        if other is not asked and not other.same(asked):
            raise EngineError("tables of different questions cannot be added")
        if part.levels is not first.levels and not np.array_equal(part.levels, first.levels):
            raise EngineError("tables of different variables cannot be added: the numbers of levels differ")
    found = [part.answered()[1] for part in parts]
    numbers, slice_start, keys = _merged_keys(asked, found)
    n_cells = sum(part.cells.shape[1] for part in parts)
    places = Places.of_tables(asked, first.levels, slice_start)
    add = _in_places if places.pays(n_cells) else _by_sorting
    start, cells, set_start, sets = add(parts, numbers, slice_start, places)
    whole = Slices(slice_start, lambda: keys, set_start, sets)
    return Tables.of(asked, first.levels, start, cells, sum(part.of_rows for part in parts), whole)


def _in_places(
    parts: Sequence[Tables], numbers: Sequence[Ints], slice_start: Ints, places: Places
) -> tuple[Ints, Ints, Ints, Ints]:
    """Add cell by cell, each to its place; return cells and sets with their starts."""
    asked = parts[0].answered()[0]
    of_sets = Places.of_sets(asked, parts[0].levels, slice_start)
    counts, sizes = np.zeros(len(places), np.int64), np.zeros(len(of_sets), np.int64)
    for part, number in zip(parts, numbers, strict=True):
        slices = part.answered()[1]
        first = slices.start[:-1]
        places.add(counts, part.start, part.cells, number, first[asked.of_table])
        of_sets.add(sizes, slices.set_start, as_cells(slices.sets), number, first)
    set_start, sets = of_sets.cells(sizes)
    return *places.cells(counts), set_start, sets[[0, 1, 3]]


def _by_sorting(
    parts: Sequence[Tables], numbers: Sequence[Ints], slice_start: Ints, places: Places
) -> tuple[Ints, Ints, Ints, Ints]:
    """Sort the cells, and add up those that agree: where most places would be empty."""
    asked = parts[0].answered()[0]
    sets, cells = [], []
    for part, number in zip(parts, numbers, strict=True):
        slices = part.answered()[1]
        question = np.repeat(np.arange(len(asked)), np.diff(slices.set_start))
        table = np.repeat(np.arange(len(part)), np.diff(part.start))
        sets.append(_renumbered(slices.sets, question, number[slices.start[question] + slices.sets[0]]))
        old = slices.start[asked.of_table[table]] + part.cells[0]
        cells.append(_renumbered(part.cells, table, number[old]))
    all_sets, all_cells = _summed(np.concatenate(sets, axis=1)), _summed(np.concatenate(cells, axis=1))
    starts = _starts(all_cells[0], len(parts[0])), _starts(all_sets[0], len(asked))
    return starts[0], all_cells[1:], starts[1], all_sets[1:]


def _merged_keys(asked: Questions, found: Sequence[Slices]) -> tuple[list[Ints], Ints, Ints]:
    """Return, of each part, the new number of every slice; then first slices and keys of the union."""
    numbers = [np.empty(int(s.start[-1]), np.int64) for s in found]
    sizes = np.diff(asked.given_start)
    key_start = [np.concatenate([[0], np.cumsum(np.diff(s.start) * sizes)]) for s in found]
    starts, keys = [0], []
    for q, size in enumerate(sizes.tolist()):
        n_slices = [int(s.start[q + 1] - s.start[q]) for s in found]
        mine = [
            s.keys[k[q] : k[q + 1]].reshape(m, size)
            for s, k, m in zip(found, key_start, n_slices, strict=True)
        ]
        if size:
            union, which = np.unique(np.concatenate(mine), axis=0, return_inverse=True)
        else:  # one slice, if there is a row at all
            union, which = np.empty((int(any(n_slices)), 0), np.int64), np.zeros(sum(n_slices), np.int64)
        ends = np.cumsum([0, *n_slices])
        for s, number, begin, end in zip(found, numbers, ends[:-1], ends[1:], strict=True):
            number[s.start[q] : s.start[q + 1]] = which.reshape(-1)[begin:end]
        starts.append(starts[-1] + len(union))
        keys.append(union.reshape(-1))
    return numbers, np.array(starts, np.int64), np.concatenate([np.empty(0, np.int64), *keys])


def _renumbered(columns: Ints, owner: Ints, slices: Ints) -> Ints:
    """Return columns with who they belong to in front of them, and with new numbers of slices."""
    return np.concatenate([owner[None], slices[None], columns[1:]])


def _summed(columns: Ints) -> Ints:
    """Sort columns, and add up the last entries of those that agree in all others."""
    columns = columns[:, np.lexsort(columns[-2::-1])]
    if not columns.shape[1]:
        return columns
    new = np.append(True, (columns[:-1, 1:] != columns[:-1, :-1]).any(axis=0))
    kept = columns[:, new]
    kept[-1] = np.add.reduceat(columns[-1], np.flatnonzero(new))
    return kept


def _starts(owners: Ints, n: int) -> Ints:
    return np.searchsorted(owners, np.arange(n + 1))
