"""Bits of a column, one row after the other."""

from collections.abc import Sequence


def pack_bytes(values: Sequence[int], wanted: Sequence[int], n_words: int) -> list[list[int]]:
    """One integer of 64 bits per 64 rows, for every value that is wanted: bit r is set where row r has it."""
    out = [[0] * n_words for _ in wanted]
    for k, value in enumerate(wanted):
        for r, other in enumerate(values):
            if other == value:
                out[k][r // 64] |= 1 << (r % 64)
    return out


def unpack_bits(bits: Sequence[Sequence[int]], n_rows: int) -> list[int]:
    """The level of every row: which of the rows of bits has it, -1 if none."""
    out = [-1] * n_rows
    for level, words in enumerate(bits):
        for r in range(n_rows):
            if words[r // 64] >> (r % 64) & 1:
                out[r] = level
    return out


def encode(values: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """The levels of a column, ascending, and the code of every value; None is missing, code -1."""
    levels = sorted({value for value in values if value is not None})
    return levels, [-1 if value is None else levels.index(value) for value in values]


def place(bits: Sequence[int], start: int, out: Sequence[int]) -> list[int]:
    """Words of a longer row, with the bits of a shorter one set in it from bit ``start`` on."""
    joined = sum(word << 64 * w for w, word in enumerate(out)) | sum(
        word << 64 * w + start for w, word in enumerate(bits)
    )
    return [joined >> 64 * w & (1 << 64) - 1 for w in range(len(out))]
