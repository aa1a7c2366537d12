"""Many unrelated questions at once: what a measure asks, and a learner never does."""

import numpy as np
from numpy.typing import NDArray

from ibmap.independence.base import BoundTest
from ibmap.independence.bayesian import BoundBayesianTest
from ibmap.kernels import batch as _unrelated
from ibmap.kernels.records import Packed
from ibmap.kernels.row_keys import row_keys

MOST_CELLS = 1 << 16  #: of a table that is counted in an array; larger ones are lists of observed cells

Ints = NDArray[np.int64]


def decide_each(test: BoundTest, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide for every i whether x_i and y_i are independent given the first ``sizes[i]`` of ``given[i]``.

    The Bayesian test on rows in memory answers all of them in one compiled loop.
    """
    if isinstance(test, BoundBayesianTest) and test.counts.packed is not None:
        log_p = log_independent_each(test, test.counts.packed, xs, ys, given, sizes)
        return np.asarray(log_p > test.log_threshold(xs, ys))  # type: ignore[arg-type]
    questions = zip(xs.tolist(), ys, given, sizes.tolist(), strict=True)
    return np.array(
        [test.fixed(x, y[None], z[:k]).independent[0] for x, y, z, k in questions], dtype=np.bool_
    )


def log_independent_each(
    test: BoundBayesianTest, packed: Packed, xs: Ints, ys: Ints, given: Ints, sizes: Ints
) -> NDArray[np.float64]:
    """Return log Pr(x_i ⊥ y_i) for every i, given the first ``sizes[i]`` of ``given[i]``."""
    out, most = np.empty(len(xs)), int(packed.levels.max(initial=1))
    cells = np.zeros(min(most * (most + 2), MOST_CELLS), np.int64)
    workspace = (test.context.numbers, *row_keys(packed), cells)
    _unrelated.log_independent_each(*workspace, xs, ys, np.ascontiguousarray(given), sizes, out)
    return out
