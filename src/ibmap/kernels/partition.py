"""Rows → sets of rows: packing levels into bits, and refining a partition one column at a time."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import context_of, records_of, routes_of
from ibmap.kernels.encode import rows_equal_to
from ibmap.kernels.jit import PART, ByAddress, caller, inline, kernel, part
from ibmap.kernels.pointers import RecordType
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import Ints, Packed, Sets


@kernel
def pack_levels(codes: NDArray[np.int8], levels: Ints, first: Ints, out: NDArray[np.uint64]) -> None:
    """Set bit r of ``out[first[v] + b]`` where ``codes[v, r] == b``, eight rows at a time."""
    for v in range(codes.shape[0]):
        eights = codes[v].view(np.uint64)  # rows are padded with -1 to a multiple of 64
        for b in range(levels[v]):
            for w in range(out.shape[1]):
                out[first[v] + b, w] = rows_equal_to(b, eights, w)


@inline
def rows_with(packed: Packed, sets: Sets, to: int, variable: int) -> int:
    """Put all rows where ``variable`` is observed into one set. Returns the number of sets: 1 or 0."""
    words, masks = sets.words[to], sets.masks[to]
    first, n_words, end, size = packed.first[variable], packed.level_bits.shape[1], 0, np.uint64(0)
    for w in range(n_words):
        mask = np.uint64(0)
        if first >= 0:
            for level in range(packed.levels[variable]):
                mask |= packed.level_bits[first + level, w]
        else:
            codes = packed.wide_codes[packed.wide[variable]]
            for row in range(64 * w, min(64 * w + 64, packed.n_rows)):
                if codes[row] >= 0:
                    mask |= np.uint64(1) << np.uint64(row % 64)
        if mask:
            words[end] = w
            masks[end] = mask
            size += popcount(mask)
            end += 1
    sets.start[to, 0] = 0
    sets.start[to, 1] = end
    sets.size[to, 0] = size
    sets.code[to, 0] = 0
    return 1 if end else 0


@inline
def level_of_bit(packed: Packed, variable: int, word: int, bit: int) -> int:
    """Return the level of a narrow variable in the row that is one bit of one word (-1 if missing)."""
    for level in range(packed.levels[variable]):
        if packed.level_bits[packed.first[variable] + level, word] & bit:
            return level
    return -1


@inline
def level_of(packed: Packed, variable: int, row: int) -> int:
    """Return the level of a variable in one row (-1 if missing)."""
    if packed.first[variable] < 0:
        return np.int64(packed.wide_codes[packed.wide[variable], row])
    return level_of_bit(packed, variable, row // 64, np.uint64(1) << np.uint64(row % 64))


@inline
def first_row(sets: Sets, where: int, one: int) -> int:
    """Return the first row of a set."""
    i = sets.start[where, one]
    mask = sets.masks[where, i]
    return 64 * np.int64(sets.words[where, i]) + np.int64(popcount(~mask & (mask - np.uint64(1))))


@inline
def split(packed: Packed, sets: Sets, source: int, n_sets: int, to: int, variable: int) -> int:
    """Split every set by the levels of ``variable``; rows where it is missing are left out."""
    if packed.first[variable] < 0:
        return _split_by_code(packed, sets, source, n_sets, to, variable)
    words, masks, start, size_of = (
        sets.words[source],
        sets.masks[source],
        sets.start[source],
        sets.size[source],
    )
    new_words, new_masks, new_start = sets.words[to], sets.masks[to], sets.start[to]
    new_size, new_code, child = sets.size[to], sets.code[to], sets.child[to]
    end, n_new = 0, 0
    new_start[0] = 0
    for s in range(n_sets):
        child[s] = n_new
        if size_of[s] == 1:  # nothing to split: find its level and move on
            level = level_of_bit(packed, variable, np.int64(words[start[s]]), masks[start[s]])
            if level >= 0:
                new_words[end], new_masks[end] = words[start[s]], masks[start[s]]
                new_size[n_new], new_code[n_new] = 1, level
                end += 1
                n_new += 1
                new_start[n_new] = end
            continue
        for level in range(packed.levels[variable]):
            bits = packed.level_bits[packed.first[variable] + level]
            size = np.uint64(0)
            for i in range(start[s], start[s + 1]):
                mask = masks[i] & bits[words[i]]
                if mask:
                    new_words[end] = words[i]
                    new_masks[end] = mask
                    size += popcount(mask)
                    end += 1
            if size:
                new_size[n_new] = size
                new_code[n_new] = level
                n_new += 1
                new_start[n_new] = end
    child[n_sets] = n_new
    return n_new


def _split_by_code(packed: Packed, sets: Sets, source: int, n_sets: int, to: int, variable: int) -> int:
    """Split by a variable of many levels: by address in a context, compiled in place for plain records."""
    raise TypeError("only kernels can call this")


@overload(_split_by_code, jit_options=PART)  # type: ignore[untyped-decorator]
def _split_by_code_typed(packed: Any, sets: Any, source: Any, n_sets: Any, to: Any, variable: Any) -> Any:
    def by_address(packed: Any, sets: Any, source: Any, n_sets: Any, to: Any, variable: Any) -> int:
        context = context_of(packed)
        (routes,) = routes_of(context)
        return _call_split(routes.split_wide, context, source, n_sets, to, variable)

    def in_place(packed: Any, sets: Any, source: Any, n_sets: Any, to: Any, variable: Any) -> int:
        return _split_wide(packed, sets, source, n_sets, to, variable)

    return by_address if isinstance(packed, RecordType) else in_place


def _split_wide_of(context: int, source: int, n_sets: int, to: int, variable: int) -> int:
    packed, sets, _, _ = records_of(context)
    return _split_wide(packed, sets, source, n_sets, to, variable)


_SPLIT = types.intp(*(types.intp,) * 5)
split_wide, _call_split = ByAddress(_SPLIT, _split_wide_of), caller(_SPLIT)


@part
def _split_wide(packed: Packed, sets: Sets, source: int, n_sets: int, to: int, variable: int) -> int:
    """Split by a variable of many levels: sort the rows of each set by code, then walk the runs."""
    codes = packed.wide_codes[packed.wide[variable]]
    words, masks, start = sets.words[to], sets.masks[to], sets.start[to]
    size, code, child = sets.size[to], sets.code[to], sets.child[to]
    end, n_new = 0, 0
    start[0] = 0
    for s in range(n_sets):
        child[s] = n_new
        n = rows_by_code(packed, sets, source, s, codes)
        previous = -1
        for key in sets.keys[:n]:
            row = key % packed.n_rows
            word, bit = np.uint32(row // 64), np.uint64(1) << np.uint64(row % 64)
            if codes[row] != previous:
                previous = codes[row]
                size[n_new], code[n_new] = 0, previous
                n_new += 1
            if end > start[n_new - 1] and words[end - 1] == word:
                masks[end - 1] |= bit
            else:
                words[end], masks[end] = word, bit
                end += 1
            size[n_new - 1] += 1
            start[n_new] = end
    child[n_sets] = n_new
    return n_new


@part
def rows_by_code(packed: Packed, sets: Sets, source: int, one: int, codes: NDArray[np.int32]) -> int:
    """Fill ``sets.keys`` with code * n_rows + row of a set, sorted (Shell sort). Returns how many."""
    keys, n = sets.keys, 0
    for i in range(sets.start[source, one], sets.start[source, one + 1]):
        mask = sets.masks[source, i]
        while mask:
            row = 64 * np.int64(sets.words[source, i]) + np.int64(popcount(~mask & (mask - np.uint64(1))))
            mask &= mask - np.uint64(1)
            if codes[row] >= 0:
                keys[n] = np.int64(codes[row]) * packed.n_rows + row
                n += 1
    gap = n
    while gap > 1:
        gap = max(1, (4 * gap) // 9)
        for i in range(gap, n):
            key, j = keys[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
    return n


@inline
def set_aside_singletons(sets: Sets, where: int, n_sets: int, n_parked: int) -> tuple[int, int]:
    """Move the sets of one row to place 3. Returns how many sets stay, and how many wait."""
    words, masks, start, size = sets.words[where], sets.masks[where], sets.start[where], sets.size[where]
    end, n_kept = 0, 0
    for s in range(n_sets):
        if size[s] == 1:
            sets.words[3, n_parked], sets.masks[3, n_parked] = words[start[s]], masks[start[s]]
            n_parked += 1
            continue
        first, last = start[s], start[s + 1]
        start[n_kept] = end
        size[n_kept] = size[s]
        for i in range(first, last):
            words[end], masks[end] = words[i], masks[i]
            end += 1
        n_kept += 1
    start[n_kept] = end
    return n_kept, n_parked


@inline
def restore_singletons(
    packed: Packed, sets: Sets, where: int, n_sets: int, n_parked: int, given: Ints
) -> int:
    """Append the sets that waited in place 3, but for rows where a variable is missing."""
    end = sets.start[where, n_sets]
    for k in range(n_parked):
        word, mask = sets.words[3, k], sets.masks[3, k]
        known = True
        if packed.has_missing:
            row = 64 * np.int64(word) + np.int64(popcount(mask - np.uint64(1)))
            for variable in given:
                known = known and level_of(packed, variable, row) >= 0
        if known:
            sets.words[where, end], sets.masks[where, end] = word, mask
            sets.size[where, n_sets] = 1
            end += 1
            n_sets += 1
            sets.start[where, n_sets] = end
    return n_sets


@part
def slices_of(packed: Packed, sets: Sets, x: int, given: Ints) -> tuple[int, int]:
    """Split the rows that know x by every variable in ``given``, then each slice by x (into place 2).

    Returns (the place of the slices, 0 or 1; their number).
    """
    here, n_slices = np.int64(0), rows_with(packed, sets, np.int64(0), x)  # no literals: one compiled split
    here, n_slices, n_parked = refine(packed, sets, given, np.int64(0), here, n_slices, np.int64(0))
    return here, split_by_x(packed, sets, x, given, here, n_slices, n_parked)


@inline
def refine(
    packed: Packed, sets: Sets, given: Ints, first: int, here: int, n_slices: int, n_parked: int
) -> tuple[int, int, int]:
    """Split the slices in place ``here`` by ``given[first:]``; those of one row wait in place 3.

    Returns (the place of the slices, 0 or 1; the number of those that stay; of those that wait).
    """
    for i in range(first, given.size):
        n_sets = split(packed, sets, here, n_slices, 1 - here, given[i])
        here = 1 - here
        n_slices, n_parked = set_aside_singletons(sets, here, n_sets, n_parked)
    return here, n_slices, n_parked


@inline
def split_by_x(
    packed: Packed, sets: Sets, x: int, given: Ints, here: int, n_slices: int, n_parked: int
) -> int:
    """Append the slices of one row that waited, and split all by x into place 2. Returns their number."""
    n_slices = restore_singletons(packed, sets, here, n_slices, n_parked, given)
    split(packed, sets, here, n_slices, np.int64(2), x)
    return n_slices


@part
def more_slices_of(packed: Packed, sets: Sets, x: int, given: Ints, reached: Ints) -> tuple[int, int]:
    """``slices_of``, from where the last question left the sets if it had the same x and began like this one.

    ``reached`` says where that is: x, place, slices that stay, slices that wait, all slices, number of given
    variables, and these. Whoever else changes the sets must write -1 as x.
    """
    size = reached[5]
    continues = reached[0] == x and size <= given.size
    for i in range(size if continues else 0):
        continues = continues and reached[6 + i] == given[i]
    if continues and size == given.size:
        return reached[1], reached[4]
    here, n_slices, n_parked, first = reached[1], reached[2], reached[3], size
    if not continues:
        here, n_slices = np.int64(0), rows_with(packed, sets, np.int64(0), x)
        n_parked, first = np.int64(0), np.int64(0)
    here, n_slices, n_parked = refine(packed, sets, given, first, here, n_slices, n_parked)
    reached[0], reached[1], reached[2], reached[3], reached[5] = x, here, n_slices, n_parked, given.size
    if 6 + given.size > reached.size:  # a variable that is given twice
        reached[0] = -1
        return here, split_by_x(packed, sets, x, given, here, n_slices, n_parked)
    for i in range(given.size):
        reached[6 + i] = given[i]
    reached[4] = split_by_x(packed, sets, x, given, here, n_slices, n_parked)
    return here, reached[4]
