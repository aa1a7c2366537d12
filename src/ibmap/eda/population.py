"""The individuals of a generation, the best first, and the history of all generations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

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


def history_frame(rows: Sequence[tuple[Any, ...]]) -> "pl.DataFrame":
    """Return the history as a frame, a row per generation."""
    import polars as pl

    kinds = {"generation": pl.Int64, "evaluations": pl.Int64, "best": pl.Float64, "mean": pl.Float64}
    return pl.DataFrame(rows, schema={**kinds, "edges": pl.Int64, "seconds": pl.Float64}, orient="row")
