"""What the data say about each variable given its neighbours, counted by an engine."""

from dataclasses import dataclass

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Questions, ask
from ibmap.graph import Graph

NONE = np.empty(0, np.int64)
AT_ONCE = 256  #: variables that are counted in one trip to the engine


@dataclass(frozen=True, eq=False)
class BlanketCounts:
    """The counts of one variable in every observed configuration of its neighbours.

    Attributes
    ----------
    codes : ndarray of shape (slices, neighbours)
        The levels of the neighbours, in the order of the graph.
    counts : ndarray of shape (slices, levels)
        Rows with each level of the variable.
    """

    codes: Ints
    counts: Ints


def blanket_counts(engine: Engine, graph: Graph) -> list[BlanketCounts]:
    """Count every variable given its neighbours; rows that do not know one of them are left out.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> data = load({"a": [0, 0, 1, 1], "b": [0, 0, 0, 1]})
    >>> of_b = blanket_counts(as_engine(data), Graph("ab", [("a", "b")]))[1]
    >>> of_b.codes.tolist(), of_b.counts.tolist()
    ([[0], [1]], [[2, 0], [1, 1]])
    """
    found, n = [], graph.n_variables
    for first in range(0, n, AT_ONCE):
        some = range(first, min(first + AT_ONCE, n))
        tables = ask(engine, Questions.of([(v, NONE, graph.neighbours(v)) for v in some]))
        _, slices = tables.answered()
        for one in tables.one_by_one():
            k, level, size = slices.sets[:, one.sets]
            counts = np.zeros((len(one.keys), int(tables.levels[one.x])), np.int64)
            counts[k, level] = size
            found.append(BlanketCounts(np.ascontiguousarray(one.keys, np.int64), counts))
    return found


def pair_counts(engine: Engine, graph: Graph) -> list[Ints]:
    """Return the table of counts of every edge; the variable that comes first goes down."""
    pairs, levels = graph.pairs, engine.schema.cardinalities
    asked = [(i, pairs[pairs[:, 0] == i, 1], NONE) for i in np.unique(pairs[:, 0]).tolist()]
    if not asked:
        return []
    tables = ask(engine, Questions.of(asked))
    found = []
    for t, (i, j) in enumerate(pairs.tolist()):
        _, a, b, size = tables.cells[:, tables.start[t] : tables.start[t + 1]]
        counts = np.zeros((levels[i], levels[j]), np.int64)
        np.add.at(counts, (a, b), size)
        found.append(counts)
    return found


def level_counts(engine: Engine) -> list[Floats]:
    """Return how many rows have each level of each variable."""
    schema = engine.schema
    empty = Graph(schema.names)
    return [one.counts.sum(axis=0).astype(float) for one in blanket_counts(engine, empty)]
