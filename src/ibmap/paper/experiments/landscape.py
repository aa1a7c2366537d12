"""The landscape of the IB-score (paper, appendix B): all structures of 6 variables, some of 20."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ibmap.data import Table
from ibmap.paper import all_structures
from ibmap.paper.claims import Case, Claim
from ibmap.paper.comparisons import falls
from ibmap.paper.experiment import Experiment, Landscape, Measure, Setup, Study, seed_of
from ibmap.paper.fits import RANDOM, TEST, Sampled, bayesian, fit, random_world
from ibmap.paper.results import ENOUGH, Cell, Measures, Results, cell_in_words, cells_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Run = Callable[[Cell, int, Setup], Measures]
TIE = 1e-6  #: scores that differ by less are equal: they are sums of up to 380 rounded numbers
GRID = {"tau": (1, 2, 4, 8), "D": (10, 100, 1000)}


def run_6(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Score all structures of 6 variables."""
    world = _world(6, cell, repetition, setup)
    table = world.first(int(cell["D"]))
    scores = all_structures.score_all(table, bayesian(setup.settings))
    truth = all_structures.bits_of(world.truth.pairs, 6)
    distance = np.bitwise_count(np.arange(len(scores)) ^ truth).astype(np.int64)
    return _measures(world, table, scores, distance, setup)


def run_20(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Score 5 structures of 20 variables at every distance from the truth."""
    world = _world(20, cell, repetition, setup)
    table = world.first(int(cell["D"]))
    seed = seed_of(int(setup.settings["seed"]), {"structures": 20, "tau": cell["tau"]}, repetition)
    adjacency, distance = all_structures.sample_structures(
        world.truth.adjacency, int(setup.settings["each"]), seed
    )
    scores = all_structures.score_structures(table, adjacency, bayesian(setup.settings))
    return _measures(world, table, scores, distance, setup)


def _world(n: int, cell: Cell, repetition: int, setup: Setup) -> Sampled:
    potentials, rows = str(setup.settings["potentials"]), int(GRID["D"][-1])
    return random_world(n, int(cell["tau"]), rows, potentials, setup.settings, repetition)


def _measures(world: Sampled, table: Table, scores: Floats, distance: Ints, setup: Setup) -> Measures:
    """Describe the landscape, and where the structure that IBMAP-HC found stands in it."""
    graph, effort = fit("ibmap-hc", table, test=bayesian(setup.settings))
    found = float(effort["score"])
    groups = [np.sort(scores[distance == d]) for d in range(int(distance.max()) + 1)]
    profile = [[round(float(np.quantile(group, q)), 3) for group in groups] for q in (0, 0.25, 0.5, 0.75, 1)]
    pairs = {*map(tuple, graph.pairs.tolist())} ^ {*map(tuple, world.truth.pairs.tolist())}
    return {
        "found_score": found,
        "highest_score": float(scores.max()),
        "higher": int((scores > found + TIE).sum()),
        "structures": len(scores),
        "below_highest": max(0.0, float(scores.max()) - found),
        "found_hamming": len(pairs),
        "best_hamming": int(distance[scores.argmax()]),
        "slope": float(np.corrcoef(distance, scores)[0, 1]),
        "profile": profile,
    }


def study(name: str, run: Run, repetitions: int, quick: int, **more: int) -> Study:
    """Describe one of the two studies."""
    return Study(
        name=name,
        grid=GRID,
        quick=GRID,
        repetitions=repetitions,
        quick_repetitions=quick,
        settings={**RANDOM, "potentials": "random", **TEST, **more},
        run=run,
    )


def highest(results: Results) -> list[Case]:
    """Ask in every repetition whether some structure scores higher than the one found."""
    found = []
    for cell in cells_of(GRID):
        where, rows = cell_in_words(cell), results.of(cell)
        if not rows:
            found.append(Case(where, None))
        for row in rows:
            above = row.measures["below_highest"] if row.measures["higher"] > 0 else 0.0
            words = f"another structure scores {above:.3g} more" if above else ""
            found.append(Case(f"{where}, repetition {row.repetition}", not above, words, above))
    return found


def claims(same: str = "") -> tuple[Claim, ...]:
    """Return the sentences about one landscape; ``same`` is the sentence that repeats them for another."""
    place = "Appendix B, on Figure 7" if same else "Appendix B, on Figure 6"
    return (
        Claim(
            same or "the landscape shapes to a decreasing curve as increasing the value D",
            falls("slope", "D", GRID),
            "the correlation of score and distance falls from D to D",
            place,
            "Where the truth is the complete graph, distance counts missing edges, and with few rows the "
            "score prefers to miss them: the curve rises with D before it falls.",
        ),
        Claim(
            same
            or "the diamond that indicates the position in the landscape of the structure learned by the "
            "IBMAP-HC algorithm, achieves always the structure with highest score value",
            highest,
            "no structure scores higher, run by run",
            place,
            "IBMAP-HC flips the pair that looks least credible and stops when that one flip does not pay, so "
            "it can end where a flip of another pair would. `patience` tries more pairs; the paper has none.",
        ),
        Claim(
            same or "the error of the structure learned by IBMAP-HC is closer to zero while increasing D",
            falls("found_hamming", "D", GRID, strictly=False),
            "its mean Hamming distance does not rise from D to D",
            place,
        ),
    )


MEASURES = (
    Measure("found_score", "Score of the structure found", 3),
    Measure("highest_score", "Highest score", 3),
    Measure("higher", "Structures that score higher"),
    Measure("found_hamming", "Hamming distance of the structure found"),
    Measure("best_hamming", "Hamming distance of the structure with the highest score"),
    Measure("slope", "Correlation of score and distance", 3),
)

LANDSCAPE_6 = Experiment(
    name="landscape-6",
    title="All structures of six variables",
    about="Appendix B, the first figure: the IB-score of all 2^15 structures against their Hamming "
    "distance from the truth; the diamond is the structure that IBMAP-HC found. With 6 variables τ = 8 "
    "means the complete graph. The figure shows the first repetition, the table the means.",
    study=study("landscape-6", run_6, repetitions=10, quick=ENOUGH),
    measures=MEASURES,
    across="D",
    figure=Landscape(rows="tau", columns="D"),
    claims=claims(),
)

LANDSCAPE_20 = Experiment(
    name="landscape-20",
    title="Some structures of twenty variables",
    about="Appendix B, the second figure: the IB-score of 5 random structures at every Hamming distance "
    "from the truth, 0 to 190. The figure shows the first repetition, the table the means.",
    study=study("landscape-20", run_20, repetitions=10, quick=1, each=5),
    measures=MEASURES,
    across="D",
    figure=Landscape(rows="tau", columns="D"),
    claims=claims("From the analysis of such plots, the same conclusions are observed"),
)
