"""The paper's climb: flip the least credible pair as long as that raises the score (Algorithms 1 and 2)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ibmap._parallel import spread
from ibmap._types import Floats, Ints
from ibmap.errors import RequestError
from ibmap.kernels import ib_ascent as kernels
from ibmap.kernels.ib_ascent import EDGE, LOCKED, TRIED, State
from ibmap.kernels.rows import fill_row
from ibmap.scores import LocalScore
from ibmap.scores.bjp import BoundBJPScore, asserted, once
from ibmap.scores.local_score import NONE, CompiledScore, ListedScore, WholeRows, credibility, whole_rows
from ibmap.search.running import Flip, Pairs
from ibmap.search.wide import WideClimbing

MATRIX = 10_000  #: variables beyond which σ takes more memory than is worth it: 9 n² bytes
PARALLEL = 20_000_000  #: with as many cells the two rows of an ascent take longer than to start a thread
BAND = 512  #: rows of σ that a thread looks through at a time


class Climb:
    """Propose the pair with the smallest σ_xy + σ_yx, and keep the flip if it raises the score.

    Parameters
    ----------
    patience : int
        How many more pairs to try when one does not raise the score; 0 is the paper.
    """

    name = "climb"

    def __init__(self, patience: int = 0) -> None:
        self.patience = patience

    def options(self) -> Mapping[str, Any]:
        """Return the options."""
        return {"patience": self.patience}

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "Climbing | WideClimbing":
        """Score the graph with these edges; locked pairs are never flipped."""
        if (
            isinstance(self.patience, bool)
            or not isinstance(self.patience, int | np.integer)
            or self.patience < 0
        ):
            raise RequestError(f"patience must be 0 or more, a whole number, not {self.patience!r}")
        if isinstance(score, BoundBJPScore):
            return ClimbingOnce(score, int(self.patience), edges, locked)
        if score.n > MATRIX and hasattr(score, "lowest"):
            return WideClimbing(cast(ListedScore, score), int(self.patience), edges, locked)
        return Climbing(score, int(self.patience), edges, locked)


class Climbing:
    """A climb that has begun: σ, kept up to date while edges flip. A flip touches the rows of its ends."""

    def __init__(self, score: LocalScore, patience: int, edges: Pairs = (), locked: Pairs = ()) -> None:
        n, edges = score.n, list(edges)
        self.score = score
        flags = np.zeros((n, n), np.uint8)
        for mark, pairs in ((EDGE, edges), (LOCKED, locked)):
            for x, y in pairs:
                flags[x, y] |= mark
                flags[y, x] |= mark
        self.state = State(np.empty((n, n)), flags, np.empty(n), np.empty(n), np.empty((2, n)))
        self._numbers, _ = kernels.LAYOUT.numbers(self.state)  # what kernels take for the state
        compiled = score if hasattr(score, "fill_empty") else None
        self.compiled = cast(CompiledScore | None, compiled)
        self._threads = self.compiled.n_threads if self.compiled else 1
        self.n_tests, self.finished = n * (n - 1), False
        patience = min(patience, n * (n - 1) // 2)
        self._tried = np.empty(2 * (patience + 1), np.int64)  # proposed in vain since the last ascent
        self._n_tried = 0
        self._score_from_scratch(is_empty=not edges)

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(kernels.sum_of(self.state.row_sum))

    @property
    def pair_scores(self) -> Floats:
        """σ_xy, with 0 on the diagonal."""
        return self.state.sigma

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order; found a band of rows at a time."""
        bands = []
        for first in range(0, len(self.state.flags), 1024):
            joined = (self.state.flags[first : first + 1024] & EDGE).view(bool)  # EDGE is 1
            rows = np.flatnonzero(joined.any(axis=1))
            found = np.argwhere(joined[rows])
            found[:, 0] = rows[found[:, 0]] + first
            bands.append(found[found[:, 0] < found[:, 1]])
        return np.concatenate([np.empty((0, 2), np.int64), *bands])

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        return np.flatnonzero((self.state.flags[x] & EDGE).view(bool))

    def saved(self) -> dict[str, Any]:
        """Return the pairs that were proposed in vain since the last ascent."""
        return {"tried": self._tried[: 2 * self._n_tried].reshape(-1, 2).tolist(), "n_tests": self.n_tests}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Flip pairs without asking whether they pay, as a search that was saved did; score what changed.

        σ_x depends on the blanket of x alone, so the order of the flips does not matter, and the state is the
        one of that search, to the last bit.
        """
        touched: dict[int, None] = {}
        for x, y in flips:
            self.state.flags[x, y] ^= EDGE
            self.state.flags[y, x] ^= EDGE
            touched.update({x: None, y: None})
        self._score_rows(list(touched))
        tried = [v for pair in saved.get("tried", ()) for v in pair][: len(self._tried)]
        self._tried[: len(tried)], self._n_tried = tried, len(tried) // 2
        for x, y in self._tried[: len(tried)].reshape(-1, 2):
            self.state.flags[x, y] |= TRIED
            self.state.flags[y, x] |= TRIED
        kernels.all_minima(self._numbers)
        self.n_tests = int(saved["n_tests"])

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do up to ``limit`` ascents, by up to ``budget`` proposals (any number of them by default).

        Afterwards ``finished`` tells whether there is nothing more to do; if not, the next call goes on.
        """
        budget = int(np.iinfo(np.int64).max) if budget is None else budget
        if self.compiled and not (self._threads > 1 and self.compiled.n_cells >= PARALLEL):
            return self._advance_compiled(self.compiled, limit, budget)
        return self._advance_by_rows(limit, budget)

    def _advance_by_rows(self, limit: int, budget: int) -> list[Flip]:
        """Propose the least credible pairs, one after the other; the kernel ``ascend`` does the same."""
        ascents: list[Flip] = []
        state, n = self.state, len(self.state.row_sum)
        while len(ascents) < limit and budget > 0:
            x, y = kernels.propose(self._numbers, self._tried, self._n_tried)  # Algorithm 2
            self.finished = bool(x < 0)
            if self.finished:
                self._n_tried = 0
                break
            values = self._rows_of((x, y), state.rows)  # Algorithm 1, line 5
            self.n_tests += 2 * (n - 1)
            budget -= 1
            gain = self._gain(x, y, values)
            # Algorithm 1, lines 7 to 10
            if kernels.decide(self._numbers, x, y, gain, self._tried, self._n_tried) > 0:
                state.row_sum[[x, y]] = values
                ascents.append(Flip(x, y, bool(state.flags[x, y] & EDGE), gain, self.total))
                self._n_tried = 0
            else:
                self._n_tried += 1
        return ascents

    def _gain(self, x: int, y: int, values: Floats) -> float:
        """Return what a flip that was made gains: its rows are in ``state.rows``; these are their sums."""
        return float(values.sum() - (self.state.row_sum[x] + self.state.row_sum[y]))

    def _advance_compiled(self, compiled: CompiledScore, limit: int, budget: int) -> list[Flip]:
        log, gains = np.empty((limit, 3), np.int64), np.empty((limit, 2))
        buffer = np.empty(self.score.n, np.int64)
        done, proposals, n_tried = kernels.ascend(
            *compiled.row(0), self._numbers, buffer, self._tried, self._n_tried, budget, log, gains
        )
        self.finished, self._n_tried = n_tried < 0, max(n_tried, 0)
        self.n_tests += 2 * proposals * (len(self.state.row_sum) - 1)
        return [
            Flip(x, y, bool(added), gain, score)
            for (x, y, added), (gain, score) in zip(log[:done].tolist(), gains[:done].tolist(), strict=True)
        ]

    def _rows_of(self, xs: Sequence[int], out: Floats) -> Floats:
        """Put σ of some x in the graph as it stands into the rows of ``out``; return their values."""
        blankets, compiled = [self.blanket(x) for x in xs], self.compiled
        if compiled:
            row_of = compiled.row
            work = [(x, blanket, row) for x, blanket, row in zip(xs, blankets, out, strict=True)]
            spread(lambda thread, task: fill_row(*row_of(thread), *task), work, min(self._threads, len(xs)))
            return np.array([kernels.sum_of(row) for row in out])
        rows = whole_rows(self.score, xs, blankets)
        out[:] = sigma_of(rows, xs, blankets)
        return rows.values

    def _score_rows(self, xs: Sequence[int]) -> None:
        """Score the rows of some x again."""
        rows = np.empty((len(xs), self.score.n))
        self.state.row_sum[xs] = self._rows_of(xs, rows)
        self.state.sigma[xs] = rows

    def _score_from_scratch(self, *, is_empty: bool) -> None:
        state, n = self.state, self.score.n
        if self.compiled and is_empty:
            self.compiled.fill_empty(state.sigma)
        elif self.compiled:
            row_of = self.compiled.row

            def fill(thread: int, x: int) -> None:
                fill_row(*row_of(thread), x, self.blanket(x), state.sigma[x])

            spread(fill, range(n), self._threads)
        else:
            blankets = [NONE if is_empty else self.blanket(x) for x in range(n)]
            rows = self.score.empty() if is_empty else whole_rows(self.score, range(n), blankets)
            state.sigma[:] = sigma_of(rows, range(n), blankets)
            state.row_sum[:] = rows.values
        if self.compiled:
            symmetric = is_empty

            def sums(_: int, first: int) -> None:
                kernels.sum_rows(self._numbers, first, min(first + BAND, n), symmetric)

            spread(sums, range(0, n, BAND), self._threads)
        if not (self.compiled and is_empty):
            kernels.all_minima(self._numbers)


class ClimbingOnce(Climbing):
    """A climb by a score in which each pair counts once, as the end with the smaller blanket asserts it.

    A flip changes the place of its ends among the others, so it touches all pairs that one of them is in.
    """

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(self.state.sigma[asserted(self._sizes())].sum())

    def _sizes(self) -> Ints:
        """How many neighbours every variable has."""
        return np.asarray((self.state.flags & EDGE).sum(axis=1), np.int64)

    def _gain(self, x: int, y: int, values: Floats) -> float:
        """Return what a flip gains that was made."""
        sizes, sigma = self._sizes(), self.state.sigma
        before = sizes.copy()
        before[[x, y]] += -1 if self.state.flags[x, y] & EDGE else 1
        after = self._pairs_of(x, y, self.state.rows[0], self.state.rows[1], sizes)
        return after - self._pairs_of(x, y, sigma[x], sigma[y], before)

    def _pairs_of(self, x: int, y: int, row_x: Floats, row_y: Floats, sizes: Ints) -> float:
        """Return the sum over all pairs that x or y is in, given their rows and the sizes of all blankets."""
        columns = self.state.sigma[:, [x, y]].T.copy()
        columns[0, y], columns[1, x] = row_y[x], row_x[y]
        of_x, of_y = once(row_x, columns[0], x, sizes), once(row_y, columns[1], y, sizes)
        return float(of_x.sum() + of_y.sum() - of_y[x])


def sigma_of(rows: WholeRows, xs: Sequence[int], blankets: Sequence[Ints]) -> Floats:
    """Return σ of some rows: the score's own, or what follows from the evidence."""
    return credibility(rows.evidence, xs, blankets) if rows.sigma is None else rows.sigma
