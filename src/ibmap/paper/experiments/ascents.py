"""How many ascents IBMAP-HC makes (paper, section 5.1, the last figure)."""

from ibmap.paper.claims import Claim
from ibmap.paper.comparisons import sublinear
from ibmap.paper.experiment import Experiment, Measure, Panels, Setup, Study
from ibmap.paper.fits import RANDOM, TEST, bayesian, fit, quality, random_world
from ibmap.paper.results import Cell, Measures

SIZES = (4, 12, 16, 20, 24, 30, 50, 75, 100, 200, 500)


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Learn one world."""
    n, tau, settings = int(cell["n"]), int(cell["tau"]), setup.settings
    rows = int(settings["D"])
    world = random_world(n, tau, rows, str(settings["potentials"]), settings, repetition)
    graph, effort = fit("ibmap-hc", world.first(rows), test=bayesian(settings))
    return {**quality(graph, world.truth), **effort, "edges": graph.n_edges}


def cost(cell: Cell) -> float:
    """Return about how long a cell takes."""
    return float(cell["n"]) * float(cell["tau"])


GRID = {"tau": (1, 2, 4, 8), "n": SIZES}
STUDY = Study(
    name="ascents",
    grid=GRID,
    quick={**GRID, "n": (4, 12, 24, 50, 100)},
    repetitions=10,
    quick_repetitions=3,
    settings={**RANDOM, "D": 1000, "potentials": "random", **TEST},
    run=run,
    cost=cost,
)

ASCENTS = Experiment(
    name="ascents",
    title="Number of ascents",
    about="Section 5.1, the last figure: M, the number of ascents of IBMAP-HC, against n; D = 1000. "
    "Where τ > n - 1 the truth is the complete graph.",
    study=STUDY,
    measures=(Measure("ascents", "Ascents M"),),
    across="tau",
    figure=Panels(x="n", lines="tau"),
    claims=(
        Claim(
            "D=1000, and a line for each τ ∈ {1,2,4,8}, indicating that M (Y-axis) grows sub-linearly",
            sublinear("ascents", "n", GRID, {}),
            "M grows like n^b with b < 1, for every τ",
            "Section 5.1, on Figure 4",
        ),
    ),
)
