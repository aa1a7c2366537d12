"""The IB-score: the log posterior of all that a graph asserts (paper, section 4).

σ(G) = Σ_x Σ_y σ_xy(G), where σ_xy is the log posterior of what the Markov blanket closure asserts about x
and y. In terms of evidence, t_xy = log Pr(dependent) - log Pr(independent), and σ_xy = -softplus(∓t_xy).
"""

from collections.abc import Sequence

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria.local_score import LocalScore, Score
from ibmap.engines import Engine
from ibmap.engines.rows import ManyVariables, Rows
from ibmap.errors import RequestError
from ibmap.independence import BoundTest, IndependenceTest


class IBScore(Score):
    """The paper's score, for any test that has posteriors.

    Examples
    --------
    >>> IBScore().name, IBScore().uses_test
    ('ib', True)
    """

    name, uses_test = "ib", True

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "BoundIBScore":
        """Bind the score to an engine, and to the test that it asks."""
        if test is None:
            raise RequestError("the IB-score needs a test of independence, and there is none")
        if not test.has_posteriors:
            raise RequestError(
                f"IBMAP-HC sums log posteriors, and {test.name} has none: use the Bayesian test ('gaussian' "
                f"for numbers), or a learner that only needs decisions, such as GSMN"
            )
        return BoundIBScore(test.bind(engine), engine.schema.n_variables, n_threads)


class BoundIBScore(LocalScore):
    """The IB-score by any test with posteriors.

    It is not additive: an edge changes the conditioning set of all other assertions about its ends.
    """

    additive = False

    def __init__(self, test: BoundTest, n: int, n_threads: int = 1) -> None:
        self.test, self.n, self.n_threads = test, n, n_threads

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
        threads = self.n_threads
        return self.test.rows(self.n, xs, blankets, floor=floor, also=also, exact=exact, n_threads=threads)

    def fill_empty(self, sigma: Floats) -> Floats:
        """Fill in σ_xy of all pairs in the graph without edges, and return s_x of every x."""
        if self.test.pairs(sigma, self.n_threads):
            return np.asarray(sigma.sum(axis=1))
        return super().fill_empty(sigma)
