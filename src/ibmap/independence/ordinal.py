"""Tests of variables whose levels have an order: Mantel's M², which looks for trends, not for any table.

The statistic is that of the linear-by-linear association (``_core/statistics.cpp``), added up over
slices before it is squared: many small slices that say the same add up. Binary variables have an order, too;
of two of them it is the Cochran-Mantel-Haenszel test. Pairs of which neither has an order are tested by whole
tables: χ², or G².
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _checks, _core
from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine, Tables
from ibmap.independence.base import (
    Answers,
    BoundTableTest,
    BoundTest,
    Parameters,
    log_one_minus_exp,
    require_levels,
)
from ibmap.independence.bayesian import log_prior_of

Judge: TypeAlias = Callable[[Tables, Floats, Floats], Answers]  #: from tables, statistics and their freedom

CHI_SQUARE, G_SQUARE = 0, 1  #: rows of ``contingency_statistics``


class OrdinalTest(Parameters):
    """Mantel's test of linear-by-linear association, stratified by the given variables.

    Parameters
    ----------
    alpha : float
        Significance level: variables count as independent if the p-value exceeds it.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> rows = [(1, 1)] * 9 + [(2, 1)] * 5 + [(2, 2)] * 6 + [(3, 2)] * 5 + [(3, 3)] * 5
    >>> table = load({"a": [a for a, _ in rows], "b": [b for _, b in rows]}, ordinal=["a", "b"])
    >>> answers = OrdinalTest().bind(MemoryEngine(table)).fixed(0, np.array([1]), np.array([], int))
    >>> answers.statistic.round(3), answers.p_value.round(6)
    (array([19.182]), array([1.2e-05]))
    """

    has_posteriors = False

    def __init__(self, *, alpha: float = 0.05) -> None:
        self.alpha = alpha

    @property
    def name(self) -> str:
        """The name, with its options."""
        return f"ordinal(alpha={self.alpha})"

    def bind(self, engine: Engine) -> BoundTest:
        """Bind the test to an engine."""
        _checks.between(self.alpha, "alpha", 0, 1)
        return BoundOrdinalTest(engine, self._judge, CHI_SQUARE)

    def _judge(self, tables: Tables, statistic: Floats, freedom: Floats) -> Answers:
        from scipy.special import chdtrc

        p_value = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), statistic), 1.0)
        return Answers(p_value > self.alpha, -p_value, statistic=statistic, p_value=p_value)


class OrdinalEvidenceTest(Parameters):
    """Mantel's statistic as evidence: log Bayes factor of dependence ½ (M² - f log n), f degrees of freedom.

    This is the BIC approximation: a prior of the effects worth one row.

    Parameters
    ----------
    prior : float or array of shape (n_variables, n_variables)
        Prior probability of independence: one for all pairs, or one for each.

    Examples
    --------
    >>> OrdinalEvidenceTest().name
    'ordinal-evidence'
    """

    has_posteriors = True

    def __init__(self, *, prior: float | ArrayLike = 0.5) -> None:
        self.prior = prior

    @property
    def name(self) -> str:
        """The name, with its options."""
        shown = f"{self.prior:g}" if isinstance(self.prior, int | float) else "per pair"
        return "ordinal-evidence" if shown == "0.5" else f"ordinal-evidence(prior={shown})"

    def bind(self, engine: Engine) -> BoundTest:
        """Bind the test to an engine."""
        independent = log_prior_of(self.prior, engine.schema.n_variables)
        odds = log_one_minus_exp(independent) - independent

        def judge(tables: Tables, statistic: Floats, freedom: Floats) -> Answers:
            of_pair = odds[0, 0] if odds.size == 1 else odds[tables.x, tables.y]
            rows = np.maximum(tables.n_rows, 1)
            evidence = (statistic - freedom * np.log(rows)) / 2 + of_pair
            yes, no = -np.logaddexp(0.0, evidence), -np.logaddexp(0.0, -evidence)
            return Answers(evidence <= 0, evidence, log_independent=yes, log_dependent=no)

        return BoundOrdinalTest(engine, judge, G_SQUARE)


class BoundOrdinalTest(BoundTableTest):
    """A test of ordered levels, bound to an engine; ``judge`` answers from statistics."""

    def __init__(self, engine: Engine, judge: Judge, otherwise: int) -> None:
        require_levels(engine)
        self.engine, self.levels = engine, engine.schema.cardinalities
        self._judge, self._otherwise = judge, otherwise
        self._columns = columns_of(np.asarray(self.levels), engine.schema.ordinal)

    def evaluate(self, tables: Tables) -> Answers:
        """Answer one question per table."""
        statistic, freedom = _core.score_statistics(
            tables.x, tables.y, tables.start, tables.cells, self.levels, self._columns
        )
        if (freedom < 0).any():
            every = _core.contingency_statistics(tables.start, tables.cells, int(self.levels.max()))
            statistic = np.where(freedom < 0, every[self._otherwise], statistic)
            freedom = np.where(freedom < 0, every[2], freedom)
        return self._judge(tables, statistic, freedom)


def columns_of(levels: Ints, ordinal: Bools) -> Ints:
    """Return how many columns of a design each variable has: one score, or a contrast for all levels but one.

    Examples
    --------
    >>> columns_of(np.array([1, 2, 5, 5]), np.array([True, True, True, False])).tolist()
    [0, 1, 1, 4]
    """
    return np.where(ordinal, np.minimum(levels - 1, 1), levels - 1)
