r"""Families of conditionals: how x may depend on its blanket, as log evidence; and the scores made of them.

A family has s_x(B), the log evidence (marginal likelihood) of x given its blanket, and the rows t_xy =
s_x(B ∪ y) - s_x(B \\ y), all from the tables of one trip to the engine. A score adds the prior of edges.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Bools, Floats, Ints
from ibmap.data.schema import Schema
from ibmap.engines import Engine, MemoryEngine, Questions, Tables, ask
from ibmap.engines.gpu import to_host
from ibmap.errors import RequestError
from ibmap.independence import IndependenceTest
from ibmap.independence.base import require_levels
from ibmap.scores.binary import BinaryRows
from ibmap.scores.device import DeviceRows
from ibmap.scores.likely import Asked, LikelyRow, from_dense
from ibmap.scores.local_score import NONE, LocalScore, LocalScoreBase, Rows, members_in_batches

Members = tuple[Ints, Ints]  #: which row, and who

FIRST_GUESS = 4.0  #: neighbours that a variable is expected to have, before the data are looked at
FEWEST = 0.25  #: and what an empty graph does not push below
REVISIONS = 3  #: of that number, at most
STRONG = 1.0  #: length of an effect beyond which a quadratic is no longer good enough: a log odds ratio of 2
NOTHING_SO_STRONG = 1e9  #: members are looked at, by quadratics
MOST_LEVELS = 100  #: of a variable that there are conditionals of; one with more has no edges
NEVER = -1e6  #: evidence for an edge of such a variable
MANY = 1 << 16  #: likely rows that are made at once
DEVICE_ROWS, DEVICE_NUMBERS = (
    1 << 15,
    1 << 26,
)  #: rows, and numbers in whole rows, that a device makes at once
CLOSE = 0.05  #: a smaller change of its logarithm changes nothing


class Family(Protocol):
    """A family of conditionals, bound to an engine."""

    def rows(self, tables: Tables, strong: float = np.inf, n_threads: int = 1) -> Rows:
        """Return t_xy and s_x(B) for every question, without a prior of edges.

        ``tables`` answer :meth:`Questions.rows`: x against all that is outside its blanket, given it. Where t
        of members is approximated, it is not for effects that are longer than ``strong``.
        """
        ...

    def binary(self, engine: MemoryEngine, n_threads: int) -> BinaryRows | None:
        """Return what makes rows of binary variables in memory; None if nothing faster than tables does."""
        ...

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the rows of this family, given those of the two that there are; ``members`` as indices."""
        ...


class PriorOptions:
    """A score of evidence and a prior of edges, as options: its numbers are positive."""

    name: str
    uses_test = False

    def options(self) -> Mapping[str, Any]:
        """Return the options."""
        return dict(vars(self))

    def checked_prior(self) -> tuple[float | None, ArrayLike | None]:
        """Return the expected neighbours (None: to be learned) and the prior, if all options make sense."""
        options = dict(self.options())
        prior, neighbours = options.pop("prior", None), options.pop("expected_neighbours", FIRST_GUESS)
        if neighbours is not None:
            options["expected_neighbours"] = neighbours
        for option, value in options.items():
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise RequestError(f"{option} must be a positive number, not {value!r}")
        return neighbours, prior

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> LocalScore:
        """Bind the score to an engine; it asks no test."""
        raise TypeError(f"{type(self).__name__} must define bind(engine, test, n_threads)")


class FamilyScore(PriorOptions):
    """A score that is made of a family and a prior of edges: subclass it, and write ``family``."""

    def family(self, engine: Engine) -> Family:
        """Return the family, bound to an engine."""
        raise TypeError(f"{type(self).__name__} must define family(engine)")

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> "EvidenceScore":
        """Bind the score to an engine; it asks no test."""
        neighbours, prior = self.checked_prior()
        require_levels(engine)
        return EvidenceScore(engine, self.family(engine), neighbours, prior, n_threads)


class PriorScore(LocalScoreBase):
    """Evidence and prior odds of edges, which may be learned: subclass it, and write ``rows`` and ``value``.

    Two conditionals of a pair say nearly the same, so each end counts with weight one half: the sum over x
    is then the mean of both, plus one log prior odds for every edge.
    """

    def __init__(self, n: int, expected_neighbours: float | None, prior: ArrayLike | None) -> None:
        self.n, self._prior = n, prior
        most = REVISIONS if expected_neighbours is None else 0
        self.learned_prior = [FIRST_GUESS if expected_neighbours is None else expected_neighbours, most]

    @property
    def learned_prior(self) -> list[float]:
        """The number of neighbours that a variable is expected to have, and how often it may be revised."""
        return [self._neighbours, self._revisions]

    @learned_prior.setter
    def learned_prior(self, values: Sequence[float]) -> None:
        self._neighbours, self._revisions = float(values[0]), int(values[1])
        self.prior_odds = log_prior_odds(self.n, self._neighbours, self._prior)  #: of all alike, or of each

    def expecting(self, degree: Callable[[], float]) -> Floats | None:
        """Expect as many neighbours as the evidence says; return by how much t_xy changes, None if hardly.

        Given all that was found, the mean posterior number of neighbours is the most likely prior; ``degree``
        is asked for it if the prior is to be learned.
        """
        if not self._revisions:
            return None
        before, found = self.prior_odds, max(degree(), FEWEST)
        close = abs(log(found / self._neighbours)) < CLOSE
        self.learned_prior = (self._neighbours, 0) if close else (found, self._revisions - 1)
        return None if close else self.prior_odds - before

    def _with_prior(self, xs: Sequence[int], blankets: Sequence[Ints], found: Rows) -> Rows:
        """Add the prior odds to evidence and values; the values of two ends count half."""
        odds = self.prior_odds if len(self.prior_odds) == 1 else self.prior_odds[list(xs)]
        evidence = found.evidence
        evidence += odds
        evidence[np.arange(len(evidence)), list(xs)] = 0.0
        return Rows(evidence, (found.values + self._prior_of(xs, blankets)) / 2)

    def _prior_of(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Floats:
        """Return the log prior odds of the edges of each blanket, added up."""
        if len(self.prior_odds) == 1:
            return np.array([len(blanket) * float(self.prior_odds[0, 0]) for blanket in blankets])
        return np.array([self.prior_odds[x, blanket].sum() for x, blanket in zip(xs, blankets, strict=True)])


class EvidenceScore(PriorScore):
    """Evidence of a family and prior odds of edges."""

    def __init__(
        self,
        engine: Engine,
        family: Family,
        expected_neighbours: float | None,
        prior: ArrayLike | None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(engine.schema.n_variables, expected_neighbours, prior)
        fast = isinstance(engine, MemoryEngine) and BinaryRows.fits(engine)
        self._binary = family.binary(cast(MemoryEngine, engine), n_threads) if fast else None
        if self._binary is not None:  # the more at once, the more variables have as many ones
            self.likely_at_once = MANY
        if isinstance(self._binary, DeviceRows):  # the more rows at once, the fewer trips to the device
            self.likely_at_once, self.rows_at_once = DEVICE_ROWS, max(64, DEVICE_NUMBERS // self.n)
        self._threads, self._modelled = n_threads, is_modelled(engine.schema)
        self.engine, self.family = engine, family

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return t_xy with the prior odds, for each of some x, given its blanket: one trip."""
        return self._with_prior(xs, blankets, self._found(xs, blankets))

    def refitted(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return the same for members of the blankets, those with strong effects by fits without them.

        That takes time, and searches do not need it: approximated or not, a strong effect is strong. Those
        outside a blanket are not looked at.
        """
        return self._with_prior(xs, blankets, self._found(xs, blankets, STRONG))

    def of_members(self, xs: Sequence[int], blankets: Sequence[Ints]) -> list[Floats]:
        """Return t_xy of the members of each blanket, as :meth:`refitted` has it."""
        if self._binary is None or not hasattr(self.family, "of_members"):
            return members_in_batches(self.refitted, xs, blankets)
        found: list[Any] = [None] * len(xs)

        def use(_: int, first: int, pairwise: Rows, saturated: Rows) -> None:
            mine = slice(first, first + len(pairwise.values))
            members = members_of(blankets[mine])
            both = (Rows(rows.evidence[members], rows.values) for rows in (pairwise, saturated))
            ts = self.family.of_members(*both, np.asarray(xs[mine], np.int64), members)  # type: ignore[attr-defined]
            ts += (
                self.prior_odds[0, 0]
                if len(self.prior_odds) == 1
                else self.prior_odds[np.asarray(xs[mine])[members[0]], members[1]]
            )
            found[mine] = np.split(ts, np.cumsum([len(blanket) for blanket in blankets[mine]])[:-1])

        self._binary.pass_by(xs, blankets, STRONG, use)
        return found

    def likely(
        self, xs: Sequence[int], blankets: Sequence[Ints], floor: float, wanted: Sequence[Any]
    ) -> Iterable[LikelyRow]:
        """Return what is above a floor, or wanted, in the row of each of some x (:func:`likely_rows`)."""
        if self._binary is None or not hasattr(self.family, "likely") or len(self.prior_odds) > 1:
            return from_dense(self, xs, blankets, floor, wanted)
        asked = Asked(xs, blankets, float(self.prior_odds[0, 0]), floor, wanted)
        return self.family.likely(asked)  # type: ignore[no-any-return]

    def _found(self, xs: Sequence[int], blankets: Sequence[Ints], strong: float = np.inf) -> Rows:
        """Return the rows of the family: from bits in memory where that goes, else from tables."""
        if self._binary is None:
            return self._from_tables(xs, blankets, strong)
        found = self._binary.rows(xs, blankets, strong)
        mixed = self.family.of_both(*found, np.asarray(xs, np.int64), members_of(blankets))
        return Rows(to_host(mixed.evidence), mixed.values)

    def _from_tables(self, xs: Sequence[int], blankets: Sequence[Ints], strong: float) -> Rows:
        """Return the rows of the family, but ``NEVER`` for edges of variables of too many levels."""
        known, given = self._modelled, [np.asarray(blanket, np.int64) for blanket in blankets]
        asked = np.flatnonzero(known[list(xs)])
        evidence = np.full((len(xs), self.n), NEVER)
        values = np.array([NEVER * np.count_nonzero(~known[blanket]) for blanket in given])
        modelled = [given[q][known[given[q]]] for q in asked.tolist()]
        among = known & np.isinf(strong)
        questions = Questions.rows([xs[q] for q in asked.tolist()], modelled, self.n, among)
        found = self.family.rows(ask(self.engine, questions), strong, self._threads)
        evidence[np.ix_(asked, known)] = found.evidence[:, known]
        values[asked] += found.values
        return Rows(evidence, values)

    def value(self, x: int, blanket: Ints) -> float:
        """Return half of s_x(B) and of the prior of its edges."""
        return float(self.of_blankets([x], [np.asarray(blanket, np.int64)])[0])

    def of_blankets(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Floats:
        """Return that of some x: what is outside their blankets is not looked at."""
        return (self._found(xs, blankets, NOTHING_SO_STRONG).values + self._prior_of(xs, blankets)) / 2


def members_of(blankets: Sequence[Ints]) -> Members:
    """Return the members of blankets, one after the other: in which of them, and who.

    Examples
    --------
    >>> members_of([np.array([3]), np.array([0, 2])])
    (array([0, 1, 1]), array([3, 0, 2]))
    """
    sizes = [len(blanket) for blanket in blankets]
    return np.repeat(np.arange(len(sizes)), sizes), np.concatenate([NONE, *blankets])


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
        c: a pair is adjacent with probability c / n, one half at most.
    prior : array of shape (n, n) or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> log_prior_odds(8, 2.0).round(3)
    array([[-1.099]])
    """
    share = min(expected_neighbours / max(n, 1), 0.5)
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
