"""The critical population size: the smallest that always finds the optimum (paper, section 6)."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap._checks import is_whole, whole
from ibmap._random import RandomState, generator
from ibmap._text import in_short
from ibmap.eda.maximize import maximize
from ibmap.eda.run import Stop
from ibmap.errors import RequestError

Ints = NDArray[np.int64]

SIZES = (50, 100, 200, 400, 800, 1600, 3200)  #: the paper's


class CriticalSize(NamedTuple):
    """The smallest population with which every run succeeded, and what these runs needed."""

    size: int | None  #: the paper's D*; None: no size was large enough
    evaluations: float | None  #: the paper's f*: mean number of evaluations of the runs with that size
    std: float | None  #: and their standard deviation
    runs: tuple[int, ...]  #: evaluations of every run
    failed: tuple[int, ...]  #: sizes with which a run did not succeed


def critical_population_size(
    function: Callable[[Ints], ArrayLike],
    n: int,
    target: float | None = None,
    *,
    sizes: Iterable[int] = SIZES,
    repetitions: int = 10,
    generations: int = 1000,
    n_jobs: int = 1,
    random_state: RandomState = None,
    **options: Any,
) -> CriticalSize:
    """Find the smallest population with which every run reaches the target.

    A size is given up at its first failure.

    Parameters
    ----------
    function, n, **options
        As in :func:`ibmap.eda.maximize`.
    target : float, optional
        What must be reached: the ``optimum`` of a :class:`ibmap.eda.Problem`, by default.
    sizes : iterable of int
        Population sizes, tried in this order.
    repetitions, generations : int
        Runs with each size, and how long each may take.
    n_jobs : int
        Processes that share the runs of a size; the result does not depend on it.
    random_state : int, numpy.random.Generator or None
        Each run has a seed of its own, made of this one, the size and its number.

    Examples
    --------
    >>> from ibmap.eda.problems import onemax
    >>> critical_population_size(onemax(8), 8, sizes=(4, 80), repetitions=3, random_state=0)[0]
    80
    """
    aim = target if target is not None else getattr(function, "optimum", None)
    if aim is None:
        raise RequestError("the optimum of this function is not known: pass target")
    seed, jobs, runs = (
        _seed(random_state),
        whole(n_jobs, "n_jobs", 1),
        whole(repetitions, "repetitions", 1, 10**6),
    )
    stop = Stop(target=aim, generations=whole(generations, "generations", 1))
    failed: list[int] = []
    for size in checked_sizes(sizes):
        tasks = [([seed, size, run], function, n, size, stop, options) for run in range(runs)]
        needed = _evaluations(tasks, jobs)
        if needed is not None:
            std = stdev(needed) if len(needed) > 1 else None
            return CriticalSize(size, fmean(needed), std, tuple(needed), tuple(failed))
        failed.append(size)
    return CriticalSize(None, None, None, (), tuple(failed))


def _seed(random_state: RandomState) -> int:
    """Return a seed as it is; otherwise one that the generator draws."""
    if isinstance(random_state, np.random.Generator) or random_state is None:
        return int(generator(random_state).integers(2**63))
    return whole(random_state, "random_state", 0, 2**64 - 1)


def checked_sizes(sizes: Iterable[int]) -> list[int]:
    """Return the sizes to try, if there are any."""
    found = list(sizes) if isinstance(sizes, Iterable) else []
    if not found or not all(map(is_whole, found)):
        raise RequestError(
            f"sizes must be population sizes to try, such as {SIZES[:3]}, not {in_short(sizes)}"
        )
    return found


def _evaluations(tasks: Sequence[tuple[Any, ...]], n_jobs: int) -> list[int] | None:
    """Return what every run needed, or None as soon as one has failed."""
    found: list[int] = []
    for first in range(0, len(tasks), n_jobs):
        for needed in _together(tasks[first : first + n_jobs]):
            if needed is None:
                return None
            found.append(needed)
    return found


def _together(tasks: Sequence[tuple[Any, ...]]) -> list[int | None]:
    if len(tasks) == 1:
        return [_run(*tasks[0])]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=len(tasks))(delayed(_run)(*task) for task in tasks))


def _run(
    seed: list[int], function: Callable[[Ints], ArrayLike], n: int, size: int, stop: Stop, options: Any
) -> int | None:
    """Return how many evaluations a run needed, or None if it failed."""
    rng = np.random.default_rng(seed)
    found = maximize(function, n, size, stop=stop, random_state=rng, **options)
    return found.evaluations if found.stopped_by == "target" else None
