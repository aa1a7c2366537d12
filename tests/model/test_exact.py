"""Exact inference against enumeration of all configurations."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model import MarkovNetwork
from ibmap.model.junction_tree import JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.triangulation import TooLargeError, clique_tree
from tests.model.models import random_network, seeds
from tests.reference import enumeration


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_marginals_and_log_partition_are_those_of_enumeration(seed: int) -> None:
    network = random_network(seed)
    parts = network.layout.scopes, network.fields, (*network.factors, *network.tables)
    assert network.log_partition == pytest.approx(enumeration.log_partition(*parts))
    for v, (name, labels) in enumerate(zip(network.names, network.levels, strict=True)):
        found = list(network.marginals()[name].values())
        assert found == pytest.approx(enumeration.marginal(*parts, v))
        assert list(network.query(name)) == list(labels)


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_answers_given_evidence_are_those_of_enumeration(seed: int) -> None:
    network = random_network(seed, largest=6)
    rng = np.random.default_rng(seed)
    known = {v: int(rng.integers(len(network.levels[v]))) for v in range(1, len(network.names), 2)}
    answer = network.query("v0", {network.names[v]: network.levels[v][k] for v, k in known.items()})
    parts = network.layout.scopes, network.fields, (*network.factors, *network.tables)
    assert list(answer.values()) == pytest.approx(enumeration.marginal(*parts, 0, known))
    assert (answer.method, answer.errors) == ("exact", None)


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_cliques_hold_every_edge_and_overlap_as_a_tree(seed: int) -> None:
    layout = random_network(seed, largest=9).layout
    cliques, home = clique_tree(layout.graph.pairs, layout.levels)
    sets = [set(clique.variables) for clique in cliques]
    assert all(any({i, j} <= one for one in sets) for i, j in layout.graph.pairs.tolist())
    for k, clique in enumerate(cliques):
        shared, own = clique.variables[: clique.n_shared], clique.variables[clique.n_shared :]
        assert clique.parent < k
        assert [home[v] for v in own] == [k] * len(own)
        assert set(shared) <= (sets[clique.parent] if clique.parent >= 0 else set())


def test_a_graph_that_is_too_dense_has_no_tree() -> None:
    layout = Layout(Graph.complete([f"x{i}" for i in range(30)]), np.full(30, 2))
    assert tree_of(layout) is None
    with pytest.raises(TooLargeError):
        JunctionTree(layout)


def test_strong_potentials_do_not_overflow() -> None:
    names = [f"x{i}" for i in range(40)]
    graph = Graph(names, list(pairwise(names)))
    alike = np.array([[400.0, -400.0], [-400.0, 400.0]])
    network = MarkovNetwork(graph, ((0, 1),) * 40, (np.zeros(2),) * 40, (alike,) * 39)
    assert network.query("x39", {"x0": 1})[1] == pytest.approx(1.0)
    assert network.log_partition == pytest.approx(39 * 400 + np.log(2))


def test_evidence_of_probability_zero_is_refused() -> None:
    table = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    graph = Graph("abc", [("a", "b"), ("b", "c")])
    network = MarkovNetwork(graph, ((0, 1),) * 3, (np.zeros(2),) * 3, (table, table))
    with pytest.raises(RequestError, match="probability zero"):
        network.query("b", {"a": 0, "c": 1})
    assert network.query("b", {"a": 0})[1] == 0.0


def test_a_tree_survives_pickling() -> None:
    network = random_network(3)
    again = pickle.loads(pickle.dumps(JunctionTree(network.layout)))
    assert again.log_partition(network.theta) == network.log_partition
