"""Hash tables with open addressing: a power of two of slots, and the bits of a key spread over them.

Every kernel walks its own slots, as only it knows when two keys are the same; what they share is here.
"""

import numpy as np

from ibmap.kernels.jit import inline

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  #: 2**64 over the golden ratio, odd


@inline
def spread_bits(key: int) -> int:
    """Mix a word so that its low bits depend on all of its bits."""
    key = (key ^ (key >> np.uint64(32))) * GOLDEN
    return key ^ (key >> np.uint64(32))


@inline
def slots_for(n_keys: int) -> int:
    """Return a power of two that is at least twice the keys: open addressing stays short."""
    size = np.int64(16)
    while size < 2 * n_keys:
        size *= 2
    return size
