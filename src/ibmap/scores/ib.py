"""The IB-score: the log posterior of all that a graph asserts (paper, section 4).

σ(G) = Σ_x Σ_y σ_xy(G), where σ_xy is the log posterior of what the Markov blanket closure asserts about x
and y. In terms of evidence, t_xy = log Pr(dependent) - log Pr(independent), and σ_xy = -softplus(∓t_xy).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Tables
from ibmap.engines.engine import checked
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists, rows_of_matrix
from ibmap.errors import RequestError
from ibmap.independence import Answers, BoundTest, IndependenceTest
from ibmap.independence.base import BoundTableTest
from ibmap.independence.bayesian import CompiledBayesianTest
from ibmap.scores.closure import closure_answers
from ibmap.scores.device_pairs import DevicePairs
from ibmap.scores.local_score import NONE, LocalScoreBase, WholeRows, credibility


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
    """Return the IB-score of n variables by a bound test, compiled where the test is."""
    if isinstance(test, CompiledBayesianTest):
        if len(test.levels) != n:
            raise RequestError(f"the test knows {len(test.levels)} variables, not {n}")
        return CompiledIBScore(test, n_threads)
    return BoundIBScore(test, n)


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
        found = self.closure(which.tolist(), given.one_by_one())
        return rows_of_matrix(found.evidence, found.values, which, given, floor=floor, also=also)

    def closure(self, xs: Sequence[int], blankets: Sequence[Ints]) -> WholeRows:
        """Return the same with all variables, and σ where it is at hand."""
        if isinstance(self.test, BoundTableTest):
            return self._rows_of_tables(self.test, self.test.closure_tables(xs, blankets))
        evidence = np.zeros((len(xs), self.n))
        for row, x, blanket in zip(evidence, xs, blankets, strict=True):
            for ys, answers in closure_answers(self.test, x, blanket, self.n):
                row[ys] = log_odds(answers)
        return scored(xs, blankets, evidence)

    def empty(self) -> WholeRows:
        """Return the rows of the graph without edges; a test of tables is asked about each pair once."""
        if not isinstance(self.test, BoundTableTest):
            return self.closure(range(self.n), [NONE] * self.n)
        evidence, sigma = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        for tables in self.test.engine.pairs():
            answers = self.test.evaluate(checked(tables, self.test.engine.schema))
            place = tables.x, tables.y
            evidence[place], sigma[place] = log_odds(answers), answers.log_independent
        evidence += evidence.T
        sigma += sigma.T
        return WholeRows(evidence, sigma.sum(axis=1), sigma)

    def _rows_of_tables(self, test: BoundTableTest, tables: Tables) -> WholeRows:
        """Return rows from the tables outside the blankets, and from their margins for the members."""
        asked = tables.answered()[0]
        evidence, sigma = np.zeros((len(asked), self.n)), np.zeros((len(asked), self.n))
        outside = test.evaluate(tables)
        where = asked.of_table, asked.y
        evidence[where], sigma[where] = log_odds(outside), outside.log_independent
        if len(asked.given):
            members = test.evaluate(tables.margins())
            where = np.repeat(np.arange(len(asked)), np.diff(asked.given_start)), asked.given
            evidence[where], sigma[where] = log_odds(members), members.log_dependent
        return WholeRows(evidence, sigma.sum(axis=1), sigma)


def scored(xs: Sequence[int], blankets: Sequence[Ints], evidence: Floats) -> WholeRows:
    """Return rows of evidence with their values, Σ_y σ_xy."""
    sigma = credibility(evidence, xs, blankets)
    return WholeRows(evidence, sigma.sum(axis=1), sigma)


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


class CompiledIBScore(BoundIBScore):
    """The IB-score by the Bayesian test on bits in memory; see :class:`CompiledScore`."""

    test: CompiledBayesianTest

    def __init__(self, test: CompiledBayesianTest, n_threads: int = 1) -> None:
        super().__init__(test, len(test.levels))
        self.n_threads = max(1, min(n_threads, self.n))
        self.n_cells = test.engine.schema.n_rows * self.n
        self._on_device = DevicePairs(test) if DevicePairs.fit(test) else None
        self._by_address = [test.core.sigma_rows(test.engine.table) for _ in range(self.n_threads)]
        self._contexts = [np.array([rows.context]) for rows in self._by_address]

    def row(self, thread: int) -> tuple[int, Ints]:
        """Return the address of the function that fills a row of σ, and what it takes in one thread."""
        return self._by_address[0].address, self._contexts[thread]

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

    def closure(self, xs: Sequence[int], blankets: Sequence[Ints]) -> WholeRows:
        """Return the same with all variables."""
        rows = self.rows(xs, blankets)
        return WholeRows(rows.matrix(self.n), rows.value)

    def fill_empty(self, sigma: Floats) -> None:
        """Fill σ of the graph without edges: every pair of columns once."""
        if self._on_device is not None:
            self._on_device.fill(sigma)
        else:
            self.test.core.fill_unconditional(self.test.engine.table, sigma, self.n_threads)

    def lowest(self, wanted: int) -> tuple[NDArray[np.int32], Floats, float, Floats]:
        """Return the least credible pairs of the graph without edges: see :class:`ListedScore`."""
        if self._on_device is not None:
            return self._on_device.lowest(wanted)
        pairs, t, floor, sums = self.test.core.likely_pairs(self.test.engine.table, wanted, self.n_threads)
        values = -np.logaddexp(0.0, t)
        order = np.lexsort((pairs[:, 1], pairs[:, 0], values))  # pairs of one σ may differ in t
        return pairs[order], values[order], np.inf if floor == -np.inf else -np.logaddexp(0.0, floor), sums

    def value_of(self, x: int, blanket: Ints, y: int) -> float:
        """Return σ_xy of a y that is not in the blanket of x."""
        return float(self.test.fixed(x, np.array([y]), blanket).log_independent[0])  # type: ignore[index]
