"""Scores of directed acyclic graphs: a sum over families, a variable with its parents (BIC, BDeu)."""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Floats, Ints
from ibmap.engines import Engine
from ibmap.engines.model import DIRECTED, Model
from ibmap.engines.rows import ManyVariables, Rows
from ibmap.errors import RequestError
from ibmap.scores.families import log_prior_odds


class DirectedScore:
    """A score of families, bound to an engine: s_x(P), a sum over the observed configurations of the parents.

    t_xy is what y gains as a parent of x beside its other parents, on the rows that know x, y and these.

    BIC is the log-likelihood, less ½ log N (r - 1) q: N rows, r levels of x, q possible configurations of P.
    BDeu is the marginal likelihood, with prior counts that add up to an equivalent sample size a, Σ_l [log
    Γ(a / q) - log Γ(a / q + n_l) + Σ_i log Γ(a / rq + n_il) - log Γ(a / rq)] over the configurations l.

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
        return float(self.engine.rows(self.model, np.arange(self.n), parents, floor=np.inf).value.sum())


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


def directed_score(
    name: object, engine: Engine, equivalent_sample_size: float = 1.0, log_odds: Floats | None = None
) -> DirectedScore:
    """Return a score by its name, "bic" or "bdeu", bound to an engine.

    ``log_odds`` are the log prior odds of arcs; without them no arc is likelier than none.
    """
    size = equivalent_sample_size
    if isinstance(size, bool) or not isinstance(size, int | float | np.number) or not 0 < size < np.inf:
        raise RequestError(f"equivalent_sample_size must be a positive number, not {size!r}")
    if name not in DIRECTED:
        raise RequestError(f"score must be 'bic' or 'bdeu', not {name!r}")
    if name == "bic" and size != 1.0:
        raise RequestError("equivalent_sample_size belongs to the score 'bdeu': 'bic' has none")
    odds = np.zeros((1, 1)) if log_odds is None else log_odds
    return DirectedScore(engine, Model(str(name), prior_count=float(size), log_odds=odds))
