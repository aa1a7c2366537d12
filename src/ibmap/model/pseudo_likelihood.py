"""Parameters by regularised pseudo-likelihood: every variable given its neighbours, all of them at once."""

import warnings
from itertools import combinations

import numpy as np

from ibmap._core import PseudoLikelihood
from ibmap._types import Floats
from ibmap.errors import DataWarning
from ibmap.model.blanket_counts import BlanketCounts
from ibmap.model.layout import Layout

VAGUE = 0.01  #: precision of the prior of a field, as in the pairwise score
CLOSE = 1e-3  #: what may be left of the gradient, along coordinates scaled to unit information
MAX_ITER = 1000


def pseudo_likelihood(counts: BlanketCounts, effect_variance: float) -> PseudoLikelihood:
    """Return the penalised log pseudo-likelihood of a table, as a function of the parameters.

    Σ over variables x, Σ over rows, log p(x | neighbours of x), less ½ Σ (4 / effect_variance) W² over the
    entries W of all tables, and as much of fields, which is vague. Tables are meant to be centred (rows and
    columns add up to zero), so that no level is the reference: then every log odds ratio has the prior
    variance ``effect_variance``.
    """
    layout = counts.layout
    return PseudoLikelihood(
        layout.levels,
        np.ascontiguousarray(layout.graph.pairs),
        counts.slice_start,
        counts.keys,
        counts.counts,
        field_precision=VAGUE,
        table_precision=4.0 / effect_variance,
    )


def maximise_with_interactions(
    counts: BlanketCounts, effect_variance: float, max_iter: int = MAX_ITER
) -> Floats:
    """Return the parameters of a model with interactions that have the highest penalised pseudo-likelihood.

    The tables of interactions have the prior of those of edges, and say what no table of an edge can. The
    search begins with what pairs alone say, along coordinates scaled to unit information.
    """
    from scipy.optimize import minimize

    layout = counts.layout
    precision = np.full(layout.size, 4.0 / effect_variance)
    precision[: layout.field_start[-1]] = VAGUE
    conditionals = [_Conditional(counts, v) for v in range(len(layout.levels))]
    start = np.zeros(layout.size)
    start[: layout.table_start[layout.graph.n_edges]] = maximise(
        pseudo_likelihood(counts, effect_variance), max_iter
    )
    information = precision.copy()
    for one in conditionals:
        one.add_information(start, information)
    scale = 1 / np.sqrt(information)

    def goal(steps: Floats) -> tuple[float, Floats]:
        theta = start + identified(layout, scale * steps)
        value, slope = 0.5 * float(precision @ theta**2), precision * theta
        for one in conditionals:
            value -= one.add(theta, slope)
        return value, identified(layout, slope) * scale

    about = {"maxiter": max_iter, "gtol": 10 * CLOSE, "ftol": 1e-12, "maxcor": 20}
    found = minimize(goal, np.zeros(layout.size), jac=True, method="L-BFGS-B", options=about)
    if (left := float(np.abs(found.jac).max())) > 100 * CLOSE:
        warn_of(found.nit, left)
    return start + identified(layout, scale * found.x)


def identified(layout: Layout, theta: Floats) -> Floats:
    """Return parameters without what smaller tables could say as well, which would slow down the search."""
    theta = theta.copy()
    for table in (*layout.fields(theta), *layout.factors(theta)):
        for axis in range(table.ndim):
            table -= table.mean(axis=axis, keepdims=True)
    for table in layout.tables(theta):
        for pair in combinations(range(table.ndim), 2):
            others = tuple(axis for axis in range(table.ndim) if axis not in pair)
            table -= table.mean(axis=others, keepdims=True)
    return theta


class _Conditional:
    """log p(x | neighbours) of all rows, in a model with interactions.

    A row of ``_design`` says which configuration a slice has in each table that x is in; ``_places`` are the
    parameters of each of them, by level of x.
    """

    def __init__(self, counts: BlanketCounts, v: int) -> None:
        from scipy.sparse import csr_array

        layout = counts.layout
        keys, self._counts = counts.of_variable(v)
        self._rows = self._counts.sum(axis=1, keepdims=True)
        around, levels = layout.graph.neighbours(v).tolist(), layout.levels
        places = [layout.field_start[v] + np.arange(levels[v])[None, :]]
        columns = [np.zeros(len(keys), np.int64)]
        for e, scope in enumerate(layout.scopes):
            if v not in scope:
                continue
            others, sizes = [u for u in scope if u != v], levels[list(scope)]
            cells = layout.table_start[e] + np.arange(sizes.prod()).reshape(sizes)
            known = tuple(keys[:, around.index(u)] for u in others)
            first = sum(map(len, places))
            columns.append(first + np.ravel_multi_index(known, levels[others].tolist()))
            places.append(np.moveaxis(cells, scope.index(v), -1).reshape(-1, levels[v]))
        self._places = np.concatenate(places)
        entries = np.stack(columns, axis=1).ravel()
        ends = np.arange(0, len(entries) + 1, len(columns))
        shape = len(keys), len(self._places)
        self._design = csr_array((np.ones(len(entries)), entries, ends), shape=shape)

    def _shares(self, theta: Floats) -> tuple[Floats, Floats]:
        logs = self._design @ theta[self._places]
        logs -= logs.max(axis=1, keepdims=True, initial=-np.inf)
        shares = np.exp(logs)
        sums = shares.sum(axis=1, keepdims=True)
        return logs - np.log(sums), shares / sums

    def add(self, theta: Floats, slope: Floats) -> float:
        """Return the log pseudo-likelihood; take its slope from the slope of what is minimised."""
        logs, shares = self._shares(theta)
        slope[self._places] -= self._design.T @ (self._counts - self._rows * shares)
        return float((self._counts * logs).sum())

    def add_information(self, theta: Floats, information: Floats) -> None:
        """Add what the rows say about each parameter alone."""
        shares = self._shares(theta)[1]
        information[self._places] += self._design.T @ (self._rows * shares * (1 - shares))


def maximise(goal: PseudoLikelihood, max_iter: int = MAX_ITER) -> Floats:
    """Return the parameters with the highest penalised pseudo-likelihood; there is one maximum."""
    theta, n_steps, left = goal.maximum(CLOSE, max_iter)
    if left > 10 * CLOSE:
        warn_of(n_steps, left)
    return theta


def warn_of(n_steps: int, left: float) -> None:
    """Warn of a fit that has not converged."""
    warnings.warn(
        f"the pseudo-likelihood fit has not converged after {n_steps} iterations (slope {left:.2g}): pass a "
        "larger max_iter, or a smaller effect_variance, which keeps effects small",
        DataWarning,
        stacklevel=5,
    )
