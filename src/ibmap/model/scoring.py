"""How probable are rows in a model?"""

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.model.junction_tree import JunctionTree
from ibmap.model.layout import Layout


def log_weights(layout: Layout, theta: Floats, codes: Ints) -> Floats:
    """Return the logarithm of the unnormalised probability of complete rows; codes are (variables, rows)."""
    total = np.zeros(codes.shape[1])
    for v, table in enumerate(layout.fields(theta)):
        total += table[codes[v]]
    for (i, j), table in zip(layout.graph.pairs.tolist(), layout.factors(theta), strict=True):
        total += table[codes[i], codes[j]]
    return total


def log_likelihoods(tree: JunctionTree, theta: Floats, log_partition: float, codes: Ints) -> Floats:
    """Return the log probability of every row, of what it knows."""
    whole = (codes >= 0).all(axis=0)
    found = np.empty(codes.shape[1])
    found[whole] = log_weights(tree.layout, theta, codes[:, whole])
    starts = tree.layout.field_start.tolist()
    for row in np.flatnonzero(~whole).tolist():
        known = theta.copy()
        for v, code in enumerate(codes[:, row].tolist()):
            if code >= 0:
                field = known[starts[v] : starts[v + 1]]
                kept = field[code]
                field[:] = -np.inf
                field[code] = kept
        found[row] = tree.log_partition(known)
    return found - log_partition


def log_conditionals(layout: Layout, theta: Floats, codes: Ints) -> Floats:
    """Return log p(x | neighbours) for every variable and row; NaN where one of them is not known."""
    found = np.full(codes.shape, np.nan)
    for v in range(len(codes)):
        family = np.append(layout.graph.neighbours(v), v)
        rows = np.flatnonzero((codes[family] >= 0).all(axis=0))
        logs = layout.log_odds(theta, v, codes[:, rows])
        top = logs.max(axis=1)
        sums = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        found[v, rows] = logs[np.arange(len(rows)), codes[v, rows]] - sums
    return found
