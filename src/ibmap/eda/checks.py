"""What users hand in, checked: one clear line for everything that cannot work."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap._checks import as_float, is_number
from ibmap._text import in_short
from ibmap.eda.run import Stop
from ibmap.errors import RequestError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_LEVELS = 2**16
COLDEST = 1e300  #: 1 / T of what is as good as frozen; beyond it, it would be infinite


def checked_levels(levels: int | ArrayLike, n: int) -> Ints:
    """Return the number of levels of each of n variables.

    Examples
    --------
    >>> checked_levels([2, 3], 2)
    array([2, 3])
    """
    array = np.asarray(levels)
    if array.dtype.kind not in "iu" or array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise RequestError(f"levels must be a whole number, or one for each of the {n} variables")
    for size in (array.min(), array.max()):
        if not 2 <= size <= MOST_LEVELS:
            raise RequestError(f"a variable must have at least 2 levels, at most {MOST_LEVELS:,}, not {size}")
    return np.ascontiguousarray(np.broadcast_to(array, n), dtype=np.int64)


def shares(population_size: int, selection: float, elitism: float) -> tuple[int, int]:
    """Return how many individuals are selected and how many live on.

    Examples
    --------
    >>> shares(101, 0.5, 0.5)
    (50, 50)
    """
    for name, value, words in (
        ("selection", selection, "above 0, at most 1"),
        ("elitism", elitism, "0 or more, below 1"),
    ):
        if not is_number(value) or not (0 < value <= 1 if name == "selection" else 0 <= value < 1):
            raise RequestError(f"{name} must be a share of the population, {words}, not {in_short(value)}")
    selected, elite = int(population_size * selection), int(population_size * elitism)
    if selected < 2:
        raise RequestError(
            f"a population of {population_size} is too small to select {selection:g} of it: "
            "a network needs at least two individuals to learn from"
        )
    return selected, elite


def checked_cooling(cooling: float | Callable[[int], float]) -> float | Callable[[int], float]:
    """Return the cooling, if it is one."""
    if callable(cooling):
        return cooling
    if not is_number(cooling) or not 0 <= cooling < np.inf:
        raise RequestError(f"cooling must be a number, 0 or more, or a function, not {in_short(cooling)}")
    return as_float(cooling, "cooling")


def checked_stop(stop: Stop | None) -> Stop:
    """Return the limits of a run; without any, those of ``Stop()``."""
    if stop is None:
        return Stop()
    if not isinstance(stop, Stop):
        raise RequestError(f"stop must be a Stop, such as Stop(generations=100), not {in_short(stop)}")
    return stop


def inverse_temperature(cooling: float | Callable[[int], float], generation: int) -> float:
    """Return 1 / T of a generation.

    Examples
    --------
    >>> inverse_temperature(0.5, 4), inverse_temperature(lambda g: 2.0, 4)
    (2.0, 0.5)
    """
    if not callable(cooling):
        return min(cooling * generation, COLDEST)
    temperature = cooling(generation)
    if not is_number(temperature) or not temperature > 0:
        raise RequestError(
            "the temperature must be a number above 0: "
            f"cooling gave {in_short(temperature)} in generation {generation}"
        )
    return 1.0 / max(temperature, 1.0 / COLDEST)


def checked_solutions(solutions: ArrayLike, shape: tuple[int, ...], levels: Ints) -> Ints:
    """Return individuals as whole numbers within the levels of each variable."""
    array = np.asarray(solutions)
    if array.shape != shape:
        raise RequestError(
            f"solutions have the shape {array.shape}; {shape[0]} rows of {shape[1]} values were asked for"
        )
    if array.dtype.kind not in "biuf" or not (array == np.floor(array)).all():
        raise RequestError("solutions must be whole numbers: the levels of the variables, from 0")
    wrong = np.argwhere((array < 0) | (array >= levels))
    if len(wrong):
        row, i = wrong[0].tolist()
        raise RequestError(
            f"variable {i} has the levels 0 to {levels[i] - 1}; solution {row} has {array[row, i]} there"
        )
    return array.astype(np.int64)


def checked_fitness(fitness: ArrayLike, n_rows: int) -> Floats:
    """Return fitness values as numbers, one per individual."""
    try:
        values = np.asarray(fitness, dtype=float)
    except (TypeError, ValueError):
        raise RequestError(f"fitness must be {n_rows} numbers, one for each solution") from None
    if values.shape != (n_rows,):
        raise RequestError(
            f"fitness has the shape {values.shape}; {n_rows} numbers are needed, one for each solution"
        )
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise RequestError(
            f"the fitness of solution {wrong[0]} is {values[wrong[0]]}: it must be a finite number "
            "(give forbidden solutions a very low one)"
        )
    return values
