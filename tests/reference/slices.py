"""Rows to tables of counts: one small table of (X, Y) per observed configuration of Z.

Everything the tests need to know about the data is in these counts.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]
"""Shape (n_variables, n_rows): the level of each variable in each row, -1 where it is missing."""

SliceTables = dict[tuple[int, ...], Counter[tuple[int, int]]]
"""Configuration of Z -> {(level of X, level of Y): count}. Cells without rows are left out."""


def slice_tables(codes: Codes, x: int, y: int, given: Sequence[int]) -> SliceTables:
    """Count the rows that are complete in X, Y and Z ("testwise"), slice by slice.

    >>> slice_tables(np.array([[0, 1, 1, -1], [0, 1, 1, 0], [0, 0, 1, 0]]), 0, 1, [2])
    {(0,): Counter({(0, 0): 1, (1, 1): 1}), (1,): Counter({(1, 1): 1})}
    """
    columns = [x, y, *given]
    if len(set(columns)) != len(columns):
        raise ValueError(f"x, y and given must be different columns, not {x}, {y}, {tuple(given)}")
    tables: SliceTables = {}
    for x_level, y_level, *z in zip(*codes[columns].tolist(), strict=True):
        if -1 not in (x_level, y_level, *z):
            tables.setdefault(tuple(z), Counter())[x_level, y_level] += 1
    return tables


def margins(table: Counter[tuple[int, int]]) -> tuple[Counter[int], Counter[int]]:
    """Row sums (per level of X) and column sums (per level of Y); levels without rows are left out."""
    rows: Counter[int] = Counter()
    columns: Counter[int] = Counter()
    for (i, j), count in table.items():
        rows[i] += count
        columns[j] += count
    return rows, columns
