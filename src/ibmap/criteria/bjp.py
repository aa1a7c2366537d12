"""The BJP score (Schlüter et al. 2018): each pair is asserted once, by its smaller blanket.

The IB-score adds up what both ends of a pair assert, as if one did not follow from the other. Here variables
are ordered by the size of their blankets, ties by index, and only the assertion of the earlier one counts:
the one whose test conditions on less.
"""

from collections.abc import Sequence

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.criteria.ib import BoundIBScore, IBScore
from ibmap.criteria.local_score import LocalScore, Score
from ibmap.engines import Engine
from ibmap.engines.rows import ManyVariables, Rows, credibility
from ibmap.independence import IndependenceTest


class BJPScore(Score):
    """The joint posterior of a graph by the chain rule, for any test that has posteriors.

    Examples
    --------
    >>> BJPScore().name, BJPScore().uses_test
    ('bjp', True)
    """

    name, uses_test = "bjp", True

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "BoundBJPScore":
        """Bind the score to an engine, and to the test that it asks."""
        return BoundBJPScore(IBScore().bind(engine, test, n_threads))


class BoundBJPScore(LocalScore):
    """The BJP score, whose rows are those of the IB-score; which of them count depends on all blankets."""

    additive, counts_pairs_once = False, True

    def __init__(self, ib: BoundIBScore) -> None:
        self.ib, self.n = ib, ib.n

    def rows(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return the log odds of dependence for each of some x, given its blanket."""
        return self.ib.rows(xs, blankets, floor=floor, also=also, exact=exact)

    def fill_empty(self, sigma: Floats) -> Floats:
        """Fill in σ_xy of all pairs in the graph without edges, and return s_x of every x."""
        return self.ib.fill_empty(sigma)

    def of_graph(self, adjacency: Bools) -> float:
        """Return the score of a graph."""
        blankets = [np.flatnonzero(row) for row in adjacency]
        evidence = self.rows(range(self.n), blankets).matrix(self.n)
        sigma = credibility(evidence, range(self.n), blankets)
        return float(sigma[asserted(adjacency.sum(axis=1))].sum())


def asserted(sizes: Ints) -> Bools:
    """Return whether the assertion of x about y counts, for all pairs, by the sizes of their blankets.

    Examples
    --------
    >>> asserted(np.array([2, 1, 1])).astype(int).tolist()
    [[0, 0, 0], [1, 0, 1], [1, 0, 0]]
    """
    place = np.empty(len(sizes), np.int64)
    place[np.argsort(sizes, kind="stable")] = np.arange(len(sizes))
    return np.asarray(place[:, None] < place)


def once(row: Floats, column: Floats, x: int, sizes: Ints) -> Floats:
    """Return, of the pairs of x with every y, what counts: σ_xy in ``row``, or σ_yx in ``column``."""
    index = np.arange(len(sizes))
    earlier = (sizes[x] < sizes) | ((sizes[x] == sizes) & (x < index))
    found = np.where(earlier, row, column)
    found[x] = 0.0
    return np.asarray(found)
