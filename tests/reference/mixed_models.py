"""Models of levels and numbers on a blackboard: the joint density, conditionals, what a fit raises."""

import numpy as np


def log_weight(graph, fields, factors, row, sizes):
    """The log density of one row, up to a constant: codes of levels, z (arrays, too) of numbers (size 0)."""
    total = 0.0
    for v, field in enumerate(fields):
        total += field[int(row[v])] if sizes[v] else field[0] * row[v] - field[1] * row[v] ** 2 / 2
    for (i, j), factor in zip(graph.pairs.tolist(), factors, strict=True):
        cell = tuple(int(row[v]) if sizes[v] else 0 for v in (i, j))
        total = total + factor[cell] * (1.0 if sizes[i] else row[i]) * (1.0 if sizes[j] else row[j])
    return total


def log_conditional(graph, fields, factors, row, sizes, v):
    """log p(row[v] | the others): over all levels; the parabola of a number follows from three points."""

    def at(value):
        return log_weight(graph, fields, factors, [value if u == v else w for u, w in enumerate(row)], sizes)

    if sizes[v]:
        logs = np.array([at(level) for level in range(sizes[v])])
        return logs[int(row[v])] - np.log(np.exp(logs - logs.max()).sum()) - logs.max()
    below, middle, above = at(-1.0), at(0.0), at(1.0)
    precision, slope = 2 * middle - below - above, (above - below) / 2
    mean = slope / precision
    return 0.5 * np.log(precision / (2 * np.pi)) - precision * (row[v] - mean) ** 2 / 2


def penalised(graph, fields, factors, rows, sizes, effect_variance):
    """The log pseudo-likelihood of rows (variables, rows; NaN is missing), less what its prior takes."""
    total = 0.0
    for row in rows.T:
        for v in range(len(sizes)):
            around = graph.neighbours(v).tolist()
            if not np.isnan(row[[v, *around]]).any():
                known = [0.0 if np.isnan(value) else value for value in row]
                total += log_conditional(graph, fields, factors, known, sizes, v)
    for v, field in enumerate(fields):
        if sizes[v]:
            total -= 0.02 * ((field - field.mean()) ** 2).sum() / 2
        else:  # one row more, whose square is a millionth; and as many more
            n_asked = np.sum(~np.isnan(rows[[v, *graph.neighbours(v).tolist()]]).any(axis=0))
            total += 0.5 * (np.log(field[1]) - 1e-6 * (n_asked + 1) * field[1])
    for (i, j), factor in zip(graph.pairs.tolist(), factors, strict=True):
        numbers = [v for v in (i, j) if sizes[v] == 0]
        times = 2.0 ** len(numbers) * np.mean([1 / fields[v][1] for v in numbers] or [1.0])
        total -= 4 / effect_variance * times * scored(factor, numbers).sum() / 2
    return total


def scored(factor, numbers):
    """The squares of the couplings of a table of contrasts, which are centred."""
    return factor**2 if len(numbers) == 2 else (factor - factor.mean()) ** 2
