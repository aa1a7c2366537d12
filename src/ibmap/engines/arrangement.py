"""An order of columns and levels that is made from what they hold, so that no other order changes a result.

Cells (a level of a column) get colours, which begin as the number of rows that have them. The colour of a row
is the sum of those of its cells; the new colour of a cell is made from its own, from those of all its rows,
and from those of its column (colour refinement, as for graphs). All are whole numbers of 64 bits that are
added up, so they do not depend on names, labels, positions or the order of rows, and those of partitions add
up. Columns and levels are sorted by counts, and by colours where these tie. What ties beyond that is
interchangeable, and one of it is given a colour of its own.

Columns that are equal up to their labels have the same colours: that is how copies are found, without
comparing all pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ibmap._types import Bools, Ints
from ibmap.data import Table
from ibmap.data.schema import Schema
from ibmap.data.table import LevelBits, PackedData
from ibmap.engines.bits import packed_data
from ibmap.engines.engine import TABLES_AT_ONCE, Colours, Engine, ask
from ibmap.engines.questions import Questions
from ibmap.engines.tables import Tables

ROUNDS = 16  #: of refinement, at most
MOST_TABLES = 1 << 24  #: of pairs that are looked at where columns have the same counts


@dataclass(frozen=True, eq=False)
class Arrangement:
    """An order of columns, one of each group of copies, and of the levels of each.

    Attributes
    ----------
    columns : ndarray of int
        Which column stands at each place.
    levels : tuple of ndarray of int
        Of each of these, which level comes at each place.
    copies : tuple of tuples of int
        Columns that are the same in all rows up to their labels; the first of each stands for all.
    """

    columns: Ints
    levels: tuple[Ints, ...]
    copies: tuple[tuple[int, ...], ...] = ()

    @property
    def places(self) -> dict[int, int]:
        """The place of every column; copies have the same."""
        place = {int(v): k for k, v in enumerate(self.columns)}
        return place | {v: place[group[0]] for group in self.copies for v in group}


def mixed(z: Colours) -> Colours:
    """Scramble numbers of 64 bits (splitmix64).

    Examples
    --------
    >>> int(mixed(np.array([1], np.uint64))[0])
    6238072747940578789
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def arrangement_of(engine: Engine, first: Sequence[int] = ()) -> Arrangement:
    """Return the order of columns and levels of a table, copies merged.

    A group of copies is represented by its first column, or by the one that is among ``first``.
    """
    refined = Refinement(engine)
    refined.refine()
    refined.refine_by_pairs()
    copies = refined.find_copies(first)
    refined.make_discrete()
    return refined.arrangement(copies)


class Refinement:
    """The colours of all cells; the last cell of a column is for its missing values."""

    def __init__(self, engine: Engine) -> None:
        schema = engine.schema
        self.engine, self.n = engine, schema.n_variables
        self.levels = np.asarray(schema.cardinalities, np.int64)
        self.start = np.concatenate([[0], np.cumsum(self.levels + 1)])
        self.column = np.repeat(np.arange(self.n), self.levels + 1)
        self.level = np.arange(self.start[-1]) - self.start[self.column]
        self.is_missing = self.level == self.levels[self.column]
        self.counts = np.zeros(int(self.start[-1]), np.int64)
        self.counts[~self.is_missing] = engine.level_counts()
        known = np.add.reduceat(np.append(self.counts, 0), self.start[:-1]) if self.n else self.counts
        self.counts[self.is_missing] = schema.n_rows - known
        ordinal = np.asarray(schema.ordinal)[self.column]
        self.fixed = ordinal | self.is_missing  #: cells whose place is known
        kind = np.where(self.is_missing, 1, np.where(ordinal, self.level + 2, 0))
        self.colours = mixed(mixed(self.counts.astype(np.uint64)) + kind.astype(np.uint64))
        self.alone = self._observed() < 2  #: constants, and columns that need no place of their own
        self._join_columns()

    def _observed(self) -> Ints:
        return np.bincount(self.column, (self.counts > 0) & ~self.is_missing, self.n).astype(np.int64)

    def _join_columns(self) -> None:
        """Let the colour of a cell know those of its column."""
        self.of_column = mixed(_sums(mixed(self.colours), self.start))
        self.colours = mixed(self.colours ^ self.of_column[self.column])

    def refine(self) -> None:
        """Let the colours of cells know those of their rows; until no more colours come of it."""
        for _ in range(ROUNDS):
            before = len(np.unique(self.colours))
            rows = self.engine.colour_sums(self.colours)
            self.colours = mixed(self.colours + mixed(rows))
            self._join_columns()
            if not self._ties().any() or len(np.unique(self.colours)) == before:
                return

    def refine_by_pairs(self) -> None:
        """Tell columns of the same colour apart by their tables with all others.

        Where all columns have the same counts, as if cut at their quantiles, rows say nothing.
        """
        tied = np.unique(self.column[self._ties()])
        tied = tied[np.isin(self.of_column[tied], _repeated(self.of_column[tied]), kind="sort")]
        if not len(tied) or len(tied) * self.n > MOST_TABLES:
            return
        every, sums = np.arange(self.n), np.zeros_like(self.colours)
        step = max(1, TABLES_AT_ONCE // self.n)
        for some in np.split(tied, range(step, len(tied), step)):
            tables = ask(
                self.engine, Questions.of([(v, every[every != v], every[:0]) for v in some.tolist()])
            )
            _, of_x, of_y, count = tables.cells
            size = np.diff(tables.start)
            x = np.repeat(self.start[tables.x], size) + of_x
            y = np.repeat(self.start[tables.y], size) + of_y
            np.add.at(sums, x, mixed(mixed(self.colours[y]) + count.astype(np.uint64)))
        self.colours = mixed(self.colours + mixed(sums))
        self._join_columns()
        self.refine()

    def _ties(self) -> Bools:
        """Which cells have the colour of another, and a place that is not known."""
        free = (self.counts > 0) & ~self.alone[self.column] & ~self.is_missing
        _, inverse, number = np.unique(self.colours[free], return_inverse=True, return_counts=True)
        out = np.zeros(len(free), bool)
        out[free] = number[inverse] > 1
        return out

    def make_discrete(self) -> None:
        """Give one of those that tie a colour of its own, and refine again; until nothing ties."""
        for _ in range(ROUNDS):
            tied = np.flatnonzero(self._ties())
            if not len(tied):
                return
            first = tied[np.argmin(self.colours[tied])]
            self.colours[first] = mixed(self.colours[first : first + 1] + np.uint64(1))[0]
            self._join_columns()
            self.refine()

    def find_copies(self, first: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return the columns that are the same in all rows; each group is from here on one column."""
        groups: list[list[int]] = []
        varied = np.flatnonzero(~self.alone)
        order = varied[np.argsort(self.of_column[varied], kind="stable")]
        ends = np.flatnonzero(np.diff(self.of_column[order])) + 1
        for alike in np.split(order, ends):
            rest = sorted(alike.tolist(), key=lambda v: (v not in first, v))
            while len(rest) > 1:
                same = self._same(rest[0], rest[1:])
                groups += [[rest[0], *same]] * bool(same)
                rest = [v for v in rest[1:] if v not in set(same)]
        for group in groups:
            self.alone[group[1:]] = True
        return tuple(map(tuple, sorted(groups)))

    def _same(self, v: int, others: list[int]) -> list[int]:
        """Return those of some columns that are copies of v: to each level belongs one, in all rows."""
        tables = ask(self.engine, Questions.fixed(v, others, ()))
        size, rows = np.diff(tables.start), tables.n_rows
        known = self.engine.schema.n_rows - self.counts[self.start[1:] - 1]
        levels = self._observed()
        return [
            w
            for k, w in enumerate(others)
            if size[k] == levels[v] == levels[w] and rows[k] == known[v] == known[w]
        ]

    def arrangement(self, copies: tuple[tuple[int, ...], ...]) -> Arrangement:
        """Return columns sorted by levels, counts and colours, and levels by counts and colours."""
        levels = []
        for v in range(self.n):
            mine = slice(self.start[v], self.start[v + 1] - 1)
            colours, counts = self.colours[mine], self.counts[mine]
            fixed = bool(self.fixed[mine].any())
            levels.append(np.arange(len(counts)) if fixed else np.lexsort((colours, -counts)))
        merged = {v for group in copies for v in group[1:]}
        keys = {
            v: (
                len(levels[v]),
                sorted(self.counts[self.start[v] : self.start[v + 1]].tolist()),
                int(self.of_column[v]),
            )
            for v in range(self.n)
            if v not in merged
        }
        columns = sorted(keys, key=lambda v: (keys[v], v))
        return Arrangement(np.array(columns, np.int64), tuple(levels[v] for v in columns), copies)


def _repeated(values: Colours) -> Colours:
    """Return the values that are there more than once."""
    found, number = np.unique(values, return_counts=True)
    return np.asarray(found[number > 1])


def _sums(values: Colours, start: Ints) -> Colours:
    """Return the sums of parts that follow each other, none of them empty."""
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(ends[start[1:]] - ends[start[:-1]])


def arranged_schema(schema: Schema, arrangement: Arrangement) -> Schema:
    """Return a table without its rows, with columns and levels in another order."""
    kept = arrangement.columns.tolist()
    names = tuple(schema.names[v] for v in kept)
    return replace(
        schema,
        names=names,
        levels=tuple(
            tuple(schema.levels[v][k] for k in order.tolist())
            for v, order in zip(kept, arrangement.levels, strict=True)
        ),
        kinds=tuple(schema.kinds[v] for v in kept),
        bin_edges={name: schema.bin_edges[name] for name in names if name in schema.bin_edges},
        digest_of_rows=lambda: f"{schema.digest} {kept}",
    )


class ArrangedEngine(Engine):
    """An engine with its columns in another order; levels keep theirs, as who counts knows them by it.

    Parameters
    ----------
    engine : Engine
        Who counts.
    arrangement : Arrangement
        The order of the columns.
    """

    def __init__(self, engine: Engine, arrangement: Arrangement) -> None:
        plain = tuple(np.arange(len(order)) for order in arrangement.levels)
        self._engine, self._columns = engine, arrangement.columns
        self.schema = arranged_schema(engine.schema, replace(arrangement, levels=plain))

    def _there(self, asked: Questions) -> Questions:
        columns = self._columns
        return Questions(
            columns[asked.x], columns[asked.y], asked.y_start, columns[asked.given], asked.given_start
        )

    def tables(self, questions: Questions) -> Tables:
        """Count: one table for every y of every question."""
        found = self._engine.tables(self._there(questions.check(self.schema.n_variables)))
        slices = found.answered()[1]
        return Tables.of(
            questions, self.schema.cardinalities, found.start, found.cells, found.of_rows, slices
        )


def colour_sums_of_rows(engine: Engine, colours: Colours) -> Colours:
    """Return the sums of an engine that tells no more of its rows than how many are alike."""
    n, levels = engine.schema.n_variables, np.asarray(engine.schema.cardinalities)
    out = np.zeros_like(colours)
    if not n:
        return out
    start = np.concatenate([[0], np.cumsum(levels + 1)])
    slices = ask(engine, Questions.of([(0, np.empty(0, np.int64), np.arange(1, n))])).answered()[1]
    keys, (slice_, level, count) = slices.keys.reshape(-1, n - 1), slices.sets
    codes = np.column_stack([level, keys[slice_]])
    cells = start[:-1] + codes
    rows = mixed(colours[cells].sum(axis=1, dtype=np.uint64)) * count.astype(np.uint64)
    np.add.at(out, cells, rows[:, None])
    return out


def colour_sums_of_data(data: Table, colours: Colours) -> Colours:
    """Return the sums of a table."""
    start = np.concatenate([[0], np.cumsum(data.cardinalities + 1)])
    rows, out = np.zeros(data.n_rows, np.uint64), np.zeros_like(colours)
    for v in range(data.n_variables):
        rows += colours[start[v] : start[v + 1]][data.codes_of(v)]  # code -1 is the last cell
    rows = mixed(rows)
    for v in range(data.n_variables):
        np.add.at(out[start[v] : start[v + 1]], data.codes_of(v), rows)
    return out


def arranged_data(data: Table, arrangement: Arrangement) -> PackedData:
    """Return a table with its columns and levels in another order."""
    bits, schema = packed_data(data).bits, arranged_schema(data.schema, arrangement)
    kept, orders = arrangement.columns.tolist(), arrangement.levels
    narrow = [bits.first[v] + order for v, order in zip(kept, orders, strict=True) if bits.narrow[v]]
    rows = np.concatenate([np.empty(0, np.int64), *narrow])
    wide = [
        np.append(np.argsort(order), -1).astype(np.int32)[bits.wide_codes[bits.wide[v]]]
        for v, order in zip(kept, orders, strict=True)
        if not bits.narrow[v]
    ]
    codes = np.array(wide, np.int32).reshape(-1, bits.n_rows)
    found = LevelBits(
        bits.n_rows, bits.levels[arrangement.columns], bits.bits[rows], codes, bits.level_sizes[rows]
    )
    about = schema.names, schema.levels, schema.bin_edges, schema.backend, schema.warnings
    ordinal = [name for name in data.ordinal if name in set(schema.names)]
    return PackedData(found, *about, ordinal=ordinal, reading=schema.reading)
