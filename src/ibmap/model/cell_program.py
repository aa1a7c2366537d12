"""A model as the sampler of single cells takes it: for every variable, the tables that it is in."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ibmap._types import Floats, Ints


class CellProgram(NamedTuple):
    """The arguments of :func:`ibmap._core.sample_cells`."""

    levels: Ints
    fields: Floats
    precisions: Floats
    factor_start: Ints
    place: Ints
    scope_start: Ints
    scope: Ints
    strides: Ints
    tables: Floats


def cell_program(
    sizes: Sequence[int],
    fields: Sequence[Floats],
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[Floats],
) -> CellProgram:
    """Return a model of levels and numbers (of size 0) as tables around each variable.

    Fields of numbers are a slope and a precision; tables have one entry along numbers, which they multiply.

    Examples
    --------
    >>> fields, tables = [np.zeros(2), np.array([0.0, 1.0])], [np.array([[-1.0], [1.0]])]
    >>> found = cell_program([2, 0], fields, [(0, 1)], tables)
    >>> found.precisions.tolist(), found.scope.tolist(), found.tables.tolist()
    ([1.0, 1.0], [1, 0], [-1.0, 1.0, -1.0, 1.0])
    """
    around: list[list[tuple[list[int], Floats]]] = [[] for _ in sizes]
    for scope, table in zip(scopes, tables, strict=True):
        for axis, v in enumerate(scope):
            others = [u for u in scope if u != v]
            around[v].append((others, np.ascontiguousarray(np.moveaxis(table, axis, -1))))
    every = [one for some in around for one in some]
    ends = _starts([table.size for _, table in every])
    strides = [[step // table.itemsize for step in table.strides[:-1]] for _, table in every]
    return CellProgram(
        np.array(sizes, np.int64),
        np.concatenate([np.empty(0), *(f if r else f[:1] for f, r in zip(fields, sizes, strict=True))]),
        np.array([1.0 if r else f[1] for f, r in zip(fields, sizes, strict=True)]),
        _starts(list(map(len, around))),
        ends[:-1],
        _starts([len(others) for others, _ in every]),
        _joined([others for others, _ in every]),
        _joined(strides),
        np.concatenate([np.empty(0), *(table.ravel() for _, table in every)]),
    )


def _starts(sizes: Sequence[int]) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _joined(lists: Sequence[Sequence[int]]) -> Ints:
    return np.array([entry for some in lists for entry in some], np.int64)
