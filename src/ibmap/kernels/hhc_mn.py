"""Interleaved HITON-PC, compiled: the Bayesian test on counts in memory.

``hhc_mn.py`` holds the same steps in Python, for any test. Most questions end at the first or second subset,
so that asking for them from Python takes longer than answering: a random network of 500 variables takes
0.4 s instead of 3.8 s at 25 rows, and 0.4 s instead of 0.9 s at 1600.
"""

import numpy as np

from ibmap.kernels.bayes_model import Model, Scratch, log_slices, records_of
from ibmap.kernels.cells import posterior_one
from ibmap.kernels.jit import allocating_kernel, allocating_part, inline
from ibmap.kernels.partition import slices_of
from ibmap.kernels.records import Floats, Ints, Packed, Sets


@allocating_kernel
def parents_and_children(
    context: Ints,
    x: int,
    candidates: Ints,
    thresholds: Floats,
    max_condition: int,
    budget: int,
    members: Ints,
) -> tuple[int, int]:
    """Put the variables that no subset of the others separates from x into ``members``: (members, tests).

    log Pr(x ⊥ y) must exceed ``thresholds[y]``. More tests than the budget means that it was given up.
    """
    packed, sets, model, scratch = records_of(context)
    n_members, n_tests = 0, 0
    pool, at, given = np.empty_like(members), np.empty_like(members), np.empty_like(members)
    for newest in candidates:
        found, asked = separated(
            packed,
            sets,
            model,
            scratch,
            x,
            newest,
            members[:n_members],
            np.int64(-1),
            thresholds[newest],
            max_condition,
            budget - n_tests,
            at,
            given,
        )
        n_tests += asked
        if n_tests > budget:
            return 0, n_tests
        if found:  # nothing new for the others
            continue
        j = 0
        while j < n_members:
            pool[:j] = members[:j]
            pool[j : n_members - 1] = members[j + 1 : n_members]
            found, asked = separated(
                packed,
                sets,
                model,
                scratch,
                x,
                members[j],
                pool[: n_members - 1],
                newest,
                thresholds[members[j]],
                max_condition,
                budget - n_tests,
                at,
                given,
            )
            n_tests += asked
            if n_tests > budget:
                return 0, n_tests
            if found:
                n_members -= 1
                members[:n_members] = pool[:n_members]
            else:
                j += 1
        members[n_members] = newest
        n_members += 1
    return n_members, n_tests


@allocating_part
def separated(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    y: int,
    pool: Ints,
    newest: int,
    threshold: float,
    max_condition: int,
    budget: int,
    at: Ints,
    given: Ints,
) -> tuple[bool, int]:
    """Whether a subset of the pool, joined with ``newest`` (-1: none, and not the empty one), separates."""
    joined, n_tests = np.int64(newest >= 0), 0
    for size in range(1 - joined, min(pool.size, max_condition - joined) + 1):
        for i in range(size):
            at[i] = i
        more = True
        while more:
            for i in range(size):
                given[i] = pool[at[i]]
            given[size] = newest
            subset = given[: size + joined]
            n_tests += 1
            if log_independent(packed, sets, model, scratch, x, y, subset) > threshold:
                return True, n_tests
            if n_tests > budget:
                return False, n_tests
            more = next_subset(at, size, pool.size)
    return False, n_tests


@inline
def next_subset(at: Ints, size: int, n: int) -> bool:
    """Step to the next positions in lexicographic order; False after the last."""
    i = size - 1
    while i >= 0 and at[i] == n - size + i:
        i -= 1
    if i < 0:
        return False
    at[i] += 1
    for j in range(i + 1, size):
        at[j] = at[j - 1] + 1
    return True


@allocating_part
def log_independent(
    packed: Packed, sets: Sets, model: Model, scratch: Scratch, x: int, y: int, given: Ints
) -> float:
    """Return log Pr(x ⊥ y | given)."""
    here, n_slices = slices_of(packed, sets, x, given)
    log_possible = log_slices(packed, model, given, np.int64(-1), n_slices)
    return posterior_one(packed, sets, model, scratch, x, y, n_slices, log_possible, 1 - here)[0]
