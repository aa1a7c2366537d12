"""What an engine answers: contingency tables as lists of observed cells, which add up over partitions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ibmap import _core
from ibmap._types import Floats, Ints
from ibmap.engines.questions import Questions
from ibmap.errors import EngineError


@dataclass(frozen=True, eq=False)
class Slices:
    """The slices of each question, and their sets of rows by level of x.

    Attributes
    ----------
    start : ndarray of int
        First slice of each question, and the end.
    find_keys : callable
        Finds ``keys`` when somebody first needs them: to add tables, or for margins.
    set_start : ndarray of int
        First set of each question, and the end.
    sets : ndarray of int, shape (3, sets)
        Slice (numbered within its question), level of x, rows.
    """

    start: Ints
    find_keys: Callable[[], Ints]
    set_start: Ints
    sets: Ints

    @cached_property
    def keys(self) -> Ints:
        """Levels of the given variables in every slice, one slice after the other."""
        return self.find_keys()


class Answered(NamedTuple):
    """What was answered to one question, as parts of what was answered to all."""

    x: int
    given: slice  #: of ``questions.given``
    tables: slice  #: of ``questions.y``, and of the tables
    sets: slice  #: of ``slices.sets``
    keys: Ints  #: (slices, given): levels of the given variables


@dataclass(frozen=True, eq=False)
class Tables:
    """A batch of contingency tables of x against y, as lists of their observed cells.

    Table t owns the cells ``start[t]:start[t + 1]``, sorted by slice, then level of x, then level of y.
    Nothing that was not observed takes space: thousands of levels or 70 conditioning columns are no matter.
    Tables of two partitions of the rows are added with ``+``.

    Attributes
    ----------
    x, y : ndarray of int
        The two variables of each table.
    levels : ndarray of int
        Number of levels of each variable.
    start : ndarray of int
        First cell of each table, and the end.
    cells : ndarray of int, shape (4, cells)
        Slice, level of x, level of y, count. Slices are numbered within a question; those without a row that
        knows y do not occur in the table of y.
    of_rows : int
        Rows that were looked at, complete or not: of one partition, or of all that were added.
    questions : Questions or None
        What was asked: one table for every y of every question; None where tables are margins of others,
        and then ``margins_of`` says of which answer.
    slices : Slices or None
        The slices behind the numbers; None where tables are margins of others and cannot be added.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> ask = Questions.fixed(0, [1], [])
    >>> one = MemoryEngine(load(np.array([[0, 0], [1, 1]]))).tables(ask)
    >>> other = MemoryEngine(load(np.array([[0, 1], [1, 0], [1, 0]]))).tables(ask)
    >>> (one + other).cells.T.tolist()  # slice, level of x, level of y, count
    [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 2], [0, 1, 1, 1]]
    """

    x: Ints
    y: Ints
    levels: Ints
    start: Ints
    cells: Ints
    of_rows: int
    questions: Questions | None = None
    slices: Slices | None = None
    margins_of: Questions | None = None

    @staticmethod
    def of(
        questions: Questions, levels: Ints, start: Ints, cells: Ints, of_rows: int, slices: Slices
    ) -> "Tables":
        """Return the answer to some questions."""
        return Tables(questions.x_of_table, questions.y, levels, start, cells, of_rows, questions, slices)

    @cached_property
    def log_possible(self) -> Floats:
        """Logarithm of the number of configurations that the conditioning set of each table could have."""
        if self.questions is not None:
            return self.questions.log_possible(self.levels)
        logs, asked = np.log(self.levels[self.y]), self.margins_of
        if asked is None:
            raise EngineError("these tables answer no questions")
        sums = np.concatenate([[0.0], np.cumsum(logs)])
        of_all = sums[asked.given_start[1:]] - sums[asked.given_start[:-1]]
        return np.repeat(of_all, np.diff(asked.given_start)) - logs

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_rows(self) -> Ints:
        """Rows counted in each table."""
        sums = np.concatenate([[0], np.cumsum(self.cells[3])])
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]])

    @property
    def n_slices(self) -> Ints:
        """Observed slices of each table."""
        return self._numbers[0]

    @cached_property
    def _numbers(self) -> tuple[Ints, Ints | None]:
        """How many slices each table has; their numbers without gaps, cell by cell, if there are gaps."""
        return _core.number_slices(self.start, self.cells)

    def closed(self) -> "Tables":
        """Return the tables with slices numbered within each from 0, without gaps; they cannot be added.

        There are gaps only where a slice has no row that knows y.
        """
        number = self._numbers[1]
        if number is None:
            return self
        return replace(self, cells=np.concatenate([number[None], self.cells[1:]]), slices=None)

    def margins(self) -> "Tables":
        """Return the tables of x against each given variable, given the others, in the order of ``given``.

        They are margins of the slices: nothing is counted again.
        """
        asked, slices = self.answered()
        start, cells = _core.margins(
            asked.given_start, asked.given, slices.start, slices.keys, slices.set_start, slices.sets
        )
        xs = np.repeat(asked.x, np.diff(asked.given_start))
        return Tables(xs, asked.given, self.levels, start, cells, self.of_rows, margins_of=asked)

    def __add__(self, other: "Tables") -> "Tables":
        from ibmap.engines.merge import add_tables

        return add_tables([self, other])

    def one_by_one(self) -> Iterator["Answered"]:
        """Yield what was answered to every question, for those who look at one after the other."""
        asked, slices = self.answered()
        first_key, ends = 0, (asked.given_start, asked.y_start, slices.set_start)
        for q, x in enumerate(asked.x.tolist()):
            given, ys, sets = (slice(int(end[q]), int(end[q + 1])) for end in ends)
            shape = int(slices.start[q + 1] - slices.start[q]), given.stop - given.start
            last_key = first_key + shape[0] * shape[1]
            yield Answered(x, given, ys, sets, slices.keys[first_key:last_key].reshape(shape))
            first_key = last_key

    def answered(self) -> tuple[Questions, Slices]:
        """Return the questions and the slices behind the tables, if they are not margins of others."""
        if self.questions is None or self.slices is None:
            raise EngineError("these tables are margins of others: ask the engine for tables with slices")
        return self.questions, self.slices

    def contingency(self, t: int) -> tuple[tuple[int, ...], ...]:
        """Return table ``t``, its slices added up, as rows of counts."""
        _, a, b, n = self.cells[:, self.start[t] : self.start[t + 1]]
        found = np.zeros((self.levels[self.x[t]], self.levels[self.y[t]]), np.int64)
        np.add.at(found, (a, b), n)
        return tuple(map(tuple, found.tolist()))

    def spread(self, n: int, evidence: "Callable[[Tables], Floats]") -> Floats:
        """Return what is known of every table as rows: of the ys, and of the members of each blanket."""
        asked = self.answered()[0]
        out = np.zeros((len(asked), n))
        out[asked.of_table, asked.y] = evidence(self)
        if len(asked.given):
            owner = np.repeat(np.arange(len(asked)), np.diff(asked.given_start))
            out[owner, asked.given] = evidence(self.margins())
        return out
