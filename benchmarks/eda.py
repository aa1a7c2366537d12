"""Optimisation: Gibbs updates per second on one core, and one generation beside pateda (if installed)."""

import math
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray

from common import median, report, times, verdict
from ibmap.eda import MOA, OwnNeighbours
from ibmap.eda.conditionals import Conditionals
from ibmap.eda.structure import learn_structure

N, SELECTED = 120, 400  #: the paper's largest problem, half of a population of 800
FAST = 3e7  #: updates per second
STEPS = math.ceil(4 * N * math.log(N))


def populations(rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """What is selected early (groups of 4 bits that go together) and late (nearly all bits are right)."""
    groups = rng.integers(2, size=(SELECTED, N // 4)).repeat(4, axis=1)
    early = np.where(rng.random((SELECTED, N)) < 0.1, 1 - groups, groups)
    return {"early": early, "late": (rng.random((SELECTED, N)) > 0.02).astype(np.int64)}


def best(work: Callable[[], object]) -> float:
    """Least processor seconds of several warm calls."""
    return float(times(work, 15, process_time)[0])


def updates() -> None:
    """Measure counting the tables of a generation, and its chains, their probabilities included."""
    rng = np.random.default_rng(0)
    levels = np.full(N, 2)
    found: list[dict[str, object]] = []
    for name, rows in populations(rng).items():
        for degree in (0, 4, 8, 10, 11, 12, 16, 20, 40, N - 1):
            others = [np.delete(np.arange(N), i) for i in range(N)]
            neighbours = [rng.choice(some, degree, replace=False) for some in others]
            table = Conditionals(rows, levels, neighbours)
            count = best(partial(Conditionals, rows, levels, neighbours))
            chains = best(partial(table.sample, SELECTED, STEPS, 1, "boltzmann-joint", 3.0))
            speed = SELECTED * STEPS / chains
            found.append(
                {
                    "n": N,
                    "population": name,
                    "neighbours": degree,
                    "tables": "hashed" if table.tables.hashed[0] else "direct",
                    "tables_ms": round(1000 * count, 2),
                    "chains_ms": round(1000 * chains, 2),
                    "updates_per_second": f"{speed:.2e}",
                    "tables_included": f"{SELECTED * STEPS / (chains + count):.2e}",
                    "bar": verdict(speed, FAST, at_least=True),
                }
            )
    report("eda_updates", found)


def first_population(size: int) -> NDArray[np.int64]:
    """The better half of a uniform population of OneMax."""
    rows = np.random.default_rng(0).integers(2, size=(size, N))
    return rows[np.argsort(-rows.sum(axis=1), kind="stable")][: size // 2]


def ours(rows: NDArray[np.int64], learner: object) -> None:
    levels = np.full(N, 2)
    neighbours = learn_structure(learner, rows, levels).neighbours
    Conditionals(rows, levels, neighbours).sample(len(rows), STEPS, 1, "boltzmann-joint", 0.5)


def pateda(rows: NDArray[np.int64]) -> None:
    """The same learner (k = 3) and as many updates: its iterations are sweeps over all variables."""
    from pateda.learning.moa import LearnMOA
    from pateda.sampling.gibbs import SampleGibbs

    levels = np.full(N, 2)
    model = LearnMOA(k_neighbors=3).learn(1, N, levels, rows, np.zeros(len(rows)))
    sampler = SampleGibbs(len(rows), n_iterations=round(STEPS / N))
    sampler.sample(N, model, levels, rng=np.random.default_rng(0))


def generation(size: int = 200) -> None:
    rows = first_population(size)
    found: list[dict[str, object]] = []
    mine = median(partial(ours, rows, OwnNeighbours(3)))
    entries = [("ibmap, mi (k = 3)", mine), ("ibmap, ibmap-hc", median(partial(ours, rows, "ibmap-hc")))]
    try:
        import pateda as _  # noqa: F401

        entries.append(("pateda, MOA (k = 3)", median(partial(pateda, rows), 3)))
    except ImportError:
        print("pateda is not installed: no comparison")
    for who, seconds in entries:
        found.append(
            {"who": who, "n": N, "population": size, "ms": round(1000 * seconds, 1),
             "times_ibmap_mi": round(seconds / mine, 1)}
        )  # fmt: skip
    report("eda_generation", found)


def whole_run() -> None:
    """A whole optimisation: milliseconds per generation, the fitness included."""
    found: list[dict[str, object]] = []
    for learner in (OwnNeighbours(3), "ibmap-hc", "none"):
        moa = MOA(N, 800, learner=learner, random_state=0)
        for _ in range(12):
            solutions = moa.ask()
            moa.tell(solutions, solutions.sum(axis=1))
        seconds = moa.history_["seconds"].diff().drop_nulls().median()
        found.append(
            {"learner": str(learner), "n": N, "population": 800, "generation_ms": round(1000 * seconds, 1)}
        )
    report("eda_run", found)


if __name__ == "__main__":
    updates()
    generation()
    whole_run()
