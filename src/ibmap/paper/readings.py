"""Readings of what the paper leaves unsaid: which settings bring its claims and its numbers out.

A reading chooses prior counts, how slices combine, HHC-MN's rule, potentials, bins and ties. Parts of the
paper's experiments are run once for every combination that matters to them; a reading is judged by the claims
of those experiments, and by its distance to the printed numbers.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ibmap.paper.experiment import Experiment, Setup, Study
from ibmap.paper.registry import find_experiment
from ibmap.paper.results import Cell, Grid, Measures, Results, Row, Value
from ibmap.paper.runner import reproduce
from ibmap.paper.store import path_of, read

#: what may be chosen; the first of each is what ibmap does by default. Two more kinds of prior counts,
#: "consistent" and "bdeu", are left out: with them nearly everything depends at τ = 8, and HHC-MN, which
#: tries all subsets of the neighbours that it has, does not end.
CHOICES: dict[str, tuple[str, ...]] = {
    "prior_counts": ("ones", "jeffreys", "0.35", "0.25"),
    "combine": ("slices", "global"),
    "hhc_symmetry": ("and", "or"),
    "potentials": ("random", "symmetric", "log-uniform"),
    "discretize": ("equal-width", "quantile"),
    "ties": ("independent", "dependent"),
}
#: fewer of them, for a first look
FEW = {
    "prior_counts": ("ones", "0.25"),
    "combine": ("slices",),
    "potentials": ("random", "log-uniform"),
    "discretize": ("equal-width",),
    "ties": ("independent",),
}
SEEDS = 4  #: worlds of each kind: one more than a mean needs, so that each can be left out


class Reading(NamedTuple):
    """One choice of everything."""

    prior_counts: str
    combine: str
    hhc_symmetry: str
    potentials: str
    discretize: str
    ties: str


def all_readings() -> list[Reading]:
    """Return every reading, the default one first.

    Examples
    --------
    >>> len(all_readings()), all_readings()[0].prior_counts
    (192, 'ones')
    """
    return [Reading(*choice) for choice in product(*CHOICES.values())]


@dataclass(frozen=True)
class Part:
    """A part of the paper that is run for every combination of some choices.

    Parameters
    ----------
    experiments : tuple of str
        Whose claims it speaks about; the first one's study makes the rows.
    choices : tuple of str
        The choices that matter to it; HHC-MN's rule is a level of the learner.
    grid : mapping
        Levels of the study's own factors, where they are fewer than the paper's.
    together : tuple of str
        Factors whose levels share a world.
    settings : mapping
        Settings of the study that are not its defaults.
    """

    experiments: tuple[str, ...]
    choices: tuple[str, ...]
    grid: Grid
    together: tuple[str, ...] = ()
    settings: tuple[tuple[str, Value], ...] = ()

    @property
    def shown(self) -> list[Experiment]:
        """The experiments whose claims are judged."""
        return [find_experiment(name) for name in self.experiments]

    @property
    def study(self) -> Study:
        """The rows to make."""
        base = self.shown[0].study
        own = {name: tuple(self.grid.get(name, levels)) for name, levels in base.grid.items()}
        if "hhc-mn" in own.get("learner", ()):
            rules = [f"hhc-mn {rule}" for rule in CHOICES["hhc_symmetry"]]
            own["learner"] = ("gsmn", *rules, "ibmap-hc")
        grid: dict[str, tuple[Value, ...]] = {**{name: CHOICES[name] for name in self.choices}, **own}
        return Study(
            name=f"readings-{base.name}",
            grid=grid,
            quick={**grid, **{name: FEW[name] for name in self.choices}},
            repetitions=SEEDS,
            quick_repetitions=SEEDS,
            settings={**base.settings, **dict(self.settings)},
            run=partial(run, experiment=self.experiments[0]),
            together=(*self.together, *(name for name in self.choices if name != "potentials")),
            cost=partial(cost, experiment=self.experiments[0]),
            check=base.check,
        )

    def has(self, reading: Reading, rows: Iterable[Row]) -> bool:
        """Whether there is a row of a reading."""
        return any(all(row.cell[name] == getattr(reading, name) for name in self.choices) for row in rows)

    def results(self, reading: Reading, rows: Iterable[Row]) -> Results:
        """Return the rows of one reading, as rows of the experiment."""
        wanted = {name: getattr(reading, name) for name in self.choices}
        found = []
        for row in rows:
            if all(row.cell[name] == value for name, value in wanted.items()):
                cell = _own(row.cell, reading.hhc_symmetry)
                if cell is not None:
                    found.append(Row(cell, row.repetition, row.measures))
        return Results(found)


def _own(cell: Cell, rule: str) -> Cell | None:
    """Return the experiment's own cell; None if it is about the other rule of HHC-MN."""
    own = {name: value for name, value in cell.items() if name not in CHOICES}
    learner, _, of = str(own.get("learner", "")).partition(" ")
    if learner == "hhc-mn":
        return {**own, "learner": learner} if of == rule else None
    return own


def run(cell: Cell, repetition: int, setup: Setup, experiment: str) -> Measures:
    """Run one cell of an experiment with the settings that the cell names."""
    chosen = {name: value for name, value in cell.items() if name in CHOICES}
    own = {name: value for name, value in cell.items() if name not in CHOICES}
    learner, _, rule = str(own.get("learner", "")).partition(" ")
    if learner == "hhc-mn":
        own["learner"], chosen["hhc_symmetry"] = learner, rule
    settings = {name: chosen.get(name, value) for name, value in setup.settings.items()}
    if own.get("algorithm") == "MOA":
        return dict(_without_test(experiment, tuple(own.items()), repetition, tuple(setup.settings.items())))
    return find_experiment(experiment).study.run(own, repetition, Setup(settings, setup.data_dir))


@lru_cache(maxsize=4)
def _without_test(
    experiment: str,
    cell: tuple[tuple[str, Value], ...],
    repetition: int,
    settings: tuple[tuple[str, Value], ...],
) -> Measures:
    """Run a cell that no choice matters to, once for all of them."""
    return find_experiment(experiment).study.run(dict(cell), repetition, Setup(dict(settings)))


def cost(cell: Cell, experiment: str) -> float:
    """Return about how long a cell takes."""
    return find_experiment(experiment).study.cost(cell)


PARTS = (
    Part(
        ("random-hamming", "random-fmeasure"),
        ("prior_counts", "combine", "potentials"),
        {"n": (100,), "D": (50, 100, 400, 800, 1600)},
        ("D", "learner"),
    ),
    Part(
        ("mi-hamming",),
        ("prior_counts", "combine", "potentials"),
        {"learner": ("mi", "mi (k = τ)", "ibmap-hc")},
        ("learner",),
    ),
    Part(
        ("table-real",),
        ("prior_counts", "combine", "discretize", "ties"),
        {},
        ("learner",),
        (("queries", "per-size"),),
    ),
    Part(("table-onemax",), ("prior_counts", "combine"), {"n": (15, 30), "algorithm": ("MOA", "MOA'")}),
    Part(("table-royal-road",), ("prior_counts", "combine"), {"n": (16, 32), "algorithm": ("MOA", "MOA'")}),
)


Advance = Callable[[int, int], None]


def run_readings(
    out: Path,
    *,
    quick: bool = False,
    data_dir: Path | None = None,
    n_jobs: int = 1,
    bar: Callable[[str], AbstractContextManager[Advance | None]] = lambda name: nullcontext(),
) -> dict[str, list[Row]]:
    """Run what has no row yet; return the rows by study. ``bar`` shows how far a study is."""
    found = {}
    for part in PARTS:
        study = part.study
        with bar(study.name) as advance:
            found[study.name] = reproduce(
                study, out, quick=quick, data_dir=data_dir, n_jobs=n_jobs, advance=advance
            )
    return found


def read_readings(out: Path) -> dict[str, list[Row]]:
    """Return the rows that are there, by study."""
    contents = {part.study.name: read(path_of(out, part.study)) for part in PARTS}
    return {name: content.rows for name, content in contents.items() if content is not None}
