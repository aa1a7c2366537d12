"""Layout of the tables of every variable: their sizes, and how configurations of neighbours are found."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.moa_gibbs import Layout

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

DIRECT = 2**14  #: slots that a table without a hash may have: with more, it is slower than one with a hash
FACTOR = np.uint64(0x9E3779B97F4A7C15)  #: of the hash: 2⁶⁴ over the golden ratio
WORD = 64  #: bits


def laid_out(n_rows: int, levels: Ints, neighbours: Sequence[Ints]) -> Layout:
    """Return where the tables stand.

    Examples
    --------
    >>> laid_out(100, np.array([2, 3]), [np.array([1]), np.array([], int)]).sizes  # and what was not observed
    array([4, 2])
    """
    degrees = np.array([len(some) for some in neighbours], np.int64)
    offsets = starts(degrees, last=True)
    joined = np.concatenate([np.empty(0, np.int64), *neighbours]).astype(np.int64)
    owner = np.repeat(np.arange(len(levels)), degrees)
    possible, strides = numbered(levels, owner, joined, offsets)
    size = max(16, 2 << n_rows.bit_length())  # a hash table is at most half full
    hashed = possible > min(size, DIRECT)
    strides[hashed[owner]] = 0
    slots = -(-np.where(hashed, size, possible).astype(np.int64) // 16) * 16
    sizes = np.where(hashed, n_rows, np.minimum(possible, n_rows)).astype(np.int64) + 1
    word, shift, fields = packing(levels)
    parts, words, masks = masked(hashed, word, fields, owner, joined)
    return Layout(
        levels=levels,
        offsets=offsets,
        neighbours=joined,
        strides=strides.astype(np.int64),
        start=starts(slots),
        mask=np.where(hashed, size - 1, -1).astype(np.int64),
        slots=np.zeros(int(slots.sum()), np.int32),
        sizes=sizes,
        counts_start=starts(sizes * levels),
        sums_start=starts(sizes * (levels - 1)),
        word=word,
        shift=shift,
        parts=parts,
        words=words,
        masks=masks,
        sieve=np.zeros(int(slots.sum()) // 16, np.uint64),
        factor=FACTOR,
    )


def starts(sizes: Ints, *, last: bool = False) -> Ints:
    """Return where each of several stretches begins, and with ``last`` where all end.

    Examples
    --------
    >>> starts(np.array([2, 0, 3])), starts(np.array([2, 0, 3]), last=True)
    (array([0, 2, 2]), array([0, 2, 2, 5]))
    """
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ends if last else ends[:-1]


def numbered(
    levels: Ints, owner: Ints, joined: Ints, offsets: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many configurations are possible, and the stride of every neighbour that numbers them.

    As floats: the possible configurations of a large blanket are more than integers can count.
    """
    place = np.arange(len(joined)) - offsets[owner]
    possible, strides = np.ones(len(levels)), np.empty(len(joined))
    with np.errstate(over="ignore"):
        for k in range(int(place.max(initial=-1)) + 1):  # the k-th neighbours of all variables at once
            at = np.flatnonzero(place == k)
            strides[at] = possible[owner[at]]
            possible[owner[at]] *= levels[joined[at]]
    return possible, strides


def packing(levels: Ints) -> tuple[Ints, Words, Words]:
    """Return the word and the shift of every variable in a packed string, and its bits there.

    All have as many bits as the variable with most levels needs, and none is split between words.

    Examples
    --------
    >>> word, shift, fields = packing(np.array([2, 2, 3]))
    >>> word, shift, fields
    (array([0, 0, 0]), array([0, 2, 4], dtype=uint64), array([ 3, 12, 48], dtype=uint64))
    """
    width = (int(levels.max(initial=2)) - 1).bit_length()
    word, place = np.divmod(np.arange(len(levels)), WORD // width)
    shift = (place * width).astype(np.uint64)
    return word, shift, np.uint64(2**width - 1) << shift


def masked(
    hashed: NDArray[np.bool_], word: Ints, fields: Words, owner: Ints, joined: Ints
) -> tuple[Ints, Ints, Words]:
    """Return the words in which each variable with a hash has neighbours, and the bits of these."""
    masks = np.zeros((len(hashed), int(word.max(initial=0)) + 1), np.uint64)
    chosen = hashed[owner]
    np.bitwise_or.at(masks, (owner[chosen], word[joined[chosen]]), fields[joined[chosen]])
    of, words = np.nonzero(masks)
    return starts(np.bincount(of, minlength=len(hashed)), last=True), words, masks[of, words]
