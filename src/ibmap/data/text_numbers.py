"""Numbers in text: with blanks around them, and whole ones that floats would merge."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from ibmap.data.objects import EXACT, in_one_way, is_merged

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")


def exact_numbers(frame: Any, text_of: Callable[[int], Any]) -> Any:
    """Read columns again in which floats merge whole numbers; ``text_of(j)`` is column j of the file."""
    import polars as pl

    columns = list(frame)
    for j, column in enumerate(columns):
        if column.dtype == pl.Float64 and (column.abs() >= EXACT).any():
            columns[j] = _exact(column, text_of(j).str.strip_chars().alias(column.name))
    return pl.DataFrame(columns)


def _exact(floats: Any, text: Any) -> Any:
    """Return the floats if they are what the text says; whole numbers, or text, if they are not."""
    import polars as pl

    distinct = text.drop_nulls().unique().to_list()
    try:
        numbers = [Decimal(word) for word in distinct]
    except InvalidOperation:
        return floats
    if not is_merged(numbers, floats.drop_nulls().unique().to_numpy()):
        return floats
    one_way = [str(in_one_way(number)) for number in numbers]
    words = text.replace_strict(distinct, one_way, return_dtype=pl.String)
    return next((typed for kind in _integers() if (typed := _cast(words, kind)) is not None), words)


def without_blanks(frame: Any) -> Any:
    """Strip blanks around names and values; a column that only blanks made text gets its type back."""
    import polars as pl

    columns = []
    for column in frame:
        if column.dtype == pl.String:
            bare = column.str.strip_chars()
            if not bare.equals(column, null_equal=True):
                column = typed(bare.set(bare.is_in(MISSING), None))
        columns.append(column.rename(column.name.strip()))
    return pl.DataFrame(columns)


def typed(text: Any) -> Any:
    """Return a column of text as numbers, if all of it are numbers."""
    import polars as pl

    for kind in _integers():
        if (found := _cast(text, kind)) is not None:
            return found
    floats = _cast(text, pl.Float64)
    if floats is None:
        return text
    return _exact(floats, text) if (floats.abs() >= EXACT).any() else floats


def _integers() -> list[Any]:
    """Return polars' types for whole numbers; older versions know nothing beyond 64 bits."""
    import polars as pl

    return [pl.Int64, *([pl.Int128] if hasattr(pl, "Int128") else [])]


def _cast(column: Any, kind: Any) -> Any:
    found = column.cast(kind, strict=False)
    return found if found.null_count() == column.null_count() else None
