"""What is refused in a column whatever the options, in words."""

from ibmap.errors import DataError


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
