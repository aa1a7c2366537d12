"""Questions and tables as they travel: a few bytes, whatever the number of rows that were counted.

Most possible cells of a table with many rows are observed. So their counts travel one after the other,
without saying which is which, in the smallest type that holds them; lists of cells travel only where most
places would be empty.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.engines.adding import Places, as_cells
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Slices, Tables

Message = tuple[Any, ...]
FIELDS = tuple(Questions.__dataclass_fields__)


def narrow(values: Ints) -> NDArray[np.unsignedinteger[Any]]:
    """Return numbers that are not negative in the smallest type that holds them.

    Examples
    --------
    >>> narrow(np.array([3, 255])).dtype.name, narrow(np.array([70_000])).dtype.name
    ('uint8', 'uint32')
    """
    return np.asarray(values.astype(np.min_scalar_type(int(values.max(initial=0)))))


def wide(values: NDArray[Any]) -> Ints:
    """Return numbers as kernels take them."""
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
    cells = _packed(Places.of_tables(asked, tables.levels, slices.start), tables.start, tables.cells)
    sets = _packed(
        Places.of_sets(asked, tables.levels, slices.start), slices.set_start, as_cells(slices.sets)
    )
    return tables.of_rows, narrow(slices.start), narrow(slices.keys), cells, sets


def unpack_tables(message: Message, asked: Questions, levels: Ints) -> Tables:
    """Return the answer to questions that has travelled."""
    of_rows, slice_start, keys, packed_cells, packed_sets = message
    slice_start, keys = wide(slice_start), wide(keys)
    start, cells = _unpacked(Places.of_tables(asked, levels, slice_start), packed_cells)
    set_start, sets = _unpacked(Places.of_sets(asked, levels, slice_start), packed_sets)
    slices = Slices(slice_start, lambda: keys, set_start, np.ascontiguousarray(sets[[0, 1, 3]]))
    return Tables.of(asked, levels, start, cells, int(of_rows), slices)


def _packed(places: Places, start: Ints, cells: Ints) -> Message:
    """Return the counts of all places, or the cells as lists."""
    if not places.pays(cells.shape[1]):
        return narrow(start), *map(narrow, cells)
    counts = np.zeros(len(places), np.int64)
    number = np.arange(int(cells[0].max(initial=0)) + 1)
    places.add(counts, start, cells, number, np.zeros(len(start) - 1, np.int64))
    return (narrow(counts),)


def _unpacked(places: Places, message: Message) -> tuple[Ints, Ints]:
    if len(message) == 1:
        return places.cells(wide(message[0]))
    return wide(message[0]), np.stack(list(map(wide, message[1:])))
