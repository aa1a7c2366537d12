"""Adaptive conditionals: node by node, the data choose between pairwise and saturated (SPEC section 7)."""

from functools import cached_property
from math import log, log1p
from typing import Any

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, MemoryEngine, Questions, Tables, ask
from ibmap.errors import RequestError
from ibmap.scores.binary import BinaryRows
from ibmap.scores.families import FamilyScore, Members
from ibmap.scores.local_score import NONE, Rows
from ibmap.scores.pairwise import Pairwise
from ibmap.scores.saturated import Saturated

HOPELESS = -1e6  #: log odds of full tables that are not looked at


class AdaptiveScore(FamilyScore):
    """A mixture of two families: s_x(B) = log[(1 - w) e^pairwise + w e^saturated].

    Where the blanket is empty the two are one model with two priors, so pairwise has a constant for every x
    that makes them equal there. With one member they are one model, too; w is small so that the pairwise
    prior decides there. A full table of more cells than rows is not looked at: guessing is as good as knowing
    the margin in so small slices, and independent variables of many levels would look dependent.

    Parameters
    ----------
    saturated_share : float
        w, the prior probability that x has saturated conditionals.
    effect_variance : float
        Prior variance of a log odds ratio, in the pairwise family.
    prior_count : float
        Of each level of x in each configuration, in the saturated family.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None lets the search learn it from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> AdaptiveScore().options()["saturated_share"]
    0.01
    """

    name = "adaptive"

    def __init__(
        self,
        *,
        saturated_share: float = 0.01,
        effect_variance: float = 1.0,
        prior_count: float = 0.5,
        expected_neighbours: float | None = 4.0,
        prior: Any = None,
    ) -> None:
        self.saturated_share, self.effect_variance = saturated_share, effect_variance
        self.prior_count, self.expected_neighbours, self.prior = prior_count, expected_neighbours, prior

    def family(self, engine: Engine) -> "Adaptive":
        """Return the family, bound to an engine."""
        if not 0 < self.saturated_share < 1:
            raise RequestError(f"saturated_share must lie between 0 and 1, not {self.saturated_share!r}")
        families = Pairwise(self.effect_variance, engine), Saturated(engine, self.prior_count)
        return Adaptive(*families, self.saturated_share, engine)


class Adaptive:
    """The mixture."""

    _binary: BinaryRows | None = None

    def __init__(self, pairwise: Pairwise, saturated: Saturated, share: float, engine: Engine) -> None:
        schema = engine.schema
        self._engine = engine
        self._families, self._logs = (pairwise, saturated), (log1p(-share), log(share))
        self._log_levels, self._log_rows = (
            np.log(np.maximum(schema.cardinalities, 1)),
            log(max(schema.n_rows, 1)),
        )

    def binary(self, engine: MemoryEngine, n_threads: int) -> BinaryRows:
        """Return what makes rows of binary variables in memory."""
        pairwise, saturated = self._families
        self._binary = BinaryRows(engine, pairwise.precision, saturated.prior_count, n_threads)
        return self._binary

    def rows(self, tables: Tables, strong: float = np.inf, n_threads: int = 1) -> Rows:
        """Return t_xy and s_x(B) for every question."""
        asked = tables.answered()[0]
        members = np.repeat(np.arange(len(asked)), np.diff(asked.given_start)), asked.given
        pairwise, saturated = self._families
        found = pairwise.rows(tables, strong, n_threads), saturated.rows(tables)
        return self.of_both(*found, asked.x, members)

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the rows of the mixture; the matrices of both families are used up."""
        a, b = self._logs[0] + pairwise.values + self._ahead[xs], self._logs[1] + saturated.values
        cells = self.log_cells(xs, members)
        now = softplus(np.where(cells > self._log_rows, HOPELESS, b - a))
        then = np.subtract(saturated.evidence, pairwise.evidence, out=saturated.evidence)
        then[members] *= -1.0  # their rows are those of the blanket without them
        then += (b - a)[:, None]
        self._leave_hopeless(then, cells, members)
        beyond = softplus(then)
        beyond -= now[:, None]
        beyond[members] *= -1.0
        beyond += pairwise.evidence
        return Rows(beyond, a + now)

    def _leave_hopeless(self, log_odds: Floats, cells: Floats, members: Members) -> None:
        """Give up the full tables that would have more cells than rows, with y or, of members, without."""
        some = np.flatnonzero(cells + self._log_levels.max(initial=0.0) > self._log_rows)
        if len(some):
            outside = cells[some, None] + self._log_levels > self._log_rows
            kept = log_odds[members]
            log_odds[some] = np.where(outside, HOPELESS, log_odds[some])
            without = cells[members[0]] - self._log_levels[members[1]]
            log_odds[members] = np.where(without > self._log_rows, HOPELESS, kept)

    @cached_property
    def _ahead(self) -> Floats:
        """By how much the saturated family is ahead without neighbours, where both are the same model."""
        n, (pairwise, saturated) = self._engine.schema.n_variables, self._families
        if self._binary is not None:
            main, full = self._binary.values(range(n), [NONE] * n)
            return np.asarray(full - main)
        none = ask(self._engine, Questions.of([(x, NONE, NONE) for x in range(n)]))
        return saturated.rows(none).values - pairwise.rows(none).values

    def log_cells(self, xs: Ints, members: Members) -> Floats:
        """Return the logarithm of the number of cells of every full table: levels of x and its blanket."""
        of_members = np.bincount(members[0], self._log_levels[members[1]], len(xs))
        return np.asarray(self._log_levels[xs] + of_members)


def softplus(values: Floats) -> Floats:
    """Return log(1 + e^values), by functions that run several at a time.

    Examples
    --------
    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).round(3).tolist()
    [0.0, 0.693, 1000.0]
    """
    out = np.abs(values)
    np.negative(out, out=out)
    np.exp(out, out=out)
    out += 1.0
    np.log(out, out=out)
    out += np.maximum(values, 0.0)
    return np.asarray(out)


class Preference(Adaptive):
    """Both families, compared: how much more evidence full tables have than main effects."""

    def __init__(self, pairwise: Pairwise, saturated: Saturated, engine: Engine) -> None:
        super().__init__(pairwise, saturated, 0.5, engine)

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the difference."""
        more = saturated.values - pairwise.values - self._ahead[xs]
        more[self.log_cells(xs, members) > self._log_rows] = HOPELESS
        return Rows(saturated.evidence - pairwise.evidence, more)
