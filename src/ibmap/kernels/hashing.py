"""Hash tables with open addressing: how words become a hash, and how many slots there are.

Every kernel walks its own slots, as only it knows when two keys are the same: a hash only says where to look.
"""

import numpy as np

from ibmap.kernels.jit import inline

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  #: 2**64 over the golden ratio, odd


@inline
def hash_word(before: int, word: int, factor: int = GOLDEN) -> int:
    """Add a word to a hash; all bits of the word reach the low bits, which say where to look."""
    key = (before ^ word) * factor
    return key ^ (key >> np.uint64(32))


@inline
def slots_for(n_keys: int) -> int:
    """Return a power of two that is at least twice the keys, so that free slots are near."""
    size = np.int64(16)
    while size < 2 * n_keys:
        size *= 2
    return size
