"""Questions that learners ask many of, in batches, whatever the test."""

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.engines import Questions
from ibmap.independence.base import BoundTableTest, BoundTest
from ibmap.independence.bayesian import CompiledBayesianTest
from ibmap.independence.gaussian import BoundGaussian
from ibmap.independence.mixed import BoundMixed

MOST_NUMBERS = 1 << 16  #: of matrices of correlations that are inverted together
FIRST_BATCH = 8  #: variables that are asked about before all others


def decide_each(test: BoundTest, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide for every i whether x_i and y_i are independent given the first ``sizes[i]`` of ``given[i]``.

    A test of tables answers all of them in one trip to its engine, the Bayesian test on rows in memory in one
    call of the native core.
    """
    if isinstance(test, BoundTableTest):
        return test.answers(Questions.each(xs, ys, given, sizes)).independent
    if isinstance(test, BoundMixed):
        return test.each(xs, ys, given, sizes).independent
    if isinstance(test, BoundGaussian):
        return _by_size(test, xs, ys, given, sizes)
    questions = zip(xs.tolist(), ys, given, sizes.tolist(), strict=True)
    return np.array(
        [test.fixed(x, y[None], z[:k]).independent[0] for x, y, z, k in questions], dtype=np.bool_
    )


def first_dependent(test: BoundTest, x: int, ys: Ints, given: Ints) -> int | None:
    """Return the position of the first y that is dependent on x; None if there is none.

    In growing batches: where the strongest come first, it is mostly among the first eight.
    """
    if isinstance(test, CompiledBayesianTest):
        return test.first_dependent(x, ys, given)
    first, size = 0, FIRST_BATCH
    while first < len(ys):
        dependent = ~test.fixed(x, ys[first : first + size], given).independent
        if dependent.any():
            return first + int(np.argmax(dependent))
        first, size = first + size, 4 * size
    return None


def first_independent(test: BoundTest, x: int, members: Ints) -> int | None:
    """Return the position of the first member that is independent given the others; None if there is none."""
    if isinstance(test, CompiledBayesianTest):
        return test.first_independent(x, members)
    independent = test.round_robin(x, members).independent
    return int(np.argmax(independent)) if independent.any() else None


def _by_size(test: BoundGaussian, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide about correlations; conditioning sets of one size together, some at a time."""
    out = np.empty(len(xs), np.bool_)
    for size in np.unique(sizes).tolist():
        same, at_once = np.flatnonzero(sizes == size), max(1, MOST_NUMBERS // (size + 2) ** 2)
        for first in range(0, len(same), at_once):
            some = same[first : first + at_once]
            out[some] = test.each(xs[some], ys[some], given[some, :size]).independent
    return out
