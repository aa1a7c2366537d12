"""Where learning the structure pays: all problems, three learners (beyond the paper)."""

import math
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ibmap.paper.experiment import Experiment, Measure, Panels, Setup, Study, seed_of
from ibmap.paper.results import Cell, Measures

if TYPE_CHECKING:
    from ibmap.eda import Problem

PROBLEMS = (
    "onemax 30",
    "onemax 60",
    "royal-road 32",
    "royal-road 64",
    "leading-ones 15",
    "leading-ones 30",
    "trap 20",
    "trap 40",
    "nk 20",
    "nk 40",
    "spin-glass 16",
    "spin-glass 36",
    "max-cut 20",
    "max-cut 40",
)
LEARNERS = ("mi", "ibmap-hc", "none")
MOST = 5  #: neighbours that MI may give to a variable


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Find the critical size, then follow one run with it (or with the largest, if none was enough)."""
    from ibmap.eda import critical_population_size, make_problem

    name, n = str(cell["problem"]).split()
    seed, settings = int(setup.settings["seed"]), setup.settings
    instance = seed_of(seed, {"problem": cell["problem"]}, repetition)
    problem = make_problem(name, int(n), random_state=instance)
    options: dict[str, Any] = {
        "learner": learner_of(str(cell["learner"]), problem),
        "sampling": str(settings["sampling"]),
    }
    generations, largest = int(settings["generations"]), int(settings["largest"])
    sizes = [50 * 2**k for k in range(20) if 50 * 2**k <= largest]
    began = perf_counter()
    found = critical_population_size(
        problem,
        problem.n,
        sizes=sizes,
        repetitions=int(settings["runs"]),
        generations=generations,
        random_state=seed_of(seed, dict(cell), repetition),
        **options,
    )
    seconds = perf_counter() - began
    return {
        "solved": float(found.size is not None),
        "size": found.size,
        "evaluations": found.evaluations,
        "deviation": found.std,
        "seconds": seconds,
        **followed(problem, found.size or sizes[-1], generations, instance, options),
    }


def learner_of(name: str, problem: "Problem") -> object:
    """Return the learner; MI is told how many neighbours a variable truly has, as in the paper."""
    from ibmap.eda import OwnNeighbours

    mean = 2 * problem.graph.n_edges / problem.n
    return OwnNeighbours(min(MOST, max(1, math.ceil(mean)))) if name == "mi" else name


def followed(problem: "Problem", size: int, generations: int, seed: int, options: Any) -> Measures:
    """Run once, and compare the network of every generation with the true interactions."""
    from ibmap.eda import Stop, maximize
    from ibmap.metrics import f_measure

    by_generation: list[float] = []

    def look(moa: Any) -> None:
        if moa.graph_ is not None:
            by_generation.append(round(f_measure(moa.graph_, problem.graph, of="edges").f, 4))

    stop = Stop(target=problem.optimum, generations=generations)
    found = maximize(problem, problem.n, size, stop=stop, callback=look, random_state=seed, **options)
    return {
        "f_mean": fmean(by_generation) if by_generation else None,
        "f_best": max(by_generation, default=None),
        "f_by_generation": by_generation,
        "reached": found.fitness / problem.optimum if problem.optimum else None,
    }


def cost(cell: Cell) -> float:
    """Return about how long a cell takes."""
    return float(str(cell["problem"]).split()[1])


EDA_PROBLEMS = Experiment(
    name="eda-problems",
    title="Where learning the structure pays",
    about="Beyond the paper: MOA with mutual information (each variable its own k neighbours, k the mean "
    "number of true neighbours rounded up, 1 to 5), with IBMAP-HC, and without edges, on seven problems of "
    "two sizes; a number after a name is the number of bits. D* and f* as in the paper's tables, over 10 "
    "runs of at most `generations` with at most `largest` individuals; a problem that is not solved has "
    "neither. Each repetition draws another instance. F compares the network of a generation with the true "
    "interactions (edges), over the generations of one run with D* individuals, or with the largest number.",
    study=Study(
        name="eda-problems",
        grid={"problem": PROBLEMS, "learner": LEARNERS},
        quick={"problem": PROBLEMS[::2], "learner": LEARNERS},
        repetitions=3,
        quick_repetitions=1,
        settings={
            "seed": 0,
            "sampling": "boltzmann-joint",
            "runs": 10,
            "generations": 100,
            "largest": 3200,
        },
        run=run,
        cost=cost,
    ),
    measures=(
        Measure("solved", "Share of instances solved", 2),
        Measure("size", "Critical population size D*", 0),
        Measure("evaluations", "Evaluations f* of the runs with D*", 0),
        Measure("seconds", "Seconds for all runs with all sizes", 2),
        Measure("f_mean", "F of the networks against the true interactions: mean over generations", 2),
        Measure("f_best", "F of the best network of a run", 2),
    ),
    across="learner",
    figure=Panels(x="problem", lines="learner", columns=None, log_y=("size", "evaluations", "seconds")),
)
