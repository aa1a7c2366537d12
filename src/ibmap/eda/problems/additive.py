"""Sums of functions of few bits each, and their exact maximum."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.eda.problems.problem import Problem, check_size, graph_of_groups
from ibmap.errors import RequestError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Term = tuple[tuple[int, ...], Floats]  #: bits, and a value for all their values

WIDEST = 20  #: bits of the largest table that the exact maximum may need


def additive(name: str, n: int, scopes: ArrayLike, tables: ArrayLike) -> Problem:
    """Build a sum of tables; the optimum is found by dynamic programming where that is possible.

    Parameters
    ----------
    name : str
        What it is called.
    n : int
        Number of bits.
    scopes : array of shape (terms, d)
        The bits of each term.
    tables : array of shape (terms, 2^d)
        The value of each term by its bits, the first bit being the highest.

    Examples
    --------
    >>> additive("equal pairs", 3, [[0, 1], [1, 2]], [[1, 0, 0, 1], [2, 0, 0, 2]])
    Problem(equal pairs, 3 bits, 2 interactions, optimum 3)
    """
    size = check_size(n, name)
    where, values = np.asarray(scopes, np.int64), np.asarray(tables, float)
    if where.ndim != 2 or values.shape != (len(where), 2 ** where.shape[1]):
        raise RequestError(f"scopes of shape {where.shape} need tables with 2^d columns, not {values.shape}")
    if where.size and (where.min() < 0 or where.max() >= size):
        raise RequestError(f"scopes name bits outside 0..{size - 1}")
    graph = graph_of_groups(size, where.tolist())
    function = partial(sum_of_tables, scopes=where, tables=values)
    return Problem(name, size, function, highest(where, values), graph)


def sum_of_tables(rows: Ints, scopes: Ints, tables: Floats) -> Floats:
    """Return the sum of all terms for every row."""
    codes = np.zeros((len(rows), len(scopes)), np.int64)
    for bits in scopes.T:
        codes = 2 * codes + rows[:, bits]
    return np.asarray(tables[np.arange(len(scopes)), codes].sum(axis=1))


def highest(scopes: Ints, tables: Floats) -> float | None:
    """Return the largest sum, by eliminating bit after bit; None if a table would become too large.

    For a ring of n terms of k + 1 bits no table has more than 2 k + 1 bits, for an open lattice hardly more
    than its shorter side.

    Examples
    --------
    >>> highest(np.array([[0, 1], [1, 2], [2, 0]]), np.tile([0.0, 1.0, 1.0, 0.0], (3, 1)))  # an odd ring
    2.0
    """
    order = elimination_order(scopes)
    if order is None:
        return None
    turn = {bit: k for k, bit in enumerate(order)}
    waiting: list[list[Term]] = [[] for _ in order]  # each term with the first of its bits to go
    for bits, table in zip(scopes.tolist(), tables, strict=True):
        term = _term(bits, table.reshape((2,) * len(bits)))
        waiting[min(turn[bit] for bit in bits)].append(term)
    best = 0.0
    for bit, terms in zip(order, waiting, strict=True):
        union = sorted({b for bits, _ in terms for b in bits})
        total = np.zeros((1,) * len(union))
        for bits, table in terms:
            total = total + table.reshape([2 if b in bits else 1 for b in union])
        left = total.max(axis=union.index(bit))
        union.remove(bit)
        if union:
            waiting[min(turn[b] for b in union)].append((tuple(union), left))
        else:
            best += float(left)
    return best


def elimination_order(scopes: Ints) -> list[int] | None:
    """Return in which order the bits go: the one with the smaller tables of two that are tried.

    Either the bit goes next that shares tables with the fewest others, or the first of all. None says that
    both would need tables of too many bits.
    """
    near: dict[int, set[int]] = {bit: set() for bit in np.unique(scopes).tolist()}
    for bits in scopes.tolist():
        for bit in bits:
            near[bit].update(bits)
    orders = []
    for fewest in (True, False):
        left, order, widest = {bit: set(some) for bit, some in near.items()}, [], 0
        while left:
            bit = min(left, key=lambda b: (len(left[b]) if fewest else 0, b))
            union = left.pop(bit)
            widest = max(widest, len(union))
            if widest > WIDEST:
                break
            order.append(bit)
            for other in sorted(union - {bit}):
                left[other] = (left[other] | union) - {bit}
        else:
            orders.append((widest, order))
    return min(orders, key=lambda found: found[0])[1] if orders else None


def _term(bits: Sequence[int], table: Floats) -> Term:
    """Return a table with its bits in ascending order."""
    order = np.argsort(bits)
    return tuple(bits[k] for k in order), table.transpose(order)
