"""Scores of directed acyclic graphs: a sum over families, a variable with its parents (BIC, BDeu)."""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, MemoryEngine, Questions, Tables, ask
from ibmap.engines.engine import checked
from ibmap.engines.memory import new_sets
from ibmap.errors import RequestError
from ibmap.kernels.bayes_model import fill_table
from ibmap.kernels.context import counting_context
from ibmap.kernels.splitting import evidence_of_tables, family_row
from ibmap.scores.families import log_prior_odds
from ibmap.scores.local_score import spread_rows

DIRECTED_SCORES = ("bic", "bdeu")  #: the Bayesian information criterion; the marginal likelihood
LARGEST = 1e260  #: configurations of parents that are still told from more
MOST_LOGS = 1 << 25  #: values of functions of counts that are kept


class DirectedScore:
    """A score of families, bound to an engine: s_x(P) is a sum over the observed slices of the parents P.

    t_xy is what y gains as a parent of x beside its other parents, on the rows that know x, y and these.
    Scores speak of the number of possible slices, the product q of the levels. Subclasses say which functions
    of counts are added up, and what parameters cost; x has r levels, y has s.

    Attributes
    ----------
    n : int
        Number of variables.
    tolerance : float
        Differences between gains that are not larger may come from rounding.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self.n = engine, engine.schema.n_variables
        self.prior_odds: Floats = np.zeros((1, 1))  #: log prior odds of an arc: of all alike, or of each
        rows = engine.schema.n_rows
        self._levels = np.asarray(engine.schema.cardinalities, float)
        self._logs = np.empty((0, rows + 1))
        self.tolerance = max(1e-9, 1e-12 * rows * log(max(rows, 1)))
        if isinstance(engine, MemoryEngine):
            self._context, self._arrays = counting_context(engine.packed, new_sets(rows))
            self._reached = np.full(6 + self.n, -1, np.int64)

    def which(self, q: Floats, r: Floats, s: Floats) -> Ints:
        """Return the rows of ``_logs`` for cells, rows of x, columns of y and slices: shape (4, tables)."""
        raise TypeError(f"{type(self).__name__} must define which(q, r, s)")

    def cost(self, q: Floats, r: Floats, s: Floats, rows: Ints) -> Floats:
        """Return what the parameters cost that y brings, in tables with so many rows."""
        raise TypeError(f"{type(self).__name__} must define cost(q, r, s, rows)")

    def values(self, tables: Tables) -> Floats:
        """Return s_x(P) of every question."""
        raise TypeError(f"{type(self).__name__} must define values(tables)")

    def evidence(self, tables: Tables) -> Floats:
        """Return t_xy of every table."""
        q = _possible(tables.log_possible)
        r, s = self._levels[tables.x], self._levels[tables.y]
        out, rows, which = np.empty(len(tables)), np.empty(len(tables), np.int64), self.which(q, r, s)
        most = int(tables.levels.max(initial=1))
        evidence_of_tables(self._logs, which, most, tables.start, tables.cells, out, rows)
        return out - self.cost(q, r, s, rows)

    def pairs(self) -> Floats:
        """Return t_xy of variables without parents; t_xy = t_yx."""
        out = np.zeros((self.n, self.n))
        for tables in self.engine.pairs():
            found = self.evidence(checked(tables, self.engine.schema))
            out[tables.x, tables.y] = out[tables.y, tables.x] = found
        out += self.prior_odds
        np.fill_diagonal(out, 0.0)
        return out

    def row(self, x: int, parents: Ints) -> Floats:
        """Return t_xy of all y, given the parents of x, with the prior odds; 0 for x itself."""
        if isinstance(self.engine, MemoryEngine):
            out = self._row_in_memory(x, parents)
        else:
            tables = ask(self.engine, Questions.rows([x], [parents], self.n))
            out = np.asarray(spread_rows(tables, self.n, self.evidence)[0])
        out += self.prior_odds[x if len(self.prior_odds) > 1 else 0]
        out[x] = 0.0
        return out

    def _row_in_memory(self, x: int, parents: Ints) -> Floats:
        """The same, without lists of cells."""
        q = np.full(self.n, min(self._levels[parents].prod(), LARGEST))
        q[parents] = np.maximum(q[parents] / self._levels[parents], 1.0)
        r, out, rows = np.full(self.n, self._levels[x]), np.empty(self.n), np.empty(self.n, np.int64)
        which = self.which(q, r, self._levels)
        family_row(self._context, self._reached, self._logs, which, x, parents, out, rows)
        out -= self.cost(q, r, self._levels, rows)
        return out

    def total(self, parents: Sequence[Ints]) -> float:
        """Return the score of a directed graph: Σ s_x(P_x), each on the rows that know x and its parents.

        The prior odds of its arcs are in it.
        """
        none = np.empty(0, np.int64)
        asked = Questions.of([(x, none, mine) for x, mine in enumerate(parents)])
        arcs = np.zeros((self.n, self.n), bool)
        for x, mine in enumerate(parents):
            arcs[x, mine] = True
        prior = float((self.prior_odds * arcs).sum())
        return float(self.values(ask(self.engine, asked)).sum()) + prior if len(asked) else 0.0

    def _sums(self, tables: Tables, of_sets: Ints, of_slices: Ints) -> tuple[Floats, Ints]:
        """Return, of every question, Σ f(rows of a set) - Σ g(rows of a slice), and the rows."""
        asked, slices = tables.answered()
        owner = np.repeat(np.arange(len(asked)), np.diff(slices.set_start))
        k, _, size = slices.sets
        per_slice = np.bincount(slices.start[owner] + k, size, minlength=int(slices.start[-1])).astype(int)
        of_slice = np.repeat(np.arange(len(asked)), np.diff(slices.start))
        plus = np.bincount(owner, self._logs[of_sets[owner], size], minlength=len(asked))
        minus = np.bincount(of_slice, self._logs[of_slices[of_slice], per_slice], minlength=len(asked))
        return np.asarray(plus - minus, float), np.bincount(owner, size, minlength=len(asked)).astype(
            np.int64
        )

    def _configurations(self, asked: Questions) -> Floats:
        """Return how many configurations the conditioning set of every question could have."""
        sums = np.concatenate([[0.0], np.cumsum(np.log(self._levels[asked.given]))])
        return _possible(sums[asked.given_start[1:]] - sums[asked.given_start[:-1]])


class BICScore(DirectedScore):
    """s_x(P) = log-likelihood - ½ log N (r - 1) q: N rows, r levels of x, q possible configurations of P.

    Examples
    --------
    >>> from ibmap.data import load
    >>> score = BICScore(MemoryEngine(load({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5})))
    >>> score.pairs()[0, 1].round(4)  # 20 log 2 - ½ log 20
    np.float64(12.3651)
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        n = np.arange(engine.schema.n_rows + 1.0)
        self._logs = (n * np.log(np.maximum(n, 1.0)))[None]

    def which(self, q: Floats, r: Floats, s: Floats) -> Ints:
        """Return the one row there is: n log n."""
        return np.zeros((4, len(q)), np.int64)

    def cost(self, q: Floats, r: Floats, s: Floats, rows: Ints) -> Floats:
        """Return ½ log N for each parameter: (r - 1) (s - 1) q."""
        return np.asarray(_half_log(rows) * (r - 1) * (s - 1) * q)

    def values(self, tables: Tables) -> Floats:
        """Return s_x(P) of every question."""
        asked = tables.answered()[0]
        none = np.zeros(len(asked), np.int64)
        likelihood, rows = self._sums(tables, none, none)
        n_parameters = (self._levels[asked.x] - 1) * self._configurations(asked)
        return np.asarray(likelihood - _half_log(rows) * n_parameters)


class BDeuScore(DirectedScore):
    """The marginal likelihood of x given P, with prior counts that add up to an equivalent sample size a.

    s_x(P) = Σ_l [log Γ(a / q) - log Γ(a / q + n_l) + Σ_i log Γ(a / rq + n_il) - log Γ(a / rq)] over the
    observed configurations l of P; r levels of x, q possible configurations.

    Examples
    --------
    >>> from ibmap.data import load
    >>> score = BDeuScore(MemoryEngine(load({"a": [0, 1], "b": [0, 1]})), 2.0)
    >>> round(score.total([np.array([], int)] * 2), 4)  # 2 log 1/6: of each, a level has 1 of 2, then 1 of 3
    -3.5835
    """

    def __init__(self, engine: Engine, equivalent_sample_size: float) -> None:
        super().__init__(engine)
        self._size, self._row_of = float(equivalent_sample_size), dict[float, int]()

    def which(self, q: Floats, r: Floats, s: Floats) -> Ints:
        """Return rows of log Γ(a / m + n) - log Γ(a / m): m is qrs, qr, qs and q."""
        return self._rows_for(np.stack([q * r * s, q * r, q * s, q]))

    def cost(self, q: Floats, r: Floats, s: Floats, rows: Ints) -> Floats:
        """Return zeros: the marginal likelihood knows the price of its parameters."""
        return np.zeros(len(q))

    def values(self, tables: Tables) -> Floats:
        """Return s_x(P) of every question."""
        asked = tables.answered()[0]
        q = self._configurations(asked)
        of_sets, of_slices = self._rows_for(np.stack([q * self._levels[asked.x], q]))
        return self._sums(tables, of_sets, of_slices)[0]

    def _rows_for(self, parts: Floats) -> Ints:
        """Return the rows of ``_logs`` for all m of an array; those that are new are filled."""
        distinct, where = np.unique(parts, return_inverse=True)
        wanted = distinct.tolist()
        if any(m not in self._row_of for m in wanted):
            self._make_place(wanted)
        return np.array([self._row_of[m] for m in wanted], np.int64)[where.reshape(parts.shape)]

    def _make_place(self, wanted: list[float]) -> None:
        """Fill rows for all m that are wanted; the others may go."""
        length = self._logs.shape[1]
        if (len(self._row_of) + len(wanted)) * length > MOST_LOGS:
            self._logs, self._row_of = np.empty((0, length)), {}
        new, n = [m for m in wanted if m not in self._row_of], len(self._row_of)
        if n + len(new) > len(self._logs):
            more = np.empty((max(n + len(new), 2 * len(self._logs)), length))
            more[:n] = self._logs[:n]
            self._logs = more
        for i, m in enumerate(new, start=n):
            fill_table(self._size / m, self._logs[i])
            self._row_of[m] = i


def _half_log(rows: Ints) -> Floats:
    return np.asarray(np.log(np.maximum(rows, 1)) / 2)


def _possible(logs: Floats) -> Floats:
    """Return numbers of configurations from their logarithms; they are whole."""
    return np.rint(np.exp(np.minimum(logs, log(LARGEST))))


def arc_odds(n: int, expected_neighbours: object, prior: ArrayLike | None = None) -> Floats:
    """Return the log prior odds of an arc: those of an edge, shared by its two directions.

    Examples
    --------
    >>> arc_odds(8, 2.0).round(3)  # as likely as not that an edge of probability 1/4 points this way
    array([[-1.792]])
    """
    number = expected_neighbours
    if isinstance(number, bool) or not isinstance(number, int | float | np.number) or not 0 < number < np.inf:
        raise RequestError(f"expected_neighbours must be a positive number, not {number!r}")
    return log_prior_odds(n, float(number), prior) - log(2)


def directed_score(name: object, engine: Engine, equivalent_sample_size: float = 1.0) -> DirectedScore:
    """Return a score by its name in ``DIRECTED_SCORES``, bound to an engine; no arc is likelier than none."""
    size = equivalent_sample_size
    if isinstance(size, bool) or not isinstance(size, int | float | np.number) or not 0 < size < np.inf:
        raise RequestError(f"equivalent_sample_size must be a positive number, not {size!r}")
    if name == "bic":
        if size != 1.0:
            raise RequestError("equivalent_sample_size belongs to the score 'bdeu': 'bic' has none")
        return BICScore(engine)
    if name == "bdeu":
        return BDeuScore(engine, size)
    raise RequestError(f"score must be 'bic' or 'bdeu', not {name!r}")
