"""Parameters by regularised pseudo-likelihood: every variable given its neighbours, all of them at once."""

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ibmap._types import Floats
from ibmap.engines import Engine
from ibmap.errors import DataWarning
from ibmap.kernels.pseudo_likelihood import add_variable
from ibmap.model.ascent import ascend
from ibmap.model.blanket_counts import BlanketCounts, blanket_counts
from ibmap.model.coordinates import Coordinates
from ibmap.model.layout import Layout

VAGUE = 0.01  #: precision of the prior of a field, as in the pairwise score
CLOSE = 1e-3  #: what may be left of the gradient, along coordinates scaled to unit information
MAX_ITER = 1000


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """The penalised log pseudo-likelihood of a table, as a function of the parameters.

    Σ over variables x, Σ over rows, log p(x | neighbours of x), less ½ Σ (4 / effect_variance) W² over the
    entries W of all tables. Tables are meant to be centred (rows and columns add up to zero), so that no
    level is the reference: then every log odds ratio has the prior variance ``effect_variance``.

    Parameters
    ----------
    layout : Layout
        The graph, and where its parameters are.
    counts : list of BlanketCounts
        What the data say, of every variable.
    effect_variance : float
        Prior variance of a log odds ratio.
    """

    layout: Layout
    counts: list[BlanketCounts]
    effect_variance: float

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient."""
        layout, gradient = self.layout, np.zeros(len(theta))
        share, value = np.empty(int(layout.levels.max(initial=1))), 0.0
        starts, places = layout.end_start.tolist(), layout.end_places
        for v, (one, field) in enumerate(zip(self.counts, layout.field_start.tolist(), strict=False)):
            ends = places[starts[v] : starts[v + 1]]
            value += add_variable(theta, field, ends, one.codes, one.counts, share, gradient)
        precision = self._precision
        value -= 0.5 * float((precision * theta**2).sum())
        return value, gradient - precision * theta

    @cached_property
    def _precision(self) -> Floats:
        found = np.full(self.layout.size, 4.0 / self.effect_variance)
        found[: self.layout.field_start[-1]] = VAGUE
        return found


def fit_pseudo_likelihood(
    engine: Engine, layout: Layout, effect_variance: float, max_iter: int = MAX_ITER
) -> Floats:
    """Return the parameters with the highest penalised pseudo-likelihood; there is one maximum."""
    goal = PseudoLikelihood(layout, blanket_counts(engine, layout.graph), effect_variance)
    n_rows = max(engine.schema.n_rows, 1)
    seen = [one.counts.sum(axis=0) + 0.5 for one in goal.counts]
    shares = [counts / counts.sum() for counts in seen]
    through = Coordinates(layout, shares, n_rows, VAGUE, 4.0 / effect_variance)

    def height(u: Floats) -> tuple[float, Floats]:
        value, gradient = goal(through.parameters(u))
        return value, through.pulled_back(gradient)

    found = ascend(height, through.independent(shares), CLOSE, max_iter)
    left = float(np.abs(found.gradient).max(initial=0.0))
    if left > 10 * CLOSE:
        warnings.warn(
            f"the pseudo-likelihood fit has not converged after {found.n_steps} iterations (slope "
            f"{left:.2g}): pass a larger max_iter, or a smaller effect_variance, which keeps effects small",
            DataWarning,
            stacklevel=3,
        )
    return through.parameters(found.place)
