"""HHC-MN: interleaved HITON-PC for every variable, then both ends must agree (Aliferis et al. 2010)."""

from collections.abc import Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np

from ibmap._checks import whole
from ibmap.engines import Source
from ibmap.independence import BoundTest
from ibmap.learners.local_to_global import Callback, Found, check_symmetry, learn_locally, ranked
from ibmap.results.learned import Learned


def hhc_mn(
    data: Source,
    test: object = None,
    *,
    max_condition: int | None = None,
    symmetry: str = "and",
    n_jobs: int | None = None,
    callback: Callback = None,
    engine: Any = None,
) -> Learned:
    """Learn a Markov network from the parents-and-children set of every variable, without orientation.

    The options are those of :class:`ibmap.HHCMN`; ``data`` is a table, or an engine that holds one.
    ``n_tests`` counts the subsets that are tested one after the other, smallest first, up to the one
    that separates; what was tested before is not counted again. ``n_iter`` is the number of variables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> learned = hhc_mn(load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)}))
    >>> learned.graph.edges
    (('a', 'b'),)
    """
    limit = None if max_condition is None else whole(max_condition, "max_condition", 0)
    options: dict[str, object] = {} if limit is None else {"max_condition": limit}
    if check_symmetry(symmetry) != "and":
        options["symmetry"] = symmetry
    return learn_locally(
        data,
        test,
        partial(parents_and_children, max_condition=limit),
        learner="hhc-mn",
        options=options,
        symmetry=symmetry,
        n_jobs=n_jobs,
        callback=callback,
        engine=engine,
    )


def parents_and_children(test: BoundTest, x: int, n: int, max_condition: int | None) -> Found:
    """Return the variables that no subset of the others separates from x, and the number of tests."""
    candidates, independent = ranked(test, x, n)
    n_tests = len(candidates)
    members: list[int] = []
    for newest in candidates[~independent].tolist():
        separated, asked = _separates(test, x, newest, members, None, max_condition)
        n_tests += asked
        if separated:  # nothing new for the others
            continue
        for old in list(members):
            others = [z for z in members if z != old]
            separated, asked = _separates(test, x, old, others, newest, max_condition)
            n_tests += asked
            if separated:
                members.remove(old)
        members.append(newest)
    return members, n_tests


def _separates(
    test: BoundTest, x: int, y: int, others: Sequence[int], newest: int | None, max_condition: int | None
) -> tuple[bool, int]:
    """Whether some subset of the others (and the newest) makes x and y independent; and the tests it took.

    Only subsets that hold the newest member are new; where y itself is the newest, all but the empty one.
    """
    pool = [*others] if newest is None else [*others, newest]
    subset = test.all_subsets(x, y, np.array(pool, np.int64), max_condition)
    largest = len(pool) if max_condition is None else min(max_condition, len(pool))
    if newest is None:
        n_all = sum(comb(len(pool), size) for size in range(1, largest + 1))
    else:
        n_all = sum(comb(len(others), size - 1) for size in range(1, largest + 1))
    if subset is None:
        return False, n_all
    chosen = [pool.index(z) for z in subset.tolist()]
    if newest is not None:
        chosen = chosen[:-1]
        before = sum(comb(len(others), size) for size in range(len(chosen)))
        return True, before + position(chosen, len(others)) + 1
    before = sum(comb(len(pool), size) for size in range(1, len(chosen)))
    return True, before + position(chosen, len(pool)) + 1


def position(chosen: Sequence[int], n: int) -> int:
    """Return how many subsets of range(n) of the same size come before this one in lexicographic order.

    Examples
    --------
    >>> position([0, 1], 4), position([0, 3], 4), position([2, 3], 4)
    (0, 2, 5)
    """
    before, start = 0, 0
    for i, element in enumerate(chosen):
        before += sum(comb(n - 1 - skipped, len(chosen) - 1 - i) for skipped in range(start, element))
        start = element + 1
    return before
