"""Randomness is an argument: a seed, a generator, or None."""

import numpy as np

from ibmap.errors import RequestError

RandomState = int | np.random.Generator | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator that a seed stands for, or the generator itself."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise RequestError(
            f"random_state must be a non-negative integer, a numpy Generator or None: got {random_state!r}"
        ) from None
