"""Parameters by regularised pseudo-likelihood: every variable given its neighbours, all of them at once."""

import warnings

import numpy as np

from ibmap._core import PseudoLikelihood
from ibmap._types import Floats
from ibmap.errors import DataWarning
from ibmap.model.blanket_counts import BlanketCounts

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


def maximise(goal: PseudoLikelihood, max_iter: int = MAX_ITER) -> Floats:
    """Return the parameters with the highest penalised pseudo-likelihood; there is one maximum."""
    theta, n_steps, left = goal.maximum(CLOSE, max_iter)
    if left > 10 * CLOSE:
        warnings.warn(
            f"the pseudo-likelihood fit has not converged after {n_steps} iterations (slope "
            f"{left:.2g}): pass a larger max_iter, or a smaller effect_variance, which keeps effects small",
            DataWarning,
            stacklevel=4,
        )
    return theta
