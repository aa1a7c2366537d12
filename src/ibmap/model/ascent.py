"""The maximum of a concave function, by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

scipy has it, too, but importing that would cost ``ibmap learn`` more time than most fits.
``tests/model/test_fitting.py`` compares the two.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ibmap._types import Floats

MEMORY = 20  #: steps that are remembered
HALVINGS = 30  #: of a step, at most
ENOUGH = 1e-4  #: of what a step promises, that it must keep


class Found(NamedTuple):
    """Where an ascent ended: the place, the gradient there, and the number of steps."""

    place: Floats
    gradient: Floats
    n_steps: int


def ascend(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, close: float, max_iter: int
) -> Found:
    """Climb until no entry of the gradient is larger than ``close``, or no step gains.

    Coordinates should be scaled so that curvatures are near one: a first step is as long as the gradient.

    Examples
    --------
    >>> found = ascend(lambda u: (-0.5 * (u**2).sum() + u[0], np.array([1.0, 0.0]) - u), np.ones(2), 1e-9, 50)
    >>> found.place.round(6).tolist()
    [1.0, 0.0]
    """
    place, (value, gradient) = start, function(start)
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for step in range(max_iter):
        if np.abs(gradient).max(initial=0.0) <= close:
            return Found(place, gradient, step)
        direction = _direction(gradient, past)
        promised, length = float(gradient @ direction), 1.0
        for _ in range(HALVINGS):
            ahead, slope = function(place + length * direction)
            if ahead >= value + ENOUGH * length * promised:
                break
            length /= 2
        else:
            return Found(place, gradient, step)
        change, turn = length * direction, gradient - slope
        if change @ turn > 1e-12 * float(turn @ turn):
            past.append((change, turn, 1 / float(change @ turn)))
        place, value, gradient = place + change, ahead, slope
    return Found(place, gradient, max_iter)


def _direction(gradient: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Return the gradient times the inverse curvature that the past steps tell of."""
    found, weights = gradient.copy(), []
    for change, turn, scale in reversed(past):
        weights.append(scale * float(change @ found))
        found -= weights[-1] * turn
    if past:
        change, turn, scale = past[-1]
        found *= 1 / (scale * float(turn @ turn))
    for (change, turn, scale), weight in zip(past, reversed(weights), strict=True):
        found += (weight - scale * float(turn @ found)) * change
    return found
