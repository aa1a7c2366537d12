"""MOA, the Markovianity optimisation algorithm, with any learner (paper, section 6)."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap._checks import whole
from ibmap._files import read_whole, write_whole
from ibmap._random import RandomState, generator
from ibmap.eda import checks
from ibmap.eda.conditionals import Conditionals, check_sampling
from ibmap.eda.run import Best, Population, Record, Stop
from ibmap.eda.structure import Structure, as_search, learn_structure
from ibmap.errors import RequestError
from ibmap.graph import Graph

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class MOA:
    """Maximise a function of discrete variables by learning which of them go together.

    A generation selects the best individuals, learns a Markov network from them, and draws new ones from
    it: each is the end of a Gibbs chain that starts at a uniform random string. The best of all live on.
    ``learner="mi"`` is the paper's MOA, ``"ibmap-hc"`` its MOA'.

    Parameters
    ----------
    n : int
        Number of variables.
    population_size : int
        Individuals; the first population is uniform.
    levels : int or sequence of int
        Levels of the variables, whose values are 0, 1, ...: one number for all, or one for each.
    learner : str, estimator or function
        "ibmap-hc", "mi", "gsmn", "hhc-mn", or "none" (no edges, every variable for itself); an estimator such
        as ``IBMAP(patience=2)``; or a function of a table that returns a graph or the neighbours of each
        variable, such as :class:`ibmap.eda.OwnNeighbours`.
    sampling : {"boltzmann-joint", "boltzmann-conditional", "conditional"}
        What the Gibbs steps draw from: e^(f/T), normalised over the levels, f the relative frequency of the
        level together with its neighbours' values ("boltzmann-joint", the paper), or of the level given
        them ("boltzmann-conditional"); or that conditional frequency itself. What was never seen is uniform.
    selection, elitism : float
        Share of the population that the network is learned from, and that lives on.
    cooling : float or function
        T = 1 / (cooling · g) in generation g = 1, 2, ...; or a function of g that returns T.
    steps : int, optional
        Updates of a chain; 4 n ln n, rounded up, by default.
    stop : Stop, optional
        When :meth:`should_stop` says so; after 1000 generations by default.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.

    Attributes
    ----------
    best_ : Best
        The best ``solution`` and its ``fitness``.
    history_ : polars.DataFrame
        generation, evaluations, best, mean, edges (of the network that the generation was drawn from),
        seconds.
    graph_ : Graph or None
        That network.
    stopped_by_ : str or None
        Which limit is met: "target", "generations", "evaluations", "stall" or "seconds".

    Examples
    --------
    >>> moa = MOA(20, 80, stop=Stop(target=20), random_state=0)
    >>> while not moa.should_stop():
    ...     solutions = moa.ask()
    ...     moa.tell(solutions, solutions.sum(axis=1))
    >>> moa.best_.fitness, moa.stopped_by_
    (20.0, 'target')
    """

    def __init__(
        self,
        n: int,
        population_size: int,
        *,
        levels: int | ArrayLike = 2,
        learner: object = "ibmap-hc",
        sampling: str = "boltzmann-joint",
        selection: float = 0.5,
        elitism: float = 0.5,
        cooling: float | Callable[[int], float] = 0.5,
        steps: int | None = None,
        stop: Stop | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n = whole(n, "n", 1, 10**6)
        self.population_size = whole(population_size, "population_size", 1)
        self.levels = checks.checked_levels(levels, self.n)
        as_search(learner)
        check_sampling(sampling)
        self.learner, self.sampling = learner, sampling
        self.n_selected, self.n_elite = checks.shares(self.population_size, selection, elitism)
        self.cooling = checks.checked_cooling(cooling)
        default = max(self.n, math.ceil(4 * self.n * math.log(self.n)))
        self.steps = default if steps is None else whole(steps, "steps", 1)
        self.stop = checks.checked_stop(stop)
        self.graph_: Graph | None = None
        self._rng = generator(random_state)
        self._population = Population(np.empty((0, self.n), np.int64), np.empty(0))
        self._record = Record()
        self._pending: Ints | None = None
        self._model: tuple[Structure, Conditionals] | None = None  # of the selected, until they change
        self._asked: float | None = None

    def __repr__(self) -> str:
        what = f"{self.n} variables, population {self.population_size}, {self.evaluations:,} evaluations"
        return f"MOA({what}, best {self.best_.fitness:g})" if self.evaluations else f"MOA({what})"

    # The four words

    def ask(self) -> Ints:
        """Return individuals to evaluate, one per row: all at first, then those that are new.

        Asking again before :meth:`tell` returns the same ones.
        """
        if self._pending is None:
            self._asked = perf_counter()
            self._pending = self._first() if self.generation < 0 else self._next()
        return self._pending.copy()

    def tell(self, solutions: ArrayLike, fitness: ArrayLike) -> None:
        """Take the fitness of what was asked; higher is better.

        The solutions may be others than those that were asked, if they are as many: mended or improved ones.
        What is refused leaves the optimiser as it was.
        """
        if self._pending is None:
            raise RequestError("nothing was asked: call ask() before tell()")
        rows = checks.checked_solutions(solutions, self._pending.shape, self.levels)
        values = checks.checked_fitness(fitness, len(rows))
        self._population, places = self._population.succeeded_by(rows, values, self.n_elite)
        self._forget_if_changed(places)
        edges = None if self.graph_ is None else self.graph_.n_edges
        seconds = 0.0 if self._asked is None else perf_counter() - self._asked
        self._record.add(self._population, len(rows), edges, seconds)
        self._pending, self._asked = None, None

    def should_stop(self) -> bool:
        """Tell whether a limit of ``stop`` is met."""
        return self.stopped_by_ is not None

    @property
    def stopped_by_(self) -> str | None:
        """Which limit is met, if any."""
        return self.stop.reason(self._record, self.population_size - self.n_elite)

    # What came out

    @property
    def generation(self) -> int:
        """Number of the last evaluated population, from 0; -1 if there is none yet."""
        return self._record.generation

    @property
    def evaluations(self) -> int:
        """Number of fitness values so far."""
        return self._record.evaluations

    @property
    def best_(self) -> Best:
        """The best individual so far."""
        if self.generation < 0:
            raise RequestError("there is no best individual yet: call ask() and tell() first")
        return self._record.best

    @property
    def history_(self) -> "pl.DataFrame":
        """A row per generation."""
        return self._record.frame()

    @property
    def population_(self) -> tuple[Ints, Floats]:
        """The last evaluated individuals and those that lived on, the best first, and their fitness."""
        return self._population.rows.copy(), self._population.fitness.copy()

    def save(self, path: Any) -> None:
        """Write everything to a file (a pickle): :meth:`load` goes on as if nothing had happened."""
        try:
            content = pickle.dumps(self)
        except Exception as error:  # pickle raises errors of many kinds
            raise RequestError(
                f"cannot save: {error}; a learner or a cooling of your own must be a function of a module, "
                "not one made inside another function or a lambda"
            ) from None
        write_whole(Path(path), content)

    @classmethod
    def load(cls, path: Any) -> "MOA":
        """Read what :meth:`save` wrote. As with every pickle, only open files that you trust."""
        try:
            found = pickle.loads(read_whole(Path(path)))
        except OSError as error:
            raise RequestError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
        except Exception as error:  # a pickle that is damaged can raise anything
            raise RequestError(f"{str(path)!r} holds no {cls.__name__}: {error}") from None
        if not isinstance(found, cls):
            raise RequestError(f"{str(path)!r} holds no {cls.__name__} but a {type(found).__name__}")
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the tables, which are counted again, and the clock of this process."""
        model = None if self._model is None else self._model[0]
        return {**self.__dict__, "_asked": None, "_model": None, "_structure": model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        structure = state.pop("_structure")
        self.__dict__.update(state)
        if structure is not None:
            self._model = structure, self._conditionals(structure)

    # A generation

    def _first(self) -> Ints:
        return self._rng.integers(self.levels, size=(self.population_size, self.n), dtype=np.int64)

    def _next(self) -> Ints:
        if self._model is None:
            structure = learn_structure(self.learner, self._population.rows[: self.n_selected], self.levels)
            self._model = structure, self._conditionals(structure)
        structure, conditionals = self._model
        self.graph_ = structure.graph
        inverse = checks.inverse_temperature(self.cooling, self.generation + 1)
        seed = int(self._rng.integers(2**64, dtype=np.uint64))
        newcomers = self.population_size - self.n_elite
        return conditionals.sample(newcomers, self.steps, seed, self.sampling, inverse)

    def _conditionals(self, structure: Structure) -> Conditionals:
        return Conditionals(self._population.rows[: self.n_selected], self.levels, structure.neighbours)

    def _forget_if_changed(self, places: Ints) -> None:
        """Keep the network if the same individuals are selected again: it would be learned the same."""
        stays = self.n_selected <= self.n_elite and (places[: self.n_selected] < self.n_elite).all()
        if self.generation < 0 or not stays:
            self._model = None
