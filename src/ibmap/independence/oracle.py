"""The test that knows: separation in a known graph."""

from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks
from ibmap._text import in_short
from ibmap.engines import Engine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence.base import Answers, BoundTest, PairwiseTest, answers_from_posteriors

Ints = NDArray[np.int64]


class OracleTest:
    """Answer by separation in a known graph, for checking learners without the noise of data.

    Parameters
    ----------
    graph : Graph
        The truth; its variables stand in the order of the columns.
    doubt : float
        Posterior probability that the answer is wrong. It is not 0, so that scores stay finite.

    Examples
    --------
    >>> test = OracleTest(Graph(["a", "b", "c"], [("a", "b"), ("b", "c")]))
    >>> test.bind(None).fixed(0, np.array([2]), np.array([1])).independent
    array([ True])
    """

    has_posteriors = True

    def __init__(self, graph: Graph, doubt: float = 1e-6) -> None:
        self.graph, self.doubt = graph, doubt

    @property
    def name(self) -> str:
        """The name, with its options."""
        return f"oracle of {self.graph!r}"

    def bind(self, engine: Engine | None) -> BoundTest:
        """Check that the table has the variables of the graph."""
        _checks.between(self.doubt, "doubt", 0, 0.5)
        if not isinstance(self.graph, Graph):
            raise RequestError(f"an oracle needs a Graph, not {in_short(self.graph)}")
        if engine is not None and engine.schema.n_variables != self.graph.n_variables:
            raise RequestError(
                f"the oracle's graph has {self.graph.n_variables} variables, "
                f"the table {engine.schema.n_variables}"
            )
        return _BoundOracle(self.graph, self.doubt)


class _BoundOracle(PairwiseTest):
    def __init__(self, graph: Graph, doubt: float) -> None:
        self._graph = graph
        self._wrong, self._right = log(doubt), log1p(-doubt)
        super().__init__(self._one)

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Answer a whole batch with one walk through the graph."""
        reached = self._graph.reachable([x], list(given))[np.asarray(ys, int)]
        no, yes = np.where(reached, self._right, self._wrong), np.where(reached, self._wrong, self._right)
        return answers_from_posteriors(yes, no)

    def _one(self, x: int, y: int, given: tuple[int, ...]) -> float:
        return self._wrong if self._graph.reachable([x], list(given))[y] else self._right
