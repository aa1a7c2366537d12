"""The Bayesian test of conditional independence (Margaritis and Bromberg 2009): log posteriors."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _checks
from ibmap._core import Bayes, Table
from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Questions, Tables
from ibmap.engines.questions import NONE, subset_batches
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists
from ibmap.errors import RequestError
from ibmap.independence.base import Answers, BoundTableTest, Parameters, require_levels

PRIOR_COUNTS = ("ones", "consistent", "jeffreys", "bdeu")
COMBINATIONS = ("slices", "global")
SLICES = ("observed", "all")
TIES = ("independent", "dependent")

TIE = 1e-9  #: a posterior that is closer than this to the prior says nothing


class BayesianTest(Parameters):
    """Posterior probability that X and Y are independent given Z, from counts alone.

    Each observed configuration of Z is a slice. In a slice, the marginal likelihood of independence is that
    of two Dirichlet-multinomials, one for each margin; that of dependence is one over all cells. X and Y are
    independent if they are so in every slice.

    Parameters
    ----------
    prior : float or array of shape (n_variables, n_variables)
        Prior probability of independence, one for all pairs or one for each.
    prior_counts : {"ones", "consistent", "jeffreys", "bdeu"} or float
        Dirichlet parameters of the cells and the margins. "consistent": 1 for each cell, and the margins that
        follow from it; "bdeu": one row, spread evenly; a number: that number everywhere.
    combine : {"slices", "global"}
        "slices": X and Y may be independent in some slices and dependent in others; "global": one Bayes
        factor for all slices together.
    slices : {"observed", "all"}
        "all": configurations without any row are slices, too.
    ties : {"independent", "dependent"}
        The decision if the posterior equals the prior, because the data say nothing.

    Examples
    --------
    >>> from ibmap.engines import MemoryEngine
    >>> from ibmap.data import load
    >>> table = np.repeat([[0, 0], [1, 1]], 4, axis=0)
    >>> answers = BayesianTest().bind(MemoryEngine(load(table))).fixed(0, [1], [])
    >>> answers.independent, np.exp(answers.log_dependent).round(4)
    (array([False]), array([0.9717]))
    """

    has_posteriors = True

    def __init__(
        self,
        *,
        prior: float | ArrayLike = 0.5,
        prior_counts: str | float = "ones",
        combine: str = "slices",
        slices: str = "observed",
        ties: str = "independent",
    ) -> None:
        self.prior = prior
        self.prior_counts = prior_counts
        self.combine = combine
        self.slices = slices
        self.ties = ties

    @property
    def name(self) -> str:
        """The name, with the options that are not the default."""
        prior = self.prior if np.ndim(self.prior) == 0 else "per pair"
        now = (prior, self.prior_counts, self.combine, self.slices, self.ties)
        default = (0.5, "ones", "slices", "observed", "independent")
        names = ("prior", "prior_counts", "combine", "slices", "ties")
        said = [f"{n}={v}" for n, v, d in zip(names, now, default, strict=True) if np.ndim(v) or v != d]
        return f"bayesian({', '.join(said)})" if said else "bayesian"

    def __repr__(self) -> str:
        return f"<{self.name} test>"

    def bind(self, engine: Engine) -> "BoundBayesianTest":
        """Bind the test to an engine: tabulate the log-gamma function for its prior counts.

        Rows in the memory of this process are counted and scored by the core in one go.
        """
        for option, values in (
            ("combine", COMBINATIONS),
            ("slices", SLICES),
            ("ties", TIES),
        ):
            _checks.word(getattr(self, option), option, values)
        require_levels(engine)
        return BoundBayesianTest(self, engine) if engine.table is None else CompiledBayesianTest(self, engine)


class BoundBayesianTest(BoundTableTest):
    """The Bayesian test of tables, from whatever engine they come; any number of threads may ask it."""

    test: BayesianTest  # type: ignore[assignment]

    def __init__(self, test: BayesianTest, engine: Engine) -> None:
        self.test, self.engine = test, engine
        self.levels = engine.schema.cardinalities
        self.log_prior = log_prior_of(test.prior, len(self.levels))
        self.margin = -TIE if test.ties == "independent" else TIE  #: above the log prior of independence
        self.core = Bayes(
            np.array(self.levels, np.int64),
            engine.schema.n_rows,
            self.log_prior,
            *prior_counts_of(test, self.levels),
            test.slices == "all",
            test.combine == "global",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.test, self.engine)

    def evaluate(self, tables: Tables) -> Answers:
        """Answer one question per table."""
        possible = tables.log_possible if self.test.slices == "all" else None  # otherwise nobody looks at it
        found = self.core.posteriors_of_cells(tables.x, tables.y, tables.start, tables.cells, possible)
        return self._answers(tables.x, tables.y, *found)

    def log_threshold(self, x: int | Ints, ys: Ints) -> Floats:
        """Return what log Pr(x ⊥ y) must exceed for x and y to count as independent."""
        log_prior = self.log_prior
        at_prior = np.full(ys.size, log_prior[0, 0]) if len(log_prior) == 1 else log_prior[x, ys]
        return at_prior + self.margin

    def _answers(self, x: int | Ints, ys: Ints, yes: Floats, no: Floats) -> Answers:
        return Answers(yes > self.log_threshold(x, ys), no - yes, yes, no)


class CompiledBayesianTest(BoundBayesianTest):
    """The Bayesian test on bits in memory."""

    takes_threads = True

    @property
    def table(self) -> Table:
        """The rows as bits."""
        return cast(Table, self.engine.table)

    def answers(self, questions: Questions) -> Answers:
        """Answer a batch of questions."""
        asked = questions.check(len(self.levels))
        found = self.core.posteriors(
            self.table, asked.x, asked.y_start, asked.y, asked.given_start, asked.given
        )
        return self._answers(asked.x_of_table, asked.y, *found)

    def round_robin(self, x: int, members: ArrayLike) -> Answers:
        """Test x against each member, given the other members."""
        ys = Questions.fixed(x, (), members).check(len(self.levels)).given
        ends = np.array([0, len(ys)])
        nobody = np.zeros(2, np.int64), NONE
        rows = self.core.rows(self.table, np.array([x]), ends, ys, np.inf, *nobody, members_only=True)
        return self._answers(x, ys, -np.logaddexp(0.0, rows[2]), -np.logaddexp(0.0, -rows[2]))

    def all_subsets(self, x: int, y: int, pool: ArrayLike, max_size: int | None = None) -> Ints | None:
        """Return the first subset of the pool, smallest first, that makes x and y independent; or None."""
        asked = Questions.fixed(x, [y], pool).check(len(self.levels))
        threshold = float(self.log_threshold(x, asked.y)[0])
        for given in subset_batches(asked.given, max_size):
            found_at = self.core.first_independent(self.table, x, y, given, threshold)
            if found_at >= 0:
                return np.asarray(given[found_at])
        return None

    def first_dependent(self, x: int, ys: Ints, given: Ints) -> int | None:
        """Return the position of the first y that is dependent on x; None if there is none."""
        found = self.core.first_dependent(self.table, x, ys, given, self.margin)
        return found if found >= 0 else None

    def first_independent(self, x: int, members: Ints) -> int | None:
        """Return the position of the first member that is independent given the others; None if none is."""
        found = self.core.first_independent_member(self.table, x, members, self.margin)
        return found if found >= 0 else None

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
        """Return the log odds of dependence of some x and the others, each given its blanket."""
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        which, floor = np.asarray(xs, np.int64), np.inf if exact else floor
        return Rows(*self.core.rows(self.table, which, *given, floor, *others, n_threads=n_threads))

    def pairs(self, sigma: Floats, n_threads: int = 1) -> bool:
        """Fill in σ_xy of all pairs, nothing given: every pair of columns is counted once."""
        self.core.fill_unconditional(self.table, sigma, n_threads)
        return True


def prior_counts_of(test: BayesianTest, levels: Ints) -> tuple[Floats, Floats]:
    """Return γ and α for all numbers of levels that occur: prior count of a cell, and of a level of x."""
    distinct = np.unique(levels).astype(float)
    rows = np.repeat(distinct[:, None], len(distinct), axis=1)
    cell, margin = _prior_counts(test.prior_counts, rows, rows.T)
    return np.ascontiguousarray(cell), np.ascontiguousarray(margin)


def _prior_counts(choice: str | float, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """Return γ and α for every I × J table: prior count of a cell, and of a level of the first variable."""
    ones = np.ones_like(rows)
    if isinstance(choice, str):
        if choice not in PRIOR_COUNTS:
            raise RequestError(
                f"prior_counts must be a positive number or one of {', '.join(PRIOR_COUNTS)}, not {choice!r}"
            )
        return {
            "ones": (ones, ones),
            "consistent": (ones, columns),
            "jeffreys": (ones / 2, ones / 2),
            "bdeu": (1 / (rows * columns), 1 / rows),
        }[choice]
    if not isinstance(choice, int | float | np.number) or not 0 < choice < np.inf:
        raise RequestError(f"prior_counts must be positive, or a name, not {choice!r}")
    return choice * ones, choice * ones


def log_prior_of(prior: float | ArrayLike, n: int) -> Floats:
    """Return the log prior probability of independence: one number, or one for each pair of n variables.

    Examples
    --------
    >>> np.exp(log_prior_of(0.25, 3)).tolist()
    [[0.25]]
    """
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise RequestError(f"prior must be a probability or a matrix of them, not {prior!r}") from None
    if values.ndim == 0:
        values = values.reshape(1, 1)
    elif values.shape != (n, n):
        raise RequestError(f"prior must be a number or a matrix of shape {(n, n)}, not {values.shape}")
    else:
        values = values.copy()
        np.fill_diagonal(values, 0.5)
        if np.isfinite(values).all() and not np.array_equal(values, values.T):
            i, j = np.argwhere(values != values.T)[0]
            raise RequestError(f"the prior of columns {i} and {j} differs from that of {j} and {i}")
    if not ((values > 0) & (values < 1)).all():
        raise RequestError("the prior of independence must lie strictly between 0 and 1")
    return np.log(values)
