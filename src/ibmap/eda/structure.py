"""From the selected individuals to the neighbours of every variable, by any learner."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ibmap._text import in_short
from ibmap.data import Table
from ibmap.engines import as_engine
from ibmap.errors import RequestError, SearchWarning
from ibmap.graph import Graph
from ibmap.independence.information import information_matrix
from ibmap.learners.mutual_information import check_options, neighbourhoods
from ibmap.learners.registry import LEARNERS, find_learner

Ints = NDArray[np.int64]

UNIVARIATE = "none"  #: the learner that joins nothing: every variable for itself


class Structure(NamedTuple):
    """Whom each variable listens to, and the graph of all these pairs."""

    neighbours: tuple[Ints, ...]
    graph: Graph


@dataclass(frozen=True)
class OwnNeighbours:
    """Each variable's own strongest neighbours by mutual information, whatever the others choose.

    The original code of MOA works like this; ``learner="mi"`` makes the choices agree instead (an edge where
    at least one end wants it).

    Parameters
    ----------
    max_neighbours : int or None
        The paper's k.
    factor : float
        Neighbours have more than so many times the mean mutual information of all pairs.

    Examples
    --------
    >>> rows = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    >>> OwnNeighbours(1)(table_of(rows, np.array([2, 2, 2])))
    [array([1]), array([0]), array([], dtype=int64)]
    """

    max_neighbours: int | None = None
    factor: float = 1.5

    def __post_init__(self) -> None:
        check_options(self.factor, self.max_neighbours)

    def __call__(self, data: Table) -> list[Ints]:
        """Return the neighbours of each variable."""
        information = information_matrix(as_engine(data))
        return neighbourhoods(information, factor=self.factor, max_neighbours=self.max_neighbours)


def no_edges(data: Table) -> Graph:
    """Return the graph without edges."""
    return Graph(data.names)


def as_search(learner: object) -> Callable[[Table], Any]:
    """Return the function behind a learner: a name, an estimator, or a function of a table.

    Examples
    --------
    >>> as_search("ibmap-hc").__name__
    'ibmap_hc'
    >>> as_search("ibmap")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: unknown learner 'ibmap'; there are evidence-map, ibmap-hc, ...
    """
    if isinstance(learner, str) and learner == UNIVARIATE:
        return no_edges
    if isinstance(learner, str):
        if learner not in LEARNERS:
            raise RequestError(f"unknown learner {learner!r}; there are {', '.join([*LEARNERS, UNIVARIATE])}")
        return find_learner(learner)
    if hasattr(learner, "fit") and not isinstance(learner, type):
        return cast(Callable[[Table], Any], learner.fit)
    if callable(learner) and not isinstance(learner, type):
        return learner
    raise RequestError(
        f"learner must be a name, an estimator or a function of a table, not {in_short(learner)}: "
        "an estimator is made by calling its class, as in IBMAP()"
    )


def learn_structure(learner: object, rows: Ints, levels: Ints) -> Structure:
    """Learn whom each variable listens to.

    The learner returns a graph, something that has one (``graph`` or ``graph_``), or the neighbours of each
    variable as a list of positions.
    """
    data = table_of(rows, levels)
    with warnings.catch_warnings():  # of a network for one generation nobody wants to hear
        warnings.simplefilter("ignore", SearchWarning)
        found = as_search(learner)(data)
    graph = next((getattr(found, name) for name in ("graph", "graph_") if hasattr(found, name)), found)
    if isinstance(graph, Graph):
        ordered = graph if graph.names == data.names else graph.permute(data.names)
        return Structure(tuple(ordered.neighbours(i) for i in range(len(levels))), ordered)
    around = checked_neighbours(found, len(levels))
    owners = np.repeat(np.arange(len(levels)), [len(some) for some in around])
    pairs = np.stack([owners, np.concatenate(around)], axis=1)
    return Structure(around, Graph.from_pairs(pairs, data.names))


def table_of(rows: Ints, levels: Ints) -> Table:
    """Return individuals as a table with the variables x0, x1, ..."""
    labels = {int(size): tuple(range(size)) for size in np.unique(levels)}
    names = tuple(f"x{i}" for i in range(len(levels)))
    return Table(rows.T, names, tuple(labels[int(size)] for size in levels))


def checked_neighbours(found: object, n: int) -> tuple[Ints, ...]:
    """Return lists of neighbours as arrays, if they are that."""
    refusal = RequestError(
        "a learner must return a Graph, something with a graph, or a list of neighbours for each of the "
        f"{n} variables; this one returned {type(found).__name__}"
    )
    if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != n:
        raise refusal
    around = []
    for i, some in enumerate(found):
        array = np.asarray(some)
        if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
            raise refusal
        listed = array.tolist()
        if listed and (min(listed) < 0 or max(listed) >= n or i in listed or len({*listed}) < len(listed)):
            raise RequestError(f"the learner gave variable {i} the neighbours {listed}")
        around.append(array.astype(np.int64))
    return tuple(around)
