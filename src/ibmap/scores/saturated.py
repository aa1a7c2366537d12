"""Saturated conditionals: the marginal pseudo-likelihood, MPL (Pensar et al. 2017; SPEC section 7)."""

from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, MemoryEngine, Tables
from ibmap.kernels.bayes_model import rising_of
from ibmap.kernels.splitting import evidence_of_tables
from ibmap.scores.binary import TABULATED, BinaryRows
from ibmap.scores.device import binary_rows_of
from ibmap.scores.families import FamilyScore, Members
from ibmap.scores.local_score import Rows, spread_rows
from ibmap.scores.rising import rising_tables


class SaturatedScore(FamilyScore):
    """Marginal pseudo-likelihood: x given each configuration of its blanket is a Dirichlet-multinomial.

    s_x(B) = Σ_l [log Γ(r a) - log Γ(n_l + r a) + Σ_i log Γ(n_il + a) - log Γ(a)] over the observed
    configurations l of B, r the levels of x. It sees every interaction, and pays for all of them: large
    blankets need many rows.

    Parameters
    ----------
    prior_count : float
        a, of each level of x in each configuration.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None lets the search learn it from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> SaturatedScore().options()
    {'prior_count': 0.5, 'expected_neighbours': 4.0, 'prior': None}
    """

    name = "saturated"

    def __init__(
        self, *, prior_count: float = 0.5, expected_neighbours: float | None = 4.0, prior: Any = None
    ) -> None:
        self.prior_count, self.expected_neighbours, self.prior = prior_count, expected_neighbours, prior

    def family(self, engine: Engine) -> "Saturated":
        """Return the family, bound to an engine."""
        return Saturated(engine, self.prior_count)


class Saturated:
    """A Dirichlet-multinomial for every configuration of the blanket."""

    def __init__(self, engine: Engine, prior_count: float) -> None:
        self.prior_count = prior_count
        self._n_rows = engine.schema.n_rows
        self._distinct, self._kind = np.unique(engine.schema.cardinalities, return_inverse=True)

    @cached_property
    def _parameters(self) -> Floats:
        """Prior counts of a cell, and of all levels of each kind of variable."""
        return np.array([self.prior_count, *(self.prior_count * self._distinct)], float)

    @cached_property
    def _rising(self) -> Floats:
        """Log Γ(a + n) - log Γ(a) of all parameters a, for lists of cells; bits in memory need none."""
        return rising_tables(tuple(self._parameters.tolist()), self._n_rows)

    def _log_rising(self, which: Ints, counts: Ints) -> Floats:
        """Return log Γ(a + n) - log Γ(a) of some of the parameters and some counts."""
        if self._n_rows <= TABULATED:
            return np.asarray(self._rising[which, counts])
        out = np.empty(len(counts))
        rising_of(self._parameters[which], np.asarray(counts, np.int64), out)
        return out

    def binary(self, engine: MemoryEngine, n_threads: int) -> BinaryRows:
        """Return what makes rows of binary variables in memory."""
        return binary_rows_of(engine, 4.0, self.prior_count, n_threads)

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the saturated rows."""
        return saturated

    def rows(self, tables: Tables, strong: float = np.inf, n_threads: int = 1) -> Rows:
        """Return t_xy and s_x(B) for every question; members are margins of the slices."""
        n = len(tables.levels)
        return Rows(spread_rows(tables, n, self._evidence), self._values(tables))

    def _evidence(self, tables: Tables) -> Floats:
        """Return what splitting the slices by y adds."""
        out, rows = np.empty(len(tables)), np.empty(len(tables), np.int64)
        if not len(tables):
            return out
        which = np.zeros((4, len(tables)), np.int64)  # cells and rows of x; then columns of y and slices
        which[2:] = self._kind[tables.x] + 1
        most = int(tables.levels.max())
        evidence_of_tables(self._rising, which, most, tables.start, tables.cells, out, rows)
        return out

    def _values(self, tables: Tables) -> Floats:
        """Return s_x(B)."""
        asked, slices = tables.answered()
        owner = np.repeat(np.arange(len(asked)), np.diff(slices.set_start))
        k, _, rows = slices.sets
        per_slice = np.bincount(slices.start[owner] + k, rows, minlength=int(slices.start[-1])).astype(int)
        kinds = np.repeat(self._kind[asked.x] + 1, np.diff(slices.start))
        of_cells = self._log_rising(np.zeros(len(rows), np.int64), rows)
        of_sets = np.bincount(owner, of_cells, minlength=len(asked))
        of_slices = np.repeat(np.arange(len(asked)), np.diff(slices.start))
        totals = np.bincount(of_slices, self._log_rising(kinds, per_slice), minlength=len(asked))
        return np.asarray(of_sets - totals)
