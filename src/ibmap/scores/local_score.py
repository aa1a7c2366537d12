"""What a score must offer: rows of evidence, from which every search works.

A score is local: score(G) = Σ_x s_x(B_x), B_x the blanket of x. What a search needs from it is a row: for
every y the log evidence t_xy, seen from x, that y belongs to the blanket of x given the rest of it; one sign
convention, whether y is in the blanket or not. Where scores have a prior of edges, it is in t_xy.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Questions, Tables, ask
from ibmap.independence import IndependenceTest

NONE = np.empty(0, np.int64)
ROWS_AT_ONCE = 64  #: rows that are asked for in one trip, at least
TABLES_AT_ONCE = 1 << 14  #: and so many tables: with few variables all rows are one trip


class Rows(NamedTuple):
    """Rows of evidence, and the values that belong to them."""

    evidence: Floats  #: (rows, variables): t_xy, and 0 for x itself
    values: Floats  #: (rows,): s_x(B_x)
    sigma: Floats | None = None  #: (rows, variables): σ_xy, if the score has it at hand


class LocalScore(Protocol):
    """A score bound to an engine.

    Attributes
    ----------
    n : int
        Number of variables.
    additive : bool
        Whether t_xy is what the score gains: if the edge (x, y) is flipped, Σ s changes by
        ±(t_xy + t_yx) / 2. Searches that trust gains without trying them need that.
    """

    n: int
    additive: bool

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return t_xy for each of some x, given its blanket; a batch is one trip to the engine."""
        ...

    def value(self, x: int, blanket: Ints) -> float:
        """Return s_x(B)."""
        ...

    def empty(self) -> Rows:
        """Return the rows of the graph without edges."""
        ...


class Score(Protocol):
    """A score and its options, not yet bound to an engine."""

    @property
    def name(self) -> str:
        """What it is called in ``SCORES``."""
        ...

    @property
    def uses_test(self) -> bool:
        """Whether it asks a test of independence."""
        ...

    def options(self) -> Mapping[str, Any]:
        """Return its options, as JSON can hold them."""
        ...

    def bind(self, engine: Engine, test: IndependenceTest | None, n_threads: int = 1) -> LocalScore:
        """Bind it to an engine, and to a test if it asks one."""
        ...


class CompiledScore(Protocol):
    """A score whose rows are filled by compiled code, so that the climb can do whole ascents there.

    It fills σ_xy = -softplus(∓t_xy), the log posterior of what the graph asserts, without a detour.
    """

    n_threads: int
    n_cells: int

    def fill_empty(self, sigma: Floats) -> None:
        """Fill σ of the graph without edges."""
        ...

    def row(self, thread: int) -> tuple[int, Ints]:
        """Return the address of what fills a row of σ (``kernels/rows.py``), and what it takes."""
        ...


Tile = tuple[int, int, int, int, int]  #: first and last x, a block of ys, its first and last y from x on


class TiledScore(Protocol):
    """A compiled score whose σ without edges comes tile by tile, for those without place for all."""

    n: int
    n_threads: int

    def tiles(self) -> list[Tile]:
        """Return tiles that hold every pair once, by the first x, then by the first y; [] if it has none."""
        ...

    def lowest(self, wanted: int) -> tuple[NDArray[np.int32], Floats, float, Floats] | None:
        """Return the least credible pairs x < y, σ_xy, a floor for all others, and the sums of rows.

        None if tiles must be filled for that.
        """
        ...

    def fill_tile(self, thread: int, tile: Tile, band: Floats) -> None:
        """Put σ_xy of a tile into ``band[x - first x, y]``."""
        ...

    def row(self, thread: int) -> tuple[int, Ints]:
        """Return the address of what fills a row of σ, and what it takes."""
        ...

    def value_of(self, x: int, blanket: Ints, y: int) -> float:
        """Return σ_xy of a y that is not in the blanket of x."""
        ...


class LocalScoreBase:
    """What follows from rows: subclass it, and write ``rows`` and ``value``."""

    n: int
    additive: bool = True

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return t_xy for each of some x, given its blanket."""
        raise TypeError(f"{type(self).__name__} must define rows(xs, blankets)")

    def empty(self) -> Rows:
        """Return the rows of the graph without edges."""
        return in_batches(self, range(self.n), [NONE] * self.n)


class TableScore(LocalScoreBase):
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

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Rows:
        """Return t_xy for each of some x, given its blanket: one trip, and margins of its slices."""
        tables = ask(self.engine, Questions.rows(xs, blankets, self.n))
        return Rows(spread_rows(tables, self.n, self.evidence), self.values(tables))

    def value(self, x: int, blanket: Ints) -> float:
        """Return s_x(B)."""
        return float(self.values(ask(self.engine, Questions.fixed(x, (), blanket)))[0])


def spread_rows(tables: Tables, n: int, evidence: Any) -> Floats:
    """Return evidence as rows: that of the tables, and that of the members of each blanket."""
    asked = tables.answered()[0]
    out = np.zeros((len(asked), n))
    out[asked.of_table, asked.y] = evidence(tables)
    if len(asked.given):
        owner = np.repeat(np.arange(len(asked)), np.diff(asked.given_start))
        out[owner, asked.given] = evidence(tables.margins())
    return out


def in_batches(score: Any, xs: Iterable[int], blankets: Sequence[Ints], *, refitted: bool = False) -> Rows:
    """Ask for many rows, some at a time; ``refitted`` where the score can do without approximations."""
    xs = list(xs)
    rows = score.refitted if refitted and hasattr(score, "refitted") else score.rows
    at_once = rows_at_once(score)
    if len(xs) <= at_once:
        return rows(xs, blankets)  # type: ignore[no-any-return]
    parts = [
        rows(xs[first : first + at_once], blankets[first : first + at_once])
        for first in range(0, len(xs), at_once)
    ]
    evidence = np.concatenate([np.empty((0, score.n)), *(part.evidence for part in parts)])
    return Rows(evidence, np.concatenate([np.empty(0), *(part.values for part in parts)]))


def rows_at_once(score: Any) -> int:
    """Return how many rows are made at once."""
    return int(getattr(score, "rows_at_once", max(ROWS_AT_ONCE, TABLES_AT_ONCE // max(score.n, 1))))


def refitted_members(score: Any, xs: Sequence[int], blankets: Sequence[Ints]) -> list[Floats]:
    """Return t_xy of the members of each blanket, without approximations where the score can do without."""
    if hasattr(score, "of_members"):
        return score.of_members(xs, blankets)  # type: ignore[no-any-return]
    return members_in_batches(getattr(score, "refitted", score.rows), xs, blankets)


def members_in_batches(rows: Any, xs: Sequence[int], blankets: Sequence[Ints]) -> list[Floats]:
    """Return t_xy of the members of each blanket; whole rows are made some at a time, and forgotten."""
    found: list[Floats] = []
    for first in range(0, len(xs), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        evidence = rows(xs[some], blankets[some]).evidence
        found += [row[blanket] for row, blanket in zip(evidence, blankets[some], strict=True)]
    return found


def credibility(evidence: Floats, xs: Sequence[int], blankets: Sequence[Ints]) -> Floats:
    """Return σ_xy = -softplus(∓t_xy): the log posterior of what a graph asserts, seen from each of some x.

    It asserts dependence from the members of the blanket, and independence from all others.

    Examples
    --------
    >>> credibility(np.array([[0.0, 2.0, -2.0]]), [0], [np.array([1])]).round(4)
    array([[ 0.    , -0.1269, -0.1269]])
    """
    signed = evidence.copy()
    for row, blanket in zip(signed, blankets, strict=True):
        row[blanket] *= -1.0
    sigma = -np.logaddexp(0.0, signed)
    sigma[np.arange(len(sigma)), list(xs)] = 0.0
    return sigma
