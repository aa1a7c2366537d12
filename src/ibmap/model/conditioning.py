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
        self.layout = Layout(Graph.from_pairs(both[self.edges], names), layout.levels[variables])
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
        return np.concatenate([*fields, tables], axis=1)


def part_around(layout: Layout, theta: Floats, x: int, given: Bools) -> Part:
    """Return the part of a model that x belongs to when some variables are known: what paths can reach."""
    reached = layout.graph.reachable([x], np.flatnonzero(given).tolist())
    return Part(layout, theta, np.flatnonzero(reached & ~given))
