"""Maximise a function in one call."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks
from ibmap._random import RandomState
from ibmap._text import in_short
from ibmap.eda.moa import MOA
from ibmap.eda.run import Stop
from ibmap.errors import RequestError

Ints = NDArray[np.int64]


class Optimised(NamedTuple):
    """The result of a run."""

    solution: Ints
    fitness: float
    evaluations: int
    generations: int
    stopped_by: str  #: a limit of ``Stop``, or "callback"
    optimizer: MOA


def maximize(
    function: Callable[[Ints], Any],
    n: int,
    population_size: int = 200,
    *,
    stop: Stop | None = None,
    vectorized: bool = True,
    callback: Callable[[MOA], object] | None = None,
    checkpoint: str | Path | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Optimised:
    """Maximise a function of n discrete variables.

    Parameters
    ----------
    function : function
        Takes individuals as the rows of an array and returns a number for each; with ``vectorized=False`` it
        takes one individual and returns one number.
    n, population_size, stop, random_state, **options
        As in :class:`ibmap.eda.MOA`.
    callback : function of MOA, optional
        Called after every generation; the run ends when it returns True.
    checkpoint : path, optional
        The optimiser is written there before each call of the function and at the end. If the file exists,
        the run goes on from it: after a fitness function that failed, the same individuals come again.

    Examples
    --------
    >>> found = maximize(lambda rows: rows.sum(axis=1), 30, 100, stop=Stop(target=30), random_state=1)
    >>> found.fitness, found.stopped_by
    (30.0, 'target')
    """
    moa = MOA(n, population_size, stop=stop, random_state=random_state, **options)
    if not callable(function):
        raise RequestError(f"function must be a function of individuals, not {in_short(function)}")
    _checks.function(callback, "callback")
    by_row = not _checks.flag(vectorized, "vectorized")
    path = None if checkpoint is None else _checks.file_path(checkpoint, "checkpoint")
    if path is not None and path.exists():
        moa = resumed(moa, path)
    reason = moa.stopped_by_
    while reason is None:
        solutions = moa.ask()
        if path is not None:
            moa.save(path)
        moa.tell(solutions, [function(row) for row in solutions] if by_row else function(solutions))
        ended = callback is not None and _checks.is_true(callback(moa))
        reason = moa.stopped_by_ or ("callback" if ended else None)
    if path is not None:
        moa.save(path)
    best = moa.best_
    return Optimised(best.solution, best.fitness, moa.evaluations, moa.generation, reason, moa)


def resumed(fresh: MOA, checkpoint: str | Path) -> MOA:
    """Return the optimiser of a file, with the limits of a fresh one, if they are of a kind."""
    saved = MOA.load(checkpoint)
    for name in ("n", "population_size", "learner", "sampling", "n_selected", "n_elite", "steps", "cooling"):
        before, now = getattr(saved, name), getattr(fresh, name)
        if before != now and isinstance(before, int | float | str) and isinstance(now, int | float | str):
            raise RequestError(
                f"the checkpoint {str(checkpoint)!r} has {name} {before}, this run {now}: "
                "remove the file to begin anew"
            )
    if (saved.levels != fresh.levels).any():
        raise RequestError(f"the checkpoint {str(checkpoint)!r} has variables with other levels")
    saved.stop = fresh.stop
    return saved
