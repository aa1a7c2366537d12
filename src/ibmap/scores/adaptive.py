"""Adaptive conditionals: node by node, the data choose between pairwise and saturated (SPEC section 7)."""

from collections.abc import Callable
from functools import cached_property
from math import log, log1p
from typing import Any

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, MemoryEngine, Questions, Tables, ask
from ibmap.engines.gpu import to_host
from ibmap.errors import RequestError
from ibmap.kernels.likely import HOPELESS
from ibmap.scores.binary import BinaryRows
from ibmap.scores.device import arrays_of, binary_rows_of
from ibmap.scores.families import FamilyScore, Members
from ibmap.scores.likely import LikelyRow
from ibmap.scores.likely_mixture import LikelyMixture, softplus
from ibmap.scores.local_score import NONE, Rows
from ibmap.scores.pairwise import Pairwise
from ibmap.scores.saturated import Saturated


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
    likely: Callable[..., list[LikelyRow]]  #: what is likely in rows of binary variables

    def __init__(self, pairwise: Pairwise, saturated: Saturated, share: float, engine: Engine) -> None:
        schema = engine.schema
        self._engine = engine
        self._families, self.logs = (pairwise, saturated), (log1p(-share), log(share))
        self.log_levels, self.log_rows = (
            np.log(np.maximum(schema.cardinalities, 1)),
            log(max(schema.n_rows, 1)),
        )

    def binary(self, engine: MemoryEngine, n_threads: int) -> BinaryRows:
        """Return what makes rows of binary variables in memory."""
        pairwise, saturated = self._families
        self._binary = binary_rows_of(engine, pairwise.precision, saturated.prior_count, n_threads)
        self.likely = LikelyMixture(self, engine, self._binary).rows
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
        a, b = self.weighed(pairwise.values, saturated.values, xs)
        cells, xp = self.log_cells(xs, members), arrays_of(pairwise.evidence)
        now = self.softplus_of_likely(b - a, cells)
        who = tuple(xp.asarray(index) for index in members)
        main, full = (Rows(to_host(rows.evidence[who]), rows.values) for rows in (pairwise, saturated))
        inside = self.of_members(main, full, xs, members)
        then = xp.subtract(saturated.evidence, pairwise.evidence, out=saturated.evidence)
        then += xp.asarray(b - a)[:, None]
        some = np.flatnonzero(cells + self.log_levels.max(initial=0.0) > self.log_rows)
        if len(some):
            hopeless = xp.asarray(cells[some, None] + self.log_levels > self.log_rows)
            then[xp.asarray(some)] = xp.where(hopeless, HOPELESS, then[xp.asarray(some)])
        beyond = softplus(then)
        beyond -= xp.asarray(now)[:, None]
        beyond += pairwise.evidence
        beyond[who] = xp.asarray(inside)
        return Rows(beyond, a + now)

    def of_members(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Floats:
        """Return t of the members alone, given that of both families; values are those of the blankets."""
        a, b = self.weighed(pairwise.values, saturated.values, xs)
        cells, (row, who) = self.log_cells(xs, members), members
        now = self.softplus_of_likely(b - a, cells)
        then = (b - a)[row] - (saturated.evidence - pairwise.evidence)  # without the member
        return pairwise.evidence + now[row] - self.softplus_of_likely(then, cells[row] - self.log_levels[who])

    def weighed(self, pairwise: Floats, saturated: Floats, xs: Ints) -> tuple[Floats, Floats]:
        """Return s_x(B) of both families with their prior probabilities."""
        return self.logs[0] + pairwise + self._ahead[xs], self.logs[1] + saturated

    def softplus_of_likely(self, log_odds: Floats, cells: Floats) -> Floats:
        """Return log(1 + e^log_odds), but 0 for full tables that would have more cells than rows."""
        return softplus(np.where(cells > self.log_rows, HOPELESS, log_odds))

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
        of_members = np.bincount(members[0], self.log_levels[members[1]], len(xs))
        return np.asarray(self.log_levels[xs] + of_members)


class Preference(Adaptive):
    """Both families, compared: how much more evidence full tables have than main effects."""

    def __init__(self, pairwise: Pairwise, saturated: Saturated, engine: Engine) -> None:
        super().__init__(pairwise, saturated, 0.5, engine)

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the difference."""
        more = saturated.values - pairwise.values - self._ahead[xs]
        more[self.log_cells(xs, members) > self.log_rows] = HOPELESS
        return Rows(saturated.evidence - pairwise.evidence, more)
