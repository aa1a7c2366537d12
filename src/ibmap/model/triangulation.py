"""From a graph to a tree of cliques: variables are eliminated, those that add fewest edges first."""

from dataclasses import dataclass
from math import inf, log2

from ibmap._types import Ints
from ibmap.errors import RequestError


class TooLargeError(RequestError):
    """The tables of a junction tree would have too many cells."""


@dataclass
class Clique:
    """A clique: the variables that it shares with its parent come first.

    Attributes
    ----------
    variables : list of int
        Its variables.
    n_shared : int
        How many of them are in the parent, too.
    parent : int
        The clique that it hangs on, an earlier one; -1 for the root of a connected part.
    """

    variables: list[int]
    n_shared: int
    parent: int


def clique_tree(pairs: Ints, levels: Ints, max_cells: float = inf) -> tuple[list[Clique], list[int]]:
    """Return the cliques of a triangulated graph, parents first, and the clique that brings in each variable.

    Parameters
    ----------
    pairs : ndarray of shape (edges, 2)
        The edges.
    levels : ndarray of int
        Number of levels of each variable.
    max_cells : float
        Cells of all cliques together; if there were more, :class:`TooLargeError` is raised.

    Examples
    --------
    >>> import numpy as np
    >>> cliques, home = clique_tree(np.array([[0, 1], [1, 2]]), np.array([2, 2, 2]))
    >>> [(one.variables, one.n_shared, one.parent) for one in cliques], home
    ([([2, 1], 0, -1), ([1, 0], 1, 0)], [1, 0, 0])
    """
    order, joined = _eliminated(pairs, levels, max_cells)
    place = {v: k for k, v in enumerate(order)}
    cliques: list[Clique] = []
    home = [-1] * len(levels)
    for v in reversed(order):
        shared = sorted(joined[v])
        parent = home[min(shared, key=place.__getitem__)] if shared else -1
        if shared and len(shared) == len(cliques[parent].variables):  # the parent is a part of this clique
            cliques[parent].variables.append(v)
            home[v] = parent
        else:
            home[v] = len(cliques)
            cliques.append(Clique([*shared, v], len(shared), parent))
    return cliques, home


def _eliminated(pairs: Ints, levels: Ints, max_cells: float) -> tuple[list[int], dict[int, set[int]]]:
    """Return the order of elimination, and the neighbours that each variable had when its turn came."""
    around: dict[int, set[int]] = {v: set() for v in range(len(levels))}
    for i, j in pairs.tolist():
        around[i].add(j)
        around[j].add(i)
    logs = [log2(r) for r in levels.tolist()]
    cost = {v: _cost(v, around, logs) for v in around}
    order: list[int] = []
    joined: dict[int, set[int]] = {}
    cells, log_limit = 0.0, log2(max_cells) if max_cells < inf else inf
    while around:
        v = min(cost, key=lambda u: (*cost[u], u))
        size = logs[v] + sum(logs[u] for u in around[v])
        cells += inf if size > log_limit else 2.0**size
        if cells > max_cells:
            raise TooLargeError(f"exact inference would need more than {max_cells:,.0f} cells")
        order.append(v)
        joined[v] = around.pop(v)
        del cost[v]
        for u in joined[v]:
            around[u] |= joined[v]
            around[u] -= {u, v}
        touched = joined[v].union(*(around[u] for u in joined[v]))
        for u in touched:
            cost[u] = _cost(u, around, logs)
    return order, joined


def _cost(v: int, around: dict[int, set[int]], logs: list[float]) -> tuple[int, float]:
    """Return how many edges eliminating v would add, and the binary logarithm of the cells of its clique."""
    neighbours = around[v]
    there = sum(len(around[u] & neighbours) for u in neighbours)
    return len(neighbours) * (len(neighbours) - 1) - there, logs[v] + sum(logs[u] for u in neighbours)
