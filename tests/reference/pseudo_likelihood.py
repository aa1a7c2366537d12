"""The penalised pseudo-likelihood of a pairwise model, slice by slice; the rest by dense matrices.

``blankets`` has for every variable its slices: the levels of its neighbours (in ascending order), and the
counts of its own levels. Parameters are a list of fields and a list of tables; ``pairs`` are their edges.
"""

from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import numpy as np

Slices = list[tuple[list[int], list[int]]]


def contrasts(r: int) -> np.ndarray:
    """Orthonormal contrasts (levels, levels - 1): a level against the mean of those before it."""
    found = np.zeros((r, r - 1))
    for c in range(1, r):
        found[:c, c - 1], found[c, c - 1] = -1 / sqrt(c * (c + 1)), c / sqrt(c * (c + 1))
    return found


def neighbours(pairs: list[tuple[int, int]], v: int) -> list[int]:
    return sorted(i + j - v for i, j in pairs if v in (i, j))


def shares(
    fields: Any, tables: dict[tuple[int, int], Any], v: int, around: list[int], key: list[int]
) -> list[float]:
    """The probabilities of the levels of v, given those of its neighbours."""
    logs = []
    for a in range(len(fields[v])):
        total = fields[v][a]
        for y, b in zip(around, key, strict=True):
            total += tables[v, y][a][b] if v < y else tables[y, v][b][a]
        logs.append(total)
    weights = [exp(one - max(logs)) for one in logs]
    return [one / sum(weights) for one in weights]


def value(
    pairs: list[tuple[int, int]],
    blankets: list[Slices],
    fields: Any,
    factors: Any,
    of_field: float,
    of_table: float,
) -> float:
    tables = dict(zip(pairs, factors, strict=True))
    found = 0.0
    for v, slices in enumerate(blankets):
        for key, counts in slices:
            p = shares(fields, tables, v, neighbours(pairs, v), key)
            found += sum(n * log(one) for n, one in zip(counts, p, strict=True) if n)
    found -= 0.5 * of_field * sum(float(one) ** 2 for field in fields for one in field)
    return found - 0.5 * of_table * sum(float(one) ** 2 for table in factors for one in np.ravel(table))


def maximum(
    levels: list[int], pairs: list[tuple[int, int]], blankets: list[Slices], of_field: float, of_table: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Fields and tables at the maximum: Newton's method along contrasts, steps halved until they gain."""
    codings = [contrasts(r) for r in levels]
    sizes = [r - 1 for r in levels] + [(levels[i] - 1) * (levels[j] - 1) for i, j in pairs]
    start = np.cumsum([0, *sizes])
    precision = np.repeat([of_field] * len(levels) + [of_table] * len(pairs), sizes)

    def parameters(u: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        parts = [u[a:b] for a, b in pairwise(start)]
        fields = [codings[v] @ parts[v] for v in range(len(levels))]
        of_edges = zip(pairs, parts[len(levels) :], strict=True)
        return fields, [
            codings[i] @ part.reshape(levels[i] - 1, levels[j] - 1) @ codings[j].T
            for (i, j), part in of_edges
        ]

    def height(u: np.ndarray) -> float:
        return value(pairs, blankets, *parameters(u), of_field, of_table)

    u = np.zeros(start[-1])
    for _ in range(200):
        fields, factors = parameters(u)
        gradient, hessian = -precision * u, np.diag(precision)
        for v, slices in enumerate(blankets):
            around = neighbours(pairs, v)
            for key, counts in slices:
                design = np.zeros((levels[v], start[-1]))  # of the log weights of all levels
                design[:, start[v] : start[v + 1]] = codings[v]
                for y, b in zip(around, key, strict=True):
                    e = len(levels) + pairs.index((min(v, y), max(v, y)))
                    both = (codings[v], codings[y][[b]]) if v < y else (codings[y][[b]], codings[v])
                    design[:, start[e] : start[e + 1]] = np.kron(*both)
                p = np.array(shares(fields, dict(zip(pairs, factors, strict=True)), v, around, key))
                gradient += design.T @ (counts - sum(counts) * p)
                hessian += sum(counts) * design.T @ (np.diag(p) - np.outer(p, p)) @ design
        step = np.linalg.solve(hessian, gradient)
        while height(u + step) < height(u) and np.abs(step).max() > 1e-9:
            step = step / 2
        u = u + step
        if np.abs(step).max(initial=0.0) < 1e-11:
            break
    return parameters(u)


def covariance(
    levels: list[int],
    pairs: list[tuple[int, int]],
    slices: Slices,
    v: int,
    fields: Any,
    factors: Any,
    of_field: float,
    of_table: float,
) -> list[np.ndarray]:
    """The covariances of the effects of every neighbour of v: contrasts of v, within them the neighbour's."""
    around, c = neighbours(pairs, v), contrasts(levels[v])
    first = np.cumsum([1, *(levels[y] - 1 for y in around)])
    information = np.kron(np.eye(levels[v] - 1), np.diag([of_field] + [of_table] * int(first[-1] - 1)))
    for key, counts in slices:
        d = np.concatenate([[1.0], *(contrasts(levels[y])[b] for y, b in zip(around, key, strict=True))])
        p = np.array(shares(fields, dict(zip(pairs, factors, strict=True)), v, around, key))
        information += sum(counts) * np.kron(c.T @ (np.diag(p) - np.outer(p, p)) @ c, np.outer(d, d))
    inverse = np.linalg.inv(information).reshape(levels[v] - 1, first[-1], levels[v] - 1, first[-1])
    out = []
    for a, b in pairwise(first):
        size = (levels[v] - 1) * (b - a)
        out.append(inverse[:, a:b, :, a:b].reshape(size, size))
    return out
