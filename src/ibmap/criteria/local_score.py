"""What a score must offer: rows of evidence, from which every search works.

A score is local: score(G) = Σ_x s_x(B_x), B_x the blanket of x. What a search needs from it are rows
(:class:`ibmap.engines.rows.Rows`): for one x and its blanket, t_xy of the ys that matter.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine, Questions, Tables, ask
from ibmap.engines.rows import (
    ManyVariables,
    Rows,
    as_lists,
    credibility,
    joined_rows,
    no_lists,
    rows_of_matrix,
)
from ibmap.independence import IndependenceTest

NONE = np.empty(0, np.int64)
ROWS_AT_ONCE = 64  #: rows that are asked for in one trip, at least
TABLES_AT_ONCE = 1 << 14  #: and so many tables: with few variables all rows are one trip
CELLS_AT_ONCE = 1 << 22  #: of σ that are filled in at once


class LocalScore:
    """A score bound to an engine: subclass it, and write ``rows``; the rest follows.

    Attributes
    ----------
    n : int
        Number of variables.
    additive : bool
        Whether t_xy is what the score gains: if the edge (x, y) is flipped, Σ s changes by
        ±(t_xy + t_yx) / 2. Searches that trust gains without trying them need that.
    counts_pairs_once : bool
        Whether of the two ends of a pair only one counts, which depends on the blankets of both.
    prior : sequence of float
        What has been learned about the prior of edges, for checkpoints; empty if nothing.
    expected_neighbours : float or None
        How many neighbours a variable has a priori; None if there is no prior of edges.
    """

    n: int
    additive: bool = True
    counts_pairs_once: bool = False
    prior: Sequence[float] = ()
    expected_neighbours: float | None = None

    def rows(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets; see :meth:`ibmap.engines.Engine.rows`."""
        raise TypeError(f"{type(self).__name__} must define rows(xs, blankets, *, floor, also, exact)")

    def rows_outside(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
    ) -> Rows:
        """Return rows like :meth:`rows`, in which t of the members of blankets may be rough."""
        return self.rows(xs, blankets, floor=floor, also=also)

    def learn_prior(self, degree: Callable[[], float]) -> Floats | None:
        """Learn the prior of edges from the posterior number of neighbours; return by how much t_xy changes.

        None if it hardly does, or if the score has nothing to learn.
        """
        return None

    def triples(self, most: int, seconds: float) -> Ints:
        """Return triples that may be informative only together, (triples, 3), most evidence first.

        None if the score sees no interactions, or if finding them takes longer than some seconds.
        """
        return np.empty((0, 3), np.int64)

    def value(self, x: int, blanket: Ints) -> float:
        """Return s_x(B)."""
        return float(self.rows([x], [np.asarray(blanket, np.int64)], floor=np.inf).value[0])

    def of_graph(self, adjacency: Bools) -> float:
        """Return the score of a graph."""
        blankets = [np.flatnonzero(row) for row in adjacency]
        return float(self.rows(range(self.n), blankets, floor=np.inf).value.sum())

    def fill_empty(self, sigma: Floats) -> Floats:
        """Fill in σ_xy of all pairs in the graph without edges, and return s_x of every x."""
        values, at_once = np.empty(self.n), max(ROWS_AT_ONCE, CELLS_AT_ONCE // max(self.n, 1))
        for first in range(0, self.n, at_once):
            some = np.arange(first, min(first + at_once, self.n))
            rows = self.rows(some, no_lists(len(some)))
            sigma[some] = credibility(rows.matrix(self.n), some, [NONE] * len(some))
            values[some] = rows.value
        return values


class Score:
    """A score and its options, not yet bound to an engine: subclass it, and write ``bind``.

    Attributes
    ----------
    name : str
        What it is called in ``SCORES``.
    uses_test : bool
        Whether it asks a test of independence.
    is_evidence : bool
        Whether it is log evidence and a prior of edges, which no order of columns changes.
    tries_arcs : bool
        Whether the best directed graph may explain more than the best undirected one.
    """

    name: str
    uses_test = is_evidence = tries_arcs = False

    def options(self) -> Mapping[str, Any]:
        """Return its options, as JSON can hold them."""
        return dict(vars(self))

    def with_options(self, **changed: Any) -> Self:
        """Return a score with some options changed."""
        return type(self)(**{**self.options(), **changed})

    @property
    def prior_by_pair(self) -> ArrayLike | None:
        """The prior probability of independence of each pair, if each has its own."""
        prior: Any = self.options().get("prior")
        return prior if np.ndim(prior) == 2 else None

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> LocalScore:
        """Bind it to an engine, and to a test if it asks one."""
        raise TypeError(f"{type(self).__name__} must define bind(engine, test, n_threads)")


class TableScore(LocalScore):
    """A score whose evidence is a function of the table of x and y in the slices of the rest of the blanket.

    Subclass it, and write ``evidence`` (t_xy of every table) and ``values`` (s_x(B) of every question, from
    the slices alone).
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self.n = engine, engine.schema.n_variables

    def evidence(self, tables: Tables) -> Floats:
        """Return t_xy of every table."""
        raise TypeError(f"{type(self).__name__} must define evidence(tables)")

    def values(self, tables: Tables) -> Floats:
        """Return s_x(B) of every question."""
        raise TypeError(f"{type(self).__name__} must define values(tables)")

    def rows(
        self,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets: one trip, and margins of its slices."""

        def made(some: Ints, given: list[Ints]) -> tuple[Floats, Floats]:
            tables = ask(self.engine, Questions.rows(some.tolist(), given, self.n))
            return tables.spread(self.n, self.evidence), self.values(tables)

        return rows_by_trips(self.n, made, xs, blankets, floor, also)


def rows_by_trips(
    n: int,
    made: Callable[[Ints, list[Ints]], tuple[Floats, Floats]],
    xs: Sequence[int] | Ints,
    blankets: ManyVariables,
    floor: float,
    also: ManyVariables | None,
) -> Rows:
    """Return rows that are made whole, some at a time, with what matters in them."""
    which, given = np.asarray(xs, np.int64), as_lists(blankets)
    others = as_lists(also or no_lists(len(which)))
    at_once = max(ROWS_AT_ONCE, TABLES_AT_ONCE // max(n, 1))
    parts = []
    for first in range(0, max(len(which), 1), at_once):
        some = slice(first, min(first + at_once, len(which)))
        mine = given.some(some)
        evidence, values = made(which[some], mine.one_by_one())
        parts.append(rows_of_matrix(evidence, values, which[some], mine, floor=floor, also=others.some(some)))
    return joined_rows(parts)
