"""σ of all pairs of binary variables without conditioning, by arrays of a device."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats
from ibmap.engines.gpu import GpuEngine
from ibmap.engines.gpu_rows import to_host
from ibmap.independence.bayesian import CompiledBayesianTest

#: pairs x < y, their σ, a floor for all others, and the sums of rows
Lowest = tuple[NDArray[np.int32], Floats, float, Floats]
NUMBERS = 8  #: of 64 bits that one pair takes, at most


class DevicePairs:
    """The Bayesian test of all pairs, a band of rows at a time.

    Parameters
    ----------
    test : CompiledBayesianTest
        Bound to a :class:`GpuEngine` whose variables all have two levels, with one prior for all pairs.
    """

    def __init__(self, test: CompiledBayesianTest) -> None:
        engine: Any = test.engine
        self._xp, self._columns, self._n = engine.arrays, engine.columns, len(test.levels)
        n_rows = engine.schema.n_rows
        cell, margin, _, self._start = test.core.terms(0, 0)
        self._cell = self._xp.asarray(cell)
        ones = to_host(self._columns.sum(axis=1)).astype(np.int64)
        self._ones = self._xp.asarray(ones.astype(np.int32))
        self._margin = self._xp.asarray(margin[ones] + margin[n_rows - ones])
        self._n_rows = n_rows
        self._at_once = max(1, int(engine.free_memory() / 2 // (8 * NUMBERS * self._n)))

    @staticmethod
    def fit(test: CompiledBayesianTest) -> bool:
        """Whether a device has the table, and can score its pairs."""
        engine = test.engine
        if not isinstance(engine, GpuEngine) or engine.columns is None:
            return False
        return bool((test.levels == 2).all()) and len(test.log_prior) == 1

    def bands(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row, and some rows of σ on the device; σ_xx is 0."""
        xp = self._xp
        for first in range(0, self._n, self._at_once):
            mine = slice(first, min(first + self._at_once, self._n))
            both = (self._columns[mine] @ self._columns.T).astype(np.int32)
            x, y = self._ones[mine, None], self._ones[None, :]
            t = xp.take(self._cell, both) + xp.take(self._cell, x - both)
            t += xp.take(self._cell, y - both) + xp.take(self._cell, self._n_rows - x - y + both)
            t += self._start - self._margin[mine, None] - self._margin[None, :]
            sigma = -(xp.maximum(t, 0.0) + xp.log1p(xp.exp(-xp.abs(t))))
            own = xp.arange(mine.start, mine.stop)
            sigma[own - first, own] = 0.0
            yield first, sigma

    def fill(self, sigma: Floats) -> None:
        """Fill σ of the graph without edges, the same both ways."""
        for first, band in self.bands():
            sigma[first : first + len(band)] = to_host(band)
        for first in range(0, self._n, 1024):  # they differ in rounding
            mine = slice(first, first + 1024)
            below = np.tril_indices(len(sigma[mine]), -1)
            sigma[mine, mine][below] = sigma[mine, mine].T[below]
            sigma[first + 1024 :, mine] = sigma[mine, first + 1024 :].T

    def lowest(self, wanted: int) -> Lowest:
        """Return the least credible pairs x < y, σ of these, a floor for all others, and the sums of rows."""
        xp, bar, sums = self._xp, np.inf, np.empty(self._n)
        pairs, values = np.empty((0, 2), np.int32), np.empty(0)
        for first, sigma in self.bands():
            sums[first : first + len(sigma)] = to_host(sigma.sum(axis=1))
            own = xp.arange(first, first + len(sigma))[:, None]
            x, y = xp.nonzero((sigma < bar) & (xp.arange(self._n)[None, :] > own))
            found = np.column_stack([to_host(x) + first, to_host(y)]).astype(np.int32)
            pairs, values = np.concatenate([pairs, found]), np.concatenate([values, to_host(sigma[x, y])])
            if len(values) > wanted:
                bar = float(np.partition(values, wanted)[wanted])
                kept = values < bar
                pairs, values = pairs[kept], values[kept]
        order = np.lexsort((pairs[:, 1], pairs[:, 0], values))
        return pairs[order], values[order], bar, sums
