"""What kind of variable a column is: the one place where that is decided.

Words, truth values and declared categories are nominal, ordered categories ordinal, and numbers continuous
if they have fractions or many different values. Of whole numbers with few values nobody can know whether they
are codes or amounts: these columns are nominal here, and ``undecided``. What users declare comes first
(``declared.py``).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._text import listing
from ibmap.data.columns import Coded, Column
from ibmap.data.declared import as_categories, order_in
from ibmap.data.discretize import is_whole
from ibmap.data.schema import CONTINUOUS, NOMINAL, ORDINAL, Schema
from ibmap.data.table import Table

MOST_WHOLE = 20  #: different whole numbers up to which they may be levels
MOST_FRACTIONS = 10  #: different numbers with fractions up to which they are ordered levels
MOST_LEVELS = 100  #: of a column that there are conditionals of
WORDS = {CONTINUOUS: "numeric", ORDINAL: "ordinal", NOMINAL: "categorical"}


def with_kind(column: Column) -> Column:
    """Return a column that nobody declared as numbers, or with the levels that it has by its values.

    Examples
    --------
    >>> from ibmap.data.columns import Numeric
    >>> with_kind(Numeric("x", np.array([0.5, 1.0]))).levels, with_kind(Numeric("x", np.arange(3))).ordinal
    ((0.5, 1), False)
    >>> with_kind(Numeric("x", np.arange(20))).ordinal, with_kind(Numeric("x", np.arange(10) / 7)).ordinal
    (False, True)
    >>> [type(with_kind(Numeric("x", values))).__name__ for values in (np.arange(21), np.arange(11) / 7)]
    ['Numeric', 'Numeric']
    """
    if isinstance(column, Coded):
        return column
    values = column.present()
    n_different = len(np.unique(values))
    if n_different <= 2 or may_be_levels(values, n_different):
        return as_categories(column)
    if n_different <= MOST_FRACTIONS:
        return replace(as_categories(column), ordinal=True)
    return column


def may_be_levels(values: NDArray[Any], n_different: int) -> bool:
    """Whether numbers are whole, and not too many."""
    return n_different <= MOST_WHOLE and is_whole(values)


def note(schema: Schema, missing_share: float = 0.0) -> str:
    """Return what was decided about columns, in one line.

    Examples
    --------
    >>> note(Schema(("pay", "sex"), ((), ("f", "m")), 50, (CONTINUOUS, NOMINAL)))
    "'pay' is numeric; 'sex' is categorical"
    """
    parts = []
    for kind, word in WORDS.items():
        found = [name for name, one in zip(schema.names, schema.kinds, strict=True) if one == kind]
        if found:
            parts.append(f"{listing(found, 4)} {'is' if len(found) == 1 else 'are'} {word}")
    if missing_share:
        how = "each question uses the rows where its columns are known"
        if schema.reading.get("missing") == "impute":
            how = f"they are imputed five times (seed {schema.reading.get('imputation_seed', 0)})"
        parts.append(f"{missing_share:.1%} of the cells are missing: {how}")
    return "; ".join(parts)


def kinds_in(table: Table) -> dict[str, list[str]]:
    """Return the kinds of a table without numbers as arguments of :func:`ibmap.load`.

    Examples
    --------
    >>> kinds_in(Table([[0, 1, 0], [0, 1, 2]], ("a", "b"), ((0.5, 1.5), (1, 2, 3)), ordinal=("b",)))
    {'nominal': ['a'], 'ordinal': ['b']}
    """
    said = {kind: list(table.reading.get(kind) or ()) for kind in ("nominal", "ordinal")}
    declared = {order_in(text, table.names)[0] for some in said.values() for text in some}
    for name, labels in zip(table.names, table.levels, strict=True):
        if name not in declared and any(type(label) in (int, float) for label in labels):
            said["ordinal" if name in table.ordinal else "nominal"].append(name)
    return said


def numbers_in(schema: Schema) -> list[str]:
    """Return the nominal columns whose levels are more whole numbers than levels are likely to be.

    Examples
    --------
    >>> numbers_in(Schema(("x", "y"), (tuple(range(30)), (0, 1)), 100))
    ['x']
    """
    declared = schema.reading.get("nominal") or ()
    columns = zip(schema.names, schema.levels, schema.kinds, strict=True)
    many = [(name, labels) for name, labels, kind in columns if len(labels) > MOST_WHOLE and kind == NOMINAL]
    return [
        name
        for name, labels in many
        if name not in declared and all(type(label) in (int, float) for label in labels)
    ]
