"""The compiled Gibbs sampler for any number of levels: 64 chains side by side, as in ``_kernels.py``.

The weights of a level are gathered for all chains at once. Unsigned indices need no check for a negative
sign, which would keep the compiler from vector instructions. Variables whose weights could underflow as
products are updated with logarithms, which is slower. ``benchmarks/worlds.py`` measures it. The slow twin is
in ``tests/reference/worlds.py``; ``_walk.py`` is for one chain.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.gibbs_binary import LANES
from ibmap.kernels.jit import allocating_kernel, inline
from ibmap.kernels.splitmix import mix, stream

_SHIFT = np.uint64(11)
_TO_UNIT = 2.0**-53

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@inline
def _multiply(
    weights: Floats, tables: Floats, rows: NDArray[np.uint64], n_levels: int, product: bool
) -> None:
    """Multiply the weights (levels × lanes) by the entries of a table, or add logarithms."""
    for level in range(n_levels):
        weight, at = weights[level], np.uint64(level)
        if product:
            for lane in range(LANES):
                weight[lane] *= tables[rows[lane] + at]
        else:
            for lane in range(LANES):
                weight[lane] += tables[rows[lane] + at]


@inline
def _exponentials(weights: Floats, largest: Floats, n_levels: int) -> None:
    """Turn logarithms into weights, the largest of every lane 1."""
    for lane in range(LANES):
        largest[lane] = weights[0, lane]
    for level in range(n_levels):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], weights[level, lane])
    for level in range(n_levels):
        for lane in range(LANES):
            weights[level, lane] = np.exp(weights[level, lane] - largest[lane])


@inline
def _draw(weights: Floats, marks: Floats, n_levels: int, state: NDArray[np.uint8]) -> None:
    """Draw a level in every lane; ``marks`` holds uniform numbers, and is overwritten."""
    for level in range(1, n_levels):
        for lane in range(LANES):
            weights[level, lane] += weights[level - 1, lane]
    for lane in range(LANES):
        marks[lane] *= weights[n_levels - 1, lane]
        state[lane] = np.uint8(0)
    for level in range(n_levels - 1):
        for lane in range(LANES):
            state[lane] += np.uint8(weights[level, lane] <= marks[lane])


@allocating_kernel
def run_tables(
    seed: np.uint64,
    first_row: int,
    sweeps: int,
    levels: Ints,
    fields: Floats,
    field_start: Ints,
    offsets: Ints,
    neighbours: Ints,
    tables: Floats,
    table_start: Ints,
    by_product: NDArray[np.bool_],
    out: NDArray[np.uint8],
) -> None:
    """Fill ``out``, at most 64 rows, with the ends of the chains of rows ``first_row`` and following.

    The table of neighbour k of variable i starts at ``table_start[k]``: one row of ``levels[i]`` weights for
    each level of the neighbour.
    """
    n = len(levels)
    states = np.empty((n, LANES), dtype=np.uint8)
    weights = np.empty((256, LANES))
    marks, rows = np.empty(LANES), np.empty(LANES, dtype=np.uint64)
    counter, step = np.empty(LANES, dtype=np.uint64), np.empty(LANES, dtype=np.uint64)
    for lane in range(LANES):
        counter[lane], step[lane] = stream(seed, np.uint64(first_row + lane))
    for i in range(n):
        for lane in range(LANES):
            counter[lane] += step[lane]
            states[i, lane] = np.uint8((mix(counter[lane]) >> _SHIFT) * _TO_UNIT * levels[i])
    for _ in range(sweeps):
        for i in range(n):
            n_levels = levels[i]
            for level in range(n_levels):
                weights[level, :] = fields[field_start[i] + level]
            for k in range(offsets[i], offsets[i + 1]):
                state, start = states[neighbours[k]], np.uint64(table_start[k])
                for lane in range(LANES):
                    rows[lane] = start + np.uint64(n_levels) * np.uint64(state[lane])
                _multiply(weights, tables, rows, n_levels, by_product[i])
            if not by_product[i]:
                _exponentials(weights, marks, n_levels)
            for lane in range(LANES):
                counter[lane] += step[lane]
                marks[lane] = (mix(counter[lane]) >> _SHIFT) * _TO_UNIT
            _draw(weights, marks, n_levels, states[i])
    for row_of_block in range(len(out)):
        for i in range(n):
            out[row_of_block, i] = states[i, row_of_block]
