"""How strong the edges of continuous variables are: partial correlations, everything else equal.

Each end is regressed on its neighbours. With the slope b_ij of x_i on x_j and the variance v_i that the
neighbours leave, the partial correlation given all other variables is b_ij √(v_j / v_i) in a Gaussian network
with these edges; the mean of what both ends say is taken.
"""

from dataclasses import dataclass

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines.moments import Moments
from ibmap.graph import Graph
from ibmap.independence.gaussian import SINGULAR, inverse_of

COLUMNS = ("partial_correlation", "partial_correlation_se", "correlation")


@dataclass(frozen=True, eq=False)
class PartialCorrelations:
    """The strength of every edge between continuous variables, in the order of ``graph.pairs``.

    Attributes
    ----------
    partial_correlation, partial_correlation_se : ndarray
        The correlation given all other variables, and its standard error; NaN where a variable has as many
        neighbours as there are rows. Of tables that were taken by ranks it is that of the normal scores.
    correlation : ndarray
        The correlation of the two columns.
    """

    partial_correlation: Floats
    partial_correlation_se: Floats
    correlation: Floats

    columns = COLUMNS  #: names of the numbers

    @property
    def strength(self) -> Floats:
        """What an edge is drawn by, from -1 to 1."""
        return self.partial_correlation

    @property
    def sign(self) -> Floats:
        """1 if two variables rise together, -1 if one falls."""
        return np.nan_to_num(np.sign(self.partial_correlation))

    def numbers(self, e: int) -> dict[str, float]:
        """Return the numbers of an edge that are known, by name."""
        found = {name: float(getattr(self, name)[e]) for name in self.columns}
        return {name: value for name, value in found.items() if not np.isnan(value)}

    def in_short(self, e: int) -> str:
        """Return the effect in a few letters."""
        r = self.partial_correlation[e]
        return "" if np.isnan(r) else f"r {r:+.2f} ± {self.partial_correlation_se[e]:.1g}"

    def in_words(self, e: int, names: tuple[str, str], levels: object = None) -> str:
        """Return the effect of an edge as a sentence; "" if it is not known."""
        r, (x, y) = self.partial_correlation[e], names
        if np.isnan(r):
            return ""
        together = f"{x} and {y} rise together" if r >= 0 else f"{x} falls where {y} rises"
        return (
            f"{together}, everything else equal: their partial correlation is {r:+.2f} ± "
            f"{self.partial_correlation_se[e]:.1g}. Their correlation, other variables ignored, is "
            f"{self.correlation[e]:+.2f}."
        )


def partial_correlations_of(moments: Moments, graph: Graph) -> PartialCorrelations:
    """Return the partial correlations of all edges.

    Examples
    --------
    >>> from ibmap.engines.moments import moments_of
    >>> rng = np.random.default_rng(0)
    >>> size, noise = rng.normal(size=(2, 500))
    >>> rows = np.column_stack([size, noise - 0.5 * size])
    >>> partial_correlations_of(moments_of(rows), Graph("ab", [("a", "b")])).in_short(0)
    'r -0.47 ± 0.03'
    """
    correlation, pairs = moments.correlation, graph.pairs
    blankets = [graph.neighbours(x) for x in range(graph.n_variables)]
    slopes, left = np.zeros((graph.n_edges, 2)), np.ones(graph.n_variables)
    place = {(i, j): e for e, (i, j) in enumerate(map(tuple, pairs.tolist()))}
    for x, blanket in enumerate(blankets):
        slope, left[x] = _regression(correlation, x, blanket)
        for y, one in zip(blanket.tolist(), slope.tolist(), strict=True):
            slopes[place[min(x, y), max(x, y)], int(x > y)] = one
    ratio = np.sqrt(left[pairs[:, 1]] / left[pairs[:, 0]])
    r = np.clip((slopes[:, 0] * ratio + slopes[:, 1] / ratio) / 2, -1.0, 1.0)
    given = np.array([len(blanket) - 1 for blanket in blankets])[pairs].max(axis=1)
    free = moments.n_rows - 1.0 - given
    known = free > 0
    error = (1 - r**2) / np.sqrt(np.where(known, free, 1.0))
    unknown = np.where(known, 0.0, np.nan)
    return PartialCorrelations(r + unknown, error + unknown, correlation[pairs[:, 0], pairs[:, 1]])


def _regression(correlation: Floats, x: int, blanket: Ints) -> tuple[Floats, float]:
    """Return the slopes of a variable on its neighbours, and the share of its variance that they leave."""
    inverse = inverse_of(correlation[np.ix_(blanket, blanket)])
    slopes = inverse @ correlation[blanket, x]
    return slopes, max(1.0 - float(slopes @ correlation[blanket, x]), SINGULAR)
