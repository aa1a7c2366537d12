"""MI, the learner of MOA, against IBMAP-HC (paper, section 6): the only structure errors that it prints."""

from collections.abc import Callable

from ibmap.experiments.claims import Case, Claim, compare
from ibmap.experiments.experiment import Experiment, Measure, Panels, Setup, Study
from ibmap.experiments.fits import EMPTY, RANDOM, fit, quality, random_world
from ibmap.experiments.results import Cell, Measures, Results, cell_in_words

IBMAP, ANY_MI, BEST_MI = "ibmap-hc", "mi", "mi (k = τ)"
PRINTED = {("mi", 2): 132, ("mi", 4): 233, ("mi", 8): 395, (IBMAP, 2): 75, (IBMAP, 4): 143, (IBMAP, 8): 388}
NEAR = 0.1  #: parts of the paper's number that ours may be away from it


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Learn one world."""
    tau, learner, settings = int(cell["tau"]), str(cell["learner"]), setup.settings
    n, rows = int(settings["n"]), int(settings["D"])
    world = random_world(n, tau, rows, str(cell["potentials"]), settings, repetition)
    options = {"max_neighbours": tau} if learner == BEST_MI else {}
    graph, effort = fit("mi" if learner == BEST_MI else learner, world.first(rows), **options)
    return {**quality(graph, world.truth), **effort}


def printed(cell: Cell, measure: str) -> float | None:
    """Return the number in the paper."""
    learner = "mi" if cell["learner"] == BEST_MI else str(cell["learner"])
    return PRINTED.get((learner, int(cell["tau"]))) if measure == "hamming" else None


def near(cell: Cell, number: float) -> Callable[[Results], list[Case]]:
    """Make the case of "the mean Hamming distance is close to this number"."""

    def cases(results: Results) -> list[Case]:
        mean = results.mean(cell, "hamming")
        if mean is None:
            return [Case(cell_in_words(cell), None)]
        return [
            Case(cell_in_words(cell), abs(mean - number) <= NEAR * number, f"{mean:.1f} against {number:g}")
        ]

    return cases


GRID = {
    "potentials": ("random", "symmetric"),
    "tau": (2, 4, 8),
    "learner": (ANY_MI, BEST_MI, IBMAP, EMPTY),
}
STUDY = Study(
    name="mi-hamming",
    grid=GRID,
    quick=GRID,
    repetitions=50,
    quick_repetitions=10,
    settings={**RANDOM, "n": 75, "D": 100},
    run=run,
    together=("learner",),
)


def _claims() -> list[Claim]:
    claims = []
    for potentials in GRID["potentials"]:
        for rival in (ANY_MI, BEST_MI):
            where: list[Cell] = [{"potentials": potentials, "tau": tau} for tau in GRID["tau"]]
            claims.append(
                Claim(
                    "These results show clearly that the quality of IBMAP-HC indeed outperforms that of MI",
                    compare("hamming", where, {"learner": IBMAP}, {"learner": rival}),
                    f"against {rival}, {potentials} potentials",
                )
            )
        for (learner, tau), number in PRINTED.items():
            for ours in (ANY_MI, BEST_MI) if learner == "mi" else (learner,):
                cell: Cell = {"potentials": potentials, "tau": tau, "learner": ours}
                quote = f"n = 75, D = 100, τ = {tau}: the Hamming distance of {learner.upper()} was {number}"
                claims.append(
                    Claim(quote, near(cell, number), f"within a tenth of it; {cell_in_words(cell)}")
                )
    return claims


MI_HAMMING = Experiment(
    name="mi-hamming",
    title="MI and IBMAP-HC: Hamming distance",
    about="Section 6, in the text: n = 75, D = 100. The paper does not say which potentials, nor which k "
    "(the largest number of neighbours that MI may give to a variable) it used here: both potentials are "
    "shown, and MI without a limit and with k = τ. The Hamming distance of the graph without edges is its "
    "number of edges.",
    study=STUDY,
    measures=(Measure("hamming", "Hamming distance"),),
    across="learner",
    figure=Panels(x="tau", lines="learner", columns="potentials"),
    claims=tuple(_claims()),
    printed=printed,
)
