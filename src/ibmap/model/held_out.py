"""How well the neighbours of levels and numbers predict them in rows that a model has not seen."""

import numpy as np

from ibmap.engines.mixed import MixedEngine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.mixed_fitting import fit_mixed
from ibmap.model.mixed_network import MixedNetwork, scales_of, standard_cells

FOLDS = 5  #: parts of the rows, each predicted by the others


def log_score_of_mixed(graph: Graph, engine: MixedEngine) -> float:
    """Return the mean log probability of a level, or log density of a standard score, given its neighbours.

    Each fifth of the rows is predicted by a model that was fitted to the others. Standard scores are those of
    the whole table, the same for all graphs; a neighbour that a row does not know says nothing, so that the
    same values are predicted whatever the graph. Constants are not predicted.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> sex, noise = np.tile(["f", "m"], 100), rng.normal(size=200)
    >>> table = {"sex": sex, "height": noise + 2 * (sex == "m")}
    >>> engine = MixedEngine(load(table, continuous="auto"))
    >>> names = engine.schema.names
    >>> right, none = (log_score_of_mixed(Graph(names, edges), engine) for edges in ([names], []))
    >>> round(right, 1), round(none, 1)
    (-0.7, -1.1)
    """
    data, schema = engine.data, engine.schema
    if schema.n_rows < 2 * FOLDS:
        raise RequestError(f"{schema.n_rows} rows are too few to predict one part by the others")
    scales = scales_of(data)
    cells = standard_cells(data, scales)
    varies = np.array([len(np.unique(row[~np.isnan(row)])) > 1 for row in cells])
    if not varies.any():
        raise RequestError("there is no value to predict: all columns are constant")
    pairs = graph.pairs[varies[graph.pairs].all(axis=1)] if graph.n_edges else graph.pairs
    graph, logs = Graph.from_pairs(pairs, graph.names), np.full(cells.shape, np.nan)
    for fold in range(FOLDS):
        held = np.arange(schema.n_rows) % FOLDS == fold
        found = fit_mixed(graph, cells[:, ~held], schema.cardinalities, schema.ordinal)
        model = MixedNetwork(graph, schema.levels, tuple(found.fields), tuple(found.factors), scales=scales)
        logs[:, held] = model.log_conditionals(cells[:, held], partly=True)
    return float(np.nanmean(logs[varies]))
