"""What a packed file must hold before kernels, which check no bounds, read a word of it.

The header is anybody's JSON: every field is looked at. The rows are passed once, block by block. Left for the
digest (:func:`ibmap.data.packed_file.check_packed`) are rows that make sense, but were not packed: codes of
a wide variable, bits that have moved in a variable with missing values, or in all copies.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ibmap.data.packed import WIDE, LevelBits, Levels
from ibmap.errors import DataError

AT_ONCE = 1 << 17  #: words of bits that are looked at together: they stay in a cache
FEWEST = 16  #: words of a row of bits among them: two lines of the cache


@dataclass(frozen=True)
class Header:
    """What a header says, checked."""

    names: tuple[str, ...]
    levels: Levels
    n_rows: int
    bin_edges: dict[str, tuple[float, ...]]
    warnings: tuple[str, ...]
    ordinal: tuple[str, ...]
    digest: str
    shapes: dict[str, tuple[int, ...]]


def header_of(raw: bytes) -> Header:
    """Read a header; a DataError says what is wrong with it.

    Examples
    --------
    >>> header_of(b'{"names": 5}')
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: 'names' must be a list of words
    """
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise DataError("its header is not JSON") from None
    if not isinstance(found, dict):
        raise DataError("its header has no fields")
    found = {"ordinal": [], **found}  # older files have none
    for key, (is_right, words) in _FIELDS.items():
        if key not in found:
            raise DataError(f"its header has no {key!r}")
        if not is_right(found[key]):
            raise DataError(f"{key!r} must be {words}")
    names = found["names"]
    if len(set(names)) < len(names) or len(found["levels"]) != len(names):
        raise DataError("its header does not have one name and one list of levels for each variable")
    if not {*found["ordinal"], *found["bin_edges"]} <= set(names):
        raise DataError("its header speaks of variables that it does not have")
    sizes = [len(labels) for labels in found["levels"]]
    n_bits, n_wide = sum(size for size in sizes if size <= WIDE), sum(size > WIDE for size in sizes)
    n_rows, shapes = found["n_rows"], found["shapes"]
    n_words = max(1, -(-n_rows // 64))
    right = {"bits": [n_bits, n_words], "wide_codes": [n_wide, n_rows], "level_sizes": [n_bits]}
    right["columns"] = [n_words, *shapes["columns"][1:2]]  # how many: check_rows
    if shapes != right or not n_bits + n_wide:
        raise DataError("its header tells sizes that do not fit together")
    return Header(
        tuple(names),
        tuple(map(tuple, found["levels"])),
        n_rows,
        {name: tuple(edges) for name, edges in found["bin_edges"].items()},
        tuple(found["warnings"]),
        tuple(found["ordinal"]),
        found["digest"],
        {name: tuple(shape) for name, shape in shapes.items()},
    )


def check_rows(table: LevelBits) -> None:
    """Refuse arrays that contradict each other, in one pass over them.

    Levels of a variable are disjoint if together they have as many rows as their union.

    Examples
    --------
    >>> bits = np.array([[0b101], [0b011]], np.uint64)
    >>> check_rows(LevelBits(3, np.array([2]), bits, np.empty((0, 3), np.int32), np.array([2, 2])))
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: a row has two levels of one variable
    """
    for codes, n_levels in zip(table.wide_codes, table.levels[~table.narrow], strict=True):
        if codes.size and (codes.min() < -1 or codes.max() >= n_levels):
            raise DataError("a code is outside the levels of its variable")
    n_bits, n_words = table.bits.shape
    rows, columns = table.blocks[1], table.columns
    if columns.shape != (n_words, len(rows)):
        raise DataError("its two copies of the rows differ")
    first = table.first[table.narrow & (table.levels > 0)]
    sizes, known = np.zeros(n_bits, np.int64), 0
    step = max(FEWEST, AT_ONCE // max(1, n_bits))
    for some in (slice(word, word + step) for word in range(0, n_words, step)):
        bits = table.bits[:, some]
        sizes += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        known += int(np.bitwise_count(np.bitwise_or.reduceat(bits, first)).sum()) if first.size else 0
        if not np.array_equal(columns[some], bits[rows].T):
            raise DataError("its two copies of the rows differ")
    if not np.array_equal(sizes, table.level_sizes):
        raise DataError("a level has more or fewer rows than were counted")
    if known != sizes.sum():
        raise DataError("a row has two levels of one variable")
    in_last = table.n_rows - 64 * (n_words - 1)
    if in_last < 64 and (table.bits[:, -1] >> np.uint64(in_last)).any():
        raise DataError("there are levels beyond the last row")


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _dict_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(is_right, value.values()))


def _is_shapes(value: Any) -> bool:
    return _dict_of(_list_of(_is_whole))(value) and "columns" in value


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "names": (_list_of(_is_word), "a list of words"),
    "levels": (_list_of(_list_of(_is_label)), "a list of labels for each variable"),
    "n_rows": (_is_whole, "a whole number"),
    "bin_edges": (_dict_of(_list_of(_is_number)), "a list of numbers for each variable that was cut"),
    "warnings": (_list_of(_is_word), "a list of words"),
    "ordinal": (_list_of(_is_word), "a list of words"),
    "digest": (_is_digest, "64 hexadecimal digits"),
    "shapes": (_is_shapes, "the sizes of the arrays"),
}
