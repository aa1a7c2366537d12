"""The records of arrays that counting kernels pass around.

A set of rows is held as the non-zero 64-bit words of its bit mask. Conditioning on a column splits every set
into one set per observed level, in the order of the levels, so a partition costs at most one word per row
however many columns it has been refined by, and its order does not depend on the order of the rows.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: arrays with what ``context.py`` needs to know of them: type of numbers, dimensions
Ints = Annotated[NDArray[np.int64], "int64", 1]
IntTable = Annotated[NDArray[np.int64], "int64", 2]
Counts = Annotated[NDArray[np.int32], "int32", 1]
CountTable = Annotated[NDArray[np.int32], "int32", 2]
Floats = Annotated[NDArray[np.float64], "float64", 1]
FloatTable = Annotated[NDArray[np.float64], "float64", 2]
BitTable = Annotated[NDArray[np.uint64], "uint64", 2]
ByteTable = Annotated[NDArray[np.uint8], "uint8", 2]
WordTable = Annotated[NDArray[np.uint32], "uint32", 2]


class Packed(NamedTuple):
    """A table as bits. Variables with more than ``WIDE`` levels keep their codes instead."""

    n_rows: int
    levels: Ints  #: number of levels of each variable
    first: Ints  #: row of ``level_bits`` that holds level 0 of each variable; -1 if wide
    level_bits: BitTable  #: (Σ levels, words): which rows have this level
    level_sizes: Ints  #: (Σ levels,): and how many
    blocks: IntTable  #: (blocks, 5): levels, first and last position in ``order``, first column, their stride
    order: Ints  #: the narrow, complete variables, by number of levels, then by index
    irregular: Ints  #: the other variables: wide, or with missing values; they are counted one by one
    columns: BitTable  #: (words, columns): levels 1, 2, ... of the blocks, word-major
    totals: Counts  #: set bits of each column
    by_row: ByteTable  #: (rows, columns and more): the same bits as bytes; no rows if not worth it
    wide: Ints  #: row of ``wide_codes`` of each variable; -1 if narrow
    wide_codes: CountTable  #: (wide variables, rows), -1 is missing
    has_missing: bool  #: whether any value is missing


class Sets(NamedTuple):
    """Four partitions of the rows side by side, each as bit masks.

    Places 0 and 1 are refined to and fro, 2 holds the sets of (slice, level of x). Place 3 is where sets of
    one row wait, as nothing can split them any more, until the others are done.
    """

    words: WordTable  #: (4, rows): index of each non-zero word
    masks: BitTable  #: (4, rows): the word
    start: IntTable  #: (4, rows + 1): first word of each set
    size: IntTable  #: (4, rows): number of rows of each set
    code: IntTable  #: (4, rows): level of the last refining variable in each set
    child: IntTable  #: (4, rows + 1): first set that each set of the source was split into
    keys: Ints  #: (rows,): for the rows of one set


class Routes(NamedTuple):
    """Addresses of functions that few tables need, and that are compiled for those only; 0 if not needed."""

    split_wide: int  #: splits sets by a variable of many levels (``partition.py``)
