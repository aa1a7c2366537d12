"""Parameters of a directed graph: the conditional table of every variable given its parents."""

from collections.abc import Sequence

import numpy as np

from ibmap._types import Floats
from ibmap.engines import Engine
from ibmap.graph import Graph
from ibmap.model.blanket_counts import table_counts
from ibmap.model.interactions import Scope
from ibmap.model.layout import Layout


def families_of(graph: Graph, arcs: Sequence[tuple[str, str]]) -> dict[int, Scope]:
    """Return every variable with its parents, of arcs (parent, child), in the order of the graph.

    Examples
    --------
    >>> families_of(Graph.complete("abc"), [("c", "b"), ("a", "b")])
    {0: (0,), 1: (0, 1, 2), 2: (2,)}
    """
    families = {x: {x} for x in range(graph.n_variables)}
    for parent, child in arcs:
        families[graph.index(child)].add(graph.index(parent))
    return {x: tuple(sorted(family)) for x, family in families.items()}


def layout_of(graph: Graph, levels: object, families: dict[int, Scope]) -> Layout:
    """Return the layout of a model with a table for every family."""
    wide = sorted({family for family in families.values() if len(family) > 2})
    return Layout(graph, np.asarray(levels), wide)


def fit_tables(engine: Engine, layout: Layout, families: dict[int, Scope], size: float) -> Floats:
    """Return log p(x | parents) of every family as the parameters of a model, whose log Z is zero.

    Prior counts add up to ``size``, evenly spread over the cells of a family, as those of BDeu; where no row
    has a configuration of the parents, all levels of x are as likely.
    """
    theta = np.zeros(layout.size)
    fields = layout.fields(theta)
    tables = [*layout.factors(theta), *layout.tables(theta)]
    places = {scope: tables[e] for e, scope in enumerate(layout.scopes)}
    for (x, family), counts in zip(
        families.items(), table_counts(engine, list(families.values())), strict=True
    ):
        with_prior = counts + size / max(counts.size, 1)
        shares = with_prior / with_prior.sum(axis=family.index(x), keepdims=True)
        target = fields[x] if len(family) == 1 else places[family]
        target += np.log(shares)
    return theta
