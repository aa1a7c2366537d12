"""Tables → what kernels read: columns as bits, level by level and word by word."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.data import CategoricalData
from ibmap.data.table import WIDE, LevelBits, PackedData
from ibmap.kernels.partition import pack_levels
from ibmap.kernels.records import Packed

PADDED = 1 << 20  #: bytes of codes that are padded together: fresh memory for all of them costs more
MOST_BY_ROW = 1 << 18  #: rows beyond which no kernel adds up bytes (``count_sets``: columns fill the cache)


def pack(data: CategoricalData, table: LevelBits) -> Packed:
    """Turn a table into bits, one row of bits per level, and again word by word in blocks of variables."""
    levels, n_rows = data.cardinalities, data.n_rows
    blocks, rows = table.blocks
    by_bytes = n_rows <= MOST_BY_ROW and bool((levels[table.order] > 2).any())
    regular = np.zeros(len(levels), bool)
    regular[table.order] = True
    return Packed(
        n_rows,
        np.array(levels, np.int64),
        table.first,
        table.bits,
        table.level_sizes,
        blocks,
        table.order,
        np.flatnonzero(~regular),
        table.columns,
        table.level_sizes[rows].astype(np.int32),
        _bytes(table.bits, rows, n_rows if by_bytes else 0),
        table.wide,
        table.wide_codes,
        data.has_missing,
    )


def packed_data(data: CategoricalData) -> PackedData:
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
    n_rows = codes.shape[1]
    n_words = max(1, -(-n_rows // 64))
    narrow = levels <= WIDE
    first = np.where(narrow, np.cumsum(np.where(narrow, levels, 0)) - levels, -1)
    bits = np.empty((int(levels[narrow].sum()), n_words), np.uint64)
    step = max(1, PADDED // (64 * n_words))
    padded = np.full((step, 64 * n_words), -1, np.int8)
    variables = np.flatnonzero(narrow)
    for few in (variables[i : i + step] for i in range(0, len(variables), step)):
        padded[: len(few), :n_rows] = codes[few]
        pack_levels(padded[: len(few)], levels[few], first[few], bits)
    sizes = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return LevelBits(n_rows, levels, bits, codes[~narrow].astype(np.int32), sizes)


def _bytes(bits: NDArray[np.uint64], rows: Ints, n_rows: int) -> NDArray[np.uint8]:
    """Return rows of bits as columns of bytes, padded so that 64 can be read wherever a column begins."""
    out = np.zeros((n_rows, len(rows) + 64), np.uint8)
    if n_rows:
        by_column = bits[rows].view(np.uint8)
        out[:, : len(rows)] = np.unpackbits(by_column, axis=1, count=n_rows, bitorder="little").T
    return out
