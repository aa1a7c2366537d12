"""Scores of directed acyclic graphs: a sum over families, a variable with its parents (BIC, BDeu, qNML)."""

from collections.abc import Sequence
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _checks, _core
from ibmap._types import Floats, Ints
from ibmap.criteria.families import log_prior_odds
from ibmap.engines import Engine
from ibmap.engines.engine import ask, families_of, level_counts
from ibmap.engines.model import DIRECTED, Model
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.rows import ManyVariables, Rows
from ibmap.errors import RequestError


class DirectedScore:
    """A score of families, bound to an engine: s_x(P), a sum over the observed configurations of the parents.

    t_xy is what y gains as a parent of x beside its other parents, on the rows that know x, y and these.
    Where values are missing, these are other rows for every y, so that gains do not add up; nor are the
    scores of two graphs about the same rows: ``lead`` compares the graphs.

    BIC is the log-likelihood, less ½ log N (r - 1) q: N rows, r levels of x, q possible configurations of P.
    BDeu is the marginal likelihood, with prior counts that add up to an equivalent sample size a, Σ_l [log
    Γ(a / q) - log Γ(a / q + n_l) + Σ_i log Γ(a / rq + n_il) - log Γ(a / rq)] over the configurations l.
    qNML is a quotient of normalised maximum likelihoods, which has no constant to choose (Silander et al.
    2018): the log-likelihood, less R(N, qr) - R(N, q), where R(N, K) is the log of the sum of the largest
    likelihoods of all tables of N rows in K cells, as Szpankowski and Weinberger (2012) approximate it.

    Parameters
    ----------
    engine : Engine
        Who counts.
    model : Model
        The score of families, and the log prior odds of arcs.

    Attributes
    ----------
    n : int
        Number of variables.
    tolerance : float
        Differences between gains that are not larger may come from rounding.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> score = directed_score("bic", MemoryEngine(load({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5})))
    >>> score.row(0, []).round(4)  # 20 log 2 - ½ log 20
    array([ 0.    , 12.3651])
    >>> score = directed_score("bdeu", MemoryEngine(load({"a": [0, 1], "b": [0, 1]})), 2.0)
    >>> round(score.total([[], []]), 4)  # 2 log 1/6: of each, a level has 1 of 2, then 1 of 3
    -3.5835
    """

    def __init__(self, engine: Engine, model: Model) -> None:
        self.engine, self.model, self.n = engine, model, engine.schema.n_variables
        rows = engine.schema.n_rows
        self.tolerance = max(1e-9, 1e-12 * rows * log(max(rows, 1)))

    def rows(self, xs: Sequence[int] | Ints, parents: ManyVariables) -> Rows:
        """Return t_xy of all y for some x, each given its parents, with the prior odds."""
        return self.engine.rows(self.model, xs, parents)

    def row(self, x: int, parents: Sequence[int] | Ints) -> Floats:
        """Return t_xy of all y; 0 for x itself."""
        return np.asarray(self.rows([x], [parents]).matrix(self.n)[0])

    def total(self, parents: ManyVariables) -> float:
        """Return the score of a directed graph: Σ s_x(P_x), each on the rows that know x and its parents.

        The prior odds of its arcs are in it.
        """
        return float(self.values(np.arange(self.n), parents).sum())

    def values(self, xs: Sequence[int] | Ints, parents: ManyVariables) -> Floats:
        """Return s_x(P) of some x, each on the rows that know it and its parents."""
        return self.engine.rows(self.model, xs, parents, floor=np.inf).value

    @cached_property
    def adds_up(self) -> bool:
        """Whether gains add up to the difference of two scores: no value is missing."""
        schema = self.engine.schema
        return int(level_counts(self.engine).sum()) == schema.n_rows * schema.n_variables

    def lead(self, xs: Sequence[int], parents: Sequence[Ints], others: Sequence[Ints]) -> float:
        """Return how far parents are ahead of others: Σ s_x(P) - s_x(Q), on the rows that know x, P and Q."""
        if not xs:
            return 0.0
        questions = Questions.of(
            [(x, NONE, np.union1d(p, q)) for x, p, q in zip(xs, parents, others, strict=True)]
        )
        tables, total = ask(self.engine, questions), 0.0
        sets = tables.answered()[1].sets
        for one, p, q in zip(tables.one_by_one(), parents, others, strict=True):
            both = questions.given[one.given]
            for mine, sign in ((p, 1), (q, -1)):
                among = np.flatnonzero(np.isin(both, mine))
                total += sign * self._grouped(one.x, both[among], one.keys[:, among], sets[:, one.sets])
        return total

    def _grouped(self, x: int, parents: Ints, keys: Ints, sets: Ints) -> float:
        """Return s_x(P) of rows that are counted by the levels of more variables than P."""
        r, no_cells = int(self.engine.schema.cardinalities[x]), np.empty((4, 0), np.int64)
        slices, of_slice = np.unique(keys, axis=0, return_inverse=True) if len(keys) else (keys, NONE)
        counted = np.bincount(of_slice.ravel()[sets[0]] * r + sets[1], weights=sets[2], minlength=1)
        place = np.flatnonzero(counted)
        grouped = np.stack([place // r, place % r, counted[place].astype(np.int64)])
        none, start = np.zeros(2, np.int64), np.array([0, len(parents)])
        found = self._families.rows_of_cells(
            *(np.array([x]), NONE, none, parents, start),
            *(
                np.array([0, len(slices)]),
                slices.ravel(),
                np.array([0, len(place)]),
                grouped,
                none[:1],
                no_cells,
            ),
            *(np.array([x]), start, parents, self.model.log_odds, np.inf, none, NONE, False, 1),
        )
        return float(Rows(*found).value[0])

    @cached_property
    def _families(self) -> _core.Families:
        return families_of(self.engine, self.model)


def arc_odds(n: int, expected_neighbours: object, prior: ArrayLike | None = None) -> Floats:
    """Return the log prior odds of an arc: those of an edge, shared by its two directions.

    Examples
    --------
    >>> arc_odds(9, 2.0).round(3)  # as likely as not that an edge of probability 1/4 points this way
    array([[-1.792]])
    """
    number = _checks.positive(expected_neighbours, "expected_neighbours")
    return log_prior_odds(n, number, prior) - log(2)


def directed_score(
    name: object, engine: Engine, equivalent_sample_size: float = 1.0, log_odds: Floats | None = None
) -> DirectedScore:
    """Return a score by its name, "bic", "bdeu" or "qnml", bound to an engine.

    ``log_odds`` are the log prior odds of arcs; without them no arc is likelier than none.
    """
    size = _checks.positive(equivalent_sample_size, "equivalent_sample_size")
    _checks.word(name, "score", DIRECTED)
    if name != "bdeu" and size != 1.0:
        raise RequestError(f"equivalent_sample_size belongs to the score 'bdeu': {name!r} has none")
    odds = np.zeros((1, 1)) if log_odds is None else log_odds
    return DirectedScore(engine, Model(str(name), prior_count=float(size), log_odds=odds))
