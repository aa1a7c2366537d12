"""When to stop."""

from dataclasses import dataclass

import numpy as np

from ibmap.eda.record import Record
from ibmap.errors import RequestError

TIE = 1e-9  #: a target is reached within this much of it, relative to its size


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
