"""The IB-score: the log posterior of all that a graph asserts (paper, section 4).

σ(G) = Σ_x Σ_y σ_xy(G), where σ_xy is the log posterior of what the Markov blanket closure asserts about x
and y. In terms of evidence, t_xy = log Pr(dependent) - log Pr(independent), and σ_xy = -softplus(∓t_xy).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._parallel import spread
from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Tables
from ibmap.engines.engine import checked
from ibmap.errors import RequestError
from ibmap.independence import Answers, BoundTest, IndependenceTest
from ibmap.independence.base import BoundTableTest, log_one_minus_exp
from ibmap.independence.bayesian import CompiledBayesianTest
from ibmap.kernels.ib_rows import closure_block, closure_row, empty_irregular
from ibmap.kernels.rows import fill_row
from ibmap.kernels.unconditional import unconditional_band, unconditional_tile
from ibmap.scores.closure import closure_answers
from ibmap.scores.device_pairs import DevicePairs
from ibmap.scores.local_score import NONE, LocalScoreBase, Rows, Tile, credibility

FEW = 32  #: so many variables are scored row by row, without edges too: tiles take 3 s to compile
TILE = 64  #: variables that are counted against a block before they are scored


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

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return the log odds of dependence for each of some x, given its blanket."""
        if isinstance(self.test, BoundTableTest):
            return self._rows_of_tables(self.test, self.test.closure_tables(xs, blankets))
        evidence = np.zeros((len(xs), self.n))
        for row, x, blanket in zip(evidence, xs, blankets, strict=True):
            for ys, answers in closure_answers(self.test, x, blanket, self.n):
                row[ys] = log_odds(answers)
        return scored(xs, blankets, evidence)

    def empty(self) -> Rows:
        """Return the rows of the graph without edges; a test of tables is asked about each pair once."""
        if not isinstance(self.test, BoundTableTest):
            return super().empty()
        evidence, sigma = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        for tables in self.test.engine.pairs():
            answers = self.test.evaluate(checked(tables, self.test.engine.schema))
            place = tables.x, tables.y
            evidence[place], sigma[place] = log_odds(answers), answers.log_independent
        evidence += evidence.T
        sigma += sigma.T
        return Rows(evidence, sigma.sum(axis=1), sigma)

    def value(self, x: int, blanket: Ints) -> float:
        """Return Σ_y σ_xy."""
        return float(self.rows([x], [blanket]).values[0])

    def _rows_of_tables(self, test: BoundTableTest, tables: Tables) -> Rows:
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
        return Rows(evidence, sigma.sum(axis=1), sigma)


def scored(xs: Sequence[int], blankets: Sequence[Ints], evidence: Floats) -> Rows:
    """Return rows of evidence with their values, Σ_y σ_xy."""
    sigma = credibility(evidence, xs, blankets)
    return Rows(evidence, sigma.sum(axis=1), sigma)


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
        self.n_cells = test.packed.n_rows * self.n
        self._tests = [test, *(test.for_thread() for _ in range(self.n_threads - 1))]
        self._on_device = DevicePairs(test) if DevicePairs.fit(test) else None

    def row(self, thread: int) -> tuple[int, Ints]:
        """Return the address of the function that fills a row of σ, and what it takes in one thread."""
        return closure_row.address, self._tests[thread].context.numbers

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return the log odds of dependence for each of some x, given its blanket."""
        sigma = np.empty((len(xs), self.n))
        for row, x, blanket in zip(sigma, xs, blankets, strict=True):
            fill_row(*self.row(0), x, blanket, row)
        evidence = log_one_minus_exp(sigma) - sigma
        for row, x, blanket in zip(evidence, xs, blankets, strict=True):
            row[blanket] *= -1.0
            row[x] = 0.0
        return Rows(evidence, sigma.sum(axis=1))

    def fill_empty(self, sigma: Floats) -> None:
        """Fill σ of the graph without edges: every pair of columns once, tile by tile."""
        if self.n <= FEW:
            lower = np.tril_indices(self.n, -1)
            for x, row in enumerate(sigma):
                fill_row(*self.row(0), x, NONE, row)
            sigma[lower] = sigma.T[lower]  # they differ in rounding
            return
        if self._on_device is not None:
            self._on_device.fill(sigma)
            return
        contexts, (words, counts) = [test.context.numbers for test in self._tests], self._tables

        def tile_of(thread: int, tile: Tile) -> None:
            unconditional_tile(contexts[thread], words, counts[thread], *tile[:3], sigma)

        def irregular(thread: int, y: int) -> None:
            empty_irregular(contexts[thread], y, sigma)

        spread(tile_of, self._all_tiles(), self.n_threads)
        spread(irregular, self.test.packed.irregular.tolist(), self.n_threads)

    def tiles(self) -> list[Tile]:
        """Return the tiles of a table whose variables are complete and have equally many levels."""
        in_order = np.array_equal(self.test.packed.order, np.arange(self.n))
        return self._all_tiles() if in_order else []

    def lowest(self, wanted: int) -> tuple[NDArray[np.int32], Floats, float, Floats] | None:
        """Return the least credible pairs of the graph without edges, if a device finds them; see there."""
        return None if self._on_device is None else self._on_device.lowest(wanted)

    def fill_tile(self, thread: int, tile: Tile, band: Floats) -> None:
        """Put σ_xy of a tile into ``band[x - first x, y]``."""
        words, counts = self._tables
        unconditional_band(self._tests[thread].context.numbers, words, counts[thread], *tile[:3], band)

    def value_of(self, x: int, blanket: Ints, y: int) -> float:
        """Return σ_xy of a y that is not in the blanket of x; the variables of its block are scored."""
        block = int(np.searchsorted(self.test.packed.blocks[:, 2], y, side="right"))
        closure_block(self.test.context.numbers, x, blanket, block, self._row)
        return float(self._row[y])

    @cached_property
    def _row(self) -> Floats:
        return np.empty(self.n)

    @cached_property
    def _tables(self) -> tuple[NDArray[np.uint32], list[NDArray[np.int32]]]:
        """The words of a column, and for every thread a place for the counts of a tile."""
        packed = self.test.packed
        blocks = packed.blocks.tolist()
        width = max([(levels - 1) * stride for levels, _, _, _, stride in blocks], default=0)
        most_levels = max(packed.blocks[:, 0].tolist(), default=1)
        counts = [np.empty((TILE * (most_levels - 1), width + 32), np.int32) for _ in self._tests]
        return np.arange(packed.level_bits.shape[1], dtype=np.uint32), counts

    def _all_tiles(self) -> list[Tile]:
        blocks = self.test.packed.blocks.tolist()
        return [
            (x, min(x + TILE, stop), block, max(first, x), last)
            for _, start, stop, _, _ in blocks
            for x in range(start, stop, TILE)
            for block, (_, first, last, _, _) in enumerate(blocks)
            if last > x
        ]
