"""All pairs of complete, narrow variables: counted by tiles, and made into tables when all rows are in.

Level 0 is not counted: it is what the sizes of the levels leave.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import records_of
from ibmap.kernels.jit import kernel
from ibmap.kernels.records import Counts, Ints
from ibmap.kernels.unconditional import count_tile


@kernel
def count_pairs(
    context: Ints, words: NDArray[np.uint32], tile: Counts, first_x: int, last_x: int, block: int
) -> None:
    """Count some variables (positions in ``order``, all of equal levels) against a block.

    ``words`` is 0, 1, 2, ...; ``tile`` has a row for every level but one of every x, and a column for every
    level but one of every y, level by level.
    """
    packed, _, _, _ = records_of(context)
    levels, _, _, column, stride = packed.blocks[block]
    n_levels = packed.levels[packed.order[first_x]]
    count_tile(packed, words, tile, first_x, last_x, n_levels, column, (levels - 1) * stride)


@kernel
def cells_of_pairs(
    counts: Ints,
    row: Ints,
    column: Ints,
    xs: Ints,
    ys: Ints,
    levels: Ints,
    first: Ints,
    sizes: Ints,
    start: Ints,
    cells: Ints,
) -> None:
    """List the observed cells of pairs of variables.

    The counts of pair t begin in ``row[t]`` and ``column[t]``; where x comes after y there, ``row`` is
    negative, -1 for row 0, and the table is turned. ``sizes[first[v] + level]`` rows have a level of v.
    """
    n = 0
    start[0] = 0
    for t in range(xs.size):
        x, y, begin = xs[t], ys[t], row[t]
        n_x, n_y, turned = levels[x], levels[y], begin < 0
        if turned:
            begin = -1 - begin
        for i in range(n_x):
            for j in range(n_y):
                count = np.int64(0)
                if i and j:
                    a, b = (j, i) if turned else (i, j)
                    count = counts[begin + a - 1, column[t] + b - 1]
                elif i or j:
                    count = sizes[first[x] + i] if i else sizes[first[y] + j]
                    for k in range(1, n_y if i else n_x):
                        a, b = (i, k) if i else (k, j)
                        a, b = (b, a) if turned else (a, b)
                        count -= counts[begin + a - 1, column[t] + b - 1]
                else:
                    count = sizes[first[x]]
                    for k in range(1, n_y):
                        count -= sizes[first[y] + k]
                        for m in range(1, n_x):
                            a, b = (k, m) if turned else (m, k)
                            count += counts[begin + a - 1, column[t] + b - 1]
                if count:
                    cells[0, n], cells[1, n], cells[2, n], cells[3, n] = 0, i, j, count
                    n += 1
        start[t + 1] = n
