"""Which way the parameters are estimated: a named choice, or the best one that is cheap."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ibmap._text import listing
from ibmap._types import Floats, Ints
from ibmap.data import Table, load
from ibmap.data.schema import Schema
from ibmap.engines import Engine, as_engine
from ibmap.engines.engine import is_engine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.blanket_counts import blanket_counts, level_counts
from ibmap.model.conditional_tables import families_of, fit_tables, layout_of
from ibmap.model.interactions import Scope, as_scopes, interactions_in
from ibmap.model.junction_tree import MAX_CELLS, JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.proportional_fitting import fit_likelihood
from ibmap.model.pseudo_likelihood import maximise, maximise_with_interactions, pseudo_likelihood

LIKELIHOOD, PSEUDO, DIRECTED = "maximum-likelihood", "pseudo-likelihood", "conditional-tables"
METHODS = ("auto", "maximum-likelihood", "pseudo-likelihood", "conditional-tables")
CHEAP = 1 << 14  #: cells of a junction tree up to which "auto" takes the likelihood,
CHEAP_WITH = 1 << 17  #: and with interactions, of which the pseudo-likelihood takes longer


@dataclass(frozen=True)
class FittedBy:
    """How parameters were found, and from what: method, number of rows, digest of the table."""

    method: str
    n_rows: int
    digest: str


def fitted(
    source: Any,
    data: Any,
    engine: Engine,
    method: str,
    interactions: Any,
    effect_variance: float,
    pseudo_rows: float,
    max_iter: int,
) -> tuple[Layout, Floats, FittedBy]:
    """Return the layout, the parameters and how they were found, of variables that all have levels."""
    graph, levels = graph_for(source, engine.schema.names), engine.schema.cardinalities
    if method == DIRECTED or (method == "auto" and interactions is None):
        families = _families(source, graph, levels)
        if isinstance(families, str):
            if method == DIRECTED:
                raise RequestError(
                    f"conditional tables are those of a directed graph, and {families}: pass method='auto'"
                )
        else:
            layout = layout_of(graph, levels, families)
            theta = fit_tables(engine, layout, families, _size(source))
            return layout, theta, by(engine, DIRECTED)
    scopes = interactions_in(engine, graph) if interactions is None else as_scopes(interactions, graph)
    layout = Layout(graph, levels, scopes)
    cheap = CHEAP_WITH if scopes else CHEAP
    tree = None if method == PSEUDO else tree_of(layout, cheap if method == "auto" else MAX_CELLS)
    if method == LIKELIHOOD and tree is None:
        raise RequestError(
            f"maximum likelihood would need more than {MAX_CELLS:,} cells for this graph: pass "
            "method='pseudo-likelihood'"
        )
    if method == "auto" and tree is not None and not _is_complete(data, engine):
        tree = None
    if isinstance(tree, JunctionTree):
        return layout, fit_likelihood(engine, tree, pseudo_rows, max_iter), by(engine, LIKELIHOOD)
    counts = blanket_counts(engine, layout)
    if scopes:
        theta = maximise_with_interactions(counts, effect_variance, max_iter)
    else:
        theta = maximise(pseudo_likelihood(counts, effect_variance), int(max_iter))
    return layout, theta, by(engine, PSEUDO)


def engine_for(data: Any) -> Engine:
    """Return an engine that holds a table, which may have missing values, and numbers."""
    if not isinstance(data, Table) and not is_engine(data):
        data = load(data, missing="testwise", continuous="auto")
    return as_engine(data)


def missing_values_in(schema: Schema) -> dict[str, tuple[Any, ...]]:
    """Return the values that stood for missing ones, by variable."""
    said = schema.reading.get("missing_values") or {}
    by_name = said if isinstance(said, Mapping) else dict.fromkeys(schema.names, said)
    return {name: tuple(values) for name, values in by_name.items()}


def _families(source: Any, graph: Graph, levels: Ints) -> dict[int, Scope] | str:
    """Return the families of the directed graph that was learned, or why they make no model."""
    arcs = getattr(getattr(source, "learned_", source), "arcs", None)
    if arcs is None:
        return "this network has none"
    families = families_of(graph, arcs)
    joined = {pair for family in families.values() for pair in combinations(family, 2)}
    if not joined <= set(map(tuple, graph.pairs.tolist())):
        return "that of this network has other edges"
    cells = sum(float(np.prod(levels[list(family)], dtype=float)) for family in families.values())
    return families if cells <= MAX_CELLS else f"here they would have {cells:.2g} cells"


def _size(source: Any) -> float:
    """Return what the prior counts of a family add up to, in the score that found the directed graph."""
    provenance = getattr(getattr(source, "learned_", source), "provenance", None)
    return float(dict(getattr(provenance, "options", {})).get("equivalent_sample_size", 1.0))


def by(engine: Engine, method: str) -> FittedBy:
    """Return how parameters were found, and from what."""
    return FittedBy(method, engine.schema.n_rows, engine.schema.digest)


def _is_complete(data: Any, engine: Engine) -> bool:
    if isinstance(data, Table):
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
        raise RequestError(f"the graph does not fit this table: {'; '.join(parts)}")
    return graph if graph.names == names else graph.permute(names)
