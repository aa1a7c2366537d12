"""Mutual information of all pairs of variables, compiled: a table is a few passes of AND and popcount."""

import numpy as np

from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import Floats, Ints, Packed


@kernel
def information_of_row(packed: Packed, n_log_n: Floats, margins: Ints, x: int, out: Floats) -> None:
    """``out[y]``: mutual information of x and every y > x, both with bits, in nats; rows that know both.

    ``n_log_n[c]`` is c log c; ``margins`` has a place for each of the levels of one variable.
    """
    for y in range(x + 1, packed.levels.size):
        if packed.first[y] >= 0:
            out[y] = information(packed, n_log_n, margins, x, y)


@inline
def information(packed: Packed, n_log_n: Floats, margins: Ints, x: int, y: int) -> float:
    """I = (Σ c log c - Σ c_x log c_x - Σ c_y log c_y + n log n) / n."""
    n, total = np.int64(0), 0.0
    margins[: packed.levels[y]] = 0
    for i in range(packed.levels[x]):
        of_row = np.int64(0)
        for j in range(packed.levels[y]):
            count = np.int64(both(packed, packed.first[x] + i, packed.first[y] + j))
            of_row += count
            margins[j] += count
            total += n_log_n[count]
        total -= n_log_n[of_row]
        n += of_row
    for j in range(packed.levels[y]):
        total -= n_log_n[margins[j]]
    return max((total + n_log_n[n]) / n, 0.0) if n else 0.0


@inline
def both(packed: Packed, one: int, other: int) -> int:
    """Return how many rows are in both of two rows of bits."""
    mine, yours = packed.level_bits[one], packed.level_bits[other]
    count = np.uint64(0)
    for w in range(mine.size):
        count += popcount(mine[w] & yours[w])
    return count
