"""The paper's rivals as pseudo-code: one test at a time, every answer from the slow test."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from tests.reference.bayesian import IndependenceTest
from tests.reference.slices import Codes

TOLERANCE = 1e-9
"""Differences below it are rounding and decide nothing."""

Decision = Callable[[int, int, tuple[int, ...]], bool]
Choice = tuple[list[set[int]], int]
"""What every variable chose, and how many tests that took."""


def decision(test: IndependenceTest, *, prior: float = 0.5, ties: str = "independent") -> Decision:
    """Whether x and y are independent: the posterior exceeds the prior, up to rounding."""
    threshold = log(prior) + (-TOLERANCE if ties == "independent" else TOLERANCE)
    return lambda x, y, given: test(x, y, tuple(sorted(given))).log_independent > threshold


def by_association(test: IndependenceTest, x: int, n: int) -> list[int]:
    """The other variables, largest log odds of dependence first; ties by index."""

    def log_odds(y: int) -> float:
        posterior = test(x, y, ())
        return posterior.log_dependent - posterior.log_independent

    falling = sorted((y for y in range(n) if y != x), key=lambda y: (-log_odds(y), y))
    groups: list[list[int]] = []
    for y in falling:
        last = groups[-1][-1] if groups else y
        if groups and log_odds(last) - log_odds(y) <= TOLERANCE * max(1.0, abs(log_odds(y))):
            groups[-1].append(y)
        else:
            groups.append([y])
    return [y for group in groups for y in sorted(group)]


def gsmn(test: IndependenceTest, n: int, **options: object) -> Choice:
    """Grow while some Y outside S is dependent given S; shrink while some Y in S is independent."""
    test = cache(test)
    independent = decision(test, **options)  # type: ignore[arg-type]
    chosen, n_tests = [], 0
    for x in range(n):
        order = by_association(test, x, n)
        n_tests += len(order)
        members: list[int] = []
        grew = True
        while grew:
            grew = False
            for y in [y for y in order if y not in members]:
                n_tests += bool(members)  # without members the answer is known
                if not independent(x, y, tuple(members)):
                    members.append(y)
                    grew = True
                    break
        shrank = True
        while shrank:
            shrank = False
            for y in members:
                n_tests += 1
                if independent(x, y, tuple(z for z in members if z != y)):
                    members.remove(y)
                    shrank = True
                    break
        chosen.append(set(members))
    return chosen, n_tests


def hhc_mn(test: IndependenceTest, n: int, max_condition: int | None = None, **options: object) -> Choice:
    """Interleaved HITON-PC: no member stays that any subset of the other members separates.

    Every subset is looked at again and again; only questions that were not asked before are counted.
    """
    test = cache(test)
    independent = decision(test, **options)  # type: ignore[arg-type]
    chosen, n_tests = [], 0
    for x in range(n):
        asked: set[tuple[int, tuple[int, ...]]] = {(y, ()) for y in range(n) if y != x}
        members: list[int] = []
        for newest in by_association(test, x, n):
            if independent(x, newest, ()):
                continue
            members.append(newest)
            for y in [newest, *members[:-1]]:
                others = [z for z in members if z not in (y, newest)] + [newest] * (y != newest)
                for subset in subsets(others, max_condition):
                    asked.add((y, tuple(sorted(subset))))
                    if independent(x, y, subset):
                        members.remove(y)
                        break
                if newest not in members:
                    break
        chosen.append(set(members))
        n_tests += len(asked)
    return chosen, n_tests


def subsets(pool: Sequence[int], max_size: int | None) -> list[tuple[int, ...]]:
    """All of them, smallest first."""
    most = len(pool) if max_size is None else min(max_size, len(pool))
    return [subset for size in range(most + 1) for subset in combinations(pool, size)]


def information(codes: Codes, x: int, y: int) -> float:
    """Mutual information in nats: Σ p(a, b) log(p(a, b) / p(a) p(b)), over rows that know both."""
    rows = [(a, b) for a, b in zip(codes[x].tolist(), codes[y].tolist(), strict=True) if a >= 0 and b >= 0]
    total = 0.0
    for a, b in sorted(set(rows)):
        both = rows.count((a, b)) / len(rows)
        one, other = sum(r[0] == a for r in rows) / len(rows), sum(r[1] == b for r in rows) / len(rows)
        total += both * log(both / (one * other))
    return max(total, 0.0)


def mutual_information(codes: Codes, factor: float = 1.5, k: int | None = None) -> Choice:
    """Each variable keeps its k strongest neighbours above a multiple of the mean."""
    n = len(codes)
    pairs = {(x, y): information(codes, x, y) for x in range(n) for y in range(n) if x != y}
    threshold = factor * sum(pairs.values()) / max(len(pairs), 1)
    chosen = []
    for x in range(n):
        above = [y for y in range(n) if y != x and pairs[x, y] > threshold * (1 + TOLERANCE) + 1e-12]
        above.sort(key=lambda y: (-float(f"{pairs[x, y]:.9e}"), y))
        chosen.append(set(above[:k]))
    return chosen, len(pairs) // 2


def adjacency(chosen: Sequence[set[int]], symmetry: str) -> NDArray[np.bool_]:
    """An edge where one end ("or") or both ends ("and") chose the other."""
    n = len(chosen)
    directed = np.array([[y in chosen[x] for y in range(n)] for x in range(n)], bool).reshape(n, n)
    return directed | directed.T if symmetry == "or" else directed & directed.T
