"""The test that knows: independence is separation in a known graph, found by plain graph search."""

import math

from tests.reference.bayesian import IndependenceTest, Posterior
from tests.reference.closure import Adjacency, blanket


def separated(adjacency: Adjacency, x: int, y: int, given: tuple[int, ...]) -> bool:
    """Does every path from X to Y pass through Z?"""
    reached = {x}
    to_visit = [x]
    while to_visit:
        for w in blanket(adjacency, to_visit.pop()):
            if w not in reached and w not in given:
                reached.add(w)
                to_visit.append(w)
    return y not in reached


def oracle(adjacency: Adjacency, *, epsilon: float = 1e-6) -> IndependenceTest:
    """A test that gives the truth the probability 1 - epsilon, so that scores stay finite."""
    log_true, log_false = math.log1p(-epsilon), math.log(epsilon)

    def test(x: int, y: int, given: tuple[int, ...]) -> Posterior:
        if separated(adjacency, x, y, given):
            return Posterior(log_true, log_false, n_rows=0, n_slices=0)
        return Posterior(log_false, log_true, n_rows=0, n_slices=0)

    return test
