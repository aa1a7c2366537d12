"""The IB-score: the log posterior of all that a graph asserts (paper, section 4).

σ(G) = Σ_x Σ_y σ_xy(G), where σ_xy is the log posterior of what the Markov blanket closure asserts about x
and y. In terms of evidence, t_xy = log Pr(dependent) - log Pr(independent), and σ_xy = -softplus(∓t_xy).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria.closure import closure_answers
from ibmap.criteria.local_score import LocalScoreBase, credibility, spread_rows
from ibmap.engines import Engine
from ibmap.engines.engine import checked
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists, rows_of_matrix
from ibmap.errors import RequestError
from ibmap.independence import Answers, BoundTest, IndependenceTest
from ibmap.independence.base import BoundTableTest
from ibmap.independence.bayesian import CompiledBayesianTest


class IBScore:
    """The paper's score, for any test that has posteriors.

    Examples
    --------
    >>> IBScore().name, IBScore().uses_test
    ('ib', True)
    """

    name, uses_test = "ib", True

    def options(self) -> Mapping[str, Any]:
        """Return the options: there are none; those of the test are the test's."""
        return {}

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "BoundIBScore":
        """Bind the score to an engine, and to the test that it asks."""
        if test is None:
            raise RequestError("the IB-score asks a test of independence, and there is none")
        if not test.has_posteriors:
            raise RequestError(
                f"IBMAP-HC sums log posteriors, and {test.name} has none: use the Bayesian test "
                "('gaussian', of numbers), or a learner that only asks whether two variables are independent"
            )
        return ib_score(test.bind(engine), engine.schema.n_variables, n_threads)


def ib_score(test: BoundTest, n: int, n_threads: int = 1) -> "BoundIBScore":
    """Return the IB-score of n variables by a bound test: of bits or of tables, where the test is."""
    if isinstance(test, CompiledBayesianTest):
        if len(test.levels) != n:
            raise RequestError(f"the test knows {len(test.levels)} variables, not {n}")
        return IBScoreOfBits(test, n_threads)
    return IBScoreOfTables(test, n) if isinstance(test, BoundTableTest) else BoundIBScore(test, n)


class BoundIBScore(LocalScoreBase):
    """The IB-score by any test with posteriors.

    It is not additive: an edge changes the conditioning set of all other assertions about its ends.
    """

    additive = False

    def __init__(self, test: BoundTest, n: int) -> None:
        self.test, self.n = test, n

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
        which, given = np.asarray(xs, np.int64), as_lists(blankets)
        evidence = self.evidence(which, given.one_by_one())
        values = credibility(evidence, which, given.one_by_one()).sum(axis=1)
        return rows_of_matrix(evidence, values, which, given, floor=floor, also=also)

    def evidence(self, xs: Ints, blankets: Sequence[Ints]) -> Floats:
        """Return t_xy of some x and all y, 0 for x itself."""
        evidence = np.zeros((len(xs), self.n))
        for row, x, blanket in zip(evidence, xs.tolist(), blankets, strict=True):
            for ys, answers in closure_answers(self.test, x, blanket, self.n):
                row[ys] = log_odds(answers)
        return evidence


class IBScoreOfTables(BoundIBScore):
    """The IB-score by a test of tables: one trip to the engine for all rows, and one for all pairs."""

    test: BoundTableTest

    def evidence(self, xs: Ints, blankets: Sequence[Ints]) -> Floats:
        """Return t_xy of some x and all y, from tables outside the blankets, and margins for the members."""
        tables = self.test.closure_tables(xs.tolist(), blankets)
        return spread_rows(tables, self.n, lambda some: log_odds(self.test.evaluate(some)))

    def fill_empty(self, sigma: Floats) -> Floats:
        """Fill in σ_xy of all pairs in the graph without edges; the test is asked about each pair once."""
        sigma[:] = 0.0
        for tables in self.test.engine.pairs():
            answers = self.test.evaluate(checked(tables, self.test.engine.schema))
            sigma[tables.x, tables.y] = -np.logaddexp(0.0, log_odds(answers))
        sigma += sigma.T
        return np.asarray(sigma.sum(axis=1))


class IBScoreOfBits(BoundIBScore):
    """The IB-score by the Bayesian test on bits in memory."""

    test: CompiledBayesianTest

    def __init__(self, test: CompiledBayesianTest, n_threads: int = 1) -> None:
        super().__init__(test, len(test.levels))
        self.n_threads = n_threads

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
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        which, floor = np.asarray(xs, np.int64), np.inf if exact else floor
        table, threads = self.test.engine.table, self.n_threads
        return Rows(*self.test.core.rows(table, which, *given, floor, *others, n_threads=threads))

    def fill_empty(self, sigma: Floats) -> Floats:
        """Fill in σ_xy of all pairs in the graph without edges: every pair of columns is counted once."""
        self.test.core.fill_unconditional(self.test.engine.table, sigma, self.n_threads)
        return np.asarray(sigma.sum(axis=1))


def log_odds(answers: Answers) -> Floats:
    """Return t = log Pr(dependent) - log Pr(independent), if the answers hold posteriors that are finite."""
    yes, no = answers.log_independent, answers.log_dependent
    if yes is None or no is None:
        raise RequestError("the test has no posteriors; the IB-score needs log_independent and log_dependent")
    if not ((yes <= 0) & (no <= 0) & (yes > -np.inf) & (no > -np.inf)).all():
        raise RequestError(
            "the test returned something that is not the logarithm of a probability above 0; "
            "a test that is certain needs a grain of doubt, or all graphs score minus infinity"
        )
    return no - yes
