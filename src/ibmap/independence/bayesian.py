"""The Bayesian test of conditional independence (SPEC section 1): options in, log posteriors out."""

from copy import copy

import numpy as np
from numpy.typing import ArrayLike

from ibmap._text import one_of
from ibmap._types import Floats, Ints
from ibmap.data import Schema
from ibmap.engines import Engine, MemoryEngine, Tables
from ibmap.engines.memory import new_sets
from ibmap.engines.questions import as_indices, subset_batches
from ibmap.errors import RequestError
from ibmap.independence.base import Answers, BoundTableTest, Parameters, require_levels
from ibmap.kernels import questions as _questions
from ibmap.kernels.bayes_model import Model, Scratch, fill_table
from ibmap.kernels.cells import posteriors_of_tables
from ibmap.kernels.context import Context
from ibmap.kernels.records import Sets

PRIOR_COUNTS = ("ones", "consistent", "jeffreys", "bdeu")
COMBINATIONS = ("slices", "global")
SLICES = ("observed", "all")
TIES = ("independent", "dependent")

COUNTS = 1 << 16  #: counts that are made before they are scored
MOST_TOTALS = 1 << 21  #: numbers that tables of log Γ may hold for the sake of the totals of slices
TIE = 1e-9  #: a posterior that is closer than this to the prior says nothing


class BayesianTest(Parameters):
    """Posterior probability that X and Y are independent given Z, from counts alone.

    Each observed configuration of Z is a slice. In a slice, independence has the marginal likelihood of two
    Dirichlet-multinomials, dependence that of one over all cells. Independence must hold in every slice.

    Parameters
    ----------
    prior : float or array of shape (n_variables, n_variables)
        Prior probability of independence, one for all pairs or one for each.
    prior_counts : {"ones", "consistent", "jeffreys", "bdeu"} or float
        Dirichlet parameters of the cells and the margins. "consistent": 1 for each cell, and the margins that
        follow from it; "bdeu": one row, spread evenly; a number: that number everywhere.
    combine : {"slices", "global"}
        Whether slices may differ in being independent, or one Bayes factor decides for all of them.
    slices : {"observed", "all"}
        Whether configurations that no row has count as slices too.
    ties : {"independent", "dependent"}
        What to decide where the data say nothing and the posterior equals the prior.

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
        """What provenance shows: the options that are not the default."""
        prior = self.prior if np.ndim(self.prior) == 0 else "per pair"
        now = (prior, self.prior_counts, self.combine, self.slices, self.ties)
        default = (0.5, "ones", "slices", "observed", "independent")
        names = ("prior", "prior_counts", "combine", "slices", "ties")
        said = [f"{n}={v}" for n, v, d in zip(names, now, default, strict=True) if v != d]
        return f"bayesian({', '.join(said)})" if said else "bayesian"

    def __repr__(self) -> str:
        return f"<{self.name} test>"

    def bind(self, engine: Engine) -> "BoundBayesianTest":
        """Bind the test to an engine: tabulate the log-gamma function for its prior counts.

        Rows in the memory of this process are counted and scored by compiled kernels in one go.
        """
        for option, values in (
            ("combine", COMBINATIONS),
            ("slices", SLICES),
            ("ties", TIES),
        ):
            if getattr(self, option) not in values:
                raise RequestError(f"{option} must be {one_of(values)}, not {getattr(self, option)!r}")
        require_levels(engine)
        if isinstance(engine, MemoryEngine):
            return CompiledBayesianTest(self, engine)
        return BoundBayesianTest(self, engine)


class BoundBayesianTest(BoundTableTest):
    """The Bayesian test of tables, from whatever engine they come."""

    def __init__(self, test: BayesianTest, engine: Engine) -> None:
        self.engine = engine
        self.levels = engine.schema.cardinalities
        self.model = _model(test, engine.schema)
        self.ties_are_independent = test.ties == "independent"
        self.context = self.new_context()

    def new_context(self) -> Context:
        """Return what kernels need to score tables."""
        n_levels = int(self.levels.max(initial=1))
        return Context(None, None, self.model, _scratch(len(self.levels), n_levels))

    def evaluate(self, tables: Tables) -> Answers:
        """Answer one question per table."""
        yes, no, xs = np.empty(len(tables)), np.empty(len(tables)), tables.x
        possible = tables.log_possible if self.model.every_slice else yes  # otherwise nobody looks at it
        posteriors_of_tables(
            self.context.numbers, xs, tables.y, possible, tables.start, tables.cells, yes, no
        )
        return self._answers(xs, tables.y, yes, no)

    def log_threshold(self, x: int | Ints, ys: Ints) -> Floats:
        """Return what log Pr(x ⊥ y) must exceed for x and y to count as independent."""
        log_prior = self.model.log_prior
        at_prior = np.full(ys.size, log_prior[0, 0]) if len(log_prior) == 1 else log_prior[x, ys]
        return at_prior + (-TIE if self.ties_are_independent else TIE)

    def _answers(self, x: int | Ints, ys: Ints, yes: Floats, no: Floats) -> Answers:
        return Answers(yes > self.log_threshold(x, ys), no - yes, yes, no)


class CompiledBayesianTest(BoundBayesianTest):
    """The Bayesian test on bits in memory. Not for several threads at once: :meth:`for_thread` copies it."""

    def __init__(self, test: BayesianTest, engine: MemoryEngine) -> None:
        self.packed = engine.packed
        super().__init__(test, engine)

    def new_context(self) -> Context:
        """Return what kernels need, with a workspace for one thread."""
        sets, scratch = self.workspace()
        return Context(self.packed, sets, self.model, scratch)

    def workspace(self) -> tuple[Sets, Scratch]:
        """Return new buffers for one thread."""
        blocks, n_rows = self.packed.blocks, self.packed.n_rows
        widest, stride = 8, 8
        if len(blocks):
            widest += int(((blocks[:, 0] - 1) * blocks[:, 4]).max())
            stride += int(blocks[:, 4].max())
        n_levels = int(self.levels.max(initial=1))
        return new_sets(n_rows), _scratch(len(self.levels), n_levels, n_rows, widest, stride)

    def for_thread(self) -> "CompiledBayesianTest":
        """Return the same test with buffers of its own, for another thread."""
        other = copy(self)
        other.context = self.new_context()
        return other

    def fixed(self, x: int, ys: ArrayLike, given: ArrayLike) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        ys, given = self._indices(x, ys), self._indices(x, given)
        yes, no = np.empty(ys.size), np.empty(ys.size)
        _questions.fixed_posteriors(self.context.numbers, x, ys, given, yes, no)
        return self._answers(x, ys, yes, no)

    def round_robin(self, x: int, members: ArrayLike) -> Answers:
        """Test x against each member, given the other members."""
        members = self._indices(x, members)
        yes, no = np.empty(members.size), np.empty(members.size)
        _questions.round_robin(self.context.numbers, x, members, yes, no)
        return self._answers(x, members, yes, no)

    def all_subsets(self, x: int, y: int, pool: ArrayLike, max_size: int | None = None) -> Ints | None:
        """Return the first subset of the pool, smallest first, that makes x and y independent; or None."""
        pool, _ = self._indices(x, pool), self._indices(x, [y])
        threshold = self.log_threshold(x, np.array([y]))
        for given in subset_batches(pool, max_size):
            found_at = _questions.first_separating(self.context.numbers, x, y, given, threshold)
            if found_at >= 0:
                return np.asarray(given[found_at])
        return None

    def _indices(self, x: int, others: ArrayLike) -> Ints:
        as_indices([x], len(self.levels))
        return as_indices(others, len(self.levels))


def _scratch(n: int, n_levels: int, n_rows: int = 1, widest: int = 8, stride: int = 8) -> Scratch:
    """Return buffers for n variables; for tables of cells the defaults do, for bits a block must fit."""
    n_sets = max(2, COUNTS // (widest + 64)) if n_rows > 1 else 1
    return Scratch(
        np.empty((n_sets, widest + 64), np.int32),
        np.empty(n_sets, np.int64),
        np.zeros(2, np.int64),
        np.empty(widest, np.int32),
        np.empty(widest, np.int32),
        np.empty(stride, np.int32),
        np.empty(stride),
        np.empty(stride),
        np.empty(stride),
        np.empty(stride),
        np.zeros(n_levels, np.int64),
        np.empty(n, np.int64),
        np.empty(max(1, n_rows)),
        np.empty(n),
        np.empty(n),
    )


def _model(test: BayesianTest, schema: Schema) -> Model:
    """Number the distinct cardinalities and tabulate log Γ for every prior count that they need."""
    levels = schema.cardinalities
    distinct, kind = np.unique(levels, return_inverse=True)
    rows = np.repeat(distinct[:, None].astype(float), len(distinct), axis=1)
    columns = rows.T
    cell, margin = _prior_counts(test.prior_counts, rows, columns)
    totals = (cell * rows * columns, margin * rows)
    parameters = {*cell.ravel().tolist(), *margin.ravel().tolist()}
    with_totals = parameters.union(totals[0].ravel().tolist(), totals[1].ravel().tolist())
    if len(with_totals) * schema.n_rows <= MOST_TOTALS:
        parameters = with_totals
    ascending = sorted(parameters)
    tables = np.empty((len(ascending), schema.n_rows + 1))
    for parameter, table in zip(ascending, tables, strict=True):
        fill_table(parameter, table)

    position = {parameter: k for k, parameter in enumerate(ascending)}

    def which(values: Floats) -> Ints:
        found = [position.get(value, -1) for value in values.ravel().tolist()]
        return np.array(found, np.int64).reshape(values.shape)

    of_totals = which(totals[0]), which(totals[1])
    if parameters is not with_totals:
        of_totals = np.full_like(of_totals[0], -1), np.full_like(of_totals[1], -1)
    return Model(
        kind.reshape(-1).astype(np.int64),
        distinct.astype(np.int64),
        tables,
        which(cell),
        which(margin),
        *totals,
        *of_totals,
        log_prior_of(test.prior, len(levels)),
        test.slices == "all",
        test.combine == "global",
    )


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
