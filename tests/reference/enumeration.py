"""A model by enumeration of all configurations: slow, and easy to believe."""

from itertools import product
from math import exp, log
from typing import Any

Configuration = tuple[int, ...]


def weights(scopes: Any, fields: Any, tables: Any) -> dict[Configuration, float]:
    """Return the weight of every configuration."""
    found = {}
    for x in product(*(range(len(field)) for field in fields)):
        log_weight = sum(field[level] for field, level in zip(fields, x, strict=True))
        log_weight += sum(
            table[tuple(x[v] for v in scope)] for scope, table in zip(scopes, tables, strict=True)
        )
        found[x] = exp(log_weight)
    return found


def log_partition(scopes: Any, fields: Any, tables: Any) -> float:
    return log(sum(weights(scopes, fields, tables).values()))


def marginal(
    scopes: Any, fields: Any, tables: Any, v: int, given: dict[int, int] | None = None
) -> list[float]:
    """Return the distribution of a variable, given levels of others."""
    sums = [0.0] * len(fields[v])
    for x, weight in weights(scopes, fields, tables).items():
        if all(x[u] == level for u, level in (given or {}).items()):
            sums[x[v]] += weight
    return [one / sum(sums) for one in sums]


def log_pseudo_likelihood(scopes: Any, fields: Any, tables: Any, rows: Any) -> float:
    """Return Σ over rows and variables of log p(x | all others): the others beyond the neighbours cancel."""
    all_weights = weights(scopes, fields, tables)
    total = 0.0
    for row in rows:
        x = tuple(row)
        for v, field in enumerate(fields):
            rivals = [all_weights[(*x[:v], level, *x[v + 1 :])] for level in range(len(field))]
            total += log(all_weights[x] / sum(rivals))
    return total
