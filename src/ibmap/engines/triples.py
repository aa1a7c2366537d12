"""Triples of variables that say something only together, as an exclusive or does: evidence for all of them.

e(x, y, z) = S(xyz) - S(xy) - S(xz) - S(yz) + S(x) + S(y) + S(z), S the log marginal likelihood of a joint
table whose prior counts add up to one row, each on the rows that know all three. Variables of one level, or
of more than a hundred, and tables of more cells than rows have no say. Ten tables of noise, 1.6 million
triples, have 80 above 5 and none above log C(n, 3) = 12.
"""

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from ibmap import _core
from ibmap._types import Floats, Ints
from ibmap.data import Schema
from ibmap.engines.model import MOST_LEVELS
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Tables

SIZE = 1.0  #: what the prior counts of a joint table add up to
FEW_CELLS = 8  #: a table of so many cells has a say, however few rows there are
AT_ONCE = 1 << 14  #: tables that are counted in one trip
OF_TABLES = 1e-5  #: seconds for a triple that is counted as a table of its own
OF_CELLS, OF_WORDS = 4e-9, 8e-11  #: and from bits: for a cell, and for 64 rows of it


class Triples(NamedTuple):
    """Some triples, those of most evidence first."""

    which: Ints  #: (triples, 3): variables, ascending
    evidence: Floats  #: log evidence of an interaction

    def and_more(self, more: "Triples", threshold: float) -> "Triples":
        """Return these and those of others with more evidence than a threshold."""
        above = more.evidence > threshold
        which, evidence = (self.which, more.which[above]), (self.evidence, more.evidence[above])
        return Triples(np.concatenate(which), np.concatenate(evidence))

    def first(self, most: int) -> "Triples":
        """Return the first ones; ties, to six digits, go to the smallest triple."""
        order = np.lexsort((*self.which.T[::-1], -np.round(1e6 * self.evidence)))[:most]
        return Triples(self.which[order], self.evidence[order])


NO_TRIPLES = Triples(np.empty((0, 3), np.int64), np.empty(0))


def seconds_in_memory(schema: Schema) -> float:
    """Return about how long one core takes for all triples, from bits.

    A triple of binary variables takes one count, others one for each cell.

    Examples
    --------
    >>> round(seconds_in_memory(Schema(("x",) * 1000, ((0, 1),) * 1000, 10_000)), 1)
    2.7
    """
    levels = np.asarray(schema.cardinalities, float)
    some = levels[(levels > 1) & (levels <= MOST_LEVELS)]
    binary = some[some == 2]
    cells = _sum_of_products(some) - _sum_of_products(binary) + comb(len(binary), 3)
    return cells * (OF_CELLS + OF_WORDS * schema.n_rows / 64)


def _sum_of_products(values: Floats) -> float:
    """Return the sum over all triples of the product of their values."""
    p1, p2, p3 = (float((values**k).sum()) for k in (1, 2, 3))
    return (p1**3 - 3 * p1 * p2 + 2 * p3) / 6


def triple_questions(schema: Schema) -> Iterator[Questions]:
    """Yield questions that have a table for every triple that has a say: x against y, given z."""
    levels = np.asarray(schema.cardinalities)
    some = np.flatnonzero((levels > 1) & (levels <= MOST_LEVELS))
    most, parts, n_tables = max(schema.n_rows, FEW_CELLS), [], 0
    for k, z in enumerate(some.tolist()):
        for i, x in enumerate(some[:k].tolist()):
            ys = some[i + 1 : k]
            ys = ys[levels[ys] * levels[x] * levels[z] <= most]
            if len(ys):
                parts.append((x, ys, np.array([z])))
                n_tables += len(ys)
            if n_tables >= AT_ONCE:
                yield Questions.of(parts)
                parts, n_tables = [], 0
    if parts:
        yield Questions.of(parts)


def evidence_of_tables(tables: Tables) -> Triples:
    """Return the triples of some tables of x against y, given z."""
    asked, slices = tables.answered()
    which = np.column_stack([tables.x, tables.y, asked.given[asked.of_table]])
    first_key = np.repeat(slices.start[asked.of_table], np.diff(tables.start))
    cells = np.concatenate(
        [tables.cells[1:3], slices.keys[first_key + tables.cells[0]][None], tables.cells[3:]]
    )
    levels = np.ascontiguousarray(np.asarray(tables.levels)[which].reshape(-1))
    return Triples(which, _core.triples_of_cells(levels, tables.start, cells, tables.of_rows, SIZE))
