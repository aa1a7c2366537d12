"""Counts of all pairs of variables without conditioning, a tile of pairs at a time.

The bits of 32 columns stay in the first-level cache while many variables pass over them.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import inline
from ibmap.kernels.popcount import count_8, count_32
from ibmap.kernels.records import Counts, Packed

WORDS = 256  #: of 32 columns, that fit the cache


@inline
def count_tile(
    packed: Packed,
    words: NDArray[np.uint32],
    tile: Counts,
    first_x: int,
    last_x: int,
    n_levels: int,
    column: int,
    width: int,
) -> None:
    """``tile[r, c]``: rows of the table that have level 1, 2, ... of x and the bit of the column."""
    level_bits, columns, order, first = packed.level_bits, packed.columns, packed.order, packed.first
    n_words = level_bits.shape[1]
    for row in range((last_x - first_x) * (n_levels - 1)):
        for c in range(width):
            tile[row, c] = 0
    for word in range(0, n_words, WORDS):
        stop = min(word + WORDS, n_words)
        for c in range(0, width, 32):
            for i in range(first_x, last_x):
                level_0 = first[order[i]]
                for level in range(1, n_levels):
                    masks = level_bits[level_0 + level]
                    out = tile[(i - first_x) * (n_levels - 1) + level - 1]
                    if c + 32 <= width:
                        count_32(words, masks, word, stop, columns, column + c, out, c)
                    else:
                        for d in range(c, width, 8):
                            count_8(words, masks, word, stop, columns, column + d, out, d)
