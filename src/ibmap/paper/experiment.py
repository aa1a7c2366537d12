"""What an experiment is: a grid of cells to run, measures to show, and what the paper says about them.

A *study* makes rows: every cell of its grid, so many times. An *experiment* is one view of a study, a figure
or a table of the paper: several experiments may show the rows of one study, which is then run only once.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ibmap.paper.claims import Claim
from ibmap.paper.results import Cell, Grid, Measures, Value, cells_of


def equal_cost(cell: Cell) -> float:
    """Return the same cost for every cell."""
    return 0.0


def seed_of(base: int, what: Mapping[str, object], repetition: int) -> int:
    """Return the seed of a world: 63 bits of the SHA-256 of base, description and repetition as JSON.

    It depends on what is run, never on the order in which it is run.

    Parameters
    ----------
    base : int
        The seed of the whole study.
    what : mapping
        What is drawn. Leave out what must not change it: the number of rows (a longer sample begins with
        the shorter one) and the learner.
    repetition : int
        Which of the worlds of this kind.

    Examples
    --------
    >>> seed_of(0, {"n": 100, "tau": 4}, 0) == seed_of(0, {"tau": 4, "n": 100}, 0)
    True
    >>> seed_of(0, {"n": 100, "tau": 4}, 0) == seed_of(0, {"n": 100, "tau": 4}, 1)
    False
    """
    text = json.dumps([base, dict(what), repetition], sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class Setup:
    """What all cells of a run have in common.

    Parameters
    ----------
    settings : mapping
        Everything beside the cell and the repetition that the measures depend on.
    data_dir : Path or None
        Where the real tables are.
    """

    settings: Mapping[str, Value]
    data_dir: Path | None = None


@dataclass(frozen=True)
class Study:
    """A grid of cells, and how to run one.

    Parameters
    ----------
    name : str
        Of the file that keeps the rows.
    grid, quick : mapping of str to tuple
        The levels of every factor, in full and for a first look.
    repetitions, quick_repetitions : int
        How often each cell is run.
    settings : mapping
        What else the measures depend on, with the values that a run uses unless told otherwise.
    run : function of (cell, repetition, setup)
        Runs one cell once and returns its measures. It draws from seeds of its own (``seed_of``), so that
        neither the order of the cells nor the number of processes changes a row.
    together : tuple of str
        Factors whose levels share what is costly (a world): one process runs them one after the other.
    cost : function of cell
        How long a cell takes, roughly; the longest are run first.
    check : function of setup, or None
        Refuses a run that cannot succeed before it begins.
    """

    name: str
    grid: Grid
    quick: Grid
    repetitions: int
    quick_repetitions: int
    settings: Mapping[str, Value]
    run: Callable[[Cell, int, Setup], Measures]
    together: tuple[str, ...] = ()
    cost: Callable[[Cell], float] = equal_cost
    check: Callable[[Setup], None] | None = None

    def cells(self, quick: bool = False) -> list[Cell]:
        """Return the cells of the grid."""
        return list(cells_of(self.quick if quick else self.grid))


@dataclass(frozen=True)
class Measure:
    """A measure, as it is shown."""

    name: str
    title: str
    digits: int = 1


@dataclass(frozen=True)
class Panels:
    """Layout of a figure: a grid of panels with lines of means and bars of standard deviations.

    ``rows`` and ``columns`` are factors; without ``columns`` there is a column for each measure.
    """

    x: str
    lines: str
    rows: str | None = None
    columns: str | None = None
    log_x: bool = False
    log_y: tuple[str, ...] = ()  #: measures that are shown on a logarithmic axis


@dataclass(frozen=True)
class Landscape:
    """Layout of a figure: the scores of structures against their distance from the truth."""

    rows: str
    columns: str


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of the paper: which rows it shows, how, and what the paper says about it.

    Parameters
    ----------
    name, title : str
        The name is what ``ibmap reproduce`` takes.
    about : str
        Where it is in the paper, and how it was done here where the paper leaves that open.
    study : Study
        Where the rows come from.
    measures : tuple of Measure
        What is shown of them; one table each.
    across : str
        The factor that is spread over the columns of the table.
    figure : Panels or Landscape
        The paper's layout.
    claims : tuple of Claim
        The sentences of the paper that can be checked.
    printed : function of (cell, measure) or None
        The number that the paper prints for a cell.
    """

    name: str
    title: str
    about: str
    study: Study
    measures: tuple[Measure, ...]
    across: str
    figure: Panels | Landscape
    claims: tuple[Claim, ...] = ()
    printed: Callable[[Cell, str], float | None] | None = None
