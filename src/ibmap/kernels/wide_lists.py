"""What a search keeps of σ where there is no place for a matrix: sums of rows, and lists of low values."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import kernel
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import BitTable, Counts, CountTable, Floats, FloatTable, Ints


@kernel
def take_tile(
    band: FloatTable,
    first_x: int,
    last_x: int,
    first: int,
    last: int,
    sums: FloatTable,
    bar: float,
    pairs: NDArray[np.int32],
    values: Floats,
    n_listed: int,
) -> int:
    """Take rows first_x .. last_x of σ without edges, columns first .. last, which do not come before them.

    Columns behind the band are rows, too: σ_ji = σ_ij is added to the sums of j. Pairs below the bar are
    listed. ``sums`` has four sums for each row, by column modulo 4, as ``total`` in ``ib_ascent.py`` adds
    them; the last columns, beyond a multiple of 4, belong to the first sum. Returns how many are listed.
    """
    end = sums.shape[1] // 4 * 4
    for i in range(first_x, last_x):
        row, mine = band[i - first_x], sums[i & 3 if i < end else 0]
        for j in range(max(first, last_x), last):
            mine[j] += row[j]
        for j in range(max(first, i + 1), last):
            if row[j] < bar:
                pairs[n_listed, 0], pairs[n_listed, 1], values[n_listed] = i, j, row[j]
                n_listed += 1
    return n_listed


@kernel
def finish_sums(band: FloatTable, first_x: int, last_x: int, sums: FloatTable) -> None:
    """Add the columns from the band on to the sums of its rows; what lies before is in them already."""
    n = sums.shape[1]
    end = n // 4 * 4
    for i in range(first_x, last_x):
        row = band[i - first_x]
        for j in range(first_x, i):
            row[j] = band[j - first_x, i]
        j = first_x
        while j < n and (j & 3 or j + 4 > end):
            sums[j & 3 if j < end else 0, i] += row[j]
            j += 1
        a, b, c, d = sums[0, i], sums[1, i], sums[2, i], sums[3, i]
        while j + 4 <= end:
            a += row[j]
            b += row[j + 1]
            c += row[j + 2]
            d += row[j + 3]
            j += 4
        while j < n:
            a += row[j]
            j += 1
        sums[0, i], sums[1, i], sums[2, i], sums[3, i] = a, b, c, d


@kernel
def mark_list(marks: BitTable, t: int, keys: Counts, wanted: bool) -> None:
    """Mark that list t has some columns, or that it has not; columns share marks modulo their number.

    Bit t of ``marks[column modulo marks]`` tells who may list a column, without a look at all lists.
    """
    bit = np.uint64(1) << np.uint64(t % 64)
    for key in keys:
        row = marks[key % marks.shape[0]]
        row[t // 64] = row[t // 64] | bit if wanted else row[t // 64] & ~bit


@kernel
def column_of_lists(
    v: int,
    marks: BitTable,
    owners: Ints,
    keys: CountTable,
    values: FloatTable,
    floor: Floats,
    out: Floats,
    exact: NDArray[np.bool_],
) -> None:
    """For every owner i of a list of low values: σ_iv if it is listed, otherwise the floor of i.

    ``keys[t]`` are the columns that owner t lists, ascending.
    """
    for t in range(owners.size):
        out[owners[t]], exact[owners[t]] = floor[t], False
    row = marks[v % marks.shape[0]]
    for word in range((owners.size + 63) // 64):
        bits = row[word]
        while bits:
            t = 64 * word + np.int64(popcount(~bits & (bits - np.uint64(1))))
            bits &= bits - np.uint64(1)
            low, high = np.int64(0), np.int64(keys.shape[1])
            while low < high:
                middle = (low + high) // 2
                if keys[t, middle] < v:
                    low = middle + 1
                else:
                    high = middle
            if low < keys.shape[1] and keys[t, low] == v:
                out[owners[t]], exact[owners[t]] = values[t, low], True
