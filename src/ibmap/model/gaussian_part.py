"""Numbers of a mixed model integrated out: what is left is a model of levels, which tables have.

Given the levels, the numbers that are not known are normal, with a mean that the levels shift. Their
integral multiplies the weight of a configuration x by exp(½ h(x)ᵀ Σ h(x)), which is made of fields and of
tables of two variables: so levels are answered by junction trees, or the sampler of levels, as in a model
without numbers.
"""

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.graph import Graph
from ibmap.model.layout import Layout

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class GaussianPart:
    """The parameters of a mixed model, as arrays.

    Attributes
    ----------
    layout : Layout
        Of the variables with levels alone, in their order.
    theta : ndarray
        Their fields and tables.
    shift : ndarray of shape (all levels, numbers)
        What a level adds to the slope of each number.
    slope : ndarray of shape (numbers,)
        What there is without levels.
    precision : ndarray of shape (numbers, numbers)
        K.
    """

    layout: Layout
    theta: Floats
    shift: Floats
    slope: Floats
    precision: Floats

    def slopes(self, codes: Ints) -> Floats:
        """Return the slopes (numbers, rows) of all numbers, given the levels that are known."""
        found = np.repeat(self.slope[:, None], codes.shape[1], axis=1)
        for start, row in zip(self.layout.field_start.tolist(), codes, strict=False):
            found += np.where(row >= 0, self.shift[start + np.maximum(row, 0)].T, 0.0)
        return found

    def collapsed(self, known: Bools, z: Floats) -> "Collapsed":
        """Return the model of levels that is left where some numbers are known.

        Parameters
        ----------
        known : ndarray of bool
            Which numbers are known.
        z : ndarray of shape (known numbers, rows)
            Their standard scores.
        """
        free = ~known
        spread = np.asarray(np.linalg.inv(self.precision[np.ix_(free, free)]), np.float64)
        slope = self.slope[free, None] - self.precision[np.ix_(free, known)] @ z
        shift = self.shift[:, free]
        turned = shift @ spread
        start, size = self.layout.field_start, int(self.layout.field_start[-1])
        fields = self.theta[:size, None] + self.shift[:, known] @ z + turned @ slope
        fields = fields + 0.5 * (turned * shift).sum(axis=1)[:, None]
        edges = map(tuple, self.layout.graph.pairs.tolist())
        tables = dict(zip(edges, self.layout.factors(self.theta), strict=True))
        pairs = {*tables, *(pair for some in self._linked(free) for pair in combinations(some, 2))}
        among_levels = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        graph = Graph.from_pairs(among_levels, self.layout.graph.names)
        layout = Layout(graph, self.layout.levels)
        found = []
        for i, j in graph.pairs.tolist():
            mine, theirs = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
            found.append((tables.get((i, j), 0.0) + turned[mine] @ shift[theirs].T).ravel())
        _, log_det = np.linalg.slogdet(self.precision[np.ix_(free, free)])
        among = self.precision[np.ix_(known, known)]
        constant = 0.5 * (free.sum() * LOG_2PI - log_det + _squares(spread, slope) - _squares(among, z))
        constant = constant + self.slope[known] @ z
        parameters = fields.T, np.concatenate([np.empty(0), *found])
        return Collapsed(layout, *parameters, constant, spread, slope, shift)

    def _linked(self, free: Bools) -> list[list[int]]:
        """Return the variables with levels around each connected set of numbers that are not known."""
        from scipy.sparse.csgraph import connected_components

        n_sets, of = connected_components(self.precision[np.ix_(free, free)] != 0, directed=False)
        start, shift = self.layout.field_start, self.shift[:, free]
        touched = [np.abs(shift[a:b]).max(axis=0, initial=0.0) for a, b in pairwise(start.tolist())]
        return [[v for v, some in enumerate(touched) if some[of == k].any()] for k in range(n_sets)]


def _squares(matrix: Floats, columns: Floats) -> Floats:
    """Return cᵀMc of every column c."""
    return np.asarray((columns * (matrix @ columns)).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Collapsed:
    """A model of levels in which the numbers that are not known are integrated out.

    Attributes
    ----------
    layout : Layout
        Of all variables with levels; those around the same numbers are joined.
    fields : ndarray of shape (rows, all levels)
        In every row.
    tables : ndarray
        The same in all rows.
    constant : ndarray of shape (rows,)
        What the logarithm of a weight has beside these.
    spread : ndarray
        The covariance of the numbers that are not known, given all levels.
    slope : ndarray of shape (numbers not known, rows)
        Without levels.
    shift : ndarray of shape (all levels, numbers not known)
        What levels add to it.
    """

    layout: Layout
    fields: Floats
    tables: Floats
    constant: Floats
    spread: Floats
    slope: Floats
    shift: Floats

    def theta(self, row: int) -> Floats:
        """Return all parameters in one row."""
        return np.concatenate([self.fields[row], self.tables])
