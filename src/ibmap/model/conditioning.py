"""A model given some values: the rest of it, with what the neighbours say in its fields."""

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.graph import Graph
from ibmap.model.layout import Layout


class Part:
    """Some variables of a model, the others being known: a layout of its own, and fields that depend on them.

    Parameters
    ----------
    layout : Layout
        The whole model.
    theta : ndarray
        Its parameters.
    variables : ndarray of int
        The variables that are not known, ascending; all their neighbours are known, or among them.
    """

    def __init__(self, layout: Layout, theta: Floats, variables: Ints) -> None:
        self.variables, self._whole, self._theta = variables, layout, theta
        place = np.full(len(layout.levels), -1)
        place[variables] = np.arange(len(variables))
        both = place[layout.graph.pairs]
        self.edges = np.flatnonzero((both >= 0).all(axis=1))
        names = [layout.graph.names[v] for v in variables.tolist()]
        inside = {k: tuple(u for u in place[list(s)] if u >= 0) for k, s in enumerate(layout.interactions)}
        self._inside = {k: tuple(map(int, scope)) for k, scope in inside.items() if len(scope) > 1}
        wide = sorted({scope for scope in self._inside.values() if len(scope) > 2})
        self.layout = Layout(Graph.from_pairs(both[self.edges], names), layout.levels[variables], wide)
        tables = layout.factors(theta)
        self._tables = np.concatenate([np.empty(0), *(tables[e].ravel() for e in self.edges.tolist())])

    def parameters(self, codes: Ints) -> Floats:
        """Return the parameters of the part in every row, given codes (variables, rows) of the model."""
        known = codes.copy()
        known[self.variables] = -1  # they are in the tables
        fields = [
            self._whole.log_odds(self._theta, v, known[self._whole.graph.neighbours(v)])
            for v in self.variables.tolist()
        ]
        tables = np.broadcast_to(self._tables, (codes.shape[1], len(self._tables)))
        cells = self.layout.size - int(self.layout.table_start[self.layout.graph.n_edges])
        found = np.concatenate([*fields, tables, np.zeros((codes.shape[1], cells))], axis=1)
        self._add_interactions(found, known)
        return found

    def _add_interactions(self, found: Floats, known: Ints) -> None:
        """Add what interactions with two variables of the part or more say, given the others."""
        numbers = {scope: e for e, scope in enumerate(self.layout.scopes)}
        tables, mine = self._whole.tables(self._theta), set(self.variables.tolist())
        for k, scope in self._inside.items():
            given = [v for v in self._whole.interactions[k] if v not in mine]
            axes = [self._whole.interactions[k].index(v) for v in given]
            n_inside = int(np.prod(self.layout.levels[list(scope)]))
            cells = np.moveaxis(tables[k], axes, range(len(axes))).reshape(-1, n_inside)
            sizes = self._whole.levels[given].tolist()
            of_row = np.ravel_multi_index(tuple(known[given]), sizes) if given else np.zeros(len(found), int)
            first = int(self.layout.table_start[numbers[scope]])
            found[:, first : first + n_inside] += cells[of_row]


def part_around(layout: Layout, theta: Floats, x: int, given: Bools) -> Part:
    """Return the part of a model that x belongs to when some variables are known: what paths can reach."""
    reached = layout.graph.reachable([x], np.flatnonzero(given).tolist())
    return Part(layout, theta, np.flatnonzero(reached & ~given))


def known_fields(layout: Layout, theta: Floats, codes: Ints) -> Floats:
    """Return parameters by which nothing but the known codes (-1 is not known) is possible."""
    out = theta.copy()
    for v, code in enumerate(codes.tolist()):
        if code >= 0:
            field = out[layout.field_start[v] : layout.field_start[v + 1]]
            kept = field[code]
            field[:] = -np.inf
            field[code] = kept
    return out
