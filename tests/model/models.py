"""Random small models, for tests that compare with enumeration."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from ibmap.graph import Graph
from ibmap.model import MarkovNetwork


def random_network(seed: int, largest: int = 5, fewest: int = 1, interactions: bool = True) -> MarkovNetwork:
    """Return a network of up to so many variables, with ``fewest`` to three levels each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    levels = rng.integers(fewest, 4, n)
    edges = np.argwhere(np.triu(rng.random((n, n)) < rng.random(), 1)).reshape(-1, 2)
    graph = Graph.from_pairs(edges, [f"v{i}" for i in range(n)])
    labels = [tuple(f"l{k}" for k in range(r)) for r in levels.tolist()]
    fields = [rng.normal(size=r) for r in levels.tolist()]
    factors = [rng.normal(size=levels[pair]) for pair in graph.pairs]
    cliques = [
        c
        for k in (3, 4)
        for c in combinations(range(n), k)
        if graph.adjacency[np.ix_(c, c)].sum() == k * (k - 1)
    ]
    scopes = [c for c in cliques if interactions and rng.random() < 0.7]
    tables = tuple(rng.normal(size=levels[list(c)]) for c in scopes)
    more = {"interactions": tuple(tuple(graph.names[v] for v in c) for c in scopes), "tables": tables}
    return MarkovNetwork(graph, tuple(labels), tuple(fields), tuple(factors), **more)


seeds = st.integers(0, 10_000)
