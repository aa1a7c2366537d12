"""The IB-score of a graph, kept up to date while a search flips edges.

σ(G) = Σ_x Σ_y σ_xy(G), where σ_xy is the log posterior of what the Markov blanket closure asserts about x and
y. A flip of (x, y) changes only the rows of x and y.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._parallel import result_of
from ibmap.errors import RequestError
from ibmap.independence import BoundTest
from ibmap.independence.bayesian import BoundBayesianTest
from ibmap.kernels import ib_ascent as _kernels
from ibmap.kernels.ib_ascent import EDGE, LOCKED, TRIED, State
from ibmap.kernels.ib_rows import closure_row as compiled_row
from ibmap.kernels.ib_rows import empty_irregular
from ibmap.kernels.rows import fill_row
from ibmap.kernels.unconditional import unconditional_tile
from ibmap.scores.closure import closure_row

Ints = NDArray[np.int64]
Pairs = Iterable[tuple[int, int]]

PARALLEL = 20_000_000  #: with as many cells the two rows of an ascent take longer than to start a thread
BAND = 512  #: rows of σ that a thread looks through at a time
FEW = 32  #: so many variables are scored row by row, without edges too: tiles take 3 s to compile
TILE = 64  #: variables that are counted against a block before they are scored


class Ascent(NamedTuple):
    """One step of the search."""

    x: int
    y: int
    added: bool  #: whether the edge was added or removed
    gain: float  #: by how much the score rose
    score: float  #: the score after the step


class IBScore:
    """The IB-score of a graph that changes edge by edge, for any test with posteriors.

    Parameters
    ----------
    test : BoundTest
        Answers with posteriors. The Bayesian test on counts in memory takes a compiled route.
    n : int
        Number of variables.
    edges : pairs of int
        The graph to start from.
    locked : pairs of int
        Pairs that are never proposed.
    n_jobs : int
        Number of threads.
    """

    def __init__(
        self, test: BoundTest, n: int, edges: Pairs = (), locked: Pairs = (), n_jobs: int = 1
    ) -> None:
        self._test = test
        edges = list(edges)
        self._is_empty = not edges
        flags = np.zeros((n, n), np.uint8)
        for mark, pairs in ((EDGE, edges), (LOCKED, locked)):
            for x, y in pairs:
                flags[x, y] |= mark
                flags[y, x] |= mark
        self.state = State(np.empty((n, n)), flags, np.empty(n), np.empty(n), np.empty((2, n)))
        self._numbers, _ = _kernels.LAYOUT.numbers(self.state)  # what kernels take for the state
        self._compiled = _Compiled.of(test, n, n_jobs)
        self._n_jobs = n_jobs if self._compiled else 1  # a test of unknown making is asked by one thread
        self.n_tests = n * (n - 1)
        self.at_maximum = False  #: whether the last ascent found nothing that raises the score
        self._tried = np.empty(
            0, np.int64
        )  # pairs proposed in vain since the last ascent, as x, y, x, y, ...
        self._n_tried = 0
        self._score_from_scratch()

    @property
    def total(self) -> float:
        """σ(G)."""
        return float(_kernels.sum_of(self.state.row_sum))

    @property
    def pair_scores(self) -> NDArray[np.float64]:
        """σ_xy, with 0 on the diagonal."""
        return self.state.sigma

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """The graph as it stands."""
        return (self.state.flags & EDGE).astype(bool)

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, as pairs (x, y), x < y, in order; found a band of rows at a time."""
        bands = []
        for first in range(0, len(self.state.flags), 1024):
            found = np.argwhere(self.state.flags[first : first + 1024] & EDGE)
            found[:, 0] += first
            bands.append(found[found[:, 0] < found[:, 1]])
        return np.concatenate([np.empty((0, 2), np.int64), *bands])

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        return np.flatnonzero(self.state.flags[x] & EDGE)

    @property
    def tried(self) -> list[list[int]]:
        """Pairs that were proposed in vain since the last ascent."""
        return self._tried[: 2 * self._n_tried].reshape(-1, 2).tolist()

    def replay(self, flips: Pairs, n_tests: int, tried: Pairs = ()) -> None:
        """Flip pairs without asking whether they pay, as a search that was saved did; score what changed.

        σ_x depends on the blanket of x alone, so the order of the flips does not matter, and the state is the
        one of that search, to the last bit. ``tried`` are the pairs that it had proposed in vain since then.
        """
        touched: dict[int, None] = {}
        for x, y in flips:
            self.state.flags[x, y] ^= EDGE
            self.state.flags[y, x] ^= EDGE
            touched.update({x: None, y: None})
        _spread(lambda thread, x: self._row(thread, x, self.state.sigma[x]), touched, self._n_jobs)
        for x in touched:
            _kernels.sum_rows(self._numbers, x, x + 1, False)
        self._tried = np.array([v for pair in tried for v in pair], np.int64)
        self._n_tried = len(self._tried) // 2
        for x, y in self.tried:
            self.state.flags[x, y] |= TRIED
            self.state.flags[y, x] |= TRIED
        _kernels.all_minima(self._numbers)
        self.n_tests = n_tests

    def ascend(self, limit: int, patience: int = 0, budget: int | None = None) -> list[Ascent]:
        """Do up to ``limit`` ascents, by up to ``budget`` proposals (any number of them by default).

        Afterwards ``at_maximum`` tells whether there is nothing more to do; if not, the next call goes on.
        """
        room = np.empty(2 * (patience + 1), np.int64)
        room[: 2 * self._n_tried] = self._tried[: 2 * self._n_tried]
        self._tried = room
        budget = int(np.iinfo(np.int64).max) if budget is None else budget
        if self._compiled and not (self._n_jobs > 1 and self._compiled.n_cells >= PARALLEL):
            return self._ascend_compiled(self._compiled, limit, budget)
        return self._ascend_by_rows(limit, budget)

    def _ascend_by_rows(self, limit: int, budget: int) -> list[Ascent]:
        """Propose the least credible pairs, one after the other; the kernel ``ascend`` does the same."""
        ascents: list[Ascent] = []
        while len(ascents) < limit and budget > 0:
            x, y = _kernels.propose(self._numbers, self._tried, self._n_tried)  # Algorithm 2
            self.at_maximum = bool(x < 0)
            if self.at_maximum:
                self._n_tried = 0
                break
            self._rows_of(x, y)
            self.n_tests += 2 * (len(self.state.row_sum) - 1)
            budget -= 1
            # Algorithm 1, lines 5 to 10
            gain = _kernels.decide(self._numbers, x, y, self._tried, self._n_tried)
            if gain > 0:
                ascents.append(Ascent(x, y, bool(self.state.flags[x, y] & EDGE), gain, self.total))
                self._n_tried = 0
            else:
                self._n_tried += 1
        return ascents

    def _ascend_compiled(self, compiled: "_Compiled", limit: int, budget: int) -> list[Ascent]:
        log, gains = np.empty((limit, 3), np.int64), np.empty((limit, 2))
        done, proposals, n_tried = _kernels.ascend(
            *compiled.row(0), self._numbers, compiled.buffer, self._tried, self._n_tried, budget, log, gains
        )
        self.at_maximum, self._n_tried = n_tried < 0, max(n_tried, 0)
        self.n_tests += 2 * proposals * (len(self.state.row_sum) - 1)
        return [
            Ascent(x, y, bool(added), gain, score)
            for (x, y, added), (gain, score) in zip(log[:done].tolist(), gains[:done].tolist(), strict=True)
        ]

    def _rows_of(self, x: int, y: int) -> None:
        """Compute the rows of x and y in the flipped graph."""

        def work(thread: int, which: int) -> None:
            v = (x, y)[which]
            self._row(thread, v, self.state.rows[which])

        _spread(work, range(2), min(self._n_jobs, 2))

    def _row(self, thread: int, x: int, out: NDArray[np.float64]) -> None:
        if self._compiled:
            fill_row(*self._compiled.row(thread), x, self.blanket(x), out)
        else:
            out[:] = closure_row(self._test, x, self.blanket(x), len(out))
            if not ((out <= 0) & (out > -np.inf)).all():
                raise RequestError(
                    "the test returned something that is not the logarithm of a probability above 0; "
                    "a test that is certain needs a grain of doubt, or all graphs score minus infinity"
                )

    def _score_from_scratch(self) -> None:
        state, n = self.state, len(self.state.row_sum)
        from_nothing = self._compiled is not None and self._is_empty
        if self._compiled and from_nothing:
            self._compiled.score_empty(state.sigma)
        else:
            _spread(lambda thread, x: self._row(thread, x, state.sigma[x]), range(n), self._n_jobs)
            _kernels.all_minima(self._numbers)

        def sums(_: int, first: int) -> None:
            _kernels.sum_rows(self._numbers, first, min(first + BAND, n), from_nothing)

        _spread(sums, range(0, n, BAND), self._n_jobs)


class _Compiled:
    """The Bayesian test on bits in memory, with a workspace for each of several threads."""

    def __init__(self, test: BoundBayesianTest, n_jobs: int) -> None:
        if test.counts.packed is None:
            raise TypeError("the engine keeps its rows elsewhere")
        self._packed = test.counts.packed
        self._contexts = [test.context, *(test.new_context() for _ in range(n_jobs - 1))]
        self.buffer = np.empty(len(test.counts.cardinalities), np.int64)
        self.n_cells = test.counts.n_rows * len(test.counts.cardinalities)

    @classmethod
    def of(cls, test: BoundTest, n: int, n_jobs: int) -> "_Compiled | None":
        """Return the compiled route if the test and its engine have one."""
        if not isinstance(test, BoundBayesianTest) or test.counts.packed is None:
            return None
        if len(test.counts.cardinalities) != n:
            raise RequestError(f"the test knows {len(test.counts.cardinalities)} variables, not {n}")
        return cls(test, n_jobs)

    def row(self, thread: int) -> tuple[int, Ints]:
        """Return the address of the function that fills a row, and what it takes in one thread."""
        return compiled_row.address, self._contexts[thread].numbers

    def score_empty(self, sigma: NDArray[np.float64]) -> None:
        """Fill σ of the graph without edges: every pair of columns once, tile by tile."""
        if len(sigma) <= FEW:
            none, lower = np.empty(0, np.int64), np.tril_indices(len(sigma), -1)
            for x, row in enumerate(sigma):
                fill_row(*self.row(0), x, none, row)
            sigma[lower] = sigma.T[lower]  # they differ in rounding
            return
        packed, contexts = self._packed, [context.numbers for context in self._contexts]
        words = np.arange(packed.level_bits.shape[1], dtype=np.uint32)
        width = max([(levels - 1) * stride for levels, _, _, _, stride in packed.blocks.tolist()], default=0)
        most_levels = max(packed.blocks[:, 0].tolist(), default=1)
        buffers = [np.empty((TILE * (most_levels - 1), width + 32), np.int32) for _ in contexts]
        tiles = [
            (x, min(x + TILE, stop), block)
            for _, start, stop, _, _ in packed.blocks.tolist()
            for x in range(start, stop, TILE)
            for block in range(len(packed.blocks))
            if packed.blocks[block, 2] > x
        ]

        def work(thread: int, tile: tuple[int, int, int]) -> None:
            unconditional_tile(contexts[thread], words, buffers[thread], *tile, sigma)

        def irregular(thread: int, y: int) -> None:
            empty_irregular(contexts[thread], y, sigma)

        _spread(work, tiles, len(contexts))
        _spread(irregular, packed.irregular.tolist(), len(contexts))


def _spread(work: Callable[[int, Any], None], tasks: Iterable[Any], n_threads: int) -> None:
    """Run ``work(thread, task)`` for every task; each thread takes the next one when it is free."""
    if n_threads == 1:
        for task in tasks:
            work(0, task)
        return
    waiting = deque(tasks)

    def drain(thread: int) -> None:
        while waiting:
            try:
                task = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            work(thread, task)

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for finished in [pool.submit(drain, thread) for thread in range(n_threads)]:
                result_of(finished)
        finally:
            waiting.clear()  # interrupted, or failed: let the others go home
