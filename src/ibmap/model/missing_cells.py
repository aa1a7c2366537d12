"""The distribution of every missing cell given what its row knows.

Missing cells that are joined by edges are a part of their own, and the rest of the row is in its fields.
Parts are small where few cells are missing, so answers are exact even where the network is too large for it.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ibmap._random import RandomState
from ibmap._types import Bools, Floats, Ints
from ibmap.errors import DataError
from ibmap.graph import Graph
from ibmap.model.conditioning import Part
from ibmap.model.junction_tree import tree_of
from ibmap.model.layout import Layout
from ibmap.model.likelihood import log_weights
from ibmap.model.query import conditional, of_part

Found = tuple[int, Ints, Floats]  #: a variable, rows, its distribution there (rows, levels)


def missing_cells(
    layout: Layout, theta: Floats, codes: Ints, random_state: RandomState = None
) -> Iterator[Found]:
    """Yield the distributions of all missing cells (-1) of a table of codes (variables, rows).

    A row of probability zero is refused: nothing follows from it.
    """
    _check(log_weights(layout, theta, codes) == -np.inf, np.arange(codes.shape[1]))
    for v, rows, shares in _distributions(layout, theta, codes, random_state):
        _check(np.asarray(np.isnan(shares).any(axis=1)), rows)
        yield v, rows, shares


def _check(impossible: Bools, rows: Ints) -> None:
    if impossible.any():
        raise DataError(
            f"row {rows[impossible][0]} has probability zero in the model, so that nothing can be inferred "
            f"from it: drop the row, or correct its values"
        )


def _distributions(layout: Layout, theta: Floats, codes: Ints, random_state: RandomState) -> Iterator[Found]:
    absent = codes < 0
    alone = absent.copy()
    for i, j in layout.graph.pairs.tolist():
        both = absent[i] & absent[j]
        alone[i] &= ~both
        alone[j] &= ~both
    for v in np.flatnonzero(alone.any(axis=1)).tolist():
        rows = np.flatnonzero(alone[v])
        yield v, rows, conditional(layout, theta, v, codes[:, rows])
    for variables, where in parts_of(layout.graph, absent & ~alone).items():
        part = Part(layout, theta, np.array(variables))
        yield from _of_part(part, codes, np.array(where), random_state)


def parts_of(graph: Graph, absent: Bools) -> dict[tuple[int, ...], list[int]]:
    """Return the rows in which each connected set of variables is missing."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    patterns, of_row = np.unique(absent, axis=1, return_inverse=True)
    of_row = of_row.ravel()  # NumPy 2.0 returns a matrix
    rows_of = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=patterns.shape[1])).tolist()
    for p, (first, last) in enumerate(pairwise([0, *ends])):
        for members in _components(graph, np.flatnonzero(patterns[:, p]).tolist()):
            found[members] += rows_of[first:last].tolist()
    return found


def _components(graph: Graph, variables: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the connected sets of some variables."""
    left = dict.fromkeys(variables)
    while left:
        pending, found = [left.popitem()[0]], []
        while pending:
            v = pending.pop()
            found.append(v)
            for u in graph.neighbours(v).tolist():
                if u in left:
                    del left[u]
                    pending.append(u)
        yield tuple(sorted(found))


def _of_part(part: Part, codes: Ints, rows: Ints, random_state: RandomState) -> Iterator[Found]:
    """Yield the distributions of the variables of a part, in all rows where it is missing."""
    parameters = part.parameters(codes[:, rows])
    start = part.layout.field_start
    tree = tree_of(part.layout)
    shares = np.empty((len(rows), start[-1]))
    for row, theta in enumerate(parameters):
        if tree is not None:
            shares[row] = np.concatenate(tree.marginals(theta))
            continue
        for v in range(len(part.variables)):
            shares[row, start[v] : start[v + 1]] = of_part(part, theta, v, random_state)[0]
    for v, variable in enumerate(part.variables.tolist()):
        yield variable, rows, shares[:, start[v] : start[v + 1]]
