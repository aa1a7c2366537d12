"""Synthetic worlds on a blackboard: all states of a small network, and the sampler as a plain loop."""

from math import exp

import numpy as np

WORD = 2**64 - 1


def exact(model):
    """Return every state of a small model, and its probability."""
    states = np.indices(model.cardinalities).reshape(len(model.cardinalities), -1).T
    log_p = model.log_weight(states)
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def uniforms(seed, row):
    """Yield the random numbers of a chain."""
    counter, step = mix((seed + 2 * row) & WORD), mix((seed + 2 * row + 1) & WORD) | 1
    while True:
        counter = (counter + step) & WORD
        yield (mix(counter) >> 11) * 2.0**-53


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
