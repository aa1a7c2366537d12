"""Rows of evidence of binary variables, from bits in memory: both families of conditionals at once.

The same numbers as ``loglinear.py`` and ``splitting.py`` make of lists of cells, for all ys together: a y of
two levels has one effect, its contrast is ±1/√2, and every sum over rows is a sum over slices of a weight
times the rows of the slice where y is 1.
"""

import math

import numpy as np

from ibmap.kernels.bayes_model import log_two_by_two, records_of
from ibmap.kernels.hashing import slots_for
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline
from ibmap.kernels.loglinear import design_of, evidence_inside, fit, moments_of, precision_of
from ibmap.kernels.logspace import log_rising
from ibmap.kernels.margins import add_margin, hashes_of
from ibmap.kernels.partition import first_row, level_of, slices_of
from ibmap.kernels.records import Floats, FloatTable, Ints, IntTable, Packed, Sets
from ibmap.kernels.tally import PAD, count_sets

SETS = 256  #: that are counted before they are scored
CONTRAST = math.sqrt(0.5)  #: of the second of two levels; that of the first is the opposite


@allocating_kernel
def binary_rows(
    context: Ints,
    xs: Ints,
    given: Ints,
    given_start: Ints,
    of_intercept: float,
    of_effect: float,
    strong: float,
    prior_count: float,
    rising: FloatTable,
    pairwise: FloatTable,
    saturated: FloatTable,
    values: FloatTable,
) -> None:
    """Fill the rows of some x: t_xy of both families, and s_x(B) of both.

    With a length from which on effects are ``strong``, only members are looked at, and only they are written.
    If rows have no columns, only s_x(B) is wanted. ``rising`` has log Γ(a + n) - log Γ(a) for a cell, a =
    ``prior_count``, and for the two levels of x together, a twice as large; n may be larger than there are
    entries.
    """
    packed, sets, _, _ = records_of(context)
    columns = np.empty(packed.levels.size, np.int64)
    for v in range(columns.size):
        columns[v] = packed.levels[v] - 1
    for q in range(xs.size):
        if strong == np.inf:
            for y in range(pairwise.shape[1]):
                pairwise[q, y] = saturated[q, y] = 0.0
        values[0, q] = values[1, q] = 0.0
        x, members = xs[q], given[given_start[q] : given_start[q + 1]]
        if packed.levels[x] != 2:  # a constant: nothing says anything about it
            for member in members[: min(members.size, pairwise.shape[1])]:
                pairwise[q, member] = saturated[q, member] = 0.0
            continue
        here, n_slices = slices_of(packed, sets, x, members)
        code, counts = configurations(packed, sets, here, n_slices, members)
        design = design_of(code, packed.levels, columns, members)
        width = design.shape[1]
        precision = precision_of(1, width, of_intercept, of_effect)
        theta, share, factor = np.zeros(width), np.empty((n_slices, 2)), np.empty((width, width))
        values[0, q] = fit(design, counts, precision, theta, share, factor)
        values[1, q] = log_evidence(counts, prior_count, rising)
        if not pairwise.shape[1]:
            continue
        mean, spread = moments_of(share)
        for block in range(packed.blocks.shape[0]):
            if packed.blocks[block, 0] == 2 and strong == np.inf:
                count_and_score(
                    packed,
                    sets,
                    n_slices,
                    block,
                    design,
                    mean,
                    spread,
                    factor,
                    of_effect,
                    prior_count,
                    rising,
                    pairwise[q],
                    saturated[q],
                )
        at = 1
        for member in members:
            n_effects = packed.levels[member] - 1
            pairwise[q, member] = evidence_inside(
                design, counts, values[0, q], precision, theta, factor, at, n_effects, strong
            )
            at += n_effects
        members_of_tables(sets, n_slices, code, members, prior_count, rising, saturated[q])
        pairwise[q, x] = saturated[q, x] = 0.0


@allocating_part
def configurations(
    packed: Packed, sets: Sets, here: int, n_slices: int, members: Ints
) -> tuple[IntTable, FloatTable]:
    """Levels of the members, and counts of the levels of x, in every slice."""
    code, counts = np.empty((n_slices, members.size), np.int64), np.zeros((n_slices, 2))
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for j in range(members.size):
            code[k, j] = level_of(packed, members[j], row)
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            counts[k, sets.code[2, s]] = sets.size[2, s]
    return code, counts


@allocating_part
def log_evidence(counts: FloatTable, prior_count: float, rising: FloatTable) -> float:
    """s_x(B) of the saturated family."""
    total = 0.0
    for k in range(counts.shape[0]):
        zero, one = np.int64(counts[k, 0]), np.int64(counts[k, 1])
        cells = rising_at(rising[0], prior_count, zero) + rising_at(rising[0], prior_count, one)
        total += cells - rising_at(rising[1], 2.0 * prior_count, zero + one)
    return total


@allocating_part
def rising_at(table: Floats, parameter: float, n: int) -> float:
    """Return log Γ(a + n) - log Γ(a), from a table if it is long enough."""
    return table[n] if n < table.size else log_rising(parameter, n)


@allocating_part
def count_and_score(
    packed: Packed,
    sets: Sets,
    n_slices: int,
    block: int,
    design: FloatTable,
    mean: FloatTable,
    spread: FloatTable,
    factor: FloatTable,
    of_effect: float,
    prior_count: float,
    rising: FloatTable,
    pairwise: Floats,
    saturated: Floats,
) -> None:
    """Put t of every y of a block into two rows; members of the blanket get a number that means nothing."""
    _, first, last, column, stride = packed.blocks[block]
    m, width = last - first, design.shape[1]
    n_sets = min(SETS, sets.child[2, n_slices])
    tile, cursor = np.empty((n_sets, stride + PAD), np.int32), np.empty(n_sets, np.int64)
    sums, with_y = np.zeros((width + 2, m)), np.empty(m, np.int32)
    score, full, cross = sums[0], sums[1], sums[2:]
    totals, start, k = np.zeros(width + 2), 0.0, 0
    child, size, level = sets.child[2], sets.size[2], sets.code[2]
    while k < n_slices:
        base, stop = child[k], k
        while stop < n_slices and child[stop + 1] - base <= SETS:
            stop += 1
        count_sets(packed, sets, base, child[stop], column, stride, cursor, tile)
        for one in range(k, stop):
            begin, end = child[one], child[one + 1]
            n, n_first = np.int64(0), size[begin]
            for v in range(m):
                with_y[v] = 0
            for s in range(begin, end):
                left, counted = (CONTRAST if level[s] else -CONTRAST) - mean[one, 0], tile[s - base]
                n += size[s]
                totals[0] += left * size[s]
                for v in range(m):
                    score[v] += left * counted[v]
                    with_y[v] += counted[v]
            totals[1] += spread[one, 0] * n
            for j in range(width):
                weight = spread[one, 0] * design[one, j]
                totals[2 + j] += weight * n
                row = cross[j]
                for v in range(m):
                    row[v] += weight * with_y[v]
            if n > 1:
                first_two = rising_at(rising[0], prior_count, n_first)
                first_two += rising_at(rising[0], prior_count, n - n_first)
                start += rising_at(rising[1], 2.0 * prior_count, n) - first_two
                counted = tile[begin - base]
                if n < rising.shape[1]:
                    add_tables(rising[0], rising[1], counted, with_y, n_first, n, m, full)
                else:
                    add_large_tables(prior_count, rising, counted, with_y, n_first, n, m, full)
        k = stop
    project(factor, cross, totals, width, m)
    for v in range(m):
        y, u = packed.order[first + v], CONTRAST * (2.0 * score[v] - totals[0])
        inner = 0.5 * totals[1] + of_effect
        for j in range(width):
            inner -= cross[j, v] * cross[j, v]
        pairwise[y] = 0.5 * (u * u / inner - math.log(inner / of_effect))
        saturated[y] = start + full[v]


@inline
def add_tables(
    by_cell: Floats, by_total: Floats, one: Ints, both: Ints, n_one: int, n: int, m: int, out: Floats
) -> None:
    """Add what a slice says about every y, without what all ys share."""
    first, second = np.int32(n_one), np.int32(n - n_one)
    for v in range(m):
        c, d = one[v], both[v] - one[v]
        out[v] += log_two_by_two(by_cell, by_total, c, first - c, d, second - d)


@allocating_part
def add_large_tables(
    prior_count: float,
    rising: FloatTable,
    one: Ints,
    both: Ints,
    n_one: int,
    n: int,
    m: int,
    out: Floats,
) -> None:
    """The same for a slice with more rows than the tables have entries."""
    for v in range(m):
        c, d = np.int64(one[v]), np.int64(both[v]) - np.int64(one[v])
        cells = 0.0
        for count in (c, n_one - c, d, n - n_one - d):
            cells += rising_at(rising[0], prior_count, count)
        for count in (c + d, n - c - d):
            cells -= rising_at(rising[1], 2.0 * prior_count, count)
        out[v] += cells


@inline
def project(factor: FloatTable, cross: FloatTable, totals: Floats, width: int, m: int) -> None:
    """Turn Σ w d [y = 1] into contrasts of y, and those into L⁻¹ of them, for all ys."""
    for i in range(width):
        row = cross[i]
        for v in range(m):
            row[v] = CONTRAST * (2.0 * row[v] - totals[2 + i])
        for k in range(i):
            entry, before = factor[i, k], cross[k]
            for v in range(m):
                row[v] -= entry * before[v]
        for v in range(m):
            row[v] /= factor[i, i]


@allocating_part
def members_of_tables(
    sets: Sets,
    n_slices: int,
    code: IntTable,
    members: Ints,
    prior_count: float,
    rising: FloatTable,
    saturated: Floats,
) -> None:
    """Put t of every member into a row of the saturated family: margins of the slices."""
    hashed, slots = hashes_of(code), np.empty(slots_for(n_slices), np.int64)
    links, cells = np.empty((3, n_slices), np.int64), np.empty((4, sets.child[2, n_slices]), np.int64)
    column = np.zeros(2, np.int64)
    for j in range(members.size):
        end = add_margin(code, j, hashed, slots, links, sets.child[2], sets.code[2], sets.size[2], cells, 0)
        total, begin = 0.0, 0
        while begin < end:
            begin, d = sum_of_margin(cells, begin, end, prior_count, rising, column)
            total += d
        saturated[members[j]] = total


@allocating_part
def sum_of_margin(
    cells: Ints, begin: int, end: int, prior_count: float, rising: FloatTable, column: Ints
) -> tuple[int, float]:
    """Log evidence that the cells of one slice have beyond their margins; and where the next slice begins.

    ``column`` has a zero for both levels of y.
    """
    i, k, n, row, level, d = begin, cells[0, begin], np.int64(0), np.int64(0), cells[1, begin], 0.0
    while i < end and cells[0, i] == k:
        count = cells[3, i]
        if cells[1, i] != level:
            d -= rising_at(rising[0], prior_count, row)
            row, level = np.int64(0), cells[1, i]
        row += count
        n += count
        d += rising_at(rising[0], prior_count, count)
        column[cells[2, i]] += count
        i += 1
    d -= rising_at(rising[0], prior_count, row)
    for j in range(begin, i):
        d -= rising_at(rising[1], 2.0 * prior_count, column[cells[2, j]])
        column[cells[2, j]] = 0
    return i, d + rising_at(rising[1], 2.0 * prior_count, n)
