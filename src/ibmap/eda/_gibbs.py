"""The compiled Gibbs step: count the configurations of every blanket once, then run a chain per individual.

A variable whose neighbours have few possible configurations has a dense table; one with more has a hash table
of those that were observed. Keys only say where to look: the values themselves are compared, with a row that
has them, so a table never holds more than the rows do and two configurations are never mixed up. The slow
twin is in ``tests/reference/gibbs.py``; ``benchmarks/eda.py`` measures updates per second.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._jit import allocating_kernel, inline, kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_TO_UNIT = 2.0**-32


class Layout(NamedTuple):
    """Where the tables of every variable are."""

    levels: Ints
    offsets: Ints  #: the neighbours of i: neighbours[offsets[i]:offsets[i + 1]]
    neighbours: Ints
    strides: NDArray[np.uint64]  #: what the value of a neighbour is multiplied with to make a key
    first: Ints  #: number of the first configuration of a variable
    mask: Ints  #: size of the hash table less one; -1 means that the key is the configuration
    start: Ints  #: of the hash table
    slots: NDArray[np.int32]  #: hash tables: numbers of configurations, from 1
    taken: NDArray[np.uint64]  #: a bit per slot; they fit the first-level cache, and most look-ups end here
    keys: NDArray[np.uint64]  #: of what stands there
    witness: Ints  #: a row that has the configuration


@inline
def _mix(z: np.uint64) -> np.uint64:
    """Scramble a counter (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def _key(layout: Layout, i: int, state: Ints) -> np.uint64:
    """Return the mixed code of the values around a variable."""
    key = np.uint64(0)
    for k in range(layout.offsets[i], layout.offsets[i + 1]):
        key += layout.strides[k] * np.uint64(state[layout.neighbours[k]])
    return key


@inline
def _slot(layout: Layout, i: int, key: np.uint64, state: Ints, rows: Ints) -> int:
    """Return the place of a configuration in the hash tables, or -1 - the place where it would stand."""
    mask = layout.mask[i]
    at = np.int64(key >> _HALF) & mask
    while True:
        slot = layout.start[i] + at
        if (layout.taken[slot >> 6] >> np.uint64(slot & 63)) & _ONE == 0:
            return -1 - slot
        if layout.keys[slot] == key:
            row = layout.witness[layout.first[i] + layout.slots[slot]]
            same = True
            for k in range(layout.offsets[i], layout.offsets[i + 1]):
                j = layout.neighbours[k]
                same &= rows[row, j] == state[j]
            if same:
                return slot
        at = (at + 1) & mask


@kernel
def tally(layout: Layout, rows: Ints, found: Ints, counts: Floats) -> None:
    """Count the levels of every variable in every configuration of its neighbours.

    ``counts`` has a row per configuration; in a hash table number 0 stands for all that were not observed.
    ``found`` counts the observed ones of every variable.
    """
    for r in range(len(rows)):
        state = rows[r]
        for i in range(len(layout.levels)):
            key = _key(layout, i, state)
            number = np.int64(key)
            if layout.mask[i] >= 0:
                slot = _slot(layout, i, key, state, rows)
                if slot < 0:
                    slot = -1 - slot
                    found[i] += 1
                    layout.taken[slot >> 6] |= _ONE << np.uint64(slot & 63)
                    layout.slots[slot] = found[i]
                    layout.keys[slot] = key
                    layout.witness[layout.first[i] + found[i]] = r
                number = np.int64(layout.slots[slot])
            counts[layout.first[i] + number, state[i]] += 1.0


@allocating_kernel
def run_chains(
    layout: Layout, rows: Ints, cumulative: Floats, seed: np.uint64, steps: int, out: Ints
) -> None:
    """Fill every row of ``out`` with the end of a chain of single-site updates at random sites.

    A chain starts at a uniform random string. A random number of 64 bits serves an update: its high half is
    the site, its low half the level. ``cumulative`` has the conditional probabilities, summed over levels,
    without the last sum, which is 1.
    """
    n = len(layout.levels)
    sites = np.uint64(n)
    for c in range(len(out)):
        state = out[c]
        counter = _mix(seed + _TWO * np.uint64(c))
        step = _mix(seed + _TWO * np.uint64(c) + _ONE) | _ONE
        for i in range(n):
            counter += step
            state[i] = np.int64(((_mix(counter) >> _HALF) * np.uint64(layout.levels[i])) >> _HALF)
        for _ in range(steps):
            counter += step
            bits = _mix(counter)
            i = np.int64(((bits >> _HALF) * sites) >> _HALF)
            uniform = np.float64(bits & _LOW) * _TO_UNIT
            key = _key(layout, i, state)
            number = np.int64(key)
            if layout.mask[i] >= 0:
                slot = _slot(layout, i, key, state, rows)
                number = np.int64(layout.slots[slot]) if slot >= 0 else np.int64(0)
            at = layout.first[i] + number
            level = np.int64(0)
            for k in range(layout.levels[i] - 1):
                level += np.int64(cumulative[at, k] <= uniform)
            state[i] = level
