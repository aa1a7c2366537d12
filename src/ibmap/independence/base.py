"""What a test of conditional independence must offer, and the shortest ways to write one.

A test is a small object with options. ``bind`` ties it to an engine once; what comes back answers the
questions that learners ask. To bring a test of your own, pass a function to :class:`FunctionTest`,
subclass :class:`TableTest`, or :class:`BoundTest` for what is no function of counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import combinations
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks
from ibmap._text import in_short
from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine, Questions, Tables, ask
from ibmap.engines.engine import checked
from ibmap.engines.moments import COUNTS_NOTHING
from ibmap.engines.questions import subset_batches
from ibmap.engines.rows import ManyVariables, Rows, as_lists, credibility, rows_of_matrix
from ibmap.errors import RequestError

FIRST_BATCH = 8  #: variables that are asked about before all others


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to a batch of questions, one entry each.

    Attributes
    ----------
    independent : ndarray of bool
        What the test decides at its own threshold.
    strength : ndarray of float
        How strong the dependence is; larger is stronger. Only the order has a meaning across tests.
    log_independent, log_dependent : ndarray of float or None
        Log posteriors, for tests that have them (natural logarithms).
    statistic, p_value : ndarray of float or None
        For classical tests.
    """

    independent: NDArray[np.bool_]
    strength: Floats
    log_independent: Floats | None = None
    log_dependent: Floats | None = None
    statistic: Floats | None = None
    p_value: Floats | None = None


class BoundTest:
    """A test bound to an engine: subclass it, and write ``fixed`` and ``round_robin``, about column indices.

    What learners ask beside these follows from them; a test that knows a faster way overrides it.
    """

    takes_threads = False  #: whether several threads may ask at once

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        raise TypeError(f"{type(self).__name__} must define fixed(x, ys, given)")

    def round_robin(self, x: int, members: Ints) -> Answers:
        """Test x against each member, given the other members."""
        raise TypeError(f"{type(self).__name__} must define round_robin(x, members)")

    def all_subsets(self, x: int, y: int, pool: Ints, max_size: int | None = None) -> Ints | None:
        """Return the first subset of the pool, smallest first, that makes x and y independent; or None."""
        for subsets in subset_batches(np.asarray(pool, np.int64), max_size):
            n, size = subsets.shape
            found = np.flatnonzero(self.each(np.full(n, x), np.full(n, y), subsets, np.full(n, size)))
            if len(found):
                return np.asarray(subsets[found[0]])
        return None

    def each(self, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Bools:
        """Decide for every i whether x_i and y_i are independent given the first sizes_i of given_i."""
        questions = zip(xs.tolist(), ys, given, sizes.tolist(), strict=True)
        return np.array([self.fixed(x, y[None], z[:k]).independent[0] for x, y, z, k in questions], np.bool_)

    def first_dependent(self, x: int, ys: Ints, given: Ints) -> int | None:
        """Return the position of the first y that is dependent on x; None if there is none.

        In growing batches: where the strongest come first, it is mostly among the first eight.
        """
        first, size = 0, FIRST_BATCH
        while first < len(ys):
            dependent = ~self.fixed(x, ys[first : first + size], given).independent
            if dependent.any():
                return first + int(np.argmax(dependent))
            first, size = first + size, 4 * size
        return None

    def first_independent(self, x: int, members: Ints) -> int | None:
        """Return the position of the first member that is independent given the others; None if none is."""
        independent = self.round_robin(x, members).independent
        return int(np.argmax(independent)) if independent.any() else None

    def rows(
        self,
        n: int,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
        n_threads: int = 1,
    ) -> Rows:
        """Return the log odds of dependence of some x and the other of n variables, each given its blanket.

        Those of a member are given the other members: what the closure of a graph asserts (paper, 4.1).
        """
        which, given = np.asarray(xs, np.int64), as_lists(blankets)
        each = given.one_by_one()
        odds = self.log_odds(n, which, each)
        values = credibility(odds, which, each).sum(axis=1)
        return rows_of_matrix(odds, values, which, given, floor=floor, also=also)

    def log_odds(self, n: int, xs: Ints, blankets: Sequence[Ints]) -> Floats:
        """Return t_xy of some x and all y, 0 for x itself: in two questions for each x at most."""
        out = np.zeros((len(xs), n))
        for row, x, blanket in zip(out, xs.tolist(), blankets, strict=True):
            outside = np.setdiff1d(np.arange(n), np.append(blanket, x))
            if len(outside):
                row[outside] = log_odds(self.fixed(x, outside, blanket))
            if len(blanket):
                row[blanket] = log_odds(self.round_robin(x, blanket))
        return out

    def pairs(self, sigma: Floats, n_threads: int = 1) -> bool:
        """Fill in σ_xy of all pairs, nothing given, if there is a way that is shorter than rows."""
        return False


def log_odds(answers: Answers) -> Floats:
    """Return t = log Pr(dependent) - log Pr(independent), if the answers hold posteriors that are finite."""
    yes, no = answers.log_independent, answers.log_dependent
    if yes is None or no is None:
        raise RequestError("the test has no posteriors; the IB-score needs log_independent and log_dependent")
    if not ((yes <= 0) & (no <= 0) & (yes > -np.inf) & (no > -np.inf)).all():
        raise RequestError(
            "the test returned something that is not the logarithm of a probability above 0; "
            "leave some doubt in every answer, or all graphs score minus infinity"
        )
    return no - yes


@runtime_checkable
class IndependenceTest(Protocol):
    """A test of conditional independence: options, and ``bind``."""

    @property
    def name(self) -> str:
        """What provenance shows: the test and its options."""
        ...

    @property
    def has_posteriors(self) -> bool:
        """Whether the answers hold ``log_independent`` and ``log_dependent``."""
        ...

    def bind(self, engine: Engine) -> BoundTest:
        """Bind the test to an engine."""
        ...


class Parameters:
    """What scikit-learn asks of an object with options: that they can be read, and set by name.

    So ``GridSearchCV`` can choose among ``test__prior_counts``, as among options of the learner.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options of the constructor."""
        names = signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def set_params(self, **chosen: Any) -> Self:
        """Set some of these options; return self."""
        known = self.get_params()
        for name, value in chosen.items():
            if name not in known:
                options = ", ".join(known)
                raise RequestError(f"{type(self).__name__} has no option {name!r}; there are {options}")
            setattr(self, name, value)
        return self


class TableTest(Parameters):
    """A test that looks at tables of counts: subclass it and write ``evaluate``.

    Examples
    --------
    >>> class Agreement(TableTest):
    ...     name = "agreement"
    ...     def evaluate(self, tables, cardinalities):
    ...         n = tables.n_rows.astype(float)
    ...         return Answers(independent=n < 10, strength=n)
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> bound = Agreement().bind(MemoryEngine(load(np.eye(3, dtype=int))))
    >>> bound.fixed(0, np.array([1, 2]), np.array([], dtype=int)).independent
    array([ True,  True])
    """

    name: str
    has_posteriors = False

    def evaluate(self, tables: Tables, cardinalities: Ints) -> Answers:
        """Answer one question per table."""
        raise TypeError(f"{type(self).__name__} must define evaluate(tables, cardinalities)")

    def bind(self, engine: Engine) -> BoundTest:
        """Bind the test to an engine."""
        require_levels(engine)
        return BoundTableTest(self, engine)


def require_levels(engine: Engine) -> None:
    """Refuse an engine of continuous variables: there is nothing to count."""
    if engine.schema.is_continuous:
        raise RequestError(COUNTS_NOTHING)


class BoundTableTest(BoundTest):
    """A test of tables, bound to an engine: it answers any batch of questions."""

    def __init__(self, test: TableTest, engine: Engine) -> None:
        self.test, self.engine = test, engine
        self.levels = engine.schema.cardinalities

    def evaluate(self, tables: Tables) -> Answers:
        """Answer one question per table."""
        return self.test.evaluate(tables.closed(), self.levels)

    def answers(self, questions: Questions) -> Answers:
        """Answer a batch of questions, in one trip to the engine."""
        return self.evaluate(ask(self.engine, questions))

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        return self.answers(Questions.fixed(x, ys, given))

    def round_robin(self, x: int, members: Ints) -> Answers:
        """Test x against each member, given the other members: margins of one table."""
        return self.evaluate(ask(self.engine, Questions.fixed(x, (), members)).margins())

    def each(self, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Bools:
        """Decide about pairs, each given the first so many of a row: one trip to the engine."""
        return self.answers(Questions.each(xs, ys, given, sizes)).independent

    def log_odds(self, n: int, xs: Ints, blankets: Sequence[Ints]) -> Floats:
        """Return t_xy of some x and all y: one trip; tables of members are margins of those outside."""
        tables = ask(self.engine, Questions.rows(xs.tolist(), blankets, n))
        return tables.spread(n, lambda some: log_odds(self.evaluate(some)))

    def pairs(self, sigma: Floats, n_threads: int = 1) -> bool:
        """Fill in σ_xy of all pairs, nothing given; the test is asked about each pair once."""
        sigma[:] = 0.0
        for tables in self.engine.pairs():
            answers = self.evaluate(checked(tables, self.engine.schema))
            sigma[tables.x, tables.y] = -np.logaddexp(0.0, log_odds(answers))
        sigma += sigma.T
        return True


class FunctionTest:
    """A test that is a plain function of column indices: ``function(x, y, given) -> log Pr(x ⊥ y | given)``.

    Parameters
    ----------
    function : callable
        Returns the natural logarithm of a probability.
    name : str
        Name of the test in results.

    Examples
    --------
    >>> coin = FunctionTest(lambda x, y, given: np.log(0.9))
    >>> coin.bind(None).fixed(0, np.array([1, 2]), np.array([], dtype=int)).independent
    array([ True,  True])
    """

    has_posteriors = True

    def __init__(self, function: Callable[[int, int, tuple[int, ...]], float], name: str = "") -> None:
        self.function = function
        if not isinstance(name, str):
            raise RequestError(f"name must be a string, not {in_short(name)}")
        self.name = name or f"function {getattr(function, '__name__', type(function).__name__)}"

    def bind(self, engine: Engine | None) -> BoundTest:
        """Return the bound test; the function knows its own table."""
        if not callable(self.function):
            raise RequestError(f"function must be a function of (x, y, given), not {in_short(self.function)}")
        return PairwiseTest(self.function)


class PairwiseTest(BoundTest):
    """A bound test that asks one question at a time: ``log_posterior(x, y, given)`` is log Pr(x ⊥ y)."""

    def __init__(self, log_posterior: Callable[[int, int, tuple[int, ...]], float]) -> None:
        self._log_posterior = log_posterior

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        return self._answers(x, [(int(y), _sorted(given)) for y in ys])

    def round_robin(self, x: int, members: Ints) -> Answers:
        """Test x against each member, given the other members."""
        return self._answers(x, [(int(y), _sorted(z for z in members if z != y)) for y in members])

    def all_subsets(self, x: int, y: int, pool: Ints, max_size: int | None = None) -> Ints | None:
        """Return the first subset of the pool, smallest first, that makes x and y independent; or None."""
        largest = len(pool) if max_size is None else min(max_size, len(pool))
        for size in range(largest + 1):
            for subset in combinations([int(z) for z in pool], size):
                if self._answers(x, [(y, subset)]).independent[0]:
                    return np.array(subset, np.int64)
        return None

    def _answers(self, x: int, questions: Sequence[tuple[int, tuple[int, ...]]]) -> Answers:
        found = [self._log_posterior(x, y, given) for y, given in questions]
        for one in found:
            if not _checks.is_number(one) or one > 0:
                raise RequestError(
                    f"the test returned {in_short(one)}, which is not the logarithm of a probability"
                )
        log_p = np.array(found, np.float64)
        return answers_from_posteriors(log_p, log_one_minus_exp(log_p))


def answers_from_posteriors(
    log_independent: Floats, log_dependent: Floats, log_threshold: Floats | float = -0.6931471805599453
) -> Answers:
    """Answers of a Bayesian test: independent if the posterior exceeds the threshold."""
    with np.errstate(invalid="ignore"):
        strength = log_dependent - log_independent
    return Answers(log_independent > log_threshold, strength, log_independent, log_dependent)


def log_one_minus_exp(log_p: Floats) -> Floats:
    """Return log(1 - e**log_p), accurate at both ends."""
    with np.errstate(divide="ignore"):
        return np.where(log_p > -np.log(2), np.log(-np.expm1(log_p)), np.log1p(-np.exp(log_p)))


def _sorted(given: Any) -> tuple[int, ...]:
    return tuple(sorted(int(z) for z in given))
