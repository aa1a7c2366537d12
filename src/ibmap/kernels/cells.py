"""Tables that are lists of observed cells: any number of levels, any engine."""

import math

import numpy as np

from ibmap.kernels.bayes_model import (
    Model,
    Scratch,
    log_prior_of,
    log_prior_ratio,
    log_two_by_two,
    posterior_from,
    priors_of,
)
from ibmap.kernels.jit import allocating_part, inline
from ibmap.kernels.records import Floats, Ints, Packed, Sets
from ibmap.kernels.tally import cells_of


@inline
def sum_of_slice(
    cells: Ints, begin: int, end: int, by_cell: Floats, by_row: Floats, by_column: Floats, column: Ints
) -> tuple[int, int, float]:
    """Sum the table values of the cells of one slice, less those of its rows and columns.

    ``column`` has a zero for every level of y. Returns (the first cell of the next slice, rows, sum).
    """
    i, k, n, row, level, d = begin, cells[0, begin], np.int64(0), np.int64(0), cells[1, begin], 0.0
    while i < end and cells[0, i] == k:
        count = cells[3, i]
        if cells[1, i] != level:
            d -= by_row[row]
            row, level = 0, cells[1, i]
        row += count
        n += count
        d += by_cell[count]
        column[cells[2, i]] += count
        i += 1
    d -= by_row[row]
    for j in range(begin, i):
        d -= by_column[column[cells[2, j]]]
        column[cells[2, j]] = 0
    return i, n, d


@inline
def sum_of_binary_slice(
    cells: Ints, begin: int, end: int, by_cell: Floats, by_row: Floats, by_column: Floats
) -> tuple[int, int, float]:
    """``sum_of_slice`` of two binary variables: four counts in registers, in half the time."""
    i, k, a, b, c, d = begin, cells[0, begin], np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while i < end and cells[0, i] == k:
        count = cells[3, i]
        if cells[1, i]:
            c, d = (c, count) if cells[2, i] else (count, d)
        else:
            a, b = (a, count) if cells[2, i] else (count, b)
        i += 1
    total = log_two_by_two(by_cell, by_column, a, b, c, d) - (by_row[a + b] + by_row[c + d])
    return i, a + b + c + d, total


@allocating_part
def factors_of_cells(
    model: Model, scratch: Scratch, x: int, y: int, cells: Ints, begin: int, end: int, factors: Floats
) -> tuple[int, int]:
    """Log Bayes factor of every slice of a table that is the list of its cells, sorted by slice, x, y.

    Returns (number of slices in ``factors``; number of slices of one row, whose factor is 0).
    """
    priors = priors_of(model, x, y)
    by_cell, by_row = model.tables[priors.cell], model.tables[priors.row]
    by_column = model.tables[priors.column]
    column, binary = scratch.by_level, model.levels[priors.kind_x] == 2 and model.levels[priors.kind_y] == 2
    n_slices, n_single = np.int64(0), np.int64(0)
    while begin < end:
        if cells[3, begin] == 1 and (begin + 1 == end or cells[0, begin + 1] != cells[0, begin]):
            n_single += 1
            begin += 1
            continue
        if binary:
            begin, n, d = sum_of_binary_slice(cells, begin, end, by_cell, by_row, by_column)
        else:
            begin, n, d = sum_of_slice(cells, begin, end, by_cell, by_row, by_column, column)
        factors[n_slices] = d + log_prior_ratio(model, priors, n)
        n_slices += 1
    return n_slices, n_single


@allocating_part
def posterior_one(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    y: int,
    n_slices: int,
    log_possible: float,
    spare: int,
) -> tuple[float, float]:
    """Score one y against the sets of (slice, x) in place 2, whatever its levels and missing values."""
    cells, n = cells_of(packed, sets, n_slices, spare, y, np.empty((4, 64), np.int64), 0)
    factors = np.empty(n_slices)
    n_observed, n_single = factors_of_cells(model, scratch, x, y, cells, 0, n, factors)
    if not model.every_slice:
        log_possible = math.log(max(n_observed + n_single, 1))
    return posterior_from(model, log_prior_of(model, x, y), factors, n_observed, n_single, log_possible)
