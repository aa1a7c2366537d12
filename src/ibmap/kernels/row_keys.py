"""Whole rows as keys of a few words: rows that agree on many columns are found in one pass over the rows.

A partition by bits (``partition.py``) is refined column by column: the way for few columns, or when the next
question shares them. A question that comes alone, given dozens of columns, has hardly two rows to a slice:
with 100 binary columns and 1000 rows it takes 17 microseconds by keys and 148 by bits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.hashing import hash_word
from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import Ints, Packed

Words = NDArray[np.uint64]


class Keys(NamedTuple):
    """The codes of every row, side by side in words; no rows if values are missing."""

    rows: Words  #: (rows, words)
    word: Ints  #: (variables,): the word that holds a variable
    shift: Words  #: (variables,): where in the word
    bits: Words  #: (variables,): the bits it takes, before they are shifted


class Groups(NamedTuple):
    """Buffers for the groups of rows that agree, numbered as they come."""

    masks: Words  #: (words,): the bits of the given variables
    used: Ints  #: (words,): the words with such bits
    slots: Ints  #: a power of two, twice the rows or more: the first row of a group, where its hash says
    of_row: Ints  #: (rows,): the group of each row
    size: Ints  #: (rows,): the rows of each group
    start: Ints  #: (rows,): first of its members
    members: Ints  #: (rows,): the rows of groups of two and more


def row_keys(packed: Packed) -> tuple[Keys, Groups]:
    """Return the rows of a table as keys, and buffers to group them."""
    widths = [int(levels - 1).bit_length() for levels in packed.levels.tolist()]
    word, shift, column, end = [], [], 0, 0
    for width in widths:
        if end + width > 64:
            column, end = column + 1, 0
        word.append(column)
        shift.append(end)
        end += width
    n_rows, n_words = 0 if packed.has_missing else packed.n_rows, column + 1
    bits = [(1 << width) - 1 for width in widths]
    keys = Keys(
        np.zeros((n_rows, n_words), np.uint64),
        np.array(word, np.int64),
        np.array(shift, np.uint64),
        np.array(bits, np.uint64),
    )
    fill_keys(packed, keys)
    buffers = [np.empty(n_rows, np.int64) for _ in range(4)]
    slots = np.empty(1 << (2 * n_rows).bit_length(), np.int64)
    return keys, Groups(np.empty(n_words, np.uint64), np.empty(n_words, np.int64), slots, *buffers)


@kernel
def fill_keys(packed: Packed, keys: Keys) -> None:
    """Write the codes of a complete table into its keys."""
    if keys.rows.shape[0] == 0:
        return
    for v in range(packed.levels.size):
        word, shift = keys.word[v], keys.shift[v]
        if packed.first[v] < 0:
            codes = packed.wide_codes[packed.wide[v]]
            for row in range(packed.n_rows):
                keys.rows[row, word] |= np.uint64(codes[row]) << shift
            continue
        for level in range(1, packed.levels[v]):
            bits = packed.level_bits[packed.first[v] + level]
            for w in range(bits.size):
                mask = bits[w]
                while mask:
                    row = 64 * w + np.int64(popcount(~mask & (mask - np.uint64(1))))
                    keys.rows[row, word] |= np.uint64(level) << shift
                    mask &= mask - np.uint64(1)


@inline
def code_of(keys: Keys, row: int, variable: int) -> int:
    """Return the code of a variable in one row."""
    word = keys.rows[row, keys.word[variable]]
    return np.int64((word >> keys.shift[variable]) & keys.bits[variable])


@kernel
def group_rows(keys: Keys, groups: Groups, given: Ints) -> int:
    """Group the rows that agree on every variable in ``given``; return how many groups there are.

    Hashes only say where to look: rows of a group have been compared, word by word.
    """
    rows, masks, used, slots = keys.rows, groups.masks, groups.used, groups.slots
    masks[:] = np.uint64(0)
    for v in given:
        masks[keys.word[v]] |= keys.bits[v] << keys.shift[v]
    n_used = 0
    for w in range(masks.size):
        if masks[w]:
            used[n_used] = w
            n_used += 1
    slots[:] = np.int64(-1)
    n_groups, last = 0, np.uint64(slots.size - 1)
    for row in range(rows.shape[0]):
        hashed = np.uint64(0)
        for k in range(n_used):
            hashed = hash_word(hashed, rows[row, used[k]] & masks[used[k]])
        slot = hashed & last
        while slots[slot] >= 0 and not _agree(rows, slots[slot], row, masks, used, n_used):
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot] = row
            groups.of_row[row] = n_groups
            groups.size[n_groups] = 1
            n_groups += 1
        else:
            groups.of_row[row] = groups.of_row[slots[slot]]
            groups.size[groups.of_row[row]] += 1
    return n_groups


@inline
def _agree(rows: Words, one: int, other: int, masks: Words, used: Ints, n_used: int) -> bool:
    k = 0
    while k < n_used and not (rows[one, used[k]] ^ rows[other, used[k]]) & masks[used[k]]:
        k += 1
    return k == n_used


@kernel
def list_members(groups: Groups, n_groups: int) -> int:
    """List the rows of the groups of two and more, group by group; return how many groups have one row."""
    end, n_single = 0, 0
    for g in range(n_groups):
        groups.start[g] = end
        if groups.size[g] == 1:
            n_single += 1
        else:
            end += groups.size[g]
    if n_single == n_groups:
        return n_single
    for row in range(groups.of_row.size):
        g = groups.of_row[row]
        if groups.size[g] > 1:
            groups.members[groups.start[g]] = row
            groups.start[g] += 1
    for g in range(n_groups):
        if groups.size[g] > 1:
            groups.start[g] -= groups.size[g]
    return n_single
