"""Cells and rows: what is run, and what came out."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

Value = int | float | str
Cell = dict[str, Value]
Grid = Mapping[str, tuple[Value, ...]]
Measures = dict[str, Any]
SIGNS = {"tau": "τ"}  #: factors that have a sign in the paper


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
