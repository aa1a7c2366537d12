"""Cells, rows and what they come to: what is run, what came out, means and standard deviations by cell."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import Any, NamedTuple

Value = int | float | str
Cell = dict[str, Value]
Grid = Mapping[str, tuple[Value, ...]]
Measures = dict[str, Any]
SIGNS = {"tau": "τ"}  #: factors that have a sign in the paper
ENOUGH = 3  #: repetitions that a mean must have before it speaks for or against the paper


class Row(NamedTuple):
    """What one run of one cell gave."""

    cell: Cell
    repetition: int
    measures: Measures

    @property
    def key(self) -> tuple[Any, ...]:
        """The cell and the repetition, to find a row by."""
        return (*sorted(self.cell.items()), self.repetition)


def cells_of(grid: Grid) -> Iterator[Cell]:
    """List the cells of a grid, the last factor fastest.

    Examples
    --------
    >>> list(cells_of({"n": (4, 8), "D": (10,)}))
    [{'n': 4, 'D': 10}, {'n': 8, 'D': 10}]
    """
    for levels in product(*grid.values()):
        yield dict(zip(grid, levels, strict=True))


def cell_in_words(cell: Mapping[str, Value]) -> str:
    """Return a cell for reading.

    Examples
    --------
    >>> cell_in_words({"n": 100, "tau": 4, "learner": "gsmn"})
    'n = 100, τ = 4, gsmn'
    """
    return ", ".join(
        str(value) if isinstance(value, str) else f"{SIGNS.get(name, name)} = {value}"
        for name, value in cell.items()
    )


class Summary(NamedTuple):
    """A measure of one cell over the repetitions."""

    mean: float
    std: float | None  #: None after one repetition
    n: int  #: repetitions


class Difference(NamedTuple):
    """The means of a measure in two cells, and how far chance may have moved them apart."""

    first: float
    second: float
    error: float  #: standard error of first - second, repetition by repetition


class Results:
    """Rows, grouped by cell.

    Examples
    --------
    >>> results = Results([Row({"n": 4}, 0, {"hamming": 1}), Row({"n": 4}, 1, {"hamming": 3})])
    >>> results.summary({"n": 4}, "hamming")
    Summary(mean=2.0, std=1.4142135623730951, n=2)
    >>> results.summary({"n": 5}, "hamming") is None
    True
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in sorted(rows, key=lambda row: row.repetition):
            self._groups.setdefault(_key(row.cell), []).append(row)

    @property
    def rows(self) -> Iterator[Row]:
        """All rows, cell by cell."""
        for group in self._groups.values():
            yield from group

    def cells(self) -> list[Cell]:
        """Return the cells that have rows, in order."""
        return sorted((group[0].cell for group in self._groups.values()), key=_order)

    def levels(self, factor: str, order: Sequence[Value] = ()) -> list[Value]:
        """Return the levels of a factor that have rows: first those of ``order``, then any others, sorted."""
        present = {group[0].cell[factor]: None for group in self._groups.values()}
        others = (level for level in present if level not in order)
        return [*(level for level in order if level in present), *sorted(others, key=_rank)]

    def of(self, cell: Cell) -> list[Row]:
        """Return the rows of a cell, by repetition."""
        return self._groups.get(_key(cell), [])

    def values(self, cell: Cell, measure: str) -> list[float]:
        """Return the values of a measure in a cell; repetitions without one are left out."""
        found = (row.measures.get(measure) for row in self.of(cell))
        return [value for value in found if isinstance(value, int | float) and math.isfinite(value)]

    def summary(self, cell: Cell, measure: str) -> Summary | None:
        """Return mean, standard deviation and number of repetitions; None without any."""
        values = self.values(cell, measure)
        if not values:
            return None
        return Summary(fmean(values), stdev(values) if len(values) > 1 else None, len(values))

    def mean(self, cell: Cell, measure: str, enough: int = ENOUGH) -> float | None:
        """Return the mean over the repetitions, or None if there are fewer than ``enough``."""
        found = self.summary(cell, measure)
        return found.mean if found and found.n >= enough else None

    def difference(self, first: Cell, second: Cell, measure: str, enough: int = ENOUGH) -> Difference | None:
        """Compare two cells; None if one of them has fewer than ``enough`` repetitions.

        Repetitions with the same number have the same world, where the cells have worlds in common.

        Examples
        --------
        >>> rows = [Row({"n": n}, r, {"hamming": n + n * r}) for n in (4, 6) for r in range(3)]
        >>> Results(rows).difference({"n": 4}, {"n": 6}, "hamming")
        Difference(first=8.0, second=12.0, error=1.1547005383792517)
        """
        means = self.mean(first, measure, enough), self.mean(second, measure, enough)
        if means[0] is None or means[1] is None:
            return None
        sides = [{row.repetition: row for row in self.of(cell)} for cell in (first, second)]
        pairs = [[side[r].measures.get(measure) for side in sides] for r in sides[0] if r in sides[1]]
        gaps = [a - b for a, b in pairs if a is not None and b is not None]
        error = stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return Difference(means[0], means[1], error)


def _key(cell: Cell) -> tuple[Any, ...]:
    return tuple(sorted(cell.items()))


def _order(cell: Cell) -> list[tuple[bool, float, str]]:
    """Sort numbers as numbers and words as words."""
    return [_rank(value) for value in cell.values()]


def _rank(value: Value) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")
