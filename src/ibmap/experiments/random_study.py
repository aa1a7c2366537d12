"""Random networks (paper, section 5.1): one study, which three figures show."""

from ibmap.experiments.experiment import Setup, Study
from ibmap.experiments.fits import EMPTY, PAPER_LEARNERS, RANDOM, TEST, bayesian, fit, quality, random_world
from ibmap.experiments.rows import Cell, Measures

LEARNERS = (*PAPER_LEARNERS, EMPTY)
ROWS = (25, 50, 100, 200, 400, 800, 1600, 3200)


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Learn one world from its first D rows."""
    n, tau, rows = int(cell["n"]), int(cell["tau"]), int(cell["D"])
    potentials = str(setup.settings["potentials"])
    world = random_world(n, tau, ROWS[-1], potentials, setup.settings, repetition)
    graph, effort = fit(str(cell["learner"]), world.first(rows), test=bayesian(setup.settings))
    return {**quality(graph, world.truth), **effort}


def cost(cell: Cell) -> float:
    """Return about how long a cell takes."""
    return float(cell["n"]) ** 2 * float(cell["D"]) * float(cell["tau"])


STUDY = Study(
    name="random",
    grid={"n": (100, 200, 500), "tau": (1, 2, 4, 8), "D": ROWS, "learner": LEARNERS},
    quick={"n": (100, 200), "tau": (1, 2, 4, 8), "D": (50, 100, 400, 1600), "learner": LEARNERS},
    repetitions=10,
    quick_repetitions=3,
    settings={**RANDOM, "potentials": "random", **TEST},
    run=run,
    together=("D", "learner"),
    cost=cost,
)
