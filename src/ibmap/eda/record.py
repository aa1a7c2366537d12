"""What an optimiser has been told so far: how much, how good, and how long it took."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.eda.population import Population

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]


class Best(NamedTuple):
    """The best individual so far."""

    solution: Ints
    fitness: float


@dataclass
class Record:
    """The generations so far; -1 is the generation before the first population."""

    generation: int = -1
    evaluations: int = 0
    seconds: float = 0.0
    stalled: int = 0  #: generations since the best was found
    best: Best = field(default_factory=lambda: Best(np.empty(0, np.int64), -math.inf))
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, population: Population, n_new: int, edges: int | None, seconds: float) -> None:
        """Add a generation: its population, how many of it are new, and how long it took."""
        self.generation += 1
        self.evaluations += n_new
        self.seconds += seconds
        self.stalled += 1
        fitness = float(population.fitness[0])
        if fitness > self.best.fitness:
            solution = population.rows[0].copy()
            solution.flags.writeable = False
            self.best, self.stalled = Best(solution, fitness), 0
        mean = float(population.fitness.mean())
        self.rows.append((self.generation, self.evaluations, self.best.fitness, mean, edges, self.seconds))

    def frame(self) -> "pl.DataFrame":
        """Return a row per generation."""
        import polars as pl

        whole, real = pl.Int64, pl.Float64
        kinds = {"generation": whole, "evaluations": whole, "best": real, "mean": real, "edges": whole}
        return pl.DataFrame(self.rows, schema={**kinds, "seconds": real}, orient="row")
