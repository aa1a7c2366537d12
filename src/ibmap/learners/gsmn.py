"""GSMN: grow and shrink the Markov blanket of every variable (Bromberg, Margaritis and Honavar 2009)."""

from typing import Any

import numpy as np

from ibmap.engines import Source
from ibmap.independence import BoundTest
from ibmap.learners.local_to_global import Callback, Found, check_symmetry, learn_locally, ranked
from ibmap.results.learned import Learned


def gsmn(
    data: Source,
    test: object = None,
    *,
    symmetry: str = "or",
    n_jobs: int | None = None,
    callback: Callback = None,
    engine: Any = None,
) -> Learned:
    """Learn a Markov network by growing and shrinking the blanket of every variable.

    The options are those of :class:`ibmap.GSMN`; ``data`` is a table, or an engine that holds one.
    ``n_tests`` counts the tests that the algorithm needs one after the other: those of a scan up to the one
    that ends it, though a batch may answer more. ``n_iter`` is the number of variables.

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
        blanket,
        learner="gsmn",
        options={} if check_symmetry(symmetry) == "or" else {"symmetry": symmetry},
        symmetry=symmetry,
        n_jobs=n_jobs,
        callback=callback,
        engine=engine,
    )


def blanket(test: BoundTest, x: int, n: int) -> Found:
    """Return the blanket of x and the number of tests."""
    outside, independent = ranked(test, x, n)
    members: list[int] = []
    n_tests = len(outside)
    found = None if independent.all() else int(np.argmin(independent))
    while found is not None:  # grow: some y outside is dependent given the members
        members.append(int(outside[found]))
        outside = outside[outside != members[-1]]
        found = test.first_dependent(x, outside, np.array(members))
        n_tests += len(outside) if found is None else found + 1
    found = 0
    while members and found is not None:  # shrink: some member is independent given the others
        found = test.first_independent(x, np.array(members))
        n_tests += len(members) if found is None else found + 1
        if found is not None:
            del members[found]
    return members, n_tests
