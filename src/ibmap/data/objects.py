"""Columns of Python objects: find out what they are, and code the ones that are labels."""

import datetime
from collections.abc import Hashable, Iterable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.data.column_errors import infinite, wrong_type
from ibmap.errors import DataError

NO_CATEGORIES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64, complex)
EXACT = 2.0**53  # from here on floats do not hold every integer
_UNROUNDED = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
LONG = 1000  # digits of whole numbers that are still written out


def is_missing(value: object) -> bool:
    """Whether a value stands for "not known": None, NaN, pandas' NA and NaT.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | Decimal) and value != value


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
    rounded = any(issubclass(kind, int | np.integer | Decimal) for kind in solid)
    if dtype is np.float64 and rounded and (is_merged(things, numbers) or _is_another(things, numbers)):
        whole = _whole(things)
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


def _is_another(things: NDArray[Any], floats: NDArray[np.float64]) -> bool:
    """Whether an integer became another one, among whole floats."""
    if not (np.isfinite(floats) & (floats == np.floor(floats))).all():
        return False
    return any(isinstance(thing, int | np.integer) and float(thing) != int(thing) for thing in things)


def _whole(things: NDArray[Any]) -> NDArray[np.int64] | None:
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
