"""Many unrelated questions at once: what a measure asks, and a learner never does."""

import numpy as np
from numpy.typing import NDArray

from ibmap.independence import _questions
from ibmap.independence.base import BoundTest
from ibmap.independence.bayesian import BoundBayesianTest

Ints = NDArray[np.int64]


def decide_each(test: BoundTest, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Decide for every i whether x_i and y_i are independent given the first ``sizes[i]`` of ``given[i]``.

    The Bayesian test on rows in memory answers all of them in one compiled loop: 10 microseconds a question
    with 38 columns and 69 rows, against 39 with a call for each.
    """
    if isinstance(test, BoundBayesianTest) and test.counts.packed is not None:
        yes, no = np.empty(len(xs)), np.empty(len(xs))
        room = (test.counts.packed, test.sets, test.model, test.scratch)
        _questions.each_posterior(*room, xs, ys, np.ascontiguousarray(given), sizes, yes, no)
        return np.asarray(yes > test.log_threshold(xs, ys))  # type: ignore[arg-type]
    questions = zip(xs.tolist(), ys, given, sizes.tolist(), strict=True)
    return np.array(
        [test.fixed(x, y[None], z[:k]).independent[0] for x, y, z, k in questions], dtype=np.bool_
    )
