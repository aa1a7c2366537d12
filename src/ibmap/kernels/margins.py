"""x against each given variable, given the others: margins of (slice, level of x, rows), nothing is counted.

For a member the slices that agree on all other members merge. They are found by a hash that is a sum over
the members, so that any of them can be taken out, and compared level by level.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.hashing import hash_word, slots_for
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline
from ibmap.kernels.records import Ints, IntTable
from ibmap.kernels.tally import with_place, without_rest

Hashes = NDArray[np.uint64]


@allocating_kernel
def margin_tables(
    given: Ints, given_start: Ints, slice_start: Ints, keys: Ints, set_start: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """Margins of the answers to a batch of questions: (first cell of each table, cells), as ``given`` is.

    ``keys`` are the levels of the given variables in every slice; ``rows`` are slice, level of x, rows.
    """
    start, cells, n, first_key = np.zeros(given.size + 1, np.int64), np.empty((4, 1024), np.int64), 0, 0
    for q in range(given_start.size - 1):
        size, n_slices = given_start[q + 1] - given_start[q], slice_start[q + 1] - slice_start[q]
        code = keys[first_key : first_key + size * n_slices].reshape((n_slices, size))
        first_key += size * n_slices
        mine = rows[:, set_start[q] : set_start[q + 1]]
        first_set = np.zeros(n_slices + 1, np.int64)
        for s in range(mine.shape[1]):
            first_set[mine[0, s] + 1] = s + 1
        hashed, slots = hashes_of(code), np.empty(slots_for(n_slices), np.int64)
        links = np.empty((3, n_slices), np.int64)
        cells = with_place(cells, n + mine.shape[1] * size)
        for j in range(size):
            n = add_margin(code, j, hashed, slots, links, first_set, mine[1], mine[2], cells, n)
            start[given_start[q] + j + 1] = n
    return start, without_rest(cells, n)


@inline
def hash_term(member: int, level: int) -> int:
    """What one member adds to the hash of a slice."""
    return hash_word(np.uint64(0), np.uint64(member + 1)) * np.uint64(level + 1)


@allocating_part
def hashes_of(code: IntTable) -> Hashes:
    """Hash every row of levels."""
    out = np.zeros(code.shape[0], np.uint64)
    for j in range(code.shape[1]):
        for k in range(code.shape[0]):
            out[k] += hash_term(j, code[k, j])
    return out


@inline
def add_margin(
    code: IntTable,
    j: int,
    hashed: Hashes,
    slots: Ints,
    links: IntTable,
    first_set: Ints,
    set_level: Ints,
    set_rows: Ints,
    cells: IntTable,
    n: int,
) -> int:
    """Append the cells of x against member j: merged slices as they come, each sorted by x, then y."""
    by_slice, by_x, by_y, counts = cells[0], cells[1], cells[2], cells[3]
    head, after = links[0], links[2]
    for merged in range(merge_slices(code, j, hashed, slots, links)):
        begin, k = n, head[merged]
        while k >= 0:
            for s in range(first_set[k], first_set[k + 1]):
                by_slice[n], by_x[n], by_y[n], counts[n] = merged, set_level[s], code[k, j], set_rows[s]
                n += 1
            k = after[k]
        if after[head[merged]] >= 0:  # one slice alone is sorted by level of x
            sort_cells(cells, begin, n)
    return n


@inline
def merge_slices(code: IntTable, j: int, hashed: Hashes, slots: Ints, links: IntTable) -> int:
    """Chain the slices that agree on all members but j, and return the number of chains.

    ``links`` are the first slice of every chain; the last slice, by the first; the slice after each, or -1.
    """
    head, tail, after = links[0], links[1], links[2]
    for i in range(slots.size):
        slots[i] = -1
    n_merged, last = 0, np.uint64(slots.size - 1)
    for k in range(code.shape[0]):
        rest = hashed[k] - hash_term(j, code[k, j])
        slot = hash_word(np.uint64(0), rest) & last
        while slots[slot] >= 0:
            other = slots[slot]
            if hashed[other] - hash_term(j, code[other, j]) == rest and agree_but(code, other, k, j):
                break
            slot = (slot + np.uint64(1)) & last
        after[k] = -1
        first = slots[slot]
        if first < 0:
            slots[slot] = tail[k] = head[n_merged] = k
            n_merged += 1
        else:
            after[tail[first]] = k
            tail[first] = k
    return n_merged


@inline
def agree_but(code: IntTable, one: int, other: int, j: int) -> bool:
    """Whether two rows of levels agree everywhere but in column j."""
    i = 0
    while i < code.shape[1] and (i == j or code[one, i] == code[other, i]):
        i += 1
    return i == code.shape[1]


@allocating_part
def sort_cells(cells: IntTable, begin: int, end: int) -> None:
    """Sort the cells of one slice by level of x, then level of y (Shell sort)."""
    x, y, count = cells[1], cells[2], cells[3]
    gap = end - begin
    while gap > 1:
        gap = max(1, (4 * gap) // 9)
        for i in range(begin + gap, end):
            a, b, c, j = x[i], y[i], count[i], i
            while j >= begin + gap and (x[j - gap] > a or (x[j - gap] == a and y[j - gap] > b)):
                x[j], y[j], count[j] = x[j - gap], y[j - gap], count[j - gap]
                j -= gap
            x[j], y[j], count[j] = a, b, c
