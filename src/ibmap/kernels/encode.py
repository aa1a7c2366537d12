"""Bytes → bits, eight rows at a time."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import inline


@inline
def rows_equal_to(value: int, eights: NDArray[np.uint64], w: int) -> int:
    """Return a word whose bit r is set where byte r of 64 is ``value``; they come as words 8w to 8w + 7."""
    low, high = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
    gather = np.uint64(0x0102040810204080)
    pattern = np.uint64(value) * np.uint64(0x0101010101010101)
    word = np.uint64(0)
    for i in range(8):
        differs = eights[8 * w + i] ^ pattern
        zero_bytes = ~(((differs & low) + low) | differs | low) & high
        word |= (((zero_bytes >> np.uint64(7)) * gather) >> np.uint64(56)) << np.uint64(8 * i)
    return word
