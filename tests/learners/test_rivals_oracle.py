"""With a perfect oracle GSMN and HHC-MN return the graph, whatever its shape.

GSMN: the neighbours of x are never separated from it, so growing ends with a superset of them, and shrinking
drops everybody else. HHC-MN: a variable that is not a neighbour meets, sooner or later, the subset of members
that is the blanket of x; undirected graphs have no colliders, so there are no spouses to correct for. MI has
no oracle: it compares amounts of mutual information, and separation says nothing about amounts.
"""

from typing import Any

import networkx as nx
import numpy as np
import pytest

from ibmap import Graph, Learned, OracleTest
from ibmap.learners import gsmn, hhc_mn
from ibmap.synthetic import random_network
from tests.engines.partitioned import data_of


def learned_from_oracle(learner: Any, truth: Graph, **options: Any) -> Learned:
    n = truth.n_variables
    return learner(data_of(np.zeros((n, 1), int), [1] * n), OracleTest(truth), **options)


def named(graph: nx.Graph) -> Graph:
    graph = nx.convert_node_labels_to_integers(graph)
    return Graph([f"v{i}" for i in graph], [(f"v{i}", f"v{j}") for i, j in graph.edges])


@pytest.mark.parametrize("symmetry", ["or", "and"])
@pytest.mark.parametrize(("n", "tau"), [(1, 0), (6, 2), (10, 3), (14, 2), (30, 1)])
def test_oracle_recovers_random_networks(n: int, tau: float, symmetry: str) -> None:
    for seed in range(5):
        truth = random_network(n, tau, random_state=seed).graph
        truth = Graph.from_adjacency(truth.adjacency, [f"v{i}" for i in range(n)])
        assert learned_from_oracle(gsmn, truth, symmetry=symmetry).graph == truth
        assert learned_from_oracle(hhc_mn, truth, symmetry=symmetry).graph == truth


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (2, 2), (3, 3), (3, 4)])
@pytest.mark.parametrize("periodic", [False, True])
def test_oracle_recovers_lattices(rows: int, columns: int, periodic: bool) -> None:
    truth = named(nx.grid_2d_graph(rows, columns, periodic=periodic and min(rows, columns) > 2))
    assert learned_from_oracle(gsmn, truth).graph == truth
    assert learned_from_oracle(hhc_mn, truth).graph == truth


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (4, 9)])
def test_oracle_recovers_larger_lattices(rows: int, columns: int) -> None:
    truth = named(nx.grid_2d_graph(rows, columns))
    assert learned_from_oracle(gsmn, truth).graph == truth
    assert learned_from_oracle(gsmn, truth, symmetry="and").graph == truth


@pytest.mark.slow
def test_oracle_recovers_a_larger_lattice_with_sets_of_four() -> None:
    truth = named(nx.grid_2d_graph(4, 5))
    assert learned_from_oracle(hhc_mn, truth, max_condition=4).graph == truth


def test_sets_that_are_too_small_to_separate_leave_edges_too_many() -> None:
    truth = named(nx.grid_2d_graph(3, 3))
    found = learned_from_oracle(hhc_mn, truth, max_condition=1).graph
    assert set(truth.edges) < set(found.edges)


@pytest.mark.parametrize("learner", [gsmn, hhc_mn])
@pytest.mark.parametrize("shape", [nx.empty_graph, nx.complete_graph, nx.path_graph, nx.star_graph])
def test_oracle_recovers_extremes(learner: Any, shape: Any) -> None:
    truth = named(shape(7))
    assert learned_from_oracle(learner, truth).graph == truth
