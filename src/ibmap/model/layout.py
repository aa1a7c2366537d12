"""Where the parameters of a model are in one flat array: fields, tables of edges, tables of interactions."""

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
    interactions : sequence of tuples of int
        Sets of three variables or more, ascending, that have a table together: cliques of the graph.

    Attributes
    ----------
    scopes : list of tuples of int
        The variables of every table: of the edges, then of the interactions.

    Examples
    --------
    >>> layout = Layout(Graph("abc", [("a", "c")]), np.array([2, 2, 3]))
    >>> layout.size, layout.field_start.tolist(), layout.table_start.tolist()
    (13, [0, 2, 4, 7], [7, 13])
    """

    def __init__(self, graph: Graph, levels: Ints, interactions: Sequence[Sequence[int]] = ()) -> None:
        self.graph, self.levels = graph, np.array(levels, np.int64)
        self.interactions = [tuple(scope) for scope in interactions]
        self.scopes: list[tuple[int, ...]] = [*map(tuple, graph.pairs.tolist()), *self.interactions]
        self.field_start = np.concatenate([[0], np.cumsum(self.levels)])
        cells = self.levels[graph.pairs].prod(axis=1)
        more = np.array([self.levels[list(scope)].prod() for scope in self.interactions], np.int64)
        self.table_start = self.field_start[-1] + np.concatenate([[0], np.cumsum(np.append(cells, more))])
        self.size = int(self.table_start[-1])

    def flat(self, fields: Sequence[Floats], tables: Sequence[Floats]) -> Floats:
        """Return all parameters in one array."""
        return np.concatenate([np.empty(0), *fields, *(table.ravel() for table in tables)])

    def fields(self, theta: Floats) -> list[Floats]:
        """Return the parameters of the variables, as views."""
        return [theta[a:b] for a, b in _between(self.field_start)]

    def factors(self, theta: Floats) -> list[Floats]:
        """Return the tables of the edges, as views; the variable that comes first goes down."""
        shapes = self.levels[self.graph.pairs].tolist()
        parts = zip(_between(self.table_start[: len(shapes) + 1]), shapes, strict=True)
        return [theta[a:b].reshape(shape) for (a, b), shape in parts]

    def tables(self, theta: Floats) -> list[Floats]:
        """Return the tables of the interactions, as views; a dimension for every variable."""
        parts = zip(_between(self.table_start[self.graph.n_edges :]), self.interactions, strict=True)
        return [theta[a:b].reshape(self.levels[list(scope)]) for (a, b), scope in parts]

    @cached_property
    def interactions_of(self) -> list[list[int]]:
        """For every variable, the numbers of the interactions that it is in."""
        found: list[list[int]] = [[] for _ in self.levels]
        for k, scope in enumerate(self.interactions):
            for v in scope:
                found[v].append(k)
        return found

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
        if self.interactions_of[v]:
            tables, around = self.tables(theta), self.graph.neighbours(v)
            for k in self.interactions_of[v]:
                scope = self.interactions[k]
                others = [u for u in scope if u != v]
                of_others = codes[np.searchsorted(around, others)].astype(np.int64)
                table = np.moveaxis(tables[k], scope.index(v), -1)
                known = np.asarray((of_others >= 0).all(axis=0))[:, None]
                found += np.where(known, table[tuple(of_others)], 0.0)
        return found


def _between(starts: Ints) -> list[tuple[int, int]]:
    return list(pairwise(starts.tolist()))
