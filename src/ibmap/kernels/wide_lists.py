"""What a search keeps of σ where there is no place for a matrix: lists of low values."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import kernel
from ibmap.kernels.popcount import popcount
from ibmap.kernels.records import BitTable, Counts, CountTable, Floats, FloatTable, Ints


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
