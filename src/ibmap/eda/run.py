"""The course of a run: its population, the record of what it has been told so far, and when it stops."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TIE = 1e-9  #: a target is reached within this much of it, relative to its size


class Population(NamedTuple):
    """Individuals and their fitness, the best first; among equals the older ones."""

    rows: Ints
    fitness: Floats

    def succeeded_by(self, rows: Ints, fitness: Floats, n_elite: int) -> tuple["Population", Ints]:
        """Return the best of these together with the new ones, and where each of them stood before.

        Examples
        --------
        >>> old = Population(np.array([[1, 1], [0, 1]]), np.array([2.0, 1.0]))
        >>> new, places = old.succeeded_by(np.array([[1, 0]]), np.array([1.0]), 2)
        >>> new.rows.tolist(), places.tolist()  # the new one stands behind its equal
        ([[1, 1], [0, 1], [1, 0]], [0, 1, 2])
        """
        everyone = np.concatenate([self.rows[:n_elite], rows])
        known = np.concatenate([self.fitness[:n_elite], fitness])
        order = np.argsort(-known, kind="stable")
        return Population(everyone[order], known[order]), order


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


@dataclass(frozen=True)
class Stop:
    """Limits of a run; the first that is met ends it.

    Parameters
    ----------
    generations : int or None
        Number of generations after the first population.
    evaluations : int or None
        Fitness values; a generation that would exceed them is not begun.
    target : float or None
        Fitness that is good enough.
    stall : int or None
        Generations without a better fitness.
    seconds : float or None
        Wall time between :meth:`MOA.ask` and :meth:`MOA.tell`, the fitness function included.

    Examples
    --------
    >>> Stop(target=30.0).reached(best=30.0)
    True
    """

    generations: int | None = 1000
    evaluations: int | None = None
    target: float | None = None
    stall: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("generations", "evaluations", "target", "stall", "seconds"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value != value:
                raise RequestError(f"{name} must be a number or None, not {value!r}")
            if name != "target" and value < 0:
                raise RequestError(f"{name} must be 0 or more, not {value!r}")

    def reached(self, best: float) -> bool:
        """Tell whether a fitness is as good as the target."""
        return self.target is not None and best >= self.target - TIE * max(1.0, abs(self.target))

    def reason(self, record: Record, newcomers: int) -> str | None:
        """Return which limit is met: "target", "generations", "evaluations", "stall", "seconds" or None.

        ``newcomers`` is how many individuals the next generation would evaluate.
        """
        if record.generation < 0:
            return None
        if self.reached(record.best.fitness):
            return "target"
        spent = {
            "generations": record.generation,
            "evaluations": record.evaluations + newcomers - 1,
            "stall": record.stalled,
            "seconds": record.seconds,
        }
        limits = {name: getattr(self, name) for name in spent}
        met = (name for name in spent if limits[name] is not None and spent[name] >= limits[name])
        return next(met, None)
