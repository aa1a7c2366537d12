"""Random numbers inside kernels: a counter, scrambled (splitmix64)."""

import numpy as np

from ibmap.kernels.jit import inline

_ONE = np.uint64(1)
_TWO = np.uint64(2)


@inline
def mix(z: np.uint64) -> np.uint64:
    """Scramble a counter (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def stream(seed: np.uint64, number: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return where a counter begins and its step, which is its own: streams do not overlap."""
    first = seed + _TWO * number
    return mix(first), mix(first + _ONE) | _ONE
