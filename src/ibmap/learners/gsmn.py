"""GSMN: grow and shrink the Markov blanket of every variable (Bromberg, Margaritis and Honavar 2009)."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ibmap.data import CategoricalData
from ibmap.engines import Counts
from ibmap.independence import BoundTest
from ibmap.learners.compiled_blanket import compiled_finders
from ibmap.learners.local_to_global import Callback, Found, learn_locally, ranked
from ibmap.results.learned import Learned


def gsmn(
    data: CategoricalData,
    test: object = None,
    *,
    symmetry: str = "or",
    n_jobs: int | None = None,
    callback: Callback = None,
    counts: Counts | None = None,
) -> Learned:
    """Learn a Markov network by growing and shrinking the blanket of every variable.

    The options are those of :class:`ibmap.GSMN`; ``counts`` is an engine that counts instead of the one in
    memory. ``n_tests`` counts the tests that the algorithm needs one after the other: those of a scan up to
    the one that ends it, though a batch may answer more. ``n_iter`` is the number of variables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> learned = gsmn(load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)}))
    >>> learned.graph.edges
    (('a', 'b'),)
    """
    return learn_locally(
        data,
        test,
        lambda tests: (
            compiled_finders(tests) or [partial(blanket, test, n=data.n_variables) for test in tests]
        ),
        learner="gsmn" if symmetry == "or" else f"gsmn(symmetry={symmetry})",
        symmetry=symmetry,
        n_jobs=n_jobs,
        callback=callback,
        counts=counts,
    )


def blanket(test: BoundTest, x: int, n: int) -> Found:
    """Return the blanket of x and the number of tests; any test will do."""
    outside, independent = ranked(test, x, n)
    members: list[int] = []
    n_tests = len(outside)
    found = _first(~independent)
    while found is not None:  # grow: some y outside is dependent given the members
        members.append(int(outside[found]))
        outside = np.delete(outside, found)
        dependent = ~test.fixed(x, outside, np.array(members)).independent
        found = _first(dependent)
        n_tests += len(outside) if found is None else found + 1
    found = 0
    while members and found is not None:  # shrink: some member is independent given the others
        found = _first(test.round_robin(x, np.array(members)).independent)
        n_tests += len(members) if found is None else found + 1
        if found is not None:
            del members[found]
    return members, n_tests


def _first(truth: NDArray[np.bool_]) -> int | None:
    """Return the position of the first True; None if there is none."""
    return int(np.argmax(truth)) if truth.any() else None
