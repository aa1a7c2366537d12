"""One column on its way to codes: numbers that may still be cut into bins, or labels already coded."""

import datetime
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap.errors import DataError, TimeColumnError

Mask: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = tuple[Hashable, ...]

NO_CATEGORIES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64, complex)
EXACT = 2.0**53  # from here on floats do not hold every integer
_UNROUNDED = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
LONG = 1000  # digits of whole numbers that are still written out


@dataclass(frozen=True, eq=False)
class Numeric:
    """Integers or floats; ``missing`` marks the rows without a value (None: every row has one)."""

    name: str
    values: NDArray[Any]
    missing: Mask | None = None
    kind: ClassVar[str] = "numbers"

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

    @property
    def kind(self) -> str:
        """What it holds, in words; "" if it holds nothing."""
        if self.declared:
            return "declared categories"
        kinds = set(map(type, self.levels))
        words = {bool: "truth values", str: "text"}
        return words.get(kinds.pop(), "labels") if len(kinds) == 1 else "labels" if kinds else ""

    def rows(self, keep: Mask) -> "Coded":
        """Return the column with the rows of ``keep`` only, and without levels that are gone."""
        kept = replace(self, codes=self.codes[keep])
        return kept if self.declared else drop_unused_levels(kept)


Column: TypeAlias = Numeric | Coded


def drop_unused_levels(column: Coded) -> Coded:
    """Return the column without the levels that no row has.

    Examples
    --------
    >>> column = drop_unused_levels(Coded("x", np.array([2, 0, -1]), ("a", "b", "c")))
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
    if kind in "iuf":
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind in "iu":
        return Numeric(name, values, missing)
    if kind == "f" and values.dtype not in (np.float32, np.float64):
        return _column_of_long_floats(name, values, missing)
    if kind == "f":
        absent = np.isnan(values)
        absent = absent if missing is None else absent | missing
        return Numeric(name, values, absent if absent.any() else None)
    if kind == "b":
        codes = np.where(False if missing is None else missing, -1, values.astype(np.int64))
        return drop_unused_levels(Coded(name, codes, (False, True)))
    if kind in "USTO":
        return _column_of_objects(name, values, missing)
    raise wrong_type(name, str(values.dtype))


def _column_of_long_floats(name: str, values: NDArray[Any], missing: Mask | None) -> Column:
    """Return floats of another width as usual ones, or as whole numbers where those would be others."""
    floats, absent = values.astype(np.float64), np.isnan(values)
    known = values[~absent]
    if (
        (floats[~absent] != known).any()
        and (np.abs(known) < 2.0**62).all()
        and (known == np.floor(known)).all()
    ):
        whole = np.where(absent, 0, values).astype(np.int64)
        mask = absent if missing is None else absent | missing
        return Numeric(name, whole, mask if mask.any() else None)
    return column_of(name, floats, missing)


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
    present = column.present()
    found = _core.encode_matrix(np.ascontiguousarray(present)[:, None]) if present.itemsize <= 8 else None
    if found is not None:
        codes, levels = found[0][0].astype(np.int64), tuple(found[2].tolist())
    else:
        distinct, codes = np.unique(present, return_inverse=True)
        levels = tuple(map(int, distinct.tolist()))
    return Coded(column.name, scatter(codes, column.missing), levels)


def scatter(codes: NDArray[Any], missing: Mask | None) -> NDArray[Any]:
    """Return the codes of all rows, -1 where a value is missing; ``codes`` are those of the others."""
    if missing is None:
        return codes
    out = np.full(len(missing), -1, np.int64)
    out[~missing] = codes
    return out


# Columns of Python objects: find out what they are, and code the ones that are labels


def is_missing(value: object) -> bool:
    """Whether a value stands for "not known": None, NaN, pandas' NA and NaT.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and value != value


def numbers_or_none(things: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None] | None:
    """Return the values as an array of bool, int or float, and where they are missing; None if they are not.

    Examples
    --------
    >>> values, missing = numbers_or_none(np.array([1, None, 2.0], dtype=object))
    >>> values[~missing].tolist(), missing.tolist()
    ([1.0, 2.0], [False, True, False])
    """
    kinds = set(map(type, things))
    solid = {kind for kind in kinds if kind is not type(None) and kind.__name__ not in ("NAType", "NaTType")}
    dtype = _common_number(solid)
    if dtype is None:
        return None
    missing = None
    if solid != kinds:
        missing = np.fromiter(map(is_missing, things), dtype=bool, count=len(things))
        things = np.where(missing, dtype(0), things)
    try:
        numbers = things.astype(dtype)
    except OverflowError:  # integers beyond 64 bits are labels like any other
        return None
    except ValueError:  # a decimal NaN that signals is missing, as one that does not
        return numbers_or_none(np.array([None if is_missing(thing) else thing for thing in things], object))
    rounded = any(issubclass(kind, int | np.integer | Decimal) for kind in solid)
    if dtype is np.float64 and rounded:
        exact = [thing.item() if isinstance(thing, np.generic) else thing for thing in things]
        if is_merged(exact, numbers) or _is_another(exact, numbers):
            whole = _whole(exact)
            return None if whole is None else (whole, missing)
    return numbers, missing


def is_merged(things: Iterable[Any], floats: NDArray[np.float64]) -> bool:
    """Whether distinct numbers became equal whole floats, which would be coded as one level.

    Where floats have fractions they are not coded, but cut or refused.

    Examples
    --------
    >>> is_merged([2**53, 2**53 + 1], np.array([2.0**53, 2.0**53])), is_merged([2**53], np.array([2.0**53]))
    (True, False)
    >>> is_merged([2**53, 2**53 + 1, 0.5], np.array([2.0**53, 2.0**53, 0.5]))
    False
    """
    distinct = np.unique(floats[~np.isnan(floats)])
    if (distinct != np.floor(distinct)).any():
        return False
    return len(distinct) < len({thing for thing in things if thing == thing})


def _is_another(things: Iterable[Any], floats: NDArray[np.float64]) -> bool:
    """Whether an integer or a decimal became another one, among whole floats."""
    if not (np.isfinite(floats) & (floats == np.floor(floats))).all():
        return False
    return any(isinstance(thing, int | Decimal) and float(thing) != thing for thing in things)


def _whole(things: Iterable[Any]) -> NDArray[np.int64] | None:
    """Return 64-bit integers, None if some number is none."""
    try:
        whole = [in_one_way(value) for value in things]
        return np.array(whole, dtype=np.int64) if all(type(value) is int for value in whole) else None
    except OverflowError:
        return None


def in_one_way(value: Any) -> Any:
    """Return an int for every whole number, and one text for every decimal that no float holds.

    Examples
    --------
    >>> [in_one_way(number) for number in (2.0, Decimal("20.00"), Decimal("0.10"), Decimal("1E+4000"))]
    [2, 20, '0.1', '1E+4000']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, Decimal) or value != value:
        return value
    if value.adjusted() < LONG and value == value.to_integral_value():
        return int(value)
    return str(value.normalize(_UNROUNDED))


def _common_number(kinds: set[type]) -> type[np.generic] | None:
    if not kinds:
        return np.float64
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return np.bool_
    if any(issubclass(kind, bool) for kind in kinds):
        return None
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        return np.int64
    if all(issubclass(kind, int | float | Decimal | np.integer | np.floating) for kind in kinds):
        return np.float64
    return None


def label(value: Any) -> Hashable:
    """Return a value as the plain Python object that users see as a level.

    Examples
    --------
    >>> label(np.int8(3)), label(2.0), label(np.True_), label(b"yes")
    (3, 2, True, 'yes')
    """
    if isinstance(value, np.generic):
        value = value.item()
    value = in_one_way(value)
    if isinstance(value, bool | int | float):
        return value
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def encode_objects(name: str, things: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    """Return codes and levels of labels of any type, sorted by type name and value; missing is -1.

    Examples
    --------
    >>> codes, levels = encode_objects("x", np.array(["b", 1, True, None, "a"], dtype=object))
    >>> codes.tolist(), levels
    ([3, 1, 0, -1, 2], (True, 1, 'a', 'b'))
    """
    mixed = len(set(map(type, things)) - {type(None)}) > 1
    # True == 1 == 1.0 in a dictionary, so where types mix the type is part of the key
    keys: list[Any] = list(zip(map(type, things), things, strict=True)) if mixed else things.tolist()
    try:
        distinct = dict.fromkeys(keys)
    except TypeError:
        raise wrong_type(name, _unhashable(things)) from None
    labels = {key: _checked_label(name, key[1] if mixed else key) for key in distinct}
    order = sorted({_sort_key(value) for value in labels.values() if value is not None})
    position = {key: code for code, key in enumerate(order)}
    code = {key: -1 if value is None else position[_sort_key(value)] for key, value in labels.items()}
    codes = np.fromiter(map(code.__getitem__, keys), dtype=np.int64, count=len(keys))
    return codes, tuple(value for _, value in order)


def _sort_key(value: Hashable) -> tuple[str, Any]:
    return type(value).__name__, value


def _checked_label(name: str, value: object) -> Hashable:
    """Return the label of a value, None if it is missing."""
    if is_missing(value):
        return None
    if isinstance(value, NO_CATEGORIES):
        raise wrong_type(name, type(value).__name__)
    if isinstance(value, float | np.floating) and np.isinf(value):
        raise infinite(name)
    try:
        return label(value)
    except UnicodeDecodeError:
        raise DataError(f"column {name!r} holds bytes that are not UTF-8 text: {value!r}") from None


def _unhashable(things: NDArray[Any]) -> str:
    for thing in things:
        try:
            hash(thing)
        except TypeError:
            return type(thing).__name__
    return "object"


# What is refused whatever the options


def wrong_type(name: str, kind: str) -> DataError:
    """Return the error for a column of dates, durations, lists or other values that are no categories."""
    if kind.lower().startswith("complex"):
        return DataError(f"Complex data not supported: column {name!r} is of type {kind}")
    is_time = kind.lower().startswith(("date", "time", "duration"))
    return (TimeColumnError if is_time else DataError)(
        f"column {name!r} holds values of type {kind}, which are no categories: "
        "turn them into strings or whole numbers (a year, a weekday, a bin), or drop it"
    )


def infinite(name: str) -> DataError:
    """Return the error for a column with infinities."""
    return DataError(
        f"column {name!r} holds infinite values (inf): replace them, or drop the rows or the column"
    )
