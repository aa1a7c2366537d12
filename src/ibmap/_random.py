"""Randomness is an argument: a seed, a generator, or None."""

import numpy as np

from ibmap._text import in_short
from ibmap.errors import RequestError

RandomState = int | np.random.Generator | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator that a seed stands for, or the generator itself."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise RequestError(
            "random_state must be a non-negative integer, a numpy Generator or None: "
            f"got {in_short(random_state)}"
        ) from None
