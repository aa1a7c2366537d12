"""Conditional frequencies of every variable given its neighbours, and strings drawn from them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks, _core

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SAMPLING = ("boltzmann-joint", "boltzmann-conditional", "conditional")


class Conditionals:
    """How often each level of each variable comes with each configuration of its neighbours.

    Parameters
    ----------
    rows : ndarray of shape (rows, n)
        The selected individuals, as codes.
    levels : ndarray of shape (n,)
        Number of levels of each variable.
    neighbours : sequence of ndarray
        The neighbours of each variable; they need not agree with each other.

    Examples
    --------
    >>> rows = np.array([[0, 0], [1, 1], [1, 1], [1, 0]])
    >>> table = Conditionals(rows, np.array([2, 2]), [np.array([1]), np.array([0])])
    >>> table.probabilities(0, rows[1], "conditional")  # x0 given x1 = 1
    array([0., 1.])
    >>> table.probabilities(0, rows[1], "boltzmann-joint", inverse_temperature=2.0).round(3)  # e⁰ : e¹
    array([0.269, 0.731])
    """

    def __init__(self, rows: Ints, levels: Ints, neighbours: Sequence[Ints]) -> None:
        start = np.cumsum([0, *map(len, neighbours)], dtype=np.int64)
        joined = np.concatenate([np.empty(0, np.int64), *neighbours]).astype(np.int64)
        self.n = len(levels)
        self.tables = _core.BlanketTables(
            np.ascontiguousarray(rows, np.int64), np.asarray(levels, np.int64), start, joined
        )

    def probabilities(self, i: int, state: Ints, sampling: str, inverse_temperature: float = 1.0) -> Floats:
        """Return the probabilities of the levels of variable i where its neighbours are as in ``state``.

        The choices of ``sampling`` are those of :class:`ibmap.eda.MOA`. What was never observed is uniform.
        """
        inverse, joint = _weighting(sampling, inverse_temperature)
        return self.tables.probabilities(i, state, inverse_temperature=inverse, joint=joint)

    def sample(
        self, n_rows: int, steps: int, seed: int, sampling: str, inverse_temperature: float = 1.0
    ) -> Ints:
        """Draw rows, each the end of a chain of ``steps`` single-site updates from a uniform string."""
        rows = np.empty((n_rows, self.n), np.int64)
        inverse, joint = _weighting(sampling, inverse_temperature)
        self.tables.sample(seed=seed, steps=steps, rows=rows, inverse_temperature=inverse, joint=joint)
        return rows


def check_sampling(sampling: str) -> None:
    """Refuse an unknown way to sample."""
    _checks.known(sampling, "sampling", SAMPLING)


def _weighting(sampling: str, inverse_temperature: float) -> tuple[float | None, bool]:
    """Return what frequencies are raised by, if they are not taken as they are, and whether of all rows."""
    check_sampling(sampling)
    return (None if sampling == "conditional" else inverse_temperature), sampling == "boltzmann-joint"
