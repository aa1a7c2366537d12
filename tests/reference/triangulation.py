"""Elimination of variables, by its definition: who leaves joins all its neighbours."""

from itertools import combinations
from math import prod


def elimination(edges, levels):
    """Return the order in which variables leave, and the clique that each of them leaves.

    The one whose neighbours lack fewest edges goes first; among equals the one whose clique has fewest cells,
    and then the one with the smallest number.
    """
    left, joined = set(range(len(levels))), {frozenset(edge) for edge in edges}
    order, cliques = [], []
    while left:
        v = min(left, key=lambda v: (*_cost(v, _around(v, left, joined), joined, levels), v))
        around = _around(v, left, joined)
        order.append(v)
        cliques.append({v, *around})
        joined |= {frozenset(pair) for pair in combinations(around, 2)}
        left.remove(v)
    return order, cliques


def _around(v, left, joined):
    return [u for u in sorted(left) if frozenset((u, v)) in joined and u != v]


def _cost(v, around, joined, levels):
    lacks = sum(frozenset(pair) not in joined for pair in combinations(around, 2))
    return lacks, prod(levels[u] for u in (v, *around))
