"""Tables of several partitions, added up with dictionaries; and tables of pairs, counted row by row."""

from collections import Counter
from collections.abc import Sequence

Key = tuple[int, ...]


def added(parts: Sequence[dict[tuple[Key, int, int], int]]) -> dict[tuple[Key, int, int], int]:
    """Add up (key of the slice, level of x, level of y) → count."""
    total: Counter[tuple[Key, int, int]] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))


def pair_table(x: Sequence[int], y: Sequence[int]) -> list[tuple[int, int, int]]:
    """The observed cells of two columns: level of x, level of y, count; -1 is missing."""
    seen = Counter((a, b) for a, b in zip(x, y, strict=True) if a >= 0 and b >= 0)
    return [(a, b, count) for (a, b), count in sorted(seen.items())]
