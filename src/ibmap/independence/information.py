"""Mutual information of every pair of variables, for any engine."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ibmap.engines import Counts
from ibmap.independence.contingency import MutualInformationTest
from ibmap.kernels.information import information_of_row

Floats = NDArray[np.float64]


def information_matrix(counts: Counts, n_threads: int = 1) -> Floats:
    """Return the mutual information of every pair of variables, in nats; the diagonal is 0.

    Each pair uses the rows that know both.

    Examples
    --------
    >>> from ibmap.engines import LocalCounts
    >>> from ibmap.data import load
    >>> counts = LocalCounts(load(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])))
    >>> information_matrix(counts).round(4)
    array([[0.    , 0.6931, 0.    ],
           [0.6931, 0.    , 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    n, packed = len(counts.cardinalities), counts.packed
    bound = MutualInformationTest().bind(counts)
    size = np.arange(counts.n_rows + 1, dtype=float)
    n_log_n = size * np.log(np.maximum(size, 1.0))
    out = np.zeros((n, n))

    def fill(x: int) -> None:
        others = np.arange(x + 1, n)
        if packed is not None and packed.first[x] >= 0:
            margins = np.empty(int(packed.levels.max()), np.int64)
            information_of_row(packed, n_log_n, margins, x, out[x])
            others = others[packed.first[others] < 0]
        if len(others):
            out[x, others] = bound.fixed(x, others, np.empty(0, np.int64)).strength

    if n_threads == 1 or packed is None:  # an engine of unknown making is asked by one thread
        for x in range(n):
            fill(x)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(fill, range(n)))
    return out + out.T
