"""MPL: the marginal pseudo-likelihood with saturated conditionals (Pensar et al. 2017; SPEC section 7)."""

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np

from ibmap._types import Floats
from ibmap.engines import Engine, Tables
from ibmap.errors import RequestError
from ibmap.independence import IndependenceTest
from ibmap.kernels.bayes_model import fill_table
from ibmap.kernels.directed import evidence_of_tables
from ibmap.scores.local_score import TableScore


class MPLScore:
    """Marginal pseudo-likelihood: x given each configuration of its blanket is a Dirichlet-multinomial.

    s_x(B) = Σ_l [log Γ(r a) - log Γ(n_l + r a) + Σ_i log Γ(n_il + a) - log Γ(a)] over the observed
    configurations l of B, r the levels of x. An edge has the prior odds π / (1 - π), π = c / n; both ends
    speak about the same edge, so the score counts each with weight one half.

    Parameters
    ----------
    prior_count : float
        a, of each level of x in each configuration.
    expected_neighbours : float
        c, the number of neighbours that a variable has a priori.

    Examples
    --------
    >>> MPLScore().options()
    {'prior_count': 0.5, 'expected_neighbours': 4.0}
    """

    name, uses_test = "mpl", False

    def __init__(self, *, prior_count: float = 0.5, expected_neighbours: float = 4.0) -> None:
        self.prior_count, self.expected_neighbours = prior_count, expected_neighbours

    def options(self) -> Mapping[str, Any]:
        """Return the options."""
        return dict(vars(self))

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "BoundMPLScore":
        """Bind the score to an engine; it asks no test."""
        for option, value in self.options().items():
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise RequestError(f"{option} must be a positive number, not {value!r}")
        return BoundMPLScore(engine, self.prior_count, self.expected_neighbours)


class BoundMPLScore(TableScore):
    """The score of one table."""

    def __init__(self, engine: Engine, prior_count: float, expected_neighbours: float) -> None:
        super().__init__(engine)
        share = min(expected_neighbours / max(self.n, 1), 0.5)
        self.log_prior_odds = log(share) - log(1 - share)
        distinct, self._kind = np.unique(engine.schema.cardinalities, return_inverse=True)
        self._rising = np.empty((len(distinct) + 1, engine.schema.n_rows + 1))  # log Γ(a + n) - log Γ(a)
        for parameter, row in zip([prior_count, *(prior_count * distinct)], self._rising, strict=True):
            fill_table(float(parameter), row)

    def evidence(self, tables: Tables) -> Floats:
        """Return what splitting the slices by y adds, and the prior odds of an edge."""
        out, rows = np.empty(len(tables)), np.empty(len(tables), np.int64)
        which = np.zeros((4, len(tables)), np.int64)  # cells and rows of x; then columns of y and slices
        which[2:] = self._kind[tables.x] + 1
        most = int(tables.levels.max())
        evidence_of_tables(self._rising, which, most, tables.start, tables.cells, out, rows)
        return out + self.log_prior_odds

    def values(self, tables: Tables) -> Floats:
        """Return half of s_x(B) and of the prior of its edges."""
        asked, slices = tables.answered()
        owner = np.repeat(np.arange(len(asked)), np.diff(slices.set_start))
        k, _, rows = slices.sets
        per_slice = np.bincount(slices.start[owner] + k, rows, minlength=int(slices.start[-1])).astype(int)
        kinds = np.repeat(self._kind[asked.x] + 1, np.diff(slices.start))
        of_sets = np.bincount(owner, self._rising[0, rows], minlength=len(asked))
        of_slices = np.repeat(np.arange(len(asked)), np.diff(slices.start))
        totals = np.bincount(of_slices, self._rising[kinds, per_slice], minlength=len(asked))
        return np.asarray(of_sets - totals + np.diff(asked.given_start) * self.log_prior_odds) / 2
