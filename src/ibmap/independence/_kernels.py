"""Tables of counts → log posteriors of independence: the compiled Bayesian test (SPEC section 1).

In these kernels ``log_odds`` is t_k = lq - lp + d_k, the log odds of dependence in slice k, and
L = log Pr(X ⊥ Y | Z) = -Σ_k softplus(t_k) + (K - K_observed) lp.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._jit import allocating_kernel, inline, kernel
from ibmap.counts._kernels import (
    Packed,
    Sets,
    cells_of,
    count_columns,
    first_row,
    level_of,
    slices_of,
)
from ibmap.independence._logspace import exp, log1p, log_one_minus_exp, log_rising, softplus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Model(NamedTuple):
    """The options of the Bayesian test, as arrays. Kinds number the distinct cardinalities."""

    kind: Ints  #: kind of each variable
    tables: Floats  #: (parameters, rows + 1): log Γ(a + c) - log Γ(a)
    cell: Ints  #: (kinds, kinds): which table serves γ for an I × J table
    margin: Ints  #: (kinds, kinds): which table serves α, the prior counts of the first variable
    cell_total: Floats  #: (kinds, kinds): Σ γ
    margin_total: Floats  #: (kinds, kinds): Σ α
    log_prior: Floats  #: (1, 1) or (variables, variables): log prior of independence
    every_slice: bool  #: slices="all"
    one_factor: bool  #: combine="global"


class Scratch(NamedTuple):
    """Room for one block of variables."""

    cells: NDArray[np.int32]  #: counts of one set in the columns of a block
    margins: NDArray[np.int32]  #: the same, summed over the levels of x
    rest: NDArray[np.int32]
    bayes: Floats  #: d_k, the log Bayes factor of the slice
    offset: Floats  #: lq - lp
    above: Floats  #: Σ max(t_k, 0)
    product: Floats  #: Π (1 + e^-|t_k|) - 1
    by_level: Ints  #: counts by level of one variable
    members: Ints  #: the blanket of one variable


@kernel
def fill_table(parameter: float, out: Floats) -> None:
    """``out[c] = log Γ(parameter + c) - log Γ(parameter)``."""
    for c in range(out.size):
        out[c] = log_rising(parameter, c)


@inline
def log_prior_ratio(model: Model, x: int, y: int, size: int) -> float:
    """Log of the normalising terms of h / g in a slice of ``size`` rows."""
    a, b = model.kind[x], model.kind[y]
    cells, rows, columns = model.cell_total[a, b], model.margin_total[a, b], model.margin_total[b, a]
    return log_rising(rows, size) + log_rising(columns, size) - log_rising(cells, size)


@inline
def log_prior_of(model: Model, x: int, y: int) -> float:
    """Log prior of independence of a pair."""
    if model.log_prior.shape[0] == 1:
        return model.log_prior[0, 0]
    return model.log_prior[x, y]


@inline
def possible_slices(packed: Packed, given: Ints, without: int) -> float:
    """Return the number of configurations of ``given`` but for one of them, observed or not."""
    count = 1.0
    for variable in given:
        if variable != without:
            count *= packed.levels[variable]
    return count


@inline
def slice_prior(log_prior: float, n_slices: float) -> tuple[float, float]:
    """Return (lp, lq - lp), where lp = log(prior) / K and lq = log(1 - e^lp)."""
    lp = log_prior / n_slices
    return lp, log_one_minus_exp(lp) - lp


@inline
def independence_block(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    n_slices: int,
    n_possible: float,
    block: int,
    out: Floats,
) -> None:
    """``out[y] = log Pr(x ⊥ y | slices)`` for every y of a block; the sets of (slice, x) are in place 2."""
    first, last = packed.blocks[block, 1], packed.blocks[block, 2]
    m = last - first
    result = scratch.above
    if n_slices == 0:
        for v in range(m):
            out[packed.order[first + v]] = log_prior_of(model, x, packed.order[first + v])
        return
    if model.one_factor:
        n_possible = 1.0
    if model.log_prior.shape[0] == 1:
        _, offset = slice_prior(model.log_prior[0, 0], n_possible)
        scratch.offset[:m] = offset
    else:
        for v in range(m):
            _, scratch.offset[v] = slice_prior(model.log_prior[x, packed.order[first + v]], n_possible)
    n_singles = add_log_odds(packed, sets, model, scratch, x, n_slices, block)
    if n_singles:
        for v in range(m):
            result[v] -= n_singles * softplus(scratch.offset[v])
    if model.every_slice and not model.one_factor:
        unseen = (n_possible - n_slices) / n_possible
        for v in range(m):
            result[v] += unseen * log_prior_of(model, x, packed.order[first + v])
    for v in range(m):
        out[packed.order[first + v]] = result[v]


@inline
def rows_of_slice(sets: Sets, k: int) -> int:
    """Return the number of rows of slice k."""
    n = 0
    for s in range(sets.child[2, k], sets.child[2, k + 1]):
        n += sets.size[2, s]
    return n


@inline
def add_log_odds(
    packed: Packed, sets: Sets, model: Model, scratch: Scratch, x: int, n_slices: int, block: int
) -> int:
    """``scratch.above[v] = -Σ_k softplus(t_k)`` over slices of two rows or more; return how many have one.

    In a slice of one row g_k = h_k, whatever the prior counts. Σ softplus(t) = Σ max(t, 0) + log Π (1 + e^-|t|),
    and the product less 1 is what is kept, so that a posterior near certainty loses no digit. With
    ``one_factor`` all slices together have one t: there is one term, and no slice is special.
    """
    m = packed.blocks[block, 2] - packed.blocks[block, 1]
    offset, above, product, bayes = scratch.offset, scratch.above, scratch.product, scratch.bayes
    above[:m] = 0.0
    product[:m] = 0.0
    n_singles, since = 0, 0
    for k in range(n_slices):
        n = rows_of_slice(sets, k)
        if n == 1:
            n_singles += 1
            continue
        bayes_block(packed, sets, model, scratch, x, k, n, block)
        if model.one_factor:
            for v in range(m):
                above[v] += bayes[v]
            continue
        for v in range(m):
            t = offset[v] + bayes[v]
            e = exp(-abs(t))
            above[v] += max(t, 0.0)
            product[v] += e + product[v] * e
        since += 1
        if since == 512:  # before the product can overflow
            since = 0
            for v in range(m):
                above[v] += log1p(product[v])
            product[:m] = 0.0
    if model.one_factor:
        for v in range(m):
            t = offset[v] + above[v]
            above[v], product[v] = max(t, 0.0), exp(-abs(t))
        n_singles = 0
    for v in range(m):
        above[v] = -(above[v] + log1p(product[v]))
    return n_singles


@inline
def bayes_block(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    k: int,
    n: int,
    block: int,
) -> None:
    """``scratch.bayes[v] = d_k`` for every variable of a block."""
    levels, first, last, column, stride = packed.blocks[block]
    m, width = last - first, (levels - 1) * stride
    cells, margins, rest, bayes = scratch.cells, scratch.margins, scratch.rest, scratch.bayes
    a, b = model.kind[x], model.kind[packed.order[first]]
    by_cell, by_row, by_column = (
        model.tables[model.cell[a, b]],
        model.tables[model.margin[a, b]],
        model.tables[model.margin[b, a]],
    )
    begin, end = sets.child[2, k], sets.child[2, k + 1]
    start = log_prior_ratio(model, x, packed.order[first], n)
    for s in range(begin, end):
        start -= by_row[sets.size[2, s]]
    everyone = n == packed.n_rows  # one slice of all rows: its margins are known
    if levels == 2 and end - begin == 2:
        count_columns(packed, sets, 2, begin, column, width, cells)
        if everyone:
            for v in range(m):
                margins[v] = packed.totals[column + v] - cells[v]
        else:
            count_columns(packed, sets, 2, begin + 1, column, width, margins)
        n_one, n_two = np.int32(sets.size[2, begin]), np.int32(sets.size[2, begin + 1])
        bayes_two_by_two(by_cell, by_column, cells, margins, n_one, n_two, start, m, bayes)
        return
    for v in range(m):
        bayes[v] = start
    for c in range(width):
        margins[c] = 0
    for s in range(begin, end):
        if everyone and s == end - 1:
            for c in range(width):
                cells[c] = packed.totals[column + c] - margins[c]
        else:
            count_columns(packed, sets, 2, s, column, width, cells)
        add_cells(by_cell, cells, np.int32(sets.size[2, s]), levels, stride, m, rest, bayes, 1.0)
        for c in range(width):
            margins[c] += cells[c]
    add_cells(by_column, margins, np.int32(n), levels, stride, m, rest, bayes, -1.0)


@inline
def bayes_two_by_two(
    by_cell: Floats,
    by_column: Floats,
    one: NDArray[np.int32],
    two: NDArray[np.int32],
    n_one: int,
    n_two: int,
    start: float,
    m: int,
    bayes: Floats,
) -> None:
    """Binary variables against a binary x, in one pass: half the time of the general form."""
    for v in range(m):
        c, d = one[v], two[v]
        h = by_cell[np.uint32(c)] + by_cell[np.uint32(n_one - c)]
        h += by_cell[np.uint32(d)] + by_cell[np.uint32(n_two - d)]
        g = by_column[np.uint32(c + d)] + by_column[np.uint32(n_one + n_two - c - d)]
        bayes[v] = start + (h - g)


@inline
def add_cells(
    table: Floats,
    cells: NDArray[np.int32],
    n: int,
    levels: int,
    stride: int,
    m: int,
    rest: NDArray[np.int32],
    bayes: Floats,
    sign: float,
) -> None:
    """Add (or subtract) the table values of all levels; level 0 is what the others leave of ``n``."""
    if levels == 2:
        for v in range(m):
            c = cells[v]
            bayes[v] += sign * (table[np.uint32(c)] + table[np.uint32(n - c)])
        return
    for v in range(m):
        rest[v] = n
    for level in range(levels - 1):
        for v in range(m):
            c = cells[level * stride + v]
            rest[v] -= c
            bayes[v] += sign * table[np.uint32(c)]
    for v in range(m):
        bayes[v] += sign * table[np.uint32(rest[v])]


@inline
def posterior_from(
    model: Model, log_prior: float, factors: Floats, n_slices: int, n_possible: float
) -> tuple[float, float]:
    """Combine the log Bayes factors of the observed slices into (log Pr ⊥, log Pr not ⊥)."""
    if n_slices == 0:
        return log_prior, log_one_minus_exp(log_prior)
    if model.one_factor:
        total = 0.0
        for k in range(n_slices):
            total += factors[k]
        _, offset = slice_prior(log_prior, 1.0)
        return -softplus(offset + total), -softplus(-(offset + total))
    lp, offset = slice_prior(log_prior, n_possible)
    against = -(n_possible - n_slices) * lp
    largest = -np.inf
    for k in range(n_slices):
        against += softplus(offset + factors[k])
        largest = max(largest, offset + factors[k])
    if against > 1e-290:
        return -against, log_one_minus_exp(-against)
    total = 0.0
    for k in range(n_slices):
        total += math.exp(offset + factors[k] - largest)
    return -against, largest + math.log(total)


@allocating_kernel
def posterior_of_cells(
    model: Model, scratch: Scratch, x: int, y: int, cells: Ints, begin: int, end: int, n_possible: float
) -> tuple[float, float]:
    """Score one table that is given as the list of its observed cells, sorted by slice, x, y."""
    a, b = model.kind[x], model.kind[y]
    by_cell, by_row, by_column = (
        model.tables[model.cell[a, b]],
        model.tables[model.margin[a, b]],
        model.tables[model.margin[b, a]],
    )
    column = scratch.by_level
    factors = np.empty(cells[0, end - 1] + 1 if end > begin else 0)
    while begin < end:
        k, n, d, row, level = cells[0, begin], np.int64(0), 0.0, 0, cells[1, begin]
        i = begin
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
        factors[k] = d + log_prior_ratio(model, x, y, n) if n > 1 else 0.0
        begin = i
    if not model.every_slice:
        n_possible = np.float64(factors.size)
    return posterior_from(model, log_prior_of(model, x, y), factors, factors.size, n_possible)


@allocating_kernel
def posteriors_of_tables(
    model: Model,
    scratch: Scratch,
    x: int,
    ys: Ints,
    possible: Floats,
    start: Ints,
    cells: Ints,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Score a batch of tables, from whatever engine they come."""
    for t in range(ys.size):
        independent[t], dependent[t] = posterior_of_cells(
            model, scratch, x, ys[t], cells, start[t], start[t + 1], possible[t]
        )


@allocating_kernel
def posterior_one(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    y: int,
    n_slices: int,
    n_possible: float,
    spare: int,
) -> tuple[float, float]:
    """Score one y against the sets of (slice, x) in place 2, whatever its levels and missing values."""
    cells, n = cells_of(packed, sets, n_slices, spare, y, np.empty((4, 64), np.int64), 0)
    return posterior_of_cells(model, scratch, x, y, cells, 0, n, n_possible)


@allocating_kernel
def fixed_posteriors(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    ys: Ints,
    given: Ints,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Posteriors of x against each of many ys, one conditioning set."""
    here, n_slices = slices_of(packed, sets, x, given)
    n_possible = possible_slices(packed, given, np.int64(-1)) if model.every_slice else np.float64(n_slices)
    row = np.full(packed.levels.size, np.nan)
    if 8 * ys.size > packed.levels.size:
        for block in range(packed.blocks.shape[0]):
            independence_block(packed, sets, model, scratch, x, n_slices, n_possible, block, row)
    for i in range(ys.size):
        if row[ys[i]] < -1e-290:
            independent[i], dependent[i] = row[ys[i]], log_one_minus_exp(row[ys[i]])
        else:  # not scored with a block, or so certain that only the slow route keeps the digits
            independent[i], dependent[i] = posterior_one(
                packed, sets, model, scratch, x, ys[i], n_slices, n_possible, 1 - here
            )


@allocating_kernel
def first_separating(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    y: int,
    subsets: Ints,
    threshold: Floats,
) -> int:
    """Return the first row of ``subsets`` given which log Pr(x ⊥ y) exceeds the threshold; -1 if none."""
    for i in range(subsets.shape[0]):
        here, n_slices = slices_of(packed, sets, x, subsets[i])
        n_possible = possible_slices(packed, subsets[i], np.int64(-1))
        log_p, _ = posterior_one(packed, sets, model, scratch, x, y, n_slices, n_possible, 1 - here)
        if log_p > threshold[0]:
            return i
    return -1


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


@allocating_kernel
def round_robin_posteriors(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Posteriors of x against each member given the others, all of them margins of one table.

    The slices of ``members`` stand in place ``here``, split by x in place 2. For member j the slices that agree on everything before j (``prefix``) and after j (``suffix``) merge.
    """
    b = members.size
    code = np.empty((b, n_slices), np.int64)
    suffix = np.zeros((b + 1, n_slices), np.int64)
    n_suffix = np.ones(b + 1, np.int64)
    room = np.empty((7, max(n_slices, scratch.by_level.size) + 1), np.int64)
    order, merged, prefix, longer = room[3], room[4], room[5, :n_slices], room[6, :n_slices]
    factors = np.empty(n_slices)
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for j in range(b):
            code[j, k] = level_of(packed, members[j], row)
    for j in range(b - 1, 0, -1):
        n_suffix[j] = rank_pairs(
            code[j], packed.levels[members[j]], suffix[j + 1], n_suffix[j + 1], order, suffix[j], room
        )
    prefix[:] = 0
    n_prefix = np.int64(1)
    for j in range(b):
        y = members[j]
        observed = rank_pairs(prefix, n_prefix, suffix[j + 1], n_suffix[j + 1], order, merged, room)
        merged_factors(sets, model, scratch, x, y, n_slices, order, merged, factors)
        n_possible = possible_slices(packed, members, y) if model.every_slice else np.float64(observed)
        independent[j], dependent[j] = posterior_from(
            model, log_prior_of(model, x, y), factors, observed, n_possible
        )
        n_prefix = rank_pairs(prefix, n_prefix, code[j], packed.levels[y], order, longer, room)
        prefix, longer = longer, prefix


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


@allocating_kernel
def round_robin(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Posteriors of x against each member given the others."""
    here, n_slices = slices_of(packed, sets, x, members)
    round_robin_posteriors(
        packed, sets, model, scratch, x, members, here, n_slices, independent, dependent
    )


@allocating_kernel
def dependence_of_members(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
    out: Floats,
) -> None:
    """``out[y] = log Pr(x not⊥ y | other members)`` for every member, from the slices in place ``here``."""
    independent, dependent = np.empty(members.size), np.empty(members.size)
    round_robin_posteriors(
        packed, sets, model, scratch, x, members, here, n_slices, independent, dependent
    )
    for j in range(members.size):
        out[members[j]] = dependent[j]
