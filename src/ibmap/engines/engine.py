"""What an engine must offer: the rows live behind it, anywhere, and only numbers that add up come out.

Counts add up over any partition of the rows, so an engine may sit on one machine, a cluster
or a GPU; nothing above this package knows which one it has, or sees a row.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._parallel import n_threads
from ibmap._text import in_short
from ibmap._types import Ints
from ibmap.data import Schema, Table
from ibmap.engines.model import DIRECTED, VAGUE, Model
from ibmap.engines.moments import Moments
from ibmap.engines.questions import NONE, Questions
from ibmap.engines.rows import ManyVariables, Rows, as_lists, joined_rows, no_lists
from ibmap.engines.tables import Tables
from ibmap.engines.triples import NO_TRIPLES, OF_TABLES, Triples, evidence_of_tables, triple_questions
from ibmap.errors import EngineError, RequestError

if TYPE_CHECKING:
    from ibmap.engines.arrangement import Arrangement
    from ibmap.engines.mixed import MixedEngine

Colours = NDArray[np.uint64]

ROWS_AT_ONCE = 64  #: rows that are asked for in one trip, at least
TABLES_AT_ONCE = 1 << 14  #: and so many tables: with few variables all rows are one trip
PAIRS_AT_ONCE = 1 << 12  #: tables of pairs that are answered together: their cells stay in the cache


class Pair(NamedTuple):
    """Two variables side by side."""

    counts: tuple[tuple[int, ...], ...] = ()  #: of the levels of both
    correlation: float | None = None  #: of two numbers, by ranks or values as the table has them
    means: tuple[
        tuple[int, float, float], ...
    ] = ()  #: of a number, by level of the other: rows, mean, deviation


class Engine:
    """Where the rows are: subclass it, and write ``schema``, ``tables`` and ``resampled``; the rest follows.

    An engine overrides what it can answer faster than by tables.
    """

    schema: Schema  #: the table without its rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.schema.n_variables} variables, {self.schema.n_rows} rows)"

    def tables(self, questions: Questions) -> Tables:
        """Count: one table for every y of every question."""
        raise TypeError(f"{type(self).__name__} must define tables(questions)")

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "Engine":
        """Resample the rows: as many with replacement, or a share without; all levels stay."""
        raise RequestError(f"{type(self).__name__} cannot resample its rows: it has no bootstrap")

    @property
    def table(self) -> _core.Table | None:
        """The rows as bits, if they are in the memory of this process."""
        return None

    @property
    def row_by_row(self) -> "MixedEngine":
        """The same table for models of single rows, with numbers or missing values."""
        raise RequestError(f"{type(self).__name__} has no access to single rows: read the table into memory")

    @property
    def gaussian_moments(self) -> Moments | None:
        """Number of rows, means and sums of products, if all variables are numbers and none is missing."""
        return None

    def pairs(self) -> Iterator[Tables]:
        """Count every pair of variables once, x < y, without conditioning; in batches."""
        for questions in pair_questions(self.schema.n_variables):
            yield self.tables(questions)

    def rows(
        self,
        model: Model,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets: the only seam for speed.

        Members of the blanket are listed, ys with t_xy above the floor, and ``also`` those. With ``exact``,
        members alone are, and where their effects are strong t comes from a fit without them; if ``also``
        lists some, those of other members need not.
        """
        if model.family == "mixed":
            raise RequestError(
                "evidence of rows with missing values needs all rows in memory: use the engine 'memory' or "
                "missing="
                "'question', leave them out (missing='drop'), or make missing values a level ('category')"
            )
        n, xs = self.schema.n_variables, np.asarray(xs, np.int64)
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        known = np.asarray(self.schema.cardinalities) <= model.most_levels
        outside = known & (not exact and (floor < np.inf or len(others.members) > 0))
        at_once = max(ROWS_AT_ONCE, TABLES_AT_ONCE // max(n, 1))
        parts = []
        for first in range(0, len(xs), at_once):
            some = slice(first, first + at_once)
            mine, wanted = (lists.some(some) for lists in (given, others))
            asked = np.flatnonzero(known[xs[some]])
            modelled = [blanket[known[blanket]] for blanket in mine.one_by_one()]
            questions = Questions.rows(
                xs[some][asked].tolist(), [modelled[q] for q in asked.tolist()], n, outside
            )
            tables = ask(self, questions)
            slices = tables.answered()[1]
            found = self.conditionals(model).rows_of_cells(
                *(questions.x, questions.y, questions.y_start, questions.given, questions.given_start),
                *(slices.start, slices.keys, slices.set_start, slices.sets, tables.start, tables.cells),
                *(xs[some], *mine, model.log_odds, floor, *wanted, exact, model.n_threads),
            )
            parts.append(Rows(*found))
        return joined_rows(parts)

    def pair(self, x: int, y: int) -> Pair:
        """Return two variables side by side, whatever else there is."""
        return Pair(ask(self, Questions.fixed(x, [y], ())).contingency(0))

    def triples(self, threshold: float, most: int, n_threads: int = 1) -> Triples:
        """Return the ``most`` triples, at most, whose evidence of an interaction exceeds a threshold."""
        best = NO_TRIPLES
        for questions in triple_questions(self.schema):
            found = evidence_of_tables(ask(self, questions))
            best = best.and_more(found, threshold).first(most)
        return best

    @property
    def seconds_for_triples(self) -> float:
        """Estimate the seconds that one core takes for all triples."""
        return comb(self.schema.n_variables, 3) * OF_TABLES

    def conditionals(self, model: Model) -> _core.Conditionals | _core.Families:
        """Return the conditionals of all variables, made once for every model."""
        if model.key not in self._conditionals:
            self._conditionals[model.key] = (
                families_of(self, model)
                if model.family in DIRECTED
                else conditionals_of(self, model, self.level_counts())
            )
        return self._conditionals[model.key]

    @cached_property
    def _conditionals(
        self,
    ) -> dict[tuple[str, float, float, float], _core.Conditionals | _core.Families]:
        return {}

    def level_counts(self) -> Ints:
        """Return how many rows have each level of each variable, one variable after the other."""
        return level_counts(self)

    def colour_sums(self, colours: Colours) -> Colours:
        """Return, for every cell, the sum of the scrambled colours of its rows: sums of those of cells.

        A variable has a cell for each of its levels, and a last one for missing values; see
        ``engines/arrangement.py``. Here by the distinct rows, of which those with missing values are not
        seen.
        """
        from ibmap.engines.arrangement import colour_sums_of_rows

        return colour_sums_of_rows(self, colours)

    def arrangement(self, first: Sequence[int] = ()) -> "Arrangement":
        """Return the order of columns and levels by their contents, copies merged."""
        from ibmap.engines.arrangement import arrangement_of

        return arrangement_of(self, first)

    def arranged(self, arrangement: "Arrangement") -> "Engine":
        """Return the table with its columns in another order; levels, too, where rows are at hand."""
        from ibmap.engines.arrangement import ArrangedEngine

        return ArrangedEngine(self, arrangement)


def conditionals_of(engine: Engine, model: Model, counts: Ints | None = None) -> _core.Conditionals:
    """Return the conditionals of all variables behind an engine, given the rows of each level."""
    schema = engine.schema
    return _core.Conditionals(
        np.array(schema.cardinalities, np.int64),
        np.ascontiguousarray(schema.ordinal),
        level_counts(engine) if counts is None else counts,
        schema.n_rows,
        model.family,
        model.precision,
        VAGUE,
        model.prior_count,
        model.saturated_share,
    )


def families_of(engine: Engine, model: Model) -> _core.Families:
    """Return the score of families in directed graphs behind an engine."""
    levels = np.array(engine.schema.cardinalities, np.int64)
    return _core.Families(levels, engine.schema.n_rows, model.family, model.prior_count)


def level_counts(engine: Engine) -> Ints:
    """Return how many rows have each level of each variable, one variable after the other."""
    levels = np.asarray(engine.schema.cardinalities)
    tables = ask(engine, Questions.of([(x, NONE, NONE) for x in range(len(levels))]))
    slices, first = tables.answered()[1], np.cumsum(levels) - levels
    owner = np.repeat(np.arange(len(levels)), np.diff(slices.set_start))
    out = np.zeros(int(levels.sum()), np.int64)
    out[first[owner] + slices.sets[1]] = slices.sets[2]
    return out


def pair_questions(n: int, at_once: int = PAIRS_AT_ONCE) -> Iterator[Questions]:
    """Yield questions that ask about every pair of n variables once, x < y.

    Examples
    --------
    >>> [(batch.x.tolist(), batch.y.tolist()) for batch in pair_questions(3)]
    [([0, 1], [1, 2, 2])]
    """
    ends = np.cumsum(np.arange(n - 1, 0, -1))  # of the pairs of each x
    first = 0
    while first < n - 1:
        before = int(ends[first - 1]) if first else 0
        last = min(int(np.searchsorted(ends, before + at_once)) + 1, n - 1)
        x = np.arange(first, last)
        y_start = np.concatenate([[0], ends[first:last] - before])
        y = np.arange(y_start[-1]) + np.repeat(x + 1 - y_start[:-1], n - 1 - x)
        yield Questions(x, y, y_start, np.empty(0, np.int64), np.zeros(len(x) + 1, np.int64))
        first = last


def ask(engine: Engine, questions: Questions) -> Tables:
    """Ask an engine, and check that the answer is about these questions and all rows."""
    return checked(engine.tables(questions.check(engine.schema.n_variables)), engine.schema, questions)


def checked(tables: Tables, schema: Schema, questions: Questions | None = None) -> Tables:
    """Return tables, if they answer the questions for all rows of the schema."""
    asked = tables.answered()[0]
    if questions is not None and asked is not questions and not asked.same(questions):
        raise EngineError("the engine answered other questions than it was asked")
    levels = schema.cardinalities
    if tables.levels is not levels and not np.array_equal(tables.levels, levels):
        raise EngineError("the engine answered for another table: its variables have other levels")
    if tables.of_rows != schema.n_rows:
        raise EngineError(
            f"the engine answered for {tables.of_rows:,} of {schema.n_rows:,} rows: a partition is missing, "
            f"or counted twice"
        )
    return tables


def is_engine(thing: object) -> bool:
    """Whether something is an engine."""
    return isinstance(thing, Engine)


Source = Table | Engine
MakeEngine = Callable[[Table], Engine]


def as_engine(source: Any, engine: Any = None) -> Engine:
    """Return the engine for a table: an engine, a name, or a function that makes one.

    Parameters
    ----------
    source : Table or Engine
        The table, or an engine that has it.
    engine : Engine, callable, str or None
        Who counts: an engine that holds the same table, a function that makes one of a table, a name
        (``ENGINES``; ``threads=4`` for so many threads), or None for the memory of this process.

    Examples
    --------
    >>> from ibmap.data import load
    >>> as_engine(load({"a": [0, 1], "b": [1, 0]}), "memory")
    MemoryEngine(2 variables, 2 rows)
    """
    if not isinstance(source, Table):
        if not is_engine(source):
            raise RequestError(f"expected a Table or an engine, not {type(source).__name__}")
        if engine is not None and engine is not source:
            raise RequestError("the table is behind an engine already: leave engine=None")
        return source  # type: ignore[no-any-return]
    if engine is None:
        engine = "memory"
    if isinstance(engine, str):
        engine = _by_name(engine, source)
    made = engine if is_engine(engine) else None
    if made is None:
        if not callable(engine):
            raise RequestError(
                f"{in_short(engine)} is not an engine: give a name, an engine, or a function that makes one "
                f"from a table"
            )
        made = engine(source)
        if not is_engine(made):
            raise RequestError(f"{in_short(engine)} made a {type(made).__name__}, not an engine")
    if made.schema is not source.schema and (other := source.schema.difference(made.schema)):
        raise EngineError(f"the engine holds another table: {other}")
    return made  # type: ignore[no-any-return]


def looks_at_rows(schema: Schema) -> bool:
    """Whether evidence of a table comes from its rows, as it holds numbers or missing values."""
    return schema.is_continuous or schema.reading.get("missing") in ("question", "impute")


def _by_name(name: str, table: Table) -> MakeEngine:
    """Return what makes the engine of a name; ``threads=4`` is the one of so many threads."""
    from ibmap.engines.registry import ENGINES

    kind, _, number = name.partition("=")
    if kind == "dask":
        raise RequestError(
            "the workers of a cluster read the table themselves: give the engine dask a folder of Parquet or "
            "Arrow files (ibmap learn FOLDER, or DaskEngine(client, folder))"
        )
    how = {"n_jobs": int(number)} if kind == "threads" and number.isdecimal() and int(number) else {}
    if name not in ENGINES and not how:
        raise RequestError(f"unknown engine {name!r}; there are {', '.join(ENGINES)}, dask")
    if looks_at_rows(table.schema):
        from ibmap.engines.mixed import MixedEngine

        if kind not in ("memory", "threads"):
            raise RequestError(
                f"the engine {name!r} takes no numbers and no missing values: use 'memory' or 'threads', or "
                "'dask' for a folder"
            )
        threads = n_threads(how.get("n_jobs", -1)) if kind == "threads" else 1
        return partial(MixedEngine, n_threads=threads)
    return partial(ENGINES[kind], **how)
