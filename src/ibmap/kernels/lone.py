"""Pairs of binary variables without neighbours: counted, and looked up where they are unlikely."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.bayes_model import records_of
from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.popcount import count_8, count_32
from ibmap.kernels.records import Counts, CountTable, Floats, FloatTable, Ints, Packed


@kernel
def list_likely(
    context: Ints,
    words: NDArray[np.uint32],
    xs: Ints,
    counted: CountTable,
    lowest: Counts,
    rank: Counts,
    table: FloatTable,
    wanted: NDArray[np.bool_],
    listed: CountTable,
    common: CountTable,
    n_listed: Ints,
    elsewhere: Floats,
) -> None:
    """List the y of some x, all with as many ones, that are likely or wanted; add up e^t of all others.

    Parameters
    ----------
    words : array
        0, 1, 2, ...
    counted : array of shape (xs, columns of a block)
        Place for counts.
    lowest, rank : array, by y
        The count where the row of the table begins, and which row it is.
    table : array
        e^t by count; infinite if it is above the floor. A count that is not in it is likely, too.
    wanted : array of shape (xs, variables)
        Who is listed in any case.
    listed, common : array of shape (xs, variables)
        Become those y, in order, ``n_listed`` of each, and the rows where x and y are 1.
    elsewhere : array
        Becomes Σ e^t over all y that are not listed.
    """
    packed, _, _, _ = records_of(context)
    width = table.shape[1]
    n_listed[:] = 0
    elsewhere[:] = 0.0
    for block in packed.blocks:
        first, last = block[1], block[2]
        count_ones(packed, words, xs, block[3], block[4], counted)
        for i in range(xs.size):
            counts, also, n, total = counted[i], wanted[i], n_listed[i], elsewhere[i]
            for y in range(first, last):
                both, share = counts[y - first], np.inf
                at = both - lowest[y]
                if 0 <= at < width:
                    share = table[rank[y], at]
                if share < np.inf and not also[y]:
                    total += share
                else:
                    listed[i, n], common[i, n] = y, both
                    n += 1
            n_listed[i], elsewhere[i] = n, total


@inline
def count_ones(
    packed: Packed, words: NDArray[np.uint32], xs: Ints, column: int, width: int, counted: CountTable
) -> None:
    """Count the rows where x and y are 1: all x pass over 32 columns before the next columns are read."""
    n_words = packed.level_bits.shape[1]
    for i in range(xs.size):
        for c in range(width):
            counted[i, c] = 0
    for c in range(0, width, 32):
        for i in range(xs.size):
            masks = packed.level_bits[packed.first[xs[i]] + 1]
            if c + 32 <= width:
                count_32(words, masks, 0, n_words, packed.columns, column + c, counted[i], c)
            else:
                for d in range(c, width, 8):
                    count_8(words, masks, 0, n_words, packed.columns, column + d, counted[i], d)
