"""Random numbers inside kernels: a counter, scrambled (splitmix64)."""

import numpy as np

from ibmap.kernels.jit import inline


@inline
def mix(z: np.uint64) -> np.uint64:
    """Scramble a counter (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
