"""Which kind of table is this: categories, numbers, or both? And how can it be read?"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ibmap._text import listing
from ibmap.data.columns import Coded, Column, Numeric
from ibmap.data.declared import MissingValues, Ordinal, column_options
from ibmap.data.discretize import is_whole
from ibmap.data.frames import open_source
from ibmap.data.numbers import has_order
from ibmap.data.quality import MANY_LEVELS

COLUMNS = ("auto", "categories", "values", "ranks")  #: what a table can be read as


class Choice(NamedTuple):
    """How a table can be read, and why."""

    columns: str  #: "categories" (:func:`ibmap.load`), "values" or "ranks" (``load_numbers``)
    why: str  #: in words
    discretize: str | None = None  #: how numbers must be cut, to be categories
    bins: int | None = None


def choose_columns(
    source: Any,
    *,
    drop: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    ordinal: Ordinal = None,
    categorical: Iterable[str] | None = None,
    missing_values: MissingValues = None,
) -> Choice:
    """Look at the columns of a table, and choose how to read it.

    A column is continuous if it holds numbers with fractions, or more than 20 different ones. Without any
    such column all are categories. If all columns hold numbers, their values are taken as they are. Of both
    kinds, all are taken by their ranks; where a column has more than two levels without an order, which have
    no ranks, the numbers are cut at their quartiles instead.

    Parameters
    ----------
    source : table
        As for :func:`ibmap.load`.
    drop, only : iterable of str, optional
        Columns to leave out; the columns to use.
    ordinal, categorical, missing_values
        As for :func:`ibmap.load`; columns of categories are not continuous, whatever they hold.

    Examples
    --------
    >>> choose_columns({"height": [1.5, 1.7, 1.9], "sex": ["f", "m", "m"]}).why
    "'height' is continuous, 'sex' holds no numbers: all columns are taken by their ranks"
    >>> choose_columns({"smokes": [0, 1, 1], "sex": ["f", "m", "m"]}).columns
    'categories'
    """
    table = open_source(source)
    about = column_options(table.names, ordinal, categorical, missing_values, table.ordinal)
    columns = list(map(about.column, table.columns(table.select(drop, only))))
    found = [column.name for column in columns if is_continuous(column)]
    if not found:
        return Choice("categories", "no column is continuous: all are taken as categories")
    words = [column.name for column in columns if isinstance(column, Coded)]
    numbers = f"{listing(found)} {'is' if len(found) == 1 else 'are'} continuous"
    if not words:
        return Choice("values", f"{numbers}, all columns hold numbers: they are taken as they are")
    loose = [column.name for column in columns if not has_order(column)]
    if not loose:
        hold = "holds" if len(words) == 1 else "hold"
        why = f"{numbers}, {listing(words)} {hold} no numbers: all columns are taken by their ranks"
        return Choice("ranks", why)
    have = "has" if len(loose) == 1 else "have"
    why = f"{numbers}, {listing(loose)} {have} levels without an order: numbers are cut at their quartiles"
    return Choice("categories", why, "quantile", 4)


def is_continuous(column: Column) -> bool:
    """Whether a column holds numbers with fractions, or more than 20 different ones.

    Examples
    --------
    >>> [is_continuous(Numeric("x", np.array(values))) for values in ([0, 1, 2], [0.5, 1.0], range(21))]
    [False, True, True]
    """
    if not isinstance(column, Numeric):
        return False
    values = column.present()
    return not is_whole(values) or len(np.unique(values)) > MANY_LEVELS
