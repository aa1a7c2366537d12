"""One generation's sampling, slow and readable: count directly, update one site at a time.

The random numbers are those of the kernel: chain c of a seed has a counter and a step of its own, each number
is the scrambled counter. A number's high half is a site (or a first level), its low half a uniform number.
"""

import math

from tests.reference.splitmix import numbers


def probabilities(rows, i, around, state, n_levels, sampling, inverse_temperature):
    """Pr(x_i = level | the values of its neighbours in this state), from the rows themselves."""
    same = [row for row in rows if all(row[j] == state[j] for j in around)]
    counts = [sum(row[i] == level for row in same) for level in range(n_levels)]
    if not same:
        return [1 / n_levels] * n_levels
    if sampling == "conditional":
        return [count / len(same) for count in counts]
    whole = len(rows) if sampling == "boltzmann-joint" else len(same)
    exponents = [count / whole * inverse_temperature for count in counts]
    weights = [math.exp(value - max(exponents)) for value in exponents]
    return [weight / sum(weights) for weight in weights]


def sample(rows, levels, neighbours, n_rows, steps, seed, sampling, inverse_temperature):
    rows = [list(map(int, row)) for row in rows]
    found = []
    for chain in range(n_rows):
        stream = numbers(seed, chain)
        state = [((next(stream) >> 32) * int(size)) >> 32 for size in levels]
        for _ in range(steps):
            bits = next(stream)
            i = ((bits >> 32) * len(levels)) >> 32
            uniform = (bits % 2**32) / 2**32
            p = probabilities(rows, i, neighbours[i], state, int(levels[i]), sampling, inverse_temperature)
            state[i] = sum(math.fsum(p[: k + 1]) <= uniform for k in range(len(p) - 1))
        found.append(state)
    return found
