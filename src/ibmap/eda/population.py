"""The individuals of a generation, the best first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
