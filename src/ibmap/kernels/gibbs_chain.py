"""The compiled Gibbs sampler of one chain, for any number of levels: it is read on its way.

Chains side by side (``_levels.py``) are two to three times faster, but one alone would fill one lane of 64.
The slow twin is in ``tests/reference/worlds.py``.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels import splitmix as _splitmix
from ibmap.kernels.jit import allocating_kernel, inline

_ONE = np.uint64(1)
_SHIFT = np.uint64(11)
_TO_UNIT = 2.0**-53

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@inline
def _uniform(stream: NDArray[np.uint64]) -> float:
    """Advance a stream (counter, step) and return a number from 0 to 1, 1 excluded."""
    stream[0] += stream[1]
    return float((_splitmix.mix(stream[0]) >> _SHIFT) * _TO_UNIT)


@inline
def _exponentials(weights: Floats, n_levels: np.uint64) -> None:
    """Turn logarithms into weights, the largest of them 1."""
    largest = weights[0]
    for level in range(n_levels):
        largest = max(largest, weights[level])
    for level in range(n_levels):
        weights[level] = np.exp(weights[level] - largest)


@inline
def _drawn(weights: Floats, n_levels: np.uint64, uniform: float) -> int:
    """Return the level in whose share of all weights the uniform number falls."""
    total = 0.0
    for level in range(n_levels):
        total += weights[level]
        weights[level] = total
    mark = uniform * total
    drawn = 0
    for level in range(n_levels - _ONE):
        drawn += weights[level] <= mark
    return drawn


@allocating_kernel
def start_walk(seed: np.uint64, levels: Ints, state: NDArray[np.uint8], stream: NDArray[np.uint64]) -> None:
    """Put the chain into a uniform random state."""
    stream[0], stream[1] = _splitmix.stream(seed, np.uint64(0))
    for i in range(len(levels)):
        state[i] = np.uint8(_uniform(stream) * levels[i])


@allocating_kernel
def walk(
    sweeps: int,
    levels: Ints,
    fields: Floats,
    field_start: Ints,
    offsets: Ints,
    neighbours: Ints,
    tables: Floats,
    table_start: Ints,
    by_product: NDArray[np.bool_],
    state: NDArray[np.uint8],
    stream: NDArray[np.uint64],
    out: NDArray[np.uint8],
) -> None:
    """Fill the rows of ``out`` with the states of the chain, ``sweeps`` before each."""
    weights = np.empty(256)
    for row_of_block in range(len(out)):
        for _ in range(sweeps):
            for i in range(len(levels)):
                n_levels, first = np.uint64(levels[i]), np.uint64(field_start[i])
                for level in range(n_levels):
                    weights[level] = fields[first + level]
                for k in range(offsets[i], offsets[i + 1]):
                    row = np.uint64(table_start[k]) + n_levels * np.uint64(state[neighbours[k]])
                    if by_product[i]:
                        for level in range(n_levels):
                            weights[level] *= tables[row + level]
                    else:
                        for level in range(n_levels):
                            weights[level] += tables[row + level]
                if not by_product[i]:
                    _exponentials(weights, n_levels)
                state[i] = _drawn(weights, n_levels, _uniform(stream))
        out[row_of_block] = state
