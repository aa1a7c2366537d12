"""Unrelated questions, compiled: each has a conditioning set of its own, often a large one."""

import numpy as np

from ibmap.kernels.bayes_model import (
    Model,
    Priors,
    Scratch,
    log_prior_of,
    log_prior_ratio,
    log_slices,
    posterior_from,
    priors_of,
    records_of,
)
from ibmap.kernels.cells import posterior_one
from ibmap.kernels.jit import allocating_kernel, part
from ibmap.kernels.partition import slices_of
from ibmap.kernels.records import Floats, Ints, Packed
from ibmap.kernels.row_keys import Groups, Keys, code_of, group_rows, list_members


@allocating_kernel
def log_independent_each(
    context: Ints,
    keys: Keys,
    groups: Groups,
    cells: Ints,
    xs: Ints,
    ys: Ints,
    given: Ints,
    sizes: Ints,
    out: Floats,
) -> None:
    """``out[i] = log Pr(x_i ⊥ y_i)`` given the first ``sizes[i]`` entries of a row of ``given``.

    ``cells`` has a zero for every count of a table and its margins. Larger tables, those with missing values,
    and those of few slices are counted by bits.
    """
    packed, sets, model, scratch = records_of(context)
    for i in range(xs.size):
        x, y, known = xs[i], ys[i], given[i, : sizes[i]]
        table = packed.levels[x] * packed.levels[y] + packed.levels[x] + packed.levels[y]
        if keys.rows.shape[0] == 0 or table > cells.size or wide_slices(packed, known):
            here, n_slices = slices_of(packed, sets, x, known)
            log_possible = log_slices(packed, model, known, np.int64(-1), n_slices)
            out[i], _ = posterior_one(packed, sets, model, scratch, x, y, n_slices, log_possible, 1 - here)
        else:
            n_slices = group_rows(keys, groups, known)
            log_possible = log_slices(packed, model, known, np.int64(-1), n_slices)
            out[i] = log_independent(
                packed, model, scratch, keys, groups, cells, x, y, n_slices, log_possible
            )


@part
def wide_slices(packed: Packed, given: Ints) -> bool:
    """Whether slices have a word of rows or more, on average, whatever the rows are."""
    most = packed.n_rows // 64
    possible = 1
    for variable in given:
        possible *= packed.levels[variable]
        if possible > most:
            return False
    return possible <= most


@part
def log_independent(
    packed: Packed,
    model: Model,
    scratch: Scratch,
    keys: Keys,
    groups: Groups,
    cells: Ints,
    x: int,
    y: int,
    n_slices: int,
    log_possible: float,
) -> float:
    """Combine the slices; groups of one row have the log Bayes factor 0, and are not counted."""
    log_prior, n_single, n = log_prior_of(model, x, y), list_members(groups, n_slices), 0
    if n_single == n_slices:  # nothing is said: the prior remains
        return log_prior
    priors, factors = priors_of(model, x, y), scratch.factors
    for g in range(n_slices):
        if groups.size[g] > 1:
            factors[n] = log_bayes_factor(packed, model, priors, keys, groups, cells, x, y, g)
            n += 1
    log_yes, _ = posterior_from(model, log_prior, factors, n, n_single, log_possible)
    return log_yes


@part
def log_bayes_factor(
    packed: Packed,
    model: Model,
    priors: Priors,
    keys: Keys,
    groups: Groups,
    cells: Ints,
    x: int,
    y: int,
    group: int,
) -> float:
    """Return d_k of one slice; every cell that is counted is cleared again."""
    n, levels, start = groups.size[group], packed.levels[y], groups.start[group]
    columns = packed.levels[x] * levels
    rows = columns + levels  # the margins stand behind the cells: first y's, then x's
    for k in range(start, start + n):
        i, j = code_of(keys, groups.members[k], x), code_of(keys, groups.members[k], y)
        cells[i * levels + j] += 1
        cells[columns + j] += 1
        cells[rows + i] += 1
    d = log_prior_ratio(model, priors, n)
    by_cell, by_row = model.tables[priors.cell], model.tables[priors.row]
    by_column = model.tables[priors.column]
    for k in range(start, start + n):  # what has been added is zero, and adds nothing when it comes again
        i, j = code_of(keys, groups.members[k], x), code_of(keys, groups.members[k], y)
        d += by_cell[cells[i * levels + j]]
        d -= by_column[cells[columns + j]] + by_row[cells[rows + i]]
        cells[i * levels + j] = cells[columns + j] = cells[rows + i] = 0
    return d
