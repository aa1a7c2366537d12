"""MI, the learner of MOA, against IBMAP-HC (paper, section 6): the only structure errors that it prints."""

from collections.abc import Callable
from typing import Any

from ibmap.experiments.claims import Case, Claim, compare
from ibmap.experiments.experiment import Experiment, Measure, Panels, Setup, Study
from ibmap.experiments.fits import EMPTY, RANDOM, TEST, bayesian, fit, quality, random_world
from ibmap.experiments.results import Cell, Measures, Results, cell_in_words

IBMAP, ANY_MI, BEST_MI = "ibmap-hc", "mi", "mi (k = τ)"
PRINTED = {("mi", 2): 132, ("mi", 4): 233, ("mi", 8): 395, (IBMAP, 2): 75, (IBMAP, 4): 143, (IBMAP, 8): 388}
NEAR = 0.1  #: parts of the paper's number that ours may be away from it


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Learn one world."""
    tau, learner, settings = int(cell["tau"]), str(cell["learner"]), setup.settings
    n, rows = int(settings["n"]), int(settings["D"])
    world = random_world(n, tau, rows, str(settings["potentials"]), settings, repetition)
    options: dict[str, Any] = {"max_neighbours": tau} if learner == BEST_MI else {}
    if learner == IBMAP:
        options = {"test": bayesian(settings)}
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
    "tau": (2, 4, 8),
    "learner": (ANY_MI, BEST_MI, IBMAP, EMPTY),
}
STUDY = Study(
    name="mi-hamming",
    grid=GRID,
    quick=GRID,
    repetitions=50,
    quick_repetitions=10,
    settings={**RANDOM, "n": 75, "D": 100, "potentials": "random", **TEST},
    run=run,
    together=("learner",),
)


SENTENCE = {
    2: "For a dataset with n=75, D=100, τ=2, the Hamming distances of MI and IBMAP-HC were 132, and 75",
    4: "For τ=4 they were 233 and 143",
    8: "for τ=8, 395 and 388",
}


def _claims() -> list[Claim]:
    where: list[Cell] = [{"tau": tau} for tau in GRID["tau"]]
    claims = [
        Claim(
            "These results show clearly that the quality of IBMAP-HC indeed outperforms that of MI",
            compare("hamming", where, {"learner": IBMAP}, {"learner": rival}),
            f"against {rival}",
        )
        for rival in (ANY_MI, BEST_MI)
    ]
    for (learner, tau), number in PRINTED.items():
        for ours in (ANY_MI, BEST_MI) if learner == "mi" else (learner,):
            cell: Cell = {"tau": tau, "learner": ours}
            words = f"within a tenth of {number}; {ours}"
            claims.append(Claim(SENTENCE[tau], near(cell, number), words))
    return claims


MI_HAMMING = Experiment(
    name="mi-hamming",
    title="MI and IBMAP-HC: Hamming distance",
    about="Section 6, in the text: n = 75, D = 100. The paper does not say which k (the largest "
    "number of neighbours that MI may give to a variable) it used here: MI is shown without a limit and with "
    "k = τ. The Hamming distance of the graph without edges is its "
    "number of edges.",
    study=STUDY,
    measures=(Measure("hamming", "Hamming distance"),),
    across="learner",
    figure=Panels(x="tau", lines="learner"),
    claims=tuple(_claims()),
    printed=printed,
)
