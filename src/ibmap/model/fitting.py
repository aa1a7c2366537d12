"""Which way the parameters are estimated: a named choice, or the best one that is cheap."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ibmap._text import listing, one_of
from ibmap._types import Floats
from ibmap.data import CategoricalData, load
from ibmap.data.numbers import NumericData
from ibmap.engines import Engine, as_engine
from ibmap.engines.engine import is_engine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.blanket_counts import blanket_counts, level_counts
from ibmap.model.junction_tree import MAX_CELLS, JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.proportional_fitting import fit_likelihood
from ibmap.model.pseudo_likelihood import maximise, pseudo_likelihood

LIKELIHOOD, PSEUDO = "maximum-likelihood", "pseudo-likelihood"
METHODS = ("auto", "maximum-likelihood", "pseudo-likelihood")
CHEAP = 1 << 14  #: cells of a junction tree up to which "auto" takes the likelihood


@dataclass(frozen=True)
class FittedBy:
    """How parameters were found, and from what: method, number of rows, digest of the table."""

    method: str
    n_rows: int
    digest: str


def fitted(
    source: Any, data: Any, method: str, effect_variance: float, pseudo_rows: float, max_iter: int
) -> tuple[Engine, Layout, Floats, FittedBy]:
    """Return the engine, the layout, the parameters and how they were found."""
    if method not in METHODS:
        raise RequestError(f"method must be {one_of(METHODS)}, not {method!r}")
    for name, value in (("effect_variance", effect_variance), ("max_iter", max_iter)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
            raise RequestError(f"{name} must be a positive number, not {value!r}")
    if (
        isinstance(pseudo_rows, bool)
        or not isinstance(pseudo_rows, int | float)
        or not 0 <= pseudo_rows < np.inf
    ):
        raise RequestError(f"pseudo_rows must be 0 or a positive number, not {pseudo_rows!r}")
    if not isinstance(data, CategoricalData | NumericData) and not is_engine(data):
        data = load(data, missing="testwise")
    engine = as_engine(data)
    if engine.schema.is_continuous:
        raise RequestError(
            "models are made of tables of levels, and these variables are numbers: pass "
            "discretize='quantile', which cuts them"
        )
    layout = Layout(graph_for(source, engine.schema.names), engine.schema.cardinalities)
    tree = None if method == PSEUDO else tree_of(layout, CHEAP if method == "auto" else MAX_CELLS)
    if method == LIKELIHOOD and tree is None:
        raise RequestError(
            f"maximum likelihood would need more than {MAX_CELLS:,} cells for this graph: pass "
            "method='pseudo-likelihood'"
        )
    if method == "auto" and tree is not None and not _is_complete(data, engine):
        tree = None
    if isinstance(tree, JunctionTree):
        theta, method = fit_likelihood(engine, tree, pseudo_rows, int(max_iter)), LIKELIHOOD
    else:
        goal = pseudo_likelihood(blanket_counts(engine, layout), effect_variance)
        theta, method = maximise(goal, int(max_iter)), PSEUDO
    return engine, layout, theta, FittedBy(method, engine.schema.n_rows, engine.schema.digest)


def _is_complete(data: Any, engine: Engine) -> bool:
    if isinstance(data, CategoricalData):
        return not data.has_missing
    return all(counts.sum() == engine.schema.n_rows for counts in level_counts(engine))


def graph_for(source: Any, names: tuple[str, ...]) -> Graph:
    """Return the graph that is meant, its variables in the order of the table's."""
    learned = getattr(source, "learned_", source)
    graph = source if isinstance(source, Graph) else getattr(learned, "graph", None)
    if not isinstance(graph, Graph):
        raise RequestError(f"expected a Graph or what a learner returned, not {type(source).__name__}")
    odd = set(graph.names) ^ set(names)
    if odd:
        only_graph, only_table = sorted(odd - set(names)), sorted(odd - set(graph.names))
        parts = [f"only the graph has {listing(only_graph)}"] * bool(only_graph)
        parts += [f"only the table has {listing(only_table)}"] * bool(only_table)
        raise RequestError(f"the graph is not one of this table: {'; '.join(parts)}")
    return graph if graph.names == names else graph.permute(names)
