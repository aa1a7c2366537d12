"""What users hand in, checked at the door: of the right type, or one sentence that says what is expected."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from math import inf
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeGuard

from ibmap._text import in_short, one_of
from ibmap.errors import RequestError

MOST = 2**31 - 1  #: of anything that is counted: rows to draw, replicates, steps


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a real number; True, NaN and arrays are none.

    Examples
    --------
    >>> is_number(1), is_number(0.5), is_number(True), is_number(float("nan")), is_number("1")
    (True, True, False, False, False)
    """
    return isinstance(value, int | float | Real) and not is_flag(value) and value == value


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is a whole number, of Python or NumPy; True and 1.0 are none."""
    return isinstance(value, int | Integral) and not is_flag(value)


def is_flag(value: object) -> bool:
    """Whether something is True or False, of Python or NumPy."""
    return isinstance(value, bool) or (
        type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
    )


def is_true(value: object) -> bool:
    """Whether somebody's function has answered True; anything else, such as an array, is no answer."""
    return is_flag(value) and bool(value)


def whole(value: object, name: str, least: int, most: int = MOST) -> int:
    """Return a whole number that is neither too small nor too large.

    Examples
    --------
    >>> whole(3, "bits", 1)
    3
    >>> whole(0.5, "bits", 1)
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: bits must be 1 or more, a whole number, not 0.5
    """
    if is_whole(value) and least <= value <= most:
        return int(value)
    few = is_whole(value) and most == MOST and value > most
    bounds = f"{least} or more" if most == MOST and not few else f"between {least} and {most:,}"
    raise RequestError(f"{name} must be {bounds}, a whole number, not {in_short(value)}")


def positive(value: object, name: str) -> float:
    """Return a number above 0 that is finite."""
    if not is_number(value) or not 0 < value < inf:
        raise RequestError(f"{name} must be a positive number, not {in_short(value)}")
    return as_float(value, name)


def between(value: object, name: str, low: float, high: float) -> float:
    """Return a number that lies strictly between two others."""
    if not is_number(value) or not low < value < high:
        raise RequestError(f"{name} must lie between {low:g} and {high:g}, not {in_short(value)}")
    return float(value)


def finite(value: object, name: str) -> float:
    """Return a number that is not infinite."""
    if not is_number(value) or not -inf < value < inf:
        raise RequestError(f"{name} must be finite, a number, not {in_short(value)}")
    return as_float(value, name)


def as_float(value: float, name: str) -> float:
    """Return a number as a float, if it is not too large for one."""
    try:
        return float(value)
    except OverflowError:
        raise RequestError(f"{name} is too large: {in_short(value)}") from None


def word(value: object, name: str, words: Collection[str]) -> None:
    """Refuse what is not one of some words.

    Examples
    --------
    >>> word([], "symmetry", ("or", "and"))
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: symmetry must be 'or' or 'and', not []
    """
    if not isinstance(value, str) or value not in words:
        raise RequestError(f"{name} must be {one_of(words)}, not {in_short(value)}")


def known(value: object, what: str, names: Iterable[str]) -> None:
    """Refuse what is not the name of something there is."""
    there = list(names)
    if not isinstance(value, str) or value not in there:
        raise RequestError(f"unknown {what} {in_short(value)}; there are {', '.join(there)}")


def function(value: object, name: str) -> None:
    """Refuse what is neither a function nor None."""
    if value is not None and not callable(value):
        raise RequestError(f"{name} must be a function or None, not {in_short(value)}")


def flag(value: object, name: str) -> bool:
    """Return a truth value; True, False, 0 and 1 are such."""
    if is_flag(value) or (is_whole(value) and value in (0, 1)):
        return bool(value)
    raise RequestError(f"{name} must be True or False, not {in_short(value)}")


def names_in(value: Any, what: str) -> list[Any]:
    """Return names as a list; a single one counts as one.

    Examples
    --------
    >>> names_in("age", "drop"), names_in(iter(["age", "sex"]), "drop")
    (['age'], ['age', 'sex'])
    """
    if isinstance(value, str):
        return [value]
    if not isinstance(value, bytes):
        with suppress(TypeError):  # an array of no dimension says that it can be iterated over
            return list(value)
    raise RequestError(f"{what} must be a list of names, not {in_short(value)}")


def mapping(value: object, name: str) -> dict[Any, Any]:
    """Return a mapping as a dict."""
    if not isinstance(value, Mapping):
        raise RequestError(f"{name} must be a dict, not {in_short(value)}")
    return dict(value)


def file_path(value: object, name: str) -> Path:
    """Return a path of the file system.

    Examples
    --------
    >>> file_path([], "path")
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: path must be the path of a file, not []
    """
    path = fspath(value) if isinstance(value, PathLike) else value
    if not isinstance(path, str) or "\0" in path:
        raise RequestError(f"{name} must be the path of a file, not {in_short(value)}")
    return Path(path)
