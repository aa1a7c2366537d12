"""With a perfect oracle IBMAP-HC returns the graph, or this file says why not.

From the empty graph every connected pair looks equally wrong, so the first flips go to the smallest (i, j).
Where a variable comes after one of its neighbours that leads back to the first (a forest numbered from its
roots), these flips are edges of the truth. Where a hub has the last number they are shortcuts past it, and
the search may end in a local maximum: it is a heuristic (``tests/test_reference.py`` lists all such graphs of
four variables). Patience helps in lattices, not everywhere.
"""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from ibmap import IBMAP, Graph, Learned, OracleTest
from ibmap.learners import ibmap_hc
from tests.engines.partitioned import data_of


def learned_from_oracle(truth: Graph, **options: int) -> Learned:
    n = truth.n_variables
    return ibmap_hc(data_of(np.zeros((n, 1), int), [1] * n), OracleTest(truth), **options)


def named(graph: nx.Graph) -> Graph:
    """Number the variables in the order of the nodes."""
    graph = nx.convert_node_labels_to_integers(graph)
    return Graph([f"v{i}" for i in graph], [(f"v{i}", f"v{j}") for i, j in graph.edges])


def numbered_from_a_root(tree: nx.Graph, walk: str) -> nx.Graph:
    nodes = nx.bfs_tree(tree, 0) if walk == "breadth" else nx.dfs_preorder_nodes(tree, 0)
    return nx.relabel_nodes(tree, {v: i for i, v in enumerate(nodes)})


def in_order(graph: nx.Graph) -> nx.Graph:
    out = nx.empty_graph(len(graph))
    out.add_edges_from(graph.edges)
    return out


@pytest.mark.parametrize("n", [1, 2, 5, 12, 25])
@pytest.mark.parametrize("shape", ["empty", "path", "cycle", "star", "complete"])
def test_oracle_recovers_the_graph(shape: str, n: int) -> None:
    build = {
        "empty": nx.empty_graph,
        "path": nx.path_graph,
        "cycle": lambda n: nx.cycle_graph(n) if n > 2 else nx.path_graph(n),
        "star": lambda n: nx.star_graph(n - 1),
        "complete": nx.complete_graph,
    }
    truth = named(build[shape](n))
    learned = learned_from_oracle(truth)
    assert learned.graph == truth
    assert learned.score == pytest.approx(n * (n - 1) * np.log1p(-1e-6))


@pytest.mark.parametrize("walk", ["breadth", "depth"])
@pytest.mark.parametrize("n", [4, 8, 15])
def test_oracle_recovers_trees_numbered_from_a_root(n: int, walk: str) -> None:
    for seed in range(15):
        truth = named(in_order(numbered_from_a_root(nx.random_labeled_tree(n, seed=seed), walk)))
        assert learned_from_oracle(truth).graph == truth


@pytest.mark.parametrize("n", [4, 9, 16])
def test_oracle_recovers_paths_in_any_numbering(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(15):
        order = rng.permutation(n).tolist()
        pieces = nx.empty_graph(n)
        pieces.add_edges_from(pair for pair in pairwise(order) if rng.random() < 0.8)
        truth = named(pieces)
        assert learned_from_oracle(truth).graph == truth


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 3), (3, 6), (4, 4), (5, 5)])
def test_oracle_recovers_lattices_with_patience(rows: int, columns: int) -> None:
    truth = named(nx.grid_2d_graph(rows, columns))
    assert learned_from_oracle(truth, patience=rows * columns).graph == truth


def test_a_hub_with_the_last_number_is_a_trap() -> None:
    hub_last = Graph([f"v{i}" for i in range(4)], [("v0", "v3"), ("v1", "v3"), ("v2", "v3")])
    found = learned_from_oracle(hub_last)
    assert found.graph != hub_last
    truth = IBMAP(OracleTest(hub_last), start=hub_last).fit(data_of(np.zeros((4, 1), int), [1] * 4))
    assert truth.graph_ == hub_last  # the truth is a maximum, and a higher one
    assert truth.score_ > found.score
