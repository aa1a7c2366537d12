"""How probable are rows in a model?"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.errors import RequestError
from ibmap.model.conditioning import known_fields
from ibmap.model.junction_tree import JunctionTree
from ibmap.model.layout import Layout


def log_weights(layout: Layout, theta: Floats, codes: Ints) -> Floats:
    """Return the logarithm of the unnormalised probability of rows, of tables of which they know all."""
    total = np.zeros(codes.shape[1])
    for v, table in enumerate(layout.fields(theta)):
        total += np.where(codes[v] >= 0, table[codes[v]], 0.0)
    for (i, j), table in zip(layout.graph.pairs.tolist(), layout.factors(theta), strict=True):
        total += np.where((codes[i] >= 0) & (codes[j] >= 0), table[codes[i], codes[j]], 0.0)
    for scope, table in zip(layout.interactions, layout.tables(theta), strict=True):
        some = codes[list(scope)]
        total += np.where((some >= 0).all(axis=0), table[tuple(some)], 0.0)
    return total


def log_likelihoods(tree: JunctionTree, theta: Floats, log_partition: float, codes: Ints) -> Floats:
    """Return the log probability of every row, of what it knows."""
    check_possible(log_partition)
    whole = (codes >= 0).all(axis=0)
    found = np.empty(codes.shape[1])
    found[whole] = log_weights(tree.layout, theta, codes[:, whole])
    for row in np.flatnonzero(~whole).tolist():
        found[row] = tree.log_partition(known_fields(tree.layout, theta, codes[:, row]))
    return found - log_partition


def check_possible(log_partition: float) -> None:
    """Refuse a model in which all weights are zero."""
    if log_partition == -np.inf:
        raise RequestError(
            "no configuration is possible in this model: replace zeros in its tables by small numbers"
        )


def log_conditionals(layout: Layout, theta: Floats, codes: Ints) -> Floats:
    """Return log p(x | neighbours) for every variable and row; NaN where one of them is not known.

    Where the neighbours leave no level possible, it is -inf: the row has probability zero.
    """
    found = np.full(codes.shape, np.nan)
    for v in range(len(codes)):
        around = codes[layout.graph.neighbours(v)]
        rows = np.flatnonzero((codes[v] >= 0) & (around >= 0).all(axis=0))
        logs = layout.log_odds(theta, v, around[:, rows])
        mine = logs[np.arange(len(rows)), codes[v, rows]]
        found[v, rows] = -np.inf
        some = mine > -np.inf
        top = logs[some].max(axis=1)
        sums = top + np.log(np.exp(logs[some] - top[:, None]).sum(axis=1))
        found[v, rows[some]] = mine[some] - sums
    return found


@dataclass(frozen=True, eq=False)
class RowScores:
    """The scores of all rows.

    Attributes
    ----------
    log_likelihood : ndarray or None
        Log probability of every row; None if the network is not tractable.
    conditionals : ndarray of shape (variables, rows)
        log p(x | neighbours), NaN where one of them is not known.
    names : tuple of str
        The variables.
    values : list of lists
        The value of each variable in each row.
    """

    log_likelihood: Floats | None
    conditionals: Floats
    names: tuple[str, ...]
    values: list[list[Any]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.conditionals.shape[1])

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """One column per score; a row of which nothing can be said has an empty oddest variable."""
        known = np.where(np.isnan(self.conditionals), np.inf, self.conditionals)
        oddest, rows = known.argmin(axis=0), np.arange(self.n_rows)
        worst = known[oddest, rows]
        some = worst < np.inf
        of = [(v, r) if some[r] else None for r, v in enumerate(oddest.tolist())]
        scores = {} if self.log_likelihood is None else {"log_likelihood": self.log_likelihood.tolist()}
        return {
            "row": rows.tolist(),
            **scores,
            "log_pseudo_likelihood": np.nansum(self.conditionals, axis=0).tolist(),
            "oddest_variable": [None if one is None else self.names[one[0]] for one in of],
            "oddest_value": [None if one is None else str(self.values[one[0]][one[1]]) for one in of],
            "oddest_p": np.exp(np.where(some, worst, np.nan)).tolist(),
        }

    @property
    def means(self) -> dict[str, float | None]:
        """The average of each score: of a row, and of a value given its neighbours."""
        pseudo = np.nansum(self.conditionals, axis=0)
        n_known = max(int((~np.isnan(self.conditionals)).sum()), 1)
        return {
            "log_likelihood": None if self.log_likelihood is None else float(self.log_likelihood.mean()),
            "log_pseudo_likelihood": float(pseudo.mean()),
            "log_pseudo_likelihood_per_value": float(pseudo.sum() / n_known),
        }

    def oddest(self, count: int) -> list[int]:
        """Return the least probable rows."""
        scores = self.columns.get("log_likelihood", self.columns["log_pseudo_likelihood"])
        return [int(row) for row in np.argsort(scores, kind="stable")[:count]]


def row_scores(network: Any, data: Any, unseen: str = "error") -> RowScores:
    """Score every row of a table, see :class:`RowScores`."""
    cells = network.cells(data, unseen)
    exact = network.log_likelihoods(cells) if network.is_tractable else None
    values = [network.labels(v, row) for v, row in enumerate(cells)]
    return RowScores(exact, network.log_conditionals(cells), network.names, values)
