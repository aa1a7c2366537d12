"""The compiled Gibbs step: count the configurations of every blanket once, then run a chain per individual.

Every configuration of a variable's neighbours that was observed has a number; a table of slots finds it. If
all that are possible fit, each has a slot of its own. Otherwise the values of a string are also kept packed,
64 bits to a word, so that a blanket of any size is a few words under a mask: their hash says where to look,
and the words are compared with a row that has the configuration, so that no two are ever mixed up. Most of
what a chain meets was never observed, and a sieve (a Bloom filter, one word to look at) says so at once. With
119 binary neighbours that made 6 million updates per second 80 million; ``benchmarks/eda.py`` measures it,
the slow twin is in ``tests/reference/gibbs.py``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.hashing import hash_word
from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.splitmix import mix, stream

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-32


class Layout(NamedTuple):
    """Where the tables of every variable are."""

    levels: Ints
    offsets: Ints  #: the neighbours of i: neighbours[offsets[i]:offsets[i + 1]]
    neighbours: Ints
    strides: Ints  #: what the value of a neighbour is multiplied with to number all possible configurations
    start: Ints  #: of the slots of a variable, a multiple of 16
    mask: Ints  #: number of slots less one, if they are found by a hash; -1: every configuration has its own
    slots: NDArray[np.int32]  #: numbers of configurations, from 1; 0: not observed
    sizes: Ints  #: how many numbers a variable may need, 0 included
    counts_start: Ints  #: of the counts of a variable: ``levels`` for each of its configurations
    sums_start: Ints  #: of its cumulative probabilities: one less for each, as the last is 1
    word: Ints  #: where the value of a variable stands in a packed string ...
    shift: Words  #: ... and at which bit
    parts: Ints  #: the words in which i has neighbours: words[parts[i]:parts[i + 1]]; none without a hash
    words: Ints
    masks: Words  #: the bits of the neighbours in these words
    sieve: Words  #: a word for every 16 slots
    factor: np.uint64  #: of the hash


@inline
def _direct(layout: Layout, i: int, state: Ints) -> int:
    """Return the slot of the values around a variable where each configuration has its own."""
    slot = layout.start[i]
    for k in range(layout.offsets[i], layout.offsets[i + 1]):
        slot += layout.strides[k] * state[layout.neighbours[k]]
    return slot


@inline
def _hash(layout: Layout, i: int, packed: Words) -> np.uint64:
    """Return the hash of the values around a variable: its low, middle and high bits are used apart."""
    key = np.uint64(0)
    for k in range(layout.parts[i], layout.parts[i + 1]):
        key = hash_word(key, packed[layout.words[k]] & layout.masks[k], layout.factor)
    return key


@inline
def _sieve_word(layout: Layout, i: int, key: np.uint64) -> int:
    """Return which word of the sieve knows a hash."""
    return (layout.start[i] >> 4) + (np.int64(key >> np.uint64(24)) & (layout.mask[i] >> 4))


@inline
def _sieve_bits(key: np.uint64) -> np.uint64:
    """Return the bits, up to three, that are set in that word if the hash was observed."""
    six = np.uint64(63)
    high, middle = key >> np.uint64(58), (key >> np.uint64(52)) & six
    return (_ONE << high) | (_ONE << middle) | (_ONE << ((key >> np.uint64(46)) & six))


@inline
def _probe(layout: Layout, i: int, key: np.uint64, packed: Words, packed_rows: Words) -> int:
    """Return the slot of the values around a variable, or the free one where they would stand.

    The number in a slot is that of the first row with the configuration, from 1.
    """
    mask = layout.mask[i]
    at = np.int64(key) & mask
    while True:
        slot = layout.start[i] + at
        row = np.int64(layout.slots[slot]) - 1
        if row < 0:
            return slot
        different = np.uint64(0)
        for k in range(layout.parts[i], layout.parts[i + 1]):
            w = layout.words[k]
            different |= (packed[w] ^ packed_rows[row, w]) & layout.masks[k]
        if different == 0:
            return slot
        at = (at + 1) & mask


@inline
def _number(layout: Layout, i: int, state: Ints, packed: Words, packed_rows: Words) -> int:
    """Return the number of the configuration around a variable; 0: it was not observed."""
    if layout.mask[i] < 0:
        return np.int64(layout.slots[_direct(layout, i, state)])
    key = _hash(layout, i, packed)
    bits = _sieve_bits(key)
    if layout.sieve[_sieve_word(layout, i, key)] & bits != bits:
        return np.int64(0)
    return np.int64(layout.slots[_probe(layout, i, key, packed, packed_rows)])


@inline
def _pack(layout: Layout, state: Ints, packed: Words) -> None:
    """Pack a string into words, if a hash needs them."""
    if len(layout.words) > 0:
        packed[:] = np.uint64(0)
        for i in range(len(state)):
            packed[layout.word[i]] |= np.uint64(state[i]) << layout.shift[i]


@kernel
def number_of(layout: Layout, i: int, state: Ints, packed: Words, packed_rows: Words) -> int:
    """Return the number of the configuration around a variable in a string."""
    _pack(layout, state, packed)
    return _number(layout, i, state, packed, packed_rows)


@kernel
def tally(layout: Layout, rows: Ints, packed_rows: Words, found: Ints, counts: Floats) -> None:
    """Count the levels of every variable in every configuration of its neighbours.

    The slots, the sieve and ``packed_rows`` are filled too. Number 0 of each variable stands for all that was
    not observed. ``found`` counts the configurations of variables without a hash.
    """
    for r in range(len(rows)):
        state, packed = rows[r], packed_rows[r]
        _pack(layout, state, packed)
        for i in range(len(layout.levels)):
            if layout.mask[i] < 0:
                slot = _direct(layout, i, state)
                if layout.slots[slot] == 0:
                    found[i] += 1
                    layout.slots[slot] = found[i]
            else:
                key = _hash(layout, i, packed)
                slot = _probe(layout, i, key, packed, packed_rows)
                if layout.slots[slot] == 0:
                    layout.slots[slot] = r + 1
                    layout.sieve[_sieve_word(layout, i, key)] |= _sieve_bits(key)
            counts[layout.counts_start[i] + layout.slots[slot] * layout.levels[i] + state[i]] += 1.0


@kernel
def accumulate(
    layout: Layout, counts: Floats, boltzmann: bool, n_rows: float, inverse: float, sums: Floats
) -> None:
    """Fill the cumulative probabilities of the levels in every configuration.

    They are counts, or e^(inverse · count / rows): of ``n_rows``, or if that is 0 of those with the
    configuration. What was not observed is uniform.
    """
    for i in range(len(layout.levels)):
        n_levels = layout.levels[i]
        for number in range(layout.sizes[i]):
            counted = counts[layout.counts_start[i] + number * n_levels :][:n_levels]
            into = sums[layout.sums_start[i] + number * (n_levels - 1) :][: n_levels - 1]
            total, largest = 0.0, 0.0
            for level in range(n_levels):
                total += counted[level]
                largest = max(largest, counted[level])
            if total == 0.0:
                for level in range(n_levels - 1):
                    into[level] = (level + 1.0) / n_levels
                continue
            whole = n_rows if n_rows > 0.0 else total
            top, running = largest / whole * inverse, 0.0
            for level in range(n_levels):
                value = counted[level]
                running += np.exp(value / whole * inverse - top) if boltzmann else value
                if level < n_levels - 1:
                    into[level] = running
            for level in range(n_levels - 1):
                into[level] /= running


@kernel
def run_chains(
    layout: Layout, packed_rows: Words, sums: Floats, seed: np.uint64, steps: int, out: Ints, packed: Words
) -> None:
    """Fill every row of ``out`` with the end of a chain of single-site updates at random sites.

    A chain starts at a uniform random string. A random number of 64 bits serves an update: its high half is
    the site, its low half the level. ``packed`` is a buffer for a packed string.
    """
    n = len(layout.levels)
    hashed = len(layout.words) > 0
    for c in range(len(out)):
        state = out[c]
        counter, step = stream(seed, np.uint64(c))
        for i in range(n):
            counter += step
            state[i] = np.int64(((mix(counter) >> _HALF) * np.uint64(layout.levels[i])) >> _HALF)
        _pack(layout, state, packed)
        for _ in range(steps):
            counter += step
            bits = mix(counter)
            i = np.int64(((bits >> _HALF) * np.uint64(n)) >> _HALF)
            uniform = np.float64(bits & _LOW) * _TO_UNIT
            last = layout.levels[i] - 1
            at = layout.sums_start[i] + _number(layout, i, state, packed, packed_rows) * last
            level = np.int64(0)
            for k in range(last):
                level += np.int64(sums[at + k] <= uniform)
            if hashed:
                packed[layout.word[i]] ^= np.uint64(state[i] ^ level) << layout.shift[i]
            state[i] = level
