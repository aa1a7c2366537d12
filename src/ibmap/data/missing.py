"""What to do about missing values, before columns are cut or coded."""

from collections.abc import Sequence

import numpy as np

from ibmap._text import counted, in_short, listing, one_of
from ibmap.data.columns import Column, Numeric, infinite
from ibmap.errors import DataError

POLICIES = ("error", "drop", "category", "testwise")


def check_policy(policy: object, policies: Sequence[str] = POLICIES) -> None:
    """Refuse an unknown policy."""
    if not isinstance(policy, str) or policy not in policies:
        raise DataError(f"missing must be {one_of(policies)}, not {in_short(policy)}")


def check_finite(columns: list[Column]) -> None:
    """Refuse infinities: no policy and no bin can make a category of them."""
    for column in columns:
        if isinstance(column, Numeric) and column.values.dtype.kind == "f" and np.isinf(column.values).any():
            raise infinite(column.name)


def apply_policy(columns: list[Column], policy: str, policies: Sequence[str] = POLICIES) -> list[Column]:
    """Return the columns after the policy; ``"category"`` and ``"testwise"`` leave the rows alone.

    ``policies`` are those that the table could be read with; the first one is to refuse missing values.

    Examples
    --------
    >>> from ibmap.data.columns import column_of
    >>> x = column_of("x", np.array([1.0, np.nan, 2.0]))
    >>> apply_policy([x], "drop")[0].values.tolist()
    [1.0, 2.0]
    """
    absent = {column.name: mask for column in columns if (mask := column.missing) is not None}
    if not absent:
        return columns
    n_rows = len(next(iter(absent.values())))
    check_counts({name: int(mask.sum()) for name, mask in absent.items()}, n_rows, policy, policies)
    if policy == "drop":
        keep = ~np.logical_or.reduce(list(absent.values()))
        if not keep.any():
            raise no_row_left()
        return [column.rows(keep) for column in columns]
    return columns


def check_counts(
    absent: dict[str, int], n_rows: int, policy: str, policies: Sequence[str] = POLICIES
) -> None:
    """Refuse columns without any value, and missing values that no policy allows; ``absent`` counts them."""
    empty = [name for name, count in absent.items() if count == n_rows]
    if policy != "category" and empty:
        raise DataError(f"no value at all in {listing(empty)}: drop the column{'s' * (len(empty) > 1)}")
    if policy == "error" and absent:
        columns = [f"{name!r} ({count})" for name, count in absent.items()]
        more = f" and {counted(len(columns) - 5, 'more column')}" if len(columns) > 5 else ""
        raise DataError(
            f"missing values (NaN, null or empty cells) in {', '.join(columns[:5])}{more}: "
            f"pass missing={one_of(policies[1:])}{', which leaves out these rows' * (len(policies) == 2)}"
        )


def no_row_left() -> DataError:
    """Return the error for a table of which no row is complete."""
    return DataError("missing='drop' leaves no row: every row has a missing value")
