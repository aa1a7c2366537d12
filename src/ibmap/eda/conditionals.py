"""Conditional frequencies of every variable given its neighbours, and strings drawn from them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap.eda._gibbs import Layout, run_chains, tally
from ibmap.errors import RequestError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DENSE = 1024  #: configurations that a table without hashing may have
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
        self.layout, sizes = laid_out(len(rows), np.asarray(levels, np.int64), neighbours)
        self.counts = np.zeros((int(sizes.sum()), int(np.max(levels, initial=1))))
        self._absent = np.arange(self.counts.shape[1]) >= np.repeat(self.layout.levels, sizes)[:, None]
        tally(self.layout, self.rows, np.zeros(len(sizes), np.int64), self.counts)

    def cumulative(self, sampling: str, inverse_temperature: float = 1.0) -> Floats:
        """Return the probabilities of the levels in every configuration, summed over the levels.

        The choices are those of :class:`ibmap.eda.MOA`. What was never observed is uniform.
        """
        check_sampling(sampling)
        totals = self.counts.sum(axis=1, keepdims=True)
        if sampling == "conditional":
            weights = np.where(totals > 0, self.counts, 1.0)
        else:
            whole = len(self.rows) if sampling == "boltzmann-joint" else np.maximum(totals, 1.0)
            exponents = self.counts / whole * inverse_temperature
            weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        weights[self._absent] = 0.0
        sums = weights.cumsum(axis=1)
        return np.asarray(sums / sums[:, -1:])

    def probabilities(self, i: int, state: Ints, sampling: str, inverse_temperature: float = 1.0) -> Floats:
        """Return the probabilities of the levels of variable i where its neighbours are as in ``state``."""
        around = self.layout.neighbours[self.layout.offsets[i] : self.layout.offsets[i + 1]]
        sums = self.cumulative(sampling, inverse_temperature)
        first = self.layout.first[i]
        same = np.flatnonzero((self.rows[:, around] == np.asarray(state)[around]).all(axis=1))
        n_levels = int(self.layout.levels[i])
        if not len(same):
            return np.full(n_levels, 1.0 / n_levels)
        if self.layout.mask[i] < 0:
            number = int((self.layout.strides[self.layout.offsets[i] :][: len(around)] * state[around]).sum())
        else:
            number = int(np.flatnonzero(self.layout.witness[first + 1 :][: len(self.rows)] == same[0])[0]) + 1
        return np.diff(sums[first + number, :n_levels], prepend=0.0)

    def sample(
        self, n_rows: int, steps: int, seed: int, sampling: str, inverse_temperature: float = 1.0
    ) -> Ints:
        """Draw rows, each the end of a chain of ``steps`` single-site updates from a uniform string."""
        out = np.empty((n_rows, len(self.layout.levels)), np.int64)
        sums = np.ascontiguousarray(self.cumulative(sampling, inverse_temperature)[:, :-1])
        run_chains(self.layout, self.rows, sums, np.uint64(seed), steps, out)
        return out


def check_sampling(sampling: str) -> None:
    """Refuse an unknown way to sample."""
    if sampling not in SAMPLING:
        raise RequestError(f"unknown sampling {sampling!r}; there are {', '.join(SAMPLING)}")


def laid_out(n_rows: int, levels: Ints, neighbours: Sequence[Ints]) -> tuple[Layout, Ints]:
    """Return where the tables stand, and how many configurations each variable has room for."""
    degrees = np.array([len(some) for some in neighbours], np.int64)
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    joined = np.concatenate([np.empty(0, np.int64), *neighbours]).astype(np.int64)
    owner = np.repeat(np.arange(len(levels)), degrees)
    place = np.arange(len(joined)) - offsets[owner]
    possible, exact = np.ones(len(levels)), np.empty(len(joined))
    for k in range(int(degrees.max(initial=0))):  # the k-th neighbours of all variables at once
        at = np.flatnonzero(place == k)
        exact[at] = possible[owner[at]]
        possible[owner[at]] *= levels[joined[at]]
    hashed = possible > DENSE
    room = max(64, 4 << n_rows.bit_length())  # at most a quarter full
    sizes = np.where(hashed, n_rows + 1, np.minimum(possible, DENSE)).astype(np.int64)
    strides = multipliers(len(joined))
    strides[~hashed[owner]] = exact[~hashed[owner]]
    layout = Layout(
        levels=levels,
        offsets=offsets,
        neighbours=joined,
        strides=strides,
        first=np.cumsum(sizes) - sizes,
        mask=np.where(hashed, room - 1, -1).astype(np.int64),
        start=np.asarray((np.cumsum(hashed) - hashed) * room, np.int64),
        slots=np.empty(int(hashed.sum()) * room, np.int32),
        taken=np.zeros(int(hashed.sum()) * room // 64, np.uint64),
        keys=np.empty(int(hashed.sum()) * room, np.uint64),
        witness=np.full(int(sizes.sum()), -1, np.int64),
    )
    return layout, sizes


def multipliers(n: int) -> NDArray[np.uint64]:
    """Return fixed odd numbers of 64 bits that look random."""
    bits = np.random.default_rng(0).integers(2**64, size=n, dtype=np.uint64)
    return np.asarray(bits | np.uint64(1))
