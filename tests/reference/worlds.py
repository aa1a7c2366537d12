"""Synthetic worlds on a blackboard: all states of a small network, and the sampler as a plain loop."""

from math import exp

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
