"""The test of tables of any columns: what the evidence of x given Z gains with y, seen from both ends."""

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine, Model
from ibmap.engines.questions import subset_batches
from ibmap.engines.rows import Lists, as_lists
from ibmap.independence.base import Answers, BoundTest, Parameters

AT_ONCE = 256  #: questions that are answered together


class MixedTest(Parameters):
    """The Bayesian test of categories, ordered levels and numbers side by side.

    Its log odds of dependence are the evidence of :class:`ibmap.criteria.mixed.MixedScore` that y belongs to
    the blanket Z ∪ {y} of x, and x to that of y, in the mean; a priori both answers are equally probable.
    Each question uses the rows that know all of its variables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> rng = np.random.default_rng(0)
    >>> size, sex = rng.normal(size=100), rng.integers(2, size=100)
    >>> table = {"size": size, "weight": size + sex + 0.3 * rng.normal(size=100), "sex": sex}
    >>> bound = MixedTest().bind(as_engine(load(table, continuous="auto")))
    >>> [bound.fixed(0, np.array([2]), np.array(given, int)).independent.tolist() for given in ([], [1])]
    [[True], [False]]
    """

    name, has_posteriors = "mixed", True

    def bind(self, engine: Engine) -> "BoundMixed":
        """Bind the test to an engine that looks at rows."""
        return BoundMixed(engine.row_by_row)


class BoundMixed(BoundTest):
    """The test, bound to an engine; it answers the three shapes of question."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._model = engine, Model("mixed")

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        n, given = len(ys), np.asarray(given, np.int64)
        every = np.broadcast_to(given, (n, len(given)))
        return self._answers(np.full(n, x), np.asarray(ys, np.int64), every, np.full(n, len(given)))

    def round_robin(self, x: int, members: Ints) -> Answers:
        """Test x against each member, given the other members."""
        members = np.asarray(members, np.int64)
        n = len(members)
        others = np.array([np.delete(members, k) for k in range(n)], np.int64).reshape(n, max(n - 1, 0))
        return self._answers(np.full(n, x), members, others, np.full(n, n - 1))

    def all_subsets(self, x: int, y: int, pool: Ints, max_size: int | None = None) -> Ints | None:
        """Return the first subset of the pool, smallest first, that makes x and y independent; or None."""
        for subsets in subset_batches(np.asarray(pool, np.int64), max_size):
            for subset in subsets:
                if self.fixed(x, np.array([y]), subset).independent[0]:
                    return np.asarray(subset)
        return None

    def each(self, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Bools:
        """Decide about pairs, each given the first so many variables of a row of ``given``."""
        return self._answers(xs, ys, given, sizes).independent

    def _answers(self, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Answers:
        odds = np.empty(len(xs))
        for first in range(0, len(xs), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            known = as_lists([np.sort(z[:k]) for z, k in zip(given[some], sizes[some].tolist(), strict=True)])
            ends = (xs[some], ys[some]), (ys[some], xs[some])
            odds[some] = np.mean([self._evidence(*end, known) for end in ends], axis=0)
        no, yes = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
        return Answers(odds <= 0, odds, log_independent=yes, log_dependent=no)

    def _evidence(self, xs: Ints, ys: Ints, given: Lists) -> Floats:
        """Return the log odds that each y belongs to the blanket of x, as x sees it."""
        blankets = given.with_one_more(ys)
        rows = self._engine.rows(self._model, xs, blankets, floor=np.inf, exact=True)
        owner = np.repeat(np.arange(len(xs)), np.diff(rows.start))
        return np.asarray(rows.t[rows.y == ys[owner]])
