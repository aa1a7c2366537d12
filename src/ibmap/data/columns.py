"""One column on its way to codes: numbers that may still be cut into bins, or labels already coded."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap.data.column_errors import wrong_type
from ibmap.data.objects import encode_objects, numbers_or_none

Mask: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = tuple[Hashable, ...]

TABLE_SIZE = 1 << 17  # integers within so narrow a range are coded through a table, others by sorting


@dataclass(frozen=True, eq=False)
class Numeric:
    """Integers or floats; ``missing`` marks the rows without a value (None: every row has one)."""

    name: str
    values: NDArray[Any]
    missing: Mask | None = None

    def rows(self, keep: Mask) -> "Numeric":
        """Return the column with the rows of ``keep`` only."""
        return Numeric(self.name, self.values[keep], None if self.missing is None else self.missing[keep])

    def present(self) -> NDArray[Any]:
        """Return the values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


@dataclass(frozen=True, eq=False)
class Coded:
    """Codes into ``levels``, -1 for missing; ``declared`` levels stay even where no row has them.

    If it is ``ordinal``, the order of its levels has a meaning.
    """

    name: str
    codes: NDArray[Any]
    levels: Labels
    declared: bool = False
    ordinal: bool = False

    @property
    def missing(self) -> Mask | None:
        """The rows without a value, None if there is none."""
        absent = self.codes < 0
        return absent if absent.any() else None

    def rows(self, keep: Mask) -> "Coded":
        """Return the column with the rows of ``keep`` only, and without levels that are gone."""
        kept = replace(self, codes=self.codes[keep])
        return kept if self.declared else observed(kept)


Column: TypeAlias = Numeric | Coded


def observed(column: Coded) -> Coded:
    """Return the column without the levels that no row has.

    Examples
    --------
    >>> column = observed(Coded("x", np.array([2, 0, -1]), ("a", "b", "c")))
    >>> column.codes.tolist(), column.levels
    ([1, 0, -1], ('a', 'c'))
    """
    counts = np.bincount(column.codes + 1, minlength=len(column.levels) + 1)[1:]
    if counts.all():
        return column
    code = np.append(np.cumsum(counts > 0) - 1, -1)  # the last entry serves code -1
    levels = tuple(label for label, count in zip(column.levels, counts.tolist(), strict=True) if count)
    return replace(column, codes=code[column.codes], levels=levels)


def column_of(name: str, values: NDArray[Any], missing: Mask | None = None) -> Column:
    """Return the column that a one-dimensional array holds.

    Examples
    --------
    >>> column_of("x", np.array(["b", "a", None], dtype=object)).levels
    ('a', 'b')
    >>> column_of("x", np.array([1.0, np.nan])).missing.tolist()
    [False, True]
    """
    kind = values.dtype.kind
    if kind in "iu":
        return Numeric(name, values, missing)
    if kind == "f":
        absent = np.isnan(values)
        absent = absent if missing is None else absent | missing
        return Numeric(name, values, absent if absent.any() else None)
    if kind == "b":
        codes = np.where(False if missing is None else missing, -1, values.astype(np.int64))
        return observed(Coded(name, codes, (False, True)))
    if kind in "USTO":
        return _column_of_objects(name, values, missing)
    raise wrong_type(name, str(values.dtype))


def _column_of_objects(name: str, values: NDArray[Any], missing: Mask | None) -> Column:
    things = values.astype(object)
    if missing is not None:
        things[missing] = None
    numbers = numbers_or_none(things)
    if numbers is not None:
        return column_of(name, *numbers)
    return Coded(name, *encode_objects(name, things))


def encode_numbers(column: Numeric) -> Coded:
    """Return the codes of whole numbers, levels in ascending order.

    Examples
    --------
    >>> column = encode_numbers(Numeric("x", np.array([10.0, -3.0, 10.0])))
    >>> column.codes.tolist(), column.levels
    ([1, 0, 1], (-3, 10))
    """
    codes, levels = _encode(column.present())
    if column.missing is not None:
        scattered = np.full(len(column.values), -1, dtype=np.int64)
        scattered[~column.missing] = codes
        codes = scattered
    return Coded(column.name, codes, levels)


def _encode(values: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    if not len(values):
        return np.empty(0, dtype=np.int64), ()
    low, high = int(values.min()), int(values.max())
    if high - low >= TABLE_SIZE or max(abs(low), abs(high)) >= 1 << 62:
        distinct, inverse = np.unique(values, return_inverse=True)
        return inverse, tuple(map(int, distinct.tolist()))
    shifted = values.astype(np.int64) - low
    present = np.zeros(high - low + 1, dtype=bool)
    present[shifted] = True
    code = np.cumsum(present, dtype=np.int32) - 1
    return code[shifted], tuple((np.flatnonzero(present) + low).tolist())
