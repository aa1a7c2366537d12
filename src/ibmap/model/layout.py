"""Where the parameters of a pairwise model are in one flat array: fields first, then a table per edge."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.graph import Graph


class Layout:
    """A graph, the number of levels of each variable, and the place of each parameter.

    Parameters
    ----------
    graph : Graph
        The structure.
    levels : ndarray of int
        Number of levels of each variable.

    Examples
    --------
    >>> layout = Layout(Graph("abc", [("a", "c")]), np.array([2, 2, 3]))
    >>> layout.size, layout.field_start.tolist(), layout.table_start.tolist()
    (13, [0, 2, 4, 7], [7, 13])
    """

    def __init__(self, graph: Graph, levels: Ints) -> None:
        self.graph, self.levels = graph, np.array(levels, np.int64)
        self.field_start = np.concatenate([[0], np.cumsum(self.levels)])
        cells = self.levels[graph.pairs].prod(axis=1)
        self.table_start = self.field_start[-1] + np.concatenate([[0], np.cumsum(cells)])
        self.size = int(self.table_start[-1])

    def flat(self, fields: Sequence[Floats], factors: Sequence[Floats]) -> Floats:
        """Return all parameters in one array."""
        return np.concatenate([np.empty(0), *fields, *(factor.ravel() for factor in factors)])

    def fields(self, theta: Floats) -> list[Floats]:
        """Return the parameters of the variables, as views."""
        return [theta[a:b] for a, b in _between(self.field_start)]

    def factors(self, theta: Floats) -> list[Floats]:
        """Return the tables of the edges, as views; the variable that comes first goes down."""
        shapes = self.levels[self.graph.pairs].tolist()
        parts = zip(_between(self.table_start), shapes, strict=True)
        return [theta[a:b].reshape(shape) for (a, b), shape in parts]

    @cached_property
    def ends(self) -> Ints:
        """For every variable and neighbour, one after the other: (variable, neighbour, edge)."""
        pairs, edges = self.graph.pairs, np.arange(self.graph.n_edges)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        order = np.lexsort((both[:, 1], both[:, 0]))
        return np.column_stack([both, np.tile(edges, 2)])[order]

    @cached_property
    def neighbours(self) -> Ints:
        """The neighbours of all variables, one after the other."""
        return np.ascontiguousarray(self.ends[:, 1])

    @cached_property
    def end_start(self) -> Ints:
        """Where the neighbours of each variable begin in ``ends``, and the end."""
        return np.searchsorted(self.ends[:, 0], np.arange(len(self.levels) + 1))

    @cached_property
    def end_places(self) -> Ints:
        """For every row of ``ends``: start of the table, stride of the own level, of the neighbour's."""
        x, y, edge = self.ends.T
        first, own, other = self.table_start[edge], self.levels[y], np.ones(len(x), np.int64)
        later = x > y
        return np.column_stack([first, np.where(later, 1, own), np.where(later, self.levels[x], other)])

    @cached_property
    def end_of_edge(self) -> Ints:
        """For every edge, the rows of ``ends`` that its first and its second variable have."""
        found = np.empty((self.graph.n_edges, 2), np.int64)
        x, y, edge = self.ends.T
        found[edge, (x > y).astype(np.int64)] = np.arange(len(edge))
        return found

    def log_odds(self, theta: Floats, v: int, codes: Ints) -> Floats:
        """Return the log weights (rows, levels) of a variable, given the codes (neighbours, rows).

        Neighbours that a row does not know (-1) add nothing.
        """
        levels = np.arange(self.levels[v])
        found = np.tile(theta[self.field_start[v] : self.field_start[v + 1]], (codes.shape[1], 1))
        for k, code in enumerate(codes.astype(np.int64), self.end_start[v]):
            start, own, other = self.end_places[k].tolist()
            table = theta[
                start + own * levels[None, :] + other * np.arange(self.levels[self.ends[k, 1]])[:, None]
            ]
            found += np.where(code[:, None] >= 0, table[code], 0.0)
        return found


def _between(starts: Ints) -> list[tuple[int, int]]:
    return list(pairwise(starts.tolist()))
