r"""Families of conditionals: how x may depend on its blanket, as log evidence; and the scores made of them.

A family has s_x(B), the log evidence (marginal likelihood) of x given its blanket, and the rows t_xy =
s_x(B ∪ y) - s_x(B \ y). A score adds the prior of edges, which may be learned.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb, log

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _checks
from ibmap._types import Bools, Floats, Ints
from ibmap.criteria.local_score import LocalScore, Score
from ibmap.data.schema import Schema
from ibmap.engines import Engine
from ibmap.engines.model import MOST_LEVELS, Model
from ibmap.engines.rows import ManyVariables, Rows
from ibmap.errors import RequestError
from ibmap.independence import IndependenceTest
from ibmap.independence.base import require_levels

FIRST_GUESS = 4.0  #: neighbours that a variable is expected to have, before the data are looked at
FEWEST = 0.25  #: and what an empty graph does not push below
REVISIONS = 3  #: of that number, at most
CLOSE = 0.05  #: a smaller change of its logarithm changes nothing


class PriorOptions(Score):
    """A score of evidence and a prior of edges, as options: its numbers are positive."""

    is_evidence = True

    def checked_prior(self) -> tuple[float | None, ArrayLike | None]:
        """Check the options; return the expected neighbours (None: to be learned) and the prior."""
        options = dict(self.options())
        prior, neighbours = options.pop("prior", None), options.pop("expected_neighbours", FIRST_GUESS)
        if neighbours is not None:
            options["expected_neighbours"] = neighbours
        for option, value in options.items():
            _checks.positive(value, option)
        return neighbours, prior


class FamilyScore(PriorOptions):
    """A score that is made of a family and a prior of edges: subclass it, and write ``model``."""

    def model(self) -> Model:
        """Return the family and the prior of its parameters."""
        raise TypeError(f"{type(self).__name__} must define model()")

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "EvidenceScore":
        """Bind the score to an engine; it needs no test."""
        neighbours, prior = self.checked_prior()
        require_levels(engine)
        return EvidenceScore(engine, replace(self.model(), n_threads=n_threads), neighbours, prior)


class PriorScore(LocalScore):
    """Evidence and prior odds of edges, which may be learned: subclass it, and write ``rows``.

    Two conditionals of a pair say nearly the same, so each end counts with weight one half: the sum over x
    is then the mean of both, plus one log prior odds for every edge.
    """

    expected_neighbours: float

    def __init__(self, n: int, expected_neighbours: float | None, prior: ArrayLike | None) -> None:
        self.n, self._by_pair = n, prior
        most = REVISIONS if expected_neighbours is None else 0
        self.prior = [FIRST_GUESS if expected_neighbours is None else expected_neighbours, most]

    @property
    def prior(self) -> Sequence[float]:
        """The number of neighbours that a variable is expected to have, and how often it may be revised."""
        return [self.expected_neighbours, self._revisions]

    @prior.setter
    def prior(self, values: Sequence[float]) -> None:
        self.expected_neighbours, self._revisions = float(values[0]), int(values[1])
        self.prior_odds = log_prior_odds(
            self.n, self.expected_neighbours, self._by_pair
        )  #: of all, or of each

    def learn_prior(self, degree: Callable[[], float]) -> Floats | None:
        """Expect as many neighbours as the evidence says; return by how much t_xy changes, None if hardly.

        Given all that was found, the mean posterior number of neighbours is the most likely prior.
        """
        if not self._revisions:
            return None
        before, found = self.prior_odds, max(degree(), FEWEST)
        close = abs(log(found / self.expected_neighbours)) < CLOSE
        self.prior = (self.expected_neighbours, 0) if close else (found, self._revisions - 1)
        return None if close else self.prior_odds - before


class EvidenceScore(PriorScore):
    """Evidence of a family and prior odds of edges."""

    def __init__(
        self, engine: Engine, model: Model, expected_neighbours: float | None, prior: ArrayLike | None
    ) -> None:
        super().__init__(engine.schema.n_variables, expected_neighbours, prior)
        self.engine, self._model = engine, model

    @property
    def model(self) -> Model:
        """The family, with the prior of edges as it is now."""
        if self._model.log_odds is not self.prior_odds:
            self._model = replace(self._model, log_odds=self.prior_odds)
        return self._model

    def rows(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets."""
        return self.engine.rows(self.model, xs, blankets, floor=floor, also=also, exact=exact)

    def rows_outside(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
    ) -> Rows:
        """Return rows of which nobody looks at members: fits without each of them are left out.

        These took two thirds of the time in mixed tables with many levels (Adult).
        """
        return self.engine.rows(replace(self.model, rough=True), xs, blankets, floor=floor, also=also)

    def triples(self, most: int, seconds: float) -> Ints:
        """Return the triples beyond their prior, that one of all interacts, if that takes few seconds."""
        if self._model.family == "pairwise" or self.engine.seconds_for_triples > seconds:
            return super().triples(most, seconds)
        return self.engine.triples(log(max(comb(self.n, 3), 1)), most, self._model.n_threads).which


def is_modelled(schema: Schema) -> Bools:
    """Return which variables have few enough levels for conditionals."""
    return np.asarray(schema.cardinalities) <= MOST_LEVELS


def log_prior_odds(n: int, expected_neighbours: float, prior: ArrayLike | None = None) -> Floats:
    """Return the log prior odds of an edge: from the neighbours that a variable is expected to have.

    Parameters
    ----------
    n : int
        Number of variables.
    expected_neighbours : float
        c: a pair is adjacent with probability c / (n - 1), one half at most.
    prior : array of shape (n, n) or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.

    Examples
    --------
    >>> log_prior_odds(8, 2.0).round(3)
    array([[-0.916]])
    """
    share = min(expected_neighbours / max(n - 1, 1), 0.5)
    usual = log(share) - log(1 - share)
    if prior is None:
        return np.array([[usual]])
    try:
        values = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise RequestError("prior must be a number or a matrix of numbers") from None
    if values.ndim == 0:
        values = np.full((n, n), float(values))
    if values.shape != (n, n):
        raise RequestError(f"prior must be a number or a matrix of shape {(n, n)}, not {values.shape}")
    known = ~np.isnan(values)
    np.fill_diagonal(known, val=False)
    if not ((values[known] > 0) & (values[known] < 1)).all():
        raise RequestError("the prior of independence must lie strictly between 0 and 1")
    odds = np.full((n, n), usual)
    odds[known] = np.log1p(-values[known]) - np.log(values[known])
    if not np.array_equal(odds, odds.T):
        i, j = np.argwhere(odds != odds.T)[0]
        raise RequestError(f"the prior of columns {i} and {j} differs from that of {j} and {i}")
    return odds
