"""Each neighbour given the others: all of these tables are margins of one."""

import numpy as np

from ibmap.kernels.bayes_model import (
    Model,
    Scratch,
    log_prior_of,
    log_prior_ratio,
    log_slices,
    posterior_from,
)
from ibmap.kernels.jit import allocating_part, inline
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
    b, width = members.size, max(n_slices, scratch.by_level.size) + 1
    need = (2 * b + 8) * width
    if need <= scratch.room.size:
        room = scratch.room[:need].reshape((2 * b + 8, width))
    else:
        room = np.empty((2 * b + 8, width), np.int64)
    merge_members(packed, sets, model, scratch, x, members, here, n_slices, room)


@inline
def merge_members(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
    room: Ints,
) -> None:
    """Do it in ``room``: 7 rows for sorting, one code per member, one suffix per member and the empty one."""
    b = members.size
    order, merged, prefix, longer = room[3], room[4], room[5, :n_slices], room[6, :n_slices]
    code, suffix = room[7 : 7 + b, :n_slices], room[7 + b :, :n_slices]
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for j in range(b):
            code[j, k] = level_of(packed, members[j], row)
        suffix[b, k] = 0
        prefix[k] = 0
    for j in range(b - 1, 0, -1):
        n_above = most(suffix[j + 1]) + 1
        rank_pairs(code[j], packed.levels[members[j]], suffix[j + 1], n_above, order, suffix[j], room)
    n_prefix = np.int64(1)
    for j in range(b):
        y, above = members[j], suffix[j + 1]
        observed = rank_pairs(prefix, n_prefix, above, most(above) + 1, order, merged, room)
        merged_factors(sets, model, scratch, x, y, n_slices, order, merged, scratch.factors)
        log_possible = log_slices(packed, model, members, y, observed)
        scratch.yes[j], scratch.no[j] = posterior_from(
            model, log_prior_of(model, x, y), scratch.factors, observed, log_possible
        )
        if j + 1 < b:
            n_prefix = rank_pairs(prefix, n_prefix, code[j], packed.levels[y], order, longer, room)
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
    begin = 0
    while begin < n_slices:
        s = merged[order[begin]]
        end = begin
        while end < n_slices and merged[order[end]] == s:
            end += 1
        factors[s] = merged_bayes(sets, model, scratch, x, y, order[begin:end])
        begin = end


@inline
def merged_bayes(sets: Sets, model: Model, scratch: Scratch, x: int, y: int, slices: Ints) -> float:
    """Log Bayes factor d of one table: a row for each slice (a level of y), a column for each level of x."""
    a, b = model.kind[x], model.kind[y]
    by_cell, by_x, by_y = (
        model.tables[model.cell[a, b]],
        model.tables[model.margin[a, b]],
        model.tables[model.margin[b, a]],
    )
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
    return d + log_prior_ratio(model, x, y, n) if n > 1 else 0.0


@inline
def rank_pairs(
    major: Ints, n_major: int, minor: Ints, n_minor: int, order: Ints, rank: Ints, room: Ints
) -> int:
    """Sort by (major, minor) with two counting sorts; equal pairs share a rank. Returns how many ranks."""
    k = major.size
    for i in range(k):
        room[0, i] = i
    counting_sort(room[0, :k], minor, n_minor, room[1], room[2])
    counting_sort(room[1, :k], major, n_major, order, room[2])
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
