"""How well the neighbours of each variable predict it, in rows that the prediction has not seen.

Of levels it is the share of the deviance (of their entropy) that goes when the neighbours are known, of
numbers the share of the variance. Each row is predicted by a model of the others: of levels as in
``criteria/left_out.py``, of numbers by linear regressions. Where a table has levels and numbers, or missing
values, or an effect is curved, the log evidence is compared instead, which predicts each row from those
before it.
"""

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria.families import is_modelled
from ibmap.criteria.left_out import log_left_out, shares_left_out
from ibmap.engines import Engine
from ibmap.engines.engine import looks_at_rows
from ibmap.engines.mixed import MixedEngine
from ibmap.engines.model import Model
from ibmap.graph import Graph


def predictability(engine: Engine, graph: Graph) -> Floats:
    """Return the share of every variable that its neighbours predict, from 0 to 1; NaN where nothing varies.

    It is 0 where neighbours predict no better than none.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> rain = np.repeat([0, 1], 50)
    >>> data = load({"rain": rain, "wet": np.where(np.arange(100) % 10, rain, 1 - rain), "tea": rain * 0})
    >>> predictability(as_engine(data), Graph(data.names, [("rain", "wet")])).round(2).tolist()
    [0.51, 0.51, nan]
    """
    blankets = [np.asarray(graph.neighbours(x), np.int64) for x in range(graph.n_variables)]
    if not looks_at_rows(engine.schema):
        known = is_modelled(engine.schema)
        found = shares_left_out(engine, [blanket[known[blanket]] for blanket in blankets])
    elif engine.gaussian_moments is None:
        found = _by_evidence(engine.row_by_row, blankets)
    else:
        by_row = engine.row_by_row
        found = np.array([by_row.variance_left_out(x, given) for x, given in enumerate(blankets)])
        curved = [len(by_row.curved(x, given)) > 0 for x, given in enumerate(blankets)]
        if any(curved):
            found = np.where(curved, _by_evidence(by_row, blankets), found)
    return np.asarray(np.maximum(found, 0.0))


def _by_evidence(engine: MixedEngine, blankets: list[Ints]) -> Floats:
    """Return the shares by what the evidence of each variable gains by its blanket."""
    n, model = len(blankets), Model("mixed")
    asked = [*blankets, *[np.empty(0, np.int64)] * n]
    values = 2 * engine.rows(model, [*range(n), *range(n)], asked, floor=np.inf).value  # an end counts half
    gains, found = values[:n] - values[n:], np.full(n, np.nan)
    for x, blanket in enumerate(blankets):
        counts = engine.known_counts(x, blanket)
        if engine.data.is_number[x]:
            found[x] = -np.expm1(-2 * gains[x] / counts[0]) if counts[0] and gains[x] else 0.0
        elif (before := log_left_out(counts[None], np.array([len(counts)]))[0]) < 0:
            found[x] = -gains[x] / before
    return found
