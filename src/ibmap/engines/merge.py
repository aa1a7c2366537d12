"""Tables of several partitions of the rows, added up: counts are integers, so the order does not matter."""

from collections.abc import Sequence

import numpy as np

from ibmap import _core
from ibmap.engines.tables import Slices, Tables
from ibmap.errors import EngineError


def add_tables(parts: Sequence[Tables]) -> Tables:
    """Add up the answers of several partitions of the rows to the same questions.

    Slices are matched by their keys, and come in the order of the keys.
    """
    first, asked = parts[0], parts[0].answered()[0]
    lists = []
    for part in parts:
        other, found = part.answered()
        if other is not asked and not other.same(asked):
            raise EngineError("tables of different questions cannot be added")
        if part.levels is not first.levels and not np.array_equal(part.levels, first.levels):
            raise EngineError("tables of different variables cannot be added: the numbers of levels differ")
        lists.append((found.start, found.keys, found.set_start, found.sets, part.start, part.cells))
    start, cells, slice_start, keys, set_start, sets = _core.merge(first.levels, *asked.arrays, lists)
    whole = Slices(slice_start, lambda: keys, set_start, sets)
    return Tables.of(asked, first.levels, start, cells, sum(part.of_rows for part in parts), whole)
