"""Tables → what the core reads: columns as bits, level by level."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._types import Ints
from ibmap.data import Table
from ibmap.data.table import WIDE, LevelBits, PackedData


def packed_data(data: Table) -> PackedData:
    """Return a table as bits; itself if it is.

    Examples
    --------
    >>> from ibmap.data import load
    >>> packed_data(load({"a": [0, 1, 1], "b": [1, 0, 1]})).bits.level_sizes.tolist()
    [1, 2, 1, 2]
    """
    if isinstance(data, PackedData):
        return data
    bits = bits_of_codes(data.codes, data.cardinalities)
    about = (data.names, data.levels, data.bin_edges, data.backend, data.warnings)
    return PackedData(bits, *about, ordinal=data.ordinal, reading=data.reading)


def bits_of_codes(codes: NDArray[Any], levels: Ints) -> LevelBits:
    """Return codes as bits."""
    narrow = levels <= WIDE
    few = codes if narrow.all() else codes[narrow]
    bits = _core.pack_codes(np.ascontiguousarray(few), np.asarray(levels[narrow], np.int64))
    sizes = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return LevelBits(codes.shape[1], levels, bits, codes[~narrow].astype(np.int32), sizes)
