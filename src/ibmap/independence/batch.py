"""Batched queries with independent conditioning sets (``metrics.accuracy``)."""

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Floats, Ints
from ibmap.engines import Questions
from ibmap.independence.base import BoundTableTest, BoundTest
from ibmap.independence.bayesian import CompiledBayesianTest
from ibmap.independence.gaussian import BoundGaussian
from ibmap.kernels.batch import log_independent_each as _log_independent_each
from ibmap.kernels.row_keys import row_keys

MOST_CELLS = 1 << 16  #: of a table that is counted in an array; larger ones are lists of observed cells


def decide_each(test: BoundTest, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide for every i whether x_i and y_i are independent given the first ``sizes[i]`` of ``given[i]``.

    The Bayesian test on rows in memory answers all of them in one compiled loop, a test of tables in one trip
    to its engine.
    """
    if isinstance(test, CompiledBayesianTest):
        log_p = log_independent_each(test, xs, ys, given, sizes)
        return np.asarray(log_p > test.log_threshold(xs, ys))
    if isinstance(test, BoundTableTest):
        return test.answers(Questions.each(xs, ys, given, sizes)).independent
    if isinstance(test, BoundGaussian):
        return _by_size(test, xs, ys, given, sizes)
    questions = zip(xs.tolist(), ys, given, sizes.tolist(), strict=True)
    return np.array(
        [test.fixed(x, y[None], z[:k]).independent[0] for x, y, z, k in questions], dtype=np.bool_
    )


def _by_size(test: BoundGaussian, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide about correlations; conditioning sets of one size together, some at a time."""
    out = np.empty(len(xs), np.bool_)
    for size in np.unique(sizes).tolist():
        same, at_once = np.flatnonzero(sizes == size), max(1, MOST_CELLS // (size + 2) ** 2)
        for first in range(0, len(same), at_once):
            some = same[first : first + at_once]
            out[some] = test.each(xs[some], ys[some], given[some, :size]).independent
    return out


def log_independent_each(test: CompiledBayesianTest, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Floats:
    """Return log Pr(x_i ⊥ y_i) for every i, given the first ``sizes[i]`` of ``given[i]``."""
    out, most = np.empty(len(xs)), int(test.levels.max(initial=1))
    cells = np.zeros(min(most * (most + 2), MOST_CELLS), np.int64)
    workspace = (test.context.numbers, *row_keys(test.packed), cells)
    _log_independent_each(*workspace, xs, ys, np.ascontiguousarray(given), sizes, out)
    return out
