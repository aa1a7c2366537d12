"""Each neighbour given the others: all of these tables are margins of one."""

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
)
from ibmap.kernels.jit import allocating_part, inline, part
from ibmap.kernels.partition import first_row, level_of
from ibmap.kernels.records import Floats, Ints, Packed, Sets


@allocating_part
def round_robin_posteriors(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
) -> None:
    """Posteriors of x against each member given the others, into ``scratch.yes`` and ``scratch.no``.

    The slices of ``members`` stand in place ``here``, split by x in place 2. For member j the slices
    that agree on everything before j (``prefix``) and after j (``suffix``) merge.
    """
    width = max(n_slices, scratch.by_level.size) + 1
    need = (2 * members.size + 8) * width
    if need <= scratch.buffer.size:
        merge_members(packed, sets, model, scratch, x, members, here, n_slices, scratch.buffer, width)
    else:
        buffer = np.empty(need, np.int64)
        merge_members(packed, sets, model, scratch, x, members, here, n_slices, buffer, width)


@part
def merge_members(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
    buffer: Ints,
    width: int,
) -> None:
    """Do it in a buffer of rows: 7 for sorting, a code per member, a suffix per member, an empty suffix."""
    b = members.size
    sorting = buffer[: 3 * width]
    order, merged = buffer[3 * width : 3 * width + width], buffer[4 * width : 4 * width + width]
    prefix, longer = buffer[5 * width : 5 * width + n_slices], buffer[6 * width : 6 * width + n_slices]
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for j in range(b):
            buffer[(7 + j) * width + k] = level_of(packed, members[j], row)
        buffer[(7 + 2 * b) * width + k] = 0
        prefix[k] = 0
    for j in range(b - 1, 0, -1):
        code, above = (
            buffer[(7 + j) * width : (7 + j) * width + width],
            buffer[(8 + b + j) * width : (8 + b + j) * width + n_slices],
        )
        suffix, n_above = buffer[(7 + b + j) * width : (7 + b + j) * width + width], most(above) + 1
        rank_pairs(code[:n_slices], packed.levels[members[j]], above, n_above, order, suffix, sorting)
    n_prefix = np.int64(1)
    for j in range(b):
        y, above = members[j], buffer[(8 + b + j) * width : (8 + b + j) * width + n_slices]
        observed = rank_pairs(prefix, n_prefix, above, most(above) + 1, order, merged, sorting)
        merged_factors(sets, model, scratch, x, y, n_slices, order, merged, scratch.factors)
        log_possible = log_slices(packed, model, members, y, observed)
        scratch.yes[j], scratch.no[j] = posterior_from(
            model, log_prior_of(model, x, y), scratch.factors, observed, np.int64(0), log_possible
        )
        if j + 1 < b:
            code = buffer[(7 + j) * width : (7 + j) * width + n_slices]
            n_prefix = rank_pairs(prefix, n_prefix, code, packed.levels[y], order, longer, sorting)
            prefix, longer = longer, prefix


@inline
def most(values: Ints) -> int:
    """Return the largest value (0 if there is none)."""
    largest = np.int64(0)
    for value in values:
        largest = max(largest, value)
    return largest


@inline
def merged_factors(
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    y: int,
    n_slices: int,
    order: Ints,
    merged: Ints,
    factors: Floats,
) -> None:
    """Log Bayes factor of every merged slice: the runs of ``order`` that share a rank in ``merged``."""
    priors, begin = priors_of(model, x, y), 0
    while begin < n_slices:
        s = merged[order[begin]]
        end = begin
        while end < n_slices and merged[order[end]] == s:
            end += 1
        factors[s] = merged_bayes(sets, model, scratch, priors, order[begin:end])
        begin = end


@inline
def merged_bayes(sets: Sets, model: Model, scratch: Scratch, priors: Priors, slices: Ints) -> float:
    """Log Bayes factor d of one table: a row for each slice (a level of y), a column for each level of x."""
    by_cell, by_x = model.tables[priors.cell], model.tables[priors.row]
    by_y = model.tables[priors.column]
    size, code, child, column = sets.size[2], sets.code[2], sets.child[2], scratch.by_level
    n, d = np.int64(0), 0.0
    for k in slices:
        row = 0
        for s in range(child[k], child[k + 1]):
            row += size[s]
            d += by_cell[size[s]]
            column[code[s]] += size[s]
        n += row
        d -= by_y[row]
    for k in slices:
        for s in range(child[k], child[k + 1]):
            d -= by_x[column[code[s]]]
            column[code[s]] = 0
    return d + log_prior_ratio(model, priors, n) if n > 1 else 0.0


@part
def rank_pairs(
    major: Ints, n_major: int, minor: Ints, n_minor: int, order: Ints, rank: Ints, buffer: Ints
) -> int:
    """Sort by (major, minor) with two counting sorts; equal pairs share a rank. Returns how many ranks.

    ``buffer`` has three rows, each with a place for every key.
    """
    k, width = major.size, buffer.size // 3
    items, by_minor, position = (
        buffer[:k],
        buffer[width : width + k],
        buffer[2 * width : 2 * width + width],
    )
    for i in range(k):
        items[i] = i
    counting_sort(items, minor, n_minor, by_minor, position)
    counting_sort(by_minor, major, n_major, order, position)
    n = 0
    for i in range(k):
        if i and (major[order[i]] != major[order[i - 1]] or minor[order[i]] != minor[order[i - 1]]):
            n += 1
        rank[order[i]] = n
    return n + 1 if k else 0


@inline
def counting_sort(items: Ints, key: Ints, n_keys: int, out: Ints, position: Ints) -> None:
    """Stable sort of ``items`` by ``key[item] < n_keys``."""
    for i in range(n_keys + 1):
        position[i] = 0
    for item in items:
        position[key[item] + 1] += 1
    for i in range(n_keys):
        position[i + 1] += position[i]
    for item in items:
        out[position[key[item]]] = item
        position[key[item]] += 1
