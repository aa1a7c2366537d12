"""What users declare about columns: their kinds, an order of levels, values that stand for missing ones."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np

from ibmap import _checks
from ibmap._text import first_few, in_short, listing
from ibmap.data.columns import Coded, Column, Labels, Numeric, encode_numbers, label, scatter
from ibmap.data.discretize import is_whole
from ibmap.data.schema import unknown_variable
from ibmap.errors import DataError, RequestError

#: names of columns ("mood", or "mood=low<high"), or from names to levels (None: the order of the data)
Ordinal: TypeAlias = Iterable[str] | Mapping[str, Sequence[Any] | None] | None
#: names of columns, patterns ("q*"), or "all" that are not named otherwise
Names: TypeAlias = Iterable[str] | None
#: values of all columns, or from names to values
MissingValues: TypeAlias = Iterable[Any] | Mapping[str, Iterable[Any]] | None


ALL = "all"  #: the columns that are not named otherwise


@dataclass(frozen=True)
class ColumnOptions:
    """What was declared about the columns of a table.

    Attributes
    ----------
    orders : dict
        Of columns whose levels have an order: the levels in it, None if the data tell.
    nominal : tuple of str
        Columns of categories without an order, whatever they hold.
    continuous : tuple of str
        Columns of numbers, however few different ones they hold.
    others : {"categories", "auto", "all"}
        What columns are that are not declared: categories; what their values say (``data/kinds.py``); or
        continuous wherever they hold numbers.
    absent : dict
        Values that stand for missing ones, by column.
    in_source : tuple of str
        Columns whose order stands in the source itself.
    """

    orders: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    nominal: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    others: str = "categories"
    absent: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    in_source: tuple[str, ...] = ()

    def with_missing(self, column: Column) -> Column:
        """Return a column in which the values that stand for missing ones are missing."""
        values = self.absent.get(column.name)
        return column if values is None else without_values(column, values)

    def column(self, column: Column) -> Column:
        """Return a column as it was declared."""
        name, column = column.name, self.with_missing(column)
        if name in self.continuous and not isinstance(column, Numeric):
            raise DataError(f"column {name!r} holds no numbers, so it cannot be continuous")
        if name in self.nominal:
            return replace(as_categories(column), ordinal=False)
        if name not in self.orders:
            return column
        found, order = as_categories(column), self.orders[name]
        if order is not None:
            return _in_order(found, order)
        if not isinstance(column, Numeric):
            check_order(name, found.levels, found.declared)
        return replace(found, ordinal=True)

    def is_declared(self, name: str) -> bool:
        """Whether the kind of a column was declared."""
        return name in self.nominal or name in self.orders or name in self.continuous

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what was declared about some columns, as arguments of :func:`ibmap.load`; None is nothing.

        Examples
        --------
        >>> ColumnOptions({"mood": ("low", "high"), "age": None}).arguments(("age", "mood"))["ordinal"]
        ['mood=low<high', 'age']
        >>> about = ColumnOptions(absent={"age": ("-9",), "mood": ("-9",)})
        >>> about.arguments(("age", "mood"))["missing_values"]
        ['-9']
        >>> about.arguments(("age", "sex"))["missing_values"]
        {'age': ['-9']}
        """
        declared = {name for name in names if name not in self.in_source}
        orders = {name: order for name, order in self.orders.items() if name in declared}
        ordinal = [name if order is None else f"{name}={'<'.join(order)}" for name, order in orders.items()]
        absent = {name: list(self.absent[name]) for name in names if name in self.absent}
        every = next(iter(absent.values()), [])
        alike = len(absent) == len(names) and all(values == every for values in absent.values())
        there = set(names)
        continuous: Any = [name for name in self.continuous if name in there]
        if self.others == ALL or not continuous:
            continuous = None if self.others == "categories" else self.others
        return {
            "ordinal": ordinal or None,
            "nominal": [name for name in self.nominal if name in there] or None,
            "continuous": continuous,
            "missing_values": (every if alike else absent) or None,
        }

    @property
    def is_plain(self) -> bool:
        """Whether codes of whole numbers in ascending order fit all of it."""
        return not self.absent and all(order is None for order in self.orders.values())


def column_options(
    names: Sequence[str],
    ordinal: Ordinal = None,
    nominal: Names = None,
    continuous: Names = None,
    missing_values: MissingValues = None,
    known: Mapping[str, tuple[str, ...] | None] | None = None,
) -> ColumnOptions:
    """Return options of columns, checked against their names; ``known`` are ordinal unless declared else.

    Examples
    --------
    >>> column_options(("age", "mood"), {"mood": ["low", "high"]}, missing_values=[-9]).orders
    {'mood': ('low', 'high')}
    >>> column_options(("q1", "q2", "sex"), "all", nominal="sex").orders
    {'q1': None, 'q2': None}
    >>> column_options(("age", "mood"), ["mod"])
    Traceback (most recent call last):
        ...
    ibmap.errors.UnknownVariableError: there is no variable 'mod'; did you mean 'mood'?
    """
    there = set(names)
    if not isinstance(ordinal, Mapping):
        ordinal = dict(order_in(text, there) for text in _names(ordinal, "ordinal"))
    is_auto = isinstance(continuous, str) and continuous == "auto"
    said = {
        "ordinal": tuple(map(str, ordinal)),
        "nominal": _names(nominal, "nominal"),
        "continuous": () if is_auto else _names(continuous, "continuous"),
    }
    of_kind = _columns_of_kinds(said, names)
    orders = {name: _order(name, ordinal.get(name)) for name in of_kind["ordinal"]}
    by_name = missing_values if isinstance(missing_values, Mapping) else {}
    for name in by_name:
        if name not in there:
            raise unknown_variable(name, names)
    if missing_values is not None and not isinstance(missing_values, Mapping):
        every = _values(missing_values)
        by_name = dict.fromkeys(names, every) if every else {}
    declared = (*of_kind["nominal"], *of_kind["ordinal"])
    others = {name: order for name, order in (known or {}).items() if name not in declared}
    in_source = tuple(name for name, order in others.items() if order is not None)
    absent = {str(name): _values(values) for name, values in by_name.items()}
    rest = "categories" if continuous is None else ALL if ALL in said["continuous"] else "auto"
    kinds = of_kind["nominal"], of_kind["continuous"], rest
    return ColumnOptions({**others, **orders}, *kinds, absent, in_source)


def _columns_of_kinds(said: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of each kind: names come before patterns ("q*"), and these before "all"."""
    kind_of: dict[str, str] = {}
    there = set(names)
    rest = ""
    for kind, some in said.items():
        for name in some:
            if name in there:
                if kind_of.setdefault(name, kind) != kind:
                    raise RequestError(
                        f"column {name!r} is declared both {kind_of[name]} and {kind}: choose one"
                    )
            elif name == ALL:
                if rest:
                    raise RequestError(f"all columns are declared both {rest} and {kind}: choose one")
                rest = kind
            elif not any(fnmatchcase(one, name) for one in names):
                raise unknown_variable(name, names)
    for kind, some in said.items():
        for pattern in some:
            if pattern not in there and pattern != ALL:
                for name in names:
                    if fnmatchcase(name, pattern):
                        kind_of.setdefault(name, kind)
    for name in names if rest not in ("", "continuous") else ():  # of those only some hold numbers
        kind_of.setdefault(name, rest)
    return {kind: tuple(name for name in names if kind_of.get(name) == kind) for kind in said}


def order_in(text: str, names: Collection[str]) -> tuple[str, list[str] | None]:
    """Return a column and the order of its levels, "mood=low<high", or None where only the column is named.

    Examples
    --------
    >>> order_in("mood = low < so so < high", ["mood"]), order_in("mood", ["mood"])
    (('mood', ['low', 'so so', 'high']), ('mood', None))
    """
    name, equals, levels = text.partition("=")
    if text in names or not equals or "<" not in levels:
        return text, None
    return name.strip(), [level.strip() for level in levels.split("<")]


def _names(names: Any, argument: str) -> tuple[str, ...]:
    return () if names is None else tuple(dict.fromkeys(map(str, _checks.names_in(names, argument))))


def _order(name: str, levels: Any) -> tuple[str, ...] | None:
    if levels is None:
        return None
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise RequestError(f"ordinal: the order of {name!r} must be a list of levels, not {levels!r}")
    order = tuple(_text(level) for level in levels)
    if len(set(order)) < len(order) or len(order) < 2:
        raise RequestError(f"ordinal: the order of {name!r} must have two different levels or more")
    return order


def _values(values: Any) -> tuple[Any, ...]:
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return tuple(values)
    if not isinstance(values, str | int | float | np.generic):
        raise RequestError(f"missing_values must be a list of values, not {in_short(values)}")
    return (values,)


def _text(level: Any) -> str:
    """Return a level as it is typed; whole numbers without a point."""
    return str(label(level))


def without_values(column: Column, values: Sequence[Any]) -> Column:
    """Return a column in which some values are missing.

    Examples
    --------
    >>> without_values(Numeric("x", np.array([1, -9, 2])), ["-9"]).missing.tolist()
    [False, True, False]
    >>> found = without_values(Coded("x", np.array([0, 1, 2]), ("a", "refused", "z")), ["refused"])
    >>> found.codes.tolist(), found.levels
    ([0, -1, 1], ('a', 'z'))
    """
    numbers = [number for value in values if (number := _number(value)) is not None]
    if isinstance(column, Numeric):
        mask = np.isin(column.values, numbers)
        if not mask.any():
            return column
        return replace(column, missing=mask if column.missing is None else column.missing | mask)
    words = set(map(_text, values))
    gone = [
        _text(level) in words or (_number(level) in numbers and not isinstance(level, bool))
        for level in column.levels
    ]
    if not any(gone):
        return column
    code = np.append(np.where(gone, -1, np.cumsum(~np.array(gone)) - 1), -1)
    kept = tuple(level for level, out in zip(column.levels, gone, strict=True) if not out)
    return replace(column, codes=code[column.codes], levels=kept)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def as_categories(column: Column) -> Coded:
    """Return the levels of a column in ascending order, fractions too.

    Examples
    --------
    >>> as_categories(Numeric("x", np.array([2.5, 1.0, 2.5]))).levels
    (1, 2.5)
    """
    if isinstance(column, Coded):
        return column
    if is_whole(column.present()):
        return encode_numbers(column)
    distinct, inverse = np.unique(column.present(), return_inverse=True)
    return Coded(column.name, scatter(inverse, column.missing), tuple(map(label, distinct.tolist())))


def _in_order(column: Coded, order: tuple[str, ...]) -> Coded:
    """Return a column with its levels in a given order; levels that no row has stay."""
    place = {level: code for code, level in enumerate(order)}
    levels = list(map(_text, column.levels))
    if lost := [level for level in levels if level not in place]:
        raise DataError(
            f"the order of {column.name!r} lacks the level{'s' * (len(lost) > 1)} {listing(lost)}: it has "
            f"{' < '.join(order)}"
        )
    code = np.array([*(place[level] for level in levels), -1])
    known = dict(zip(levels, column.levels, strict=True))
    labels = tuple(known.get(level, level) for level in order)
    return Coded(column.name, code[column.codes], labels, declared=True, ordinal=True)


def check_order(name: str, levels: Labels, declared: bool) -> None:
    """Refuse words of which nobody has said in which order they are."""
    if declared or len(levels) <= 2 or all(isinstance(level, int | float) for level in levels):
        return
    shown = first_few([str(level) for level in levels if level is not None], 5)
    example = " < ".join(str(level) for level in levels[:3])
    raise DataError(
        f"the levels of {name!r} are words without a known order ({shown}): say it, such as "
        f'ordinal="{name}={example.replace(" ", "")}" with the lowest first'
    )


def lost_orders(names: Iterable[str], levels: Mapping[str, tuple[Hashable, ...]]) -> str:
    """Return the warning about ordered levels among which missing values are one, "" if there are none."""
    lost = [name for name in names if None in levels[name]]
    if not lost:
        return ""
    is_taken = "is taken as nominal" if len(lost) == 1 else "are taken as nominal"
    return (
        f"missing values are a category, which has no place in the order of {listing(lost)}: "
        f"{'it' if len(lost) == 1 else 'they'} {is_taken}; missing='testwise' keeps the order"
    )
