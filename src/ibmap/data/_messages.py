"""Words for users that more than one file needs."""

from collections.abc import Iterable, Sequence

from ibmap.errors import DataError


def listing(names: Iterable[object], at_most: int = 5) -> str:
    """Return names in quotes, the first few of them when there are many.

    Examples
    --------
    >>> listing(["a", "b"])
    "'a', 'b'"
    >>> listing("abcdefg", at_most=3)
    "'a', 'b', 'c' and 4 more"
    """
    return first_few([repr(name) for name in names], at_most)


def first_few(words: Sequence[str], at_most: int = 5) -> str:
    """Return words in a row, the first few of them when there are many."""
    rest = len(words) - at_most
    return ", ".join(words) if rest <= 0 else f"{', '.join(words[:at_most])} and {rest} more"


def wrong_type(name: str, kind: str) -> DataError:
    """Return the error for a column of dates, durations, lists or other values that are no categories."""
    if kind.lower().startswith("complex"):
        return DataError(f"Complex data not supported: column {name!r} is of type {kind}")
    return DataError(
        f"column {name!r} holds values of type {kind}, which are no categories: "
        "turn them into strings or whole numbers (a year, a weekday, a bin), or drop it"
    )


def infinite(name: str) -> DataError:
    """Return the error for a column with infinities."""
    return DataError(
        f"column {name!r} holds infinite values (inf): replace them, or drop the rows or the column"
    )
