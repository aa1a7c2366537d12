"""Synthetic worlds on a blackboard: all states of a small network, and the sampler as a plain loop."""

from math import cos, exp, log, pi, sqrt

import numpy as np

from tests.reference.splitmix import numbers


def exact(model):
    """Return every state of a small model, and its probability."""
    states = np.indices(model.cardinalities).reshape(len(model.cardinalities), -1).T
    log_p = model.log_weight(states)
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def uniforms(seed, row):
    """Yield the random numbers of a chain."""
    for number in numbers(seed, row):
        yield (number >> 11) * 2.0**-53


def slow_chain(model, seed, row, sweeps):
    """Yield the states of one chain of a ``FactorModel`` after 0, 1, ... sweeps."""
    draws = uniforms(seed, row)
    factors = dict(zip(map(tuple, model.graph.pairs.tolist()), model.factors, strict=True))
    x = [int(next(draws) * n) for n in model.cardinalities.tolist()]
    yield list(x)
    for _ in range(sweeps):
        for i, field in enumerate(model.fields):
            log_w = field.copy()
            for (j, k), factor in factors.items():
                if i == j:
                    log_w = log_w + factor[:, x[k]]
                elif i == k:
                    log_w = log_w + factor[x[j], :]
            weights = [exp(w - log_w.max()) for w in log_w]
            mark = next(draws) * sum(weights)
            x[i] = sum(sum(weights[: level + 1]) <= mark for level in range(len(weights) - 1))
        yield list(x)


def slow_binary_chain(model, seed, row, sweeps):
    """Return the end of one chain of a ``PairwiseModel``, which starts and draws in its own way."""
    draws = numbers(seed, row)
    coupling = dict(zip(map(tuple, model.graph.pairs.tolist()), model.couplings, strict=True))
    x = [next(draws) & 1 for _ in model.fields]
    for _ in range(sweeps):
        for i, field in enumerate(model.fields):
            log_odds = field + sum(w * x[k if i == j else j] for (j, k), w in coupling.items() if i in (j, k))
            p = 1 / (1 + exp(-log_odds))
            x[i] = int((next(draws) >> 11) * 2.0**-53 < p)
    return x


def slow_cells(sizes, fields, scopes, tables, row, absent, seed, place, sweeps):
    """Return one row with its absent cells drawn again and again: levels and numbers (size 0) alike."""
    draws, row = uniforms(seed, place), list(row)
    for _ in range(sweeps):
        for i in np.flatnonzero(absent).tolist():
            logs = np.array(fields[i][: max(sizes[i], 1)], float)
            for scope, table in zip(scopes, tables, strict=True):
                if i in scope:
                    others = [u for u in scope if u != i]
                    cell = tuple(int(row[u]) if sizes[u] else 0 for u in others)
                    times = np.prod([1.0 if sizes[u] else row[u] for u in others])
                    logs = logs + times * np.moveaxis(table, scope.index(i), -1)[cell]
            if sizes[i] == 0:
                precision = fields[i][1]
                size = sqrt(-2 * log(1 - next(draws)))
                row[i] = logs[0] / precision + size * cos(2 * pi * next(draws)) / sqrt(precision)
                continue
            weights = np.exp(logs - logs.max())
            mark = next(draws) * weights.sum()
            row[i] = sum(weights[: level + 1].sum() <= mark for level in range(sizes[i] - 1))
    return row
