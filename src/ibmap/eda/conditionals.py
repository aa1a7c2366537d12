"""Conditional frequencies of every variable given its neighbours, and strings drawn from them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap.eda.blanket_tables import laid_out
from ibmap.errors import RequestError
from ibmap.kernels.moa_gibbs import accumulate, number_of, run_chains, tally

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
        self.rows = np.ascontiguousarray(rows, dtype=np.int64)
        self.layout = layout = laid_out(len(rows), np.asarray(levels, np.int64), neighbours)
        self._packed_rows = np.empty((len(rows), int(layout.word.max(initial=0)) + 1), np.uint64)
        self.counts = np.zeros(int((layout.sizes * layout.levels).sum()))
        tally(layout, self.rows, self._packed_rows, np.zeros(len(layout.levels), np.int64), self.counts)

    def cumulative(self, sampling: str, inverse_temperature: float = 1.0) -> Floats:
        """Return the probabilities of the levels but the last in every configuration, summed over the levels.

        The choices are those of :class:`ibmap.eda.MOA`. What was never observed is uniform.
        """
        check_sampling(sampling)
        whole = float(len(self.rows)) if sampling == "boltzmann-joint" else 0.0
        sums = np.empty(int((self.layout.sizes * (self.layout.levels - 1)).sum()))
        accumulate(self.layout, self.counts, sampling != "conditional", whole, inverse_temperature, sums)
        return sums

    def probabilities(self, i: int, state: Ints, sampling: str, inverse_temperature: float = 1.0) -> Floats:
        """Return the probabilities of the levels of variable i where its neighbours are as in ``state``."""
        out, packed = np.asarray(state, np.int64), np.empty(self._packed_rows.shape[1], np.uint64)
        number = number_of(self.layout, i, out, packed, self._packed_rows)
        last = int(self.layout.levels[i]) - 1
        sums = self.cumulative(sampling, inverse_temperature)[self.layout.sums_start[i] + number * last :]
        return np.diff(sums[:last], prepend=0.0, append=1.0)

    def sample(
        self, n_rows: int, steps: int, seed: int, sampling: str, inverse_temperature: float = 1.0
    ) -> Ints:
        """Draw rows, each the end of a chain of ``steps`` single-site updates from a uniform string."""
        out = np.empty((n_rows, len(self.layout.levels)), np.int64)
        packed = np.empty(self._packed_rows.shape[1], np.uint64)
        sums = self.cumulative(sampling, inverse_temperature)
        run_chains(self.layout, self._packed_rows, sums, np.uint64(seed), steps, out, packed)
        return out


def check_sampling(sampling: str) -> None:
    """Refuse an unknown way to sample."""
    if sampling not in SAMPLING:
        raise RequestError(f"unknown sampling {sampling!r}; there are {', '.join(SAMPLING)}")
