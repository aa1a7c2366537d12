"""Questions and tables as they travel: a few bytes, whatever the number of rows that were counted.

Most possible cells of a table with many rows are observed. So their counts travel one after the other,
without saying which is which, in the smallest type that holds them; lists of cells travel only where most
places would be empty.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Slices, Tables

Message = tuple[Any, ...]
FIELDS = tuple(Questions.__dataclass_fields__)
EMPTY = 8  #: places per observed cell beyond which lists of cells travel: most places would be empty
FEW = 1 << 12  #: and as many places as always pay


def narrow(values: Ints) -> NDArray[np.unsignedinteger[Any]]:
    """Return numbers that are not negative in the smallest type that holds them.

    Examples
    --------
    >>> narrow(np.array([3, 255])).dtype.name, narrow(np.array([70_000])).dtype.name
    ('uint8', 'uint32')
    """
    return np.asarray(values.astype(np.min_scalar_type(int(values.max(initial=0)))))


def wide(values: NDArray[Any]) -> Ints:
    """Return numbers as the core takes them."""
    return values.astype(np.int64)


def pack_questions(asked: Questions) -> Message:
    """Return questions as they travel."""
    return tuple(narrow(getattr(asked, name)) for name in FIELDS)


def unpack_questions(message: Message) -> Questions:
    """Return the questions that have travelled."""
    return Questions(*map(wide, message))


def pack_tables(tables: Tables) -> Message:
    """Return the answer to some questions as it travels; who reads it must know them."""
    asked, slices = tables.answered()
    cells = _packed(_sizes(asked, tables.levels, slices.start), tables.start, tables.cells)
    sets = slices.sets[0], slices.sets[1], np.zeros_like(slices.sets[0]), slices.sets[2]
    packed_sets = _packed(_set_sizes(asked, tables.levels, slices.start), slices.set_start, np.stack(sets))
    return tables.of_rows, narrow(slices.start), narrow(slices.keys), cells, packed_sets


def unpack_tables(message: Message, asked: Questions, levels: Ints) -> Tables:
    """Return the answer to questions that has travelled."""
    of_rows, slice_start, keys, packed_cells, packed_sets = message
    slice_start, keys = wide(slice_start), wide(keys)
    start, cells = _unpacked(_sizes(asked, levels, slice_start), packed_cells)
    set_start, sets = _unpacked(_set_sizes(asked, levels, slice_start), packed_sets)
    slices = Slices(slice_start, lambda: keys, set_start, np.ascontiguousarray(sets[[0, 1, 3]]))
    return Tables.of(asked, levels, start, cells, int(of_rows), slices)


def _sizes(asked: Questions, levels: Ints, slice_start: Ints) -> Ints:
    """Return slices, levels of x and levels of y of each table."""
    return np.stack([np.diff(slice_start)[asked.of_table], levels[asked.x_of_table], levels[asked.y]])


def _set_sizes(asked: Questions, levels: Ints, slice_start: Ints) -> Ints:
    """Return the same of sets of (slice, level of x): tables of a y with one level."""
    return np.stack([np.diff(slice_start), levels[asked.x], np.ones(len(asked), np.int64)])


def _packed(sizes: Ints, start: Ints, cells: Ints) -> Message:
    """Return the counts of all places, one table after the other; or the cells as lists."""
    ends = np.cumsum(sizes.prod(axis=0, dtype=float))
    n_places = ends[-1] if len(ends) else 0
    if n_places > EMPTY * cells.shape[1] + FEW:
        return narrow(start), *map(narrow, cells)
    table = np.repeat(np.arange(sizes.shape[1]), np.diff(start))
    _, n_x, n_y = sizes[:, table]
    first = np.concatenate([[0], ends]).astype(np.int64)[table]
    counts = np.zeros(int(n_places), np.int64)
    counts[first + (cells[0] * n_x + cells[1]) * n_y + cells[2]] = cells[3]
    return (narrow(counts),)


def _unpacked(sizes: Ints, message: Message) -> tuple[Ints, Ints]:
    """Return the first cell of each table, and the cells."""
    if len(message) > 1:
        return wide(message[0]), np.stack(list(map(wide, message[1:])))
    first = np.concatenate([[0], np.cumsum(sizes.prod(axis=0))])
    places = np.flatnonzero(message[0])
    start = np.searchsorted(places, first)
    table = np.repeat(np.arange(sizes.shape[1]), np.diff(start))
    _, n_x, n_y = sizes[:, table]
    rest, y = np.divmod(places - first[table], np.maximum(n_y, 1))
    k, x = np.divmod(rest, np.maximum(n_x, 1))
    return start, np.stack([k, x, y, wide(message[0][places])])
