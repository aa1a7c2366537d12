"""Maximum likelihood by iterative proportional fitting: the model gets the observed tables of its scopes.

A walk through the junction tree keeps the messages into the clique where it is up to date, so that every
table is fitted to the right marginal and no step begins from scratch (Jiroušek and Přeučil 1995).
"""

import warnings
from itertools import combinations

import numpy as np

from ibmap._types import Floats
from ibmap.engines import Engine
from ibmap.errors import DataWarning, RequestError
from ibmap.model.blanket_counts import level_counts, table_counts
from ibmap.model.junction_tree import JunctionTree
from ibmap.model.layout import Layout

CLOSE = 1e-6  #: largest difference of a probability from what was observed,
CLOSE_ROWS = 0.05  #: or of an expected number of rows
MAX_ITER = 1000


def fit_likelihood(
    engine: Engine, tree: JunctionTree, pseudo_rows: float, max_iter: int = MAX_ITER
) -> Floats:
    """Return the parameters with the highest likelihood.

    Parameters
    ----------
    engine : Engine
        The table; its rows must be complete.
    tree : JunctionTree
        Of the graph.
    pseudo_rows : float
        Rows that are added, spread evenly over all configurations, so that nothing is impossible.
    max_iter : int
        Walks through the tree, at most.
    """
    layout, n_rows = tree.layout, engine.schema.n_rows
    counts = table_counts(engine, layout.scopes)
    singles = level_counts(engine)
    if any(table.sum() != n_rows for table in [*counts, *singles]):
        raise RequestError(
            "maximum likelihood needs complete rows: pass method='pseudo-likelihood', or load the table "
            "with missing='drop'"
        )
    with np.errstate(divide="ignore"):  # without pseudo_rows, what was never seen is impossible
        targets = [np.log((table + pseudo_rows / table.size) / (n_rows + pseudo_rows)) for table in counts]
        theta = np.zeros(layout.size)
        for field, seen in zip(layout.fields(theta), singles, strict=True):
            field[:] = np.log((seen + pseudo_rows / len(seen)) / (n_rows + pseudo_rows))
    walk = _Walk(tree, theta, targets, _largest(layout))
    for _ in range(max_iter if len(counts) else 0):
        off = walk.once()
        if off < max(CLOSE, CLOSE_ROWS / n_rows):
            break
    else:
        if len(counts):
            warnings.warn(
                f"proportional fitting has not converged after {max_iter} iterations (a probability is off "
                f"by "
                f"{off:.2g}): pass a larger max_iter, or method='pseudo-likelihood'",
                DataWarning,
                stacklevel=3,
            )
    return centered(layout, walk.work[: layout.size].copy())


class _Walk:
    """A walk through all cliques, in which every table is fitted once."""

    def __init__(self, tree: JunctionTree, theta: Floats, targets: list[Floats], fitted: set[int]) -> None:
        self._tree, self._targets = tree, targets
        self._fitted = [[e for e in of_clique if e in fitted] for of_clique in tree.factors]
        self.work = tree.collect(theta)
        self._roots = [k for k, clique in enumerate(tree.cliques) if clique.parent < 0]

    def once(self) -> float:
        """Fit every table once; return the largest difference of a probability that was found."""
        tree, off = self._tree, 0.0
        pending = [(k, "enter") for k in reversed(self._roots)]
        while pending:
            k, what = pending.pop()
            if what == "leave":
                self._run(tree.step_up[k])
                continue
            if tree.cliques[k].parent >= 0:
                self._run(tree.step_down[k])
            self._run(tree.step_belief[k])
            off = max([off, *(self._fit(k, e) for e in self._fitted[k])])
            pending.append((k, "leave"))
            pending += [(child, "enter") for child in tree.children(k)]
        return off

    def _run(self, step: int) -> None:
        self._tree.run(self.work, step, step + 1)

    def _fit(self, k: int, e: int) -> float:
        """Give the clique, and the parameters, the observed table of a scope."""
        tree, work = self._tree, self.work
        self._run(tree.step_table[e])
        target = self._targets[e].ravel()
        found = work[tree.table_marginal[e] :][: target.size]
        total = np.logaddexp.reduce(found)
        possible = np.isfinite(found) & np.isfinite(target)
        change = np.where(possible, target, 0.0) - np.where(possible, found - total, 0.0)
        change[~np.isfinite(target)] = -np.inf
        shape = [1] * len(tree.sizes[k])
        variables, scope = tree.cliques[k].variables, tree.layout.scopes[e]
        places = [variables.index(v) for v in scope]
        for v, place in zip(scope, places, strict=True):
            shape[place] = int(tree.layout.levels[v])
        spread = change.reshape(self._targets[e].shape).transpose(np.argsort(places)).reshape(shape)
        for start in (tree.belief[k], tree.potential[k]):
            view = work[start : start + tree.n_cells[k]].reshape(tree.sizes[k])
            view += spread
        work[tree.layout.table_start[e] :][: target.size] += change
        return float(np.abs(np.exp(found - total) - np.exp(target)).max())


def _largest(layout: Layout) -> set[int]:
    """Return the scopes that are in no other: with their tables the model has those of the others."""
    sets = [set(scope) for scope in layout.interactions]
    n_edges = layout.graph.n_edges
    inside = [any(mine <= other for other in sets) for mine in map(set, layout.scopes[:n_edges])]
    wide = [any(mine < other for other in sets) for mine in sets]
    return {e for e, is_inside in enumerate([*inside, *wide]) if not is_inside}


def _hand_down(scope: tuple[int, ...], table: Floats, edges: dict[tuple[int, ...], Floats]) -> None:
    """Leave in the table of an interaction what no sum of tables of pairs can say; the rest is theirs."""
    axes = range(len(scope))
    for a, b in combinations(axes, 2):
        others = tuple(axis for axis in axes if axis not in (a, b))
        pair = table.mean(axis=others)
        edges[scope[a], scope[b]] += pair
        table -= np.expand_dims(pair, others)


def centered(layout: Layout, theta: Floats) -> Floats:
    """Return the same distribution with centred tables and fields: one set of parameters for each.

    Tables with an impossible cell stay as they are.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> layout = Layout(Graph("ab", [("a", "b")]), np.array([2, 2]))
    >>> centered(layout, np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0]))
    array([-1.5,  1.5, -1. ,  1. ,  1. , -1. , -1. ,  1. ])
    """
    theta = theta.copy()
    fields, tables = layout.fields(theta), layout.factors(theta)
    edges = dict(zip(layout.scopes, tables, strict=False))
    for scope, table in zip(layout.interactions, layout.tables(theta), strict=True):
        if np.isfinite(table).all():
            _hand_down(scope, table, edges)
    for (i, j), table in zip(layout.graph.pairs.tolist(), tables, strict=True):
        if not np.isfinite(table).all():
            continue
        down, across = table.mean(axis=1), table.mean(axis=0)
        fields[i] += down
        fields[j] += across
        table -= down[:, None] + across - table.mean()
    for field in fields:
        field -= field[np.isfinite(field)].mean()
    return theta
