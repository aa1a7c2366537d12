"""The engine of tables of any columns: rows of evidence from rows, and counts of what has levels."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._types import Floats, Ints
from ibmap.data import Table
from ibmap.data.numbers import scores, standard_columns
from ibmap.data.schema import CONTINUOUS, ORDINAL
from ibmap.data.weights import repeated
from ibmap.engines.arrangement import Arrangement
from ibmap.engines.arrangement import mixed as scrambled
from ibmap.engines.engine import Engine, Pair
from ibmap.engines.memory import MemoryEngine, drawn_rows
from ibmap.engines.model import DIRECTED, Model
from ibmap.engines.moments import COUNTS_NOTHING, Moments, gaussian_moments, moments_of
from ibmap.engines.questions import Questions
from ibmap.engines.rows import ManyVariables, Rows, as_lists, no_lists
from ibmap.engines.tables import Tables
from ibmap.engines.triples import Triples
from ibmap.errors import RequestError

TINY = 1e-9  #: a share of a variance that is not told from nothing
RANK_ROWS = 2.0  #: rows of noise beside its own that a number has by its ranks, which are not exact
NOBODY = (0, float("nan"), float("nan"))
UNIT = 1 << 20  #: whole numbers that stand for a weight of 1


class Filled(NamedTuple):
    """Several copies of a table, with other values where some are missing."""

    codes: NDArray[np.int16]  #: (copies, variables with levels, rows)
    numbers: Floats  #: (copies, numbers, rows): standardised

    def some(self, coded: Any, numbers: Any, rows: Any = slice(None)) -> "Filled":
        """Return some variables and some rows."""
        return Filled(self.codes[:, coded][:, :, rows], self.numbers[:, numbers][:, :, rows])


class MixedEngine(Engine):
    """A table of categories and numbers, in memory.

    Parameters
    ----------
    data : Table
        The table.
    filled : Filled or None
        Copies of it without missing values, of which evidence comes then; each counts as one of so many.
    n_threads : int
        Threads that make rows, unless a model asks for more.
    """

    def __init__(self, data: Table, filled: Filled | None = None, n_threads: int = 1) -> None:
        self.data, self.schema, self.filled, self.n_threads = data, data.schema, filled, n_threads

    def __reduce__(self) -> tuple[Any, ...]:
        return MixedEngine, (self.data, self.filled, self.n_threads)

    def of(self, data: Table, filled: Filled | None = None) -> "MixedEngine":
        """Return the engine of another table, in the same place as this one."""
        return MixedEngine(data, filled, self.n_threads)

    @property
    def row_by_row(self) -> "MixedEngine":
        """Itself."""
        return self

    @cached_property
    def columns(self) -> Any:
        """Two standardised columns of every number: (2, numbers, rows)."""
        return standard_columns(self.data.values, self.data.numbers, self.data.weights)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """Kind of every variable, for the core: 0 nominal, 1 ordinal, 2 a number."""
        kinds = [2 if kind == CONTINUOUS else int(kind == ORDINAL) for kind in self.schema.kinds]
        return np.array(kinds, np.uint8)

    @cached_property
    def mixed_table(self) -> _core.MixedTable:
        """The rows, for the core."""
        sizes = np.array([len(labels) for labels in self.schema.levels], np.int64)
        rows = self._row_order
        codes, weights = self.data.codes[:, rows], self.data.weights
        weights = None if weights is None else weights[rows]
        columns = standard_columns(self.data.values[:, rows], self.data.numbers, weights)
        if self.filled is not None:
            n_copies = len(self.filled.codes)
            codes, numbers = (np.concatenate(list(copies[:, :, rows]), axis=1) for copies in self.filled)
            weights = np.tile(np.ones(self.data.n_rows) if weights is None else weights, n_copies) / n_copies
            columns = standard_columns(numbers, "values", weights)
        return _core.MixedTable(
            self.kinds,
            sizes,
            codes.astype(np.int16, copy=False),
            columns,
            np.empty(0) if weights is None else weights,
            1,
            RANK_ROWS if self.data.numbers == "ranks" else 0.0,
        )

    @property
    def _row_order(self) -> Ints:
        """The rows in an order that is made of their contents, so that sums over them end alike."""
        keys = np.zeros(self.data.n_rows, np.uint64)
        for v, row in enumerate((*self.data.codes.astype(np.int64), *self.data.values)):
            keys = scrambled(keys + scrambled(row.view(np.uint64) + np.uint64(v)))
        return np.argsort(keys, kind="stable")

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
        """Return rows of evidence for some x, given their blankets; see :class:`ibmap.engines.Engine`."""
        if model.family != "mixed" and not self.schema.is_continuous:
            return self._counted.rows(model, xs, blankets, floor=floor, also=also, exact=exact)
        if model.family in DIRECTED:
            raise RequestError(COUNTS_NOTHING)
        if model.family != "mixed":
            raise RequestError(
                f"the score {model.family!r} counts levels: use 'mixed' for numbers and missing values"
            )
        given, others = as_lists(blankets), as_lists(also or no_lists(len(xs)))
        threads = max(model.n_threads, self.n_threads)
        found = self.mixed_table.rows(
            np.asarray(xs, np.int64), *given, model.log_odds, floor, *others, exact, threads, model.rough
        )
        return Rows(*found)

    def tables(self, questions: Questions) -> Tables:
        """Count categories; refuse questions about numbers."""
        asked = np.concatenate([questions.x, questions.y, questions.given])
        if self.data.is_number[asked].any():
            raise RequestError(COUNTS_NOTHING)
        found = self._counted.tables(questions)
        return replace(found, levels=self.schema.cardinalities, of_rows=self.schema.n_rows)

    @cached_property
    def _repeated(self) -> "MixedEngine":
        """The same table with its rows as often as they count, for those who count rows."""
        data = self.data
        if data.weights is None:
            return self
        return self.of(replace(data.rows(repeated(data.weights)), weights=None))

    def triples(self, threshold: float, most: int, n_threads: int = 1) -> Triples:
        """Return the triples of categories with more evidence of an interaction than a threshold."""
        return self._counted.triples(threshold, most, n_threads)

    @property
    def seconds_for_triples(self) -> float:
        """Estimate the seconds that one core takes for that."""
        return self._counted.seconds_for_triples

    @cached_property
    def _counted(self) -> MemoryEngine:
        """The same table, in which numbers are constants."""
        data = self._repeated.data
        codes = np.zeros((len(data.names), data.n_rows), np.int16)
        codes[~data.is_number] = data.codes
        levels = tuple(labels or (None,) for labels in data.levels)
        return MemoryEngine(Table(codes, data.names, levels, ordinal=data.ordinal))

    def curved(self, x: int, given: Ints) -> Ints:
        """Return the numbers that are given and whose square is in the evidence of x, too."""
        if not self.data.is_number[given].any():
            return given[:0]
        return given[self.data.is_number[given] & (self.mixed_table.effects(x, given)[0] > 1)]

    def n_complete(self, variables: Sequence[int]) -> int:
        """Return the number of rows in which all of some variables are known."""
        data = self._repeated.data
        known = np.ones(data.n_rows, bool)
        for v in variables:
            known &= ~np.isnan(data.values_of(v)) if data.is_number[v] else data.codes_of(v) >= 0
        return int(known.sum())

    def pair(self, x: int, y: int) -> Pair:
        """Return two variables side by side: counts of levels, means by level, or a correlation."""
        data, columns = self._repeated.data, self._repeated.columns
        is_number, place = data.is_number, data.place
        if is_number[x] and is_number[y]:
            one, other = (columns[0, place[v]].astype(np.float64) for v in (x, y))
            both = ~(np.isnan(one) | np.isnan(other))
            return Pair(correlation=correlation(one[both], other[both]))
        if is_number[x] or is_number[y]:
            level, number = (y, x) if is_number[x] else (x, y)
            codes, values = data.codes[place[level]], data.values[place[number]]
            groups = [values[(codes == k) & ~np.isnan(values)] for k in range(len(self.schema.levels[level]))]
            means = [
                (len(some), float(some.mean()), float(some.std())) if len(some) else NOBODY for some in groups
            ]
            return Pair(means=tuple(means))
        one, other = data.codes[place[x]], data.codes[place[y]]
        both = (one >= 0) & (other >= 0)
        found = np.zeros((len(self.schema.levels[x]), len(self.schema.levels[y])), np.int64)
        np.add.at(found, (one[both], other[both]), 1)
        return Pair(counts=tuple(map(tuple, found.tolist())))

    @cached_property
    def gaussian_moments(self) -> Moments | None:
        """Number of rows, means and sums of products, if all variables are numbers and none is missing."""
        if self._repeated is not self:
            return self._repeated.gaussian_moments
        if len(self.data.codes) or self.data.has_missing:
            return None
        return moments_of(self._scores.T)

    @cached_property
    def _scores(self) -> Floats:
        """What of the numbers counts: (numbers, rows)."""
        return np.array([scores(values, self.data.numbers) for values in self.data.values])

    def log_left_out(self, x: int, given: Ints) -> float:
        """Return the log density of a variable given others, summed over rows, in standard deviations.

        Each row is predicted by a linear regression on the other rows: Student's t, with n - k - 2 degrees
        of freedom for k given variables.
        """
        from scipy.special import gammaln

        if self._repeated is not self:
            return self._repeated.log_left_out(x, given)
        n, free = self.schema.n_rows, self.schema.n_rows - len(given) - 2
        if free < 1:
            name = self.schema.names[x]
            raise RequestError(f"{n} rows are too few to predict {name!r} from {len(given)} neighbours")
        left, kept = self._regression(x, given)
        spread = np.maximum((left**2).sum() - left**2 / kept, TINY) / free
        z2 = left**2 / (kept * spread)
        constant = gammaln((free + 1) / 2) - gammaln(free / 2) - np.log(free * np.pi) / 2
        return float((constant - (np.log(spread / kept) + (free + 1) * np.log1p(z2 / free)) / 2).sum())

    def variance_left_out(self, x: int, given: Ints) -> float:
        """Return the share of the variance of a number that others explain, each row left out in turn."""
        if self._repeated is not self:
            return self._repeated.variance_left_out(x, given)
        errors = [left / kept for left, kept in (self._regression(x, some) for some in (given, given[:0]))]
        after, before = (float(error @ error) for error in errors)
        return 1 - after / before if before > TINY else float("nan")

    def _regression(self, x: int, given: Ints) -> tuple[Floats, Floats]:
        """Return what others leave of a number in each row, and one less the leverage of the row."""
        basis = np.column_stack([np.ones(self.schema.n_rows), self._standard[:, given]])
        basis, scales, _ = np.linalg.svd(basis, full_matrices=False)
        basis = basis[:, scales > 1e-7 * scales[0]]
        left = self._standard[:, x] - basis @ (basis.T @ self._standard[:, x])
        return left, np.maximum(1.0 - (basis**2).sum(axis=1), TINY)

    def known_counts(self, x: int, given: Ints) -> Floats:
        """Count the levels of x (of a number: rows) in the rows where x and the others are known."""
        data = self.data
        rows = np.ones(data.n_rows) if data.weights is None else data.weights
        for v in (x, *given.tolist()) if self.filled is None else ():
            place = data.place[v]
            rows = rows * (~np.isnan(data.values[place]) if data.is_number[v] else data.codes[place] >= 0)
        if data.is_number[x]:
            return np.array([rows.sum()])
        codes = data.codes[data.place[x]]
        counts = np.bincount(codes[codes >= 0], rows[codes >= 0], minlength=len(self.schema.levels[x]))
        return np.asarray(counts * rows.sum() / max(counts.sum(), 1.0))

    @cached_property
    def _standard(self) -> Floats:
        """The rows, each variable with mean 0 and variance 1; a constant is 0."""
        moments = gaussian_moments(self)
        spread = np.sqrt(np.diagonal(moments.scatter) / max(moments.n_rows, 1))
        return np.asarray((self._scores.T - moments.mean) / np.where(moments.is_constant, np.inf, spread))

    def arrangement(self, first: Sequence[int] = ()) -> Arrangement:
        """Return the order of the columns by their contents, copies merged; levels stay as they are."""
        copies = self._find_copies(first)
        merged = {v for group in copies for v in group[1:]}
        order = np.lexsort((np.arange(len(self.data.names)), self.colours[0]))
        order = order[[v not in merged for v in order.tolist()]]
        levels = tuple(np.arange(len(self.schema.levels[v])) for v in order.tolist())
        return Arrangement(order, levels, copies)

    def _find_copies(self, first: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return groups of columns that are the same in all rows, up to their labels or their unit.

        Of the same levels with an order and without one, those with an order stand for all.
        """
        groups: dict[bytes, list[int]] = {}
        for v, is_number in enumerate(self.data.is_number.tolist()):
            if is_number:
                values = self.columns[0, self.data.place[v]]
                row = whole(values * np.sign(values[np.flatnonzero(np.nan_to_num(values))[:1]].sum()))
                varies = np.nan_to_num(values).any()
            else:
                row = by_first_row(self.data.codes_of(v))
                varies = row.max(initial=0) > 1
            if varies:
                groups.setdefault(blake2b(row.tobytes(), digest_size=16).digest(), []).append(v)
        key = {v: (v not in first, kind != ORDINAL, v) for v, kind in enumerate(self.schema.kinds)}
        several = [sorted(group, key=lambda v: key[v]) for group in groups.values() if len(group) > 1]
        return tuple(sorted(map(tuple, several)))

    @cached_property
    def colours(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """A number for every column, and one for every row, that depends on contents alone.

        Names, labels, places and the order of rows change nothing. It begins with the values and how often
        they come; then rows get the sums of their cells, and columns those of their cells times their rows.
        """
        data, cells = self.data, np.empty((len(self.data.names), self.data.n_rows), np.uint64)
        codes, values = iter(data.codes), iter(self.columns[0])
        weights = np.full(data.n_rows, 1, np.uint64)
        if data.weights is not None:
            weights = np.rint(data.weights * UNIT).astype(np.uint64)
        for v, is_number in enumerate(data.is_number.tolist()):
            row = whole(next(values)) if is_number else next(codes)
            _, place = np.unique(row, return_inverse=True)
            counts = np.zeros(int(place.max(initial=-1)) + 1, np.uint64)
            np.add.at(counts, place, weights)
            is_ordered = is_number or data.names[v] in data.ordinal
            own = row.astype(np.int64).astype(np.uint64) if is_ordered else counts[place]
            cells[v] = scrambled(own + np.uint64(len(data.levels[v]) + 1000 * is_number))
        colours = np.array([(scrambled(cell) * weights).sum() for cell in cells], np.uint64)
        for _ in range(2):  # one column at a time: a table may fill the memory
            rows = np.zeros(data.n_rows, np.uint64)
            for cell, colour in zip(cells, colours, strict=True):
                rows += scrambled(cell + colour)
            rows = scrambled(rows)
            told = np.array([(scrambled(cell ^ rows) * weights).sum() for cell in cells], np.uint64)
            colours = scrambled(colours + told)
        return np.asarray(colours, np.uint64), np.asarray(rows, np.uint64)

    def arranged(self, arrangement: Arrangement) -> "MixedEngine":
        """Return the table with its columns in another order."""
        data, order = self.data, arrangement.columns
        arranged = data.variables(order.tolist())
        arranged = arranged.with_description(warnings=data.warnings, reading=data.reading)
        coded, numbers = (data.place[order[data.is_number[order] == kind]] for kind in (False, True))
        return self.of(arranged, self.filled and self.filled.some(coded, numbers))

    def in_both_kinds(self, names: Sequence[str]) -> "MixedEngine":
        """Return the table in which some columns are categories, and come again as ordered levels."""
        data, which = self.data, list(self.schema.indices(names))
        again = tuple(f"{name}\0" for name in names)  # names that are not there
        both = Table(
            np.concatenate([data.codes, data.codes[data.place[which]]]),
            (*data.names, *again),
            (*data.levels, *(data.levels[v] for v in which)),
            ordinal=(*(name for name in data.ordinal if name not in names), *again),
            values=data.values,
            numbers=data.numbers,
        )
        return self.of(both)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MixedEngine":
        """Resample the rows: as many with replacement, or a share without; all levels stay."""
        rows = drawn_rows(rng, self.data.n_rows, share, self.data.clusters, self.data.strata)
        filled = self.filled and self.filled.some(slice(None), slice(None), rows)
        return self.of(self.data.rows(rows), filled)


def by_first_row(codes: NDArray[Any]) -> Ints:
    """Return codes by which row has a level first, from 1 on; 0 where the value is missing.

    Examples
    --------
    >>> by_first_row(np.array([2, -1, 0, 2, 1])).tolist()
    [1, 0, 2, 1, 3]
    """
    found, where, inverse = np.unique(codes, return_index=True, return_inverse=True)
    known = found >= 0
    rank = np.zeros(len(found), np.int64)
    rank[known] = np.argsort(np.argsort(where[known])) + 1
    return rank[inverse]


def whole(values: NDArray[np.float32]) -> Ints:
    """Return numbers as whole multiples of a millionth: sums in another order end with other bits.

    Examples
    --------
    >>> whole(np.array([1.5, 1e-18, np.nan], np.float32)).tolist()
    [1572864, 0, -1099511627776]
    """
    return np.rint(np.nan_to_num(values.astype(np.float64), nan=-float(UNIT)) * UNIT).astype(np.int64)


def correlation(one: Floats, other: Floats) -> float:
    """Return the correlation of two columns; 0 if one of them does not vary."""
    one, other = one - one.mean(), other - other.mean()
    scale = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / scale) if scale > 0 else 0.0
