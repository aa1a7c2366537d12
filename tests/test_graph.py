import copy
import json
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.errors import RequestError, UnknownVariableError
from ibmap.graph import Graph

NAMES = ["smoking", "cancer", "age", "sex", "x 5", "é", ""]


@st.composite
def graphs(draw, min_size=1):
    names = draw(st.permutations(NAMES))[: draw(st.integers(min_size, len(NAMES)))]
    pairs = [(x, y) for i, x in enumerate(names) for y in names[:i]]
    return Graph(names, draw(st.lists(st.sampled_from(pairs))) if pairs else [])


@st.composite
def graphs_and_pairs(draw):
    graph = draw(graphs(min_size=2))
    x, y = draw(st.permutations(graph.names))[:2]
    return graph, x, y


# Laws


@settings(deadline=None)
@given(graphs_and_pairs())
def test_flipping_twice_is_the_identity(case):
    graph, x, y = case
    flipped = graph.flip(x, y)
    assert flipped.has_edge(x, y) != graph.has_edge(x, y)
    assert abs(flipped.n_edges - graph.n_edges) == 1
    assert flipped != graph
    assert flipped.flip(y, x) == graph


@settings(deadline=None)
@given(graphs_and_pairs(), st.data())
def test_separation_is_disconnection_once_the_given_are_removed(case, data):
    graph, x, y = case
    rest = [name for name in graph.names if name not in (x, y)]
    given_names = data.draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    other = graph.to_networkx()
    other.remove_nodes_from(given_names)
    assert graph.separated(x, y, given_names) == (not nx.has_path(other, x, y))
    assert graph.separated(x, y, given_names) == graph.separated(y, x, given_names)


@settings(deadline=None)
@given(graphs(min_size=3), st.data())
def test_groups_are_separated_when_each_pair_is(graph, data):
    sides = data.draw(
        st.lists(st.integers(0, 2), min_size=graph.n_variables, max_size=graph.n_variables).filter(
            lambda s: 0 in s and 1 in s
        )
    )
    xs, ys, zs = ([v for v, s in zip(graph.names, sides, strict=True) if s == k] for k in range(3))
    assert graph.separated(xs, ys, zs) == all(graph.separated(x, y, zs) for x in xs for y in ys)


@settings(deadline=None)
@given(graphs())
def test_conversions_round_trip(graph):
    for other in (
        Graph(graph.names, graph.edges),
        Graph.from_pairs(graph.pairs, graph.names),
        Graph.from_adjacency(graph.adjacency, graph.names),
        Graph.from_adjacency(graph.to_numpy(), graph.names),
        Graph.from_adjacency(graph.to_numpy().astype(float), graph.names),
        Graph.from_networkx(graph.to_networkx()),
        Graph.from_json(graph.to_json()),
        Graph.from_json(json.loads(graph.to_json())),
        Graph(graph.names, graph.to_frame().rows()),
        pickle.loads(pickle.dumps(graph)),
        copy.copy(graph),
        copy.deepcopy(graph),
    ):
        assert other == graph
        assert hash(other) == hash(graph)
        assert other.names == graph.names
        assert other.edges == graph.edges
        np.testing.assert_array_equal(other.adjacency, graph.adjacency)


@settings(deadline=None)
@given(graphs(), st.data())
def test_the_order_of_the_variables_is_not_structure(graph, data):
    order = data.draw(st.permutations(graph.names))
    other = graph.permute(order)
    assert other.names == tuple(order)
    assert other == graph
    assert hash(other) == hash(graph)
    positions = [graph.index(name) for name in order]
    np.testing.assert_array_equal(other.adjacency, graph.adjacency[np.ix_(positions, positions)])


@settings(deadline=None)
@given(graphs(), graphs())
def test_equal_graphs_have_the_same_names_and_edges(a, b):
    same = set(a.names) == set(b.names) and set(map(frozenset, a.edges)) == set(map(frozenset, b.edges))
    assert (a == b) == same


@settings(deadline=None)
@given(graphs())
def test_every_view_tells_the_same_story(graph):
    matrix = graph.adjacency
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    assert graph.n_edges == len(graph.edges) == matrix.sum() // 2
    assert graph.pairs.tolist() == np.argwhere(np.triu(matrix)).tolist()
    for x in graph.names:
        expected = tuple(y for y in graph.names if matrix[graph.index(x), graph.index(y)])
        assert graph.blanket(x) == expected
        assert graph.degree(x) == len(expected)
        assert [y for y in graph.names if graph.has_edge(x, y)] == list(expected)


# Degenerate graphs


def test_no_variable():
    graph = Graph([])
    assert repr(graph) == "Graph(0 variables, 0 edges)"
    assert graph.adjacency.shape == (0, 0)
    assert Graph.from_json(graph.to_json()) == graph == Graph.from_adjacency(np.zeros((0, 0)))


def test_one_variable():
    graph = Graph(["a"])
    assert repr(graph) == "Graph(1 variable, 0 edges)"
    assert graph.blanket("a") == ()
    assert graph == Graph.complete(["a"]) == Graph.from_adjacency([[0]], ["a"])


def test_zero_edges_separate_everything():
    graph = Graph("abc")
    assert graph.edges == ()
    assert graph.separated("a", ["b", "c"])


def test_complete_graph_separates_nothing():
    graph = Graph.complete("abcd")
    assert graph.n_edges == 6
    assert not graph.separated("a", "d", ["b", "c"])
    assert graph.flip("a", "d").separated("a", "d", ["b", "c"])


def test_large_graph_stays_sparse():
    n = 20_000
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    graph = Graph.from_pairs(chain, [f"x{i}" for i in range(n)])
    assert graph._adjacency is None
    assert not graph.separated("x0", f"x{n - 1}")
    assert graph.separated("x0", f"x{n - 1}", given="x777")
    assert sum(sys.getsizeof(a) for a in (graph.pairs, graph._offsets, graph._neighbours)) < 2e6
    assert graph.flip("x3", "x4").n_edges == n - 2


# Frames


@pytest.mark.parametrize("backend", [None, "polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("edges", [[], [("c", "a"), ("b", "c")]])
def test_frame_of_edges(backend, edges):
    frame = Graph("abc", edges).to_frame(backend)
    assert type(frame).__module__.split(".")[0] == (backend or "polars")
    columns = frame.to_pydict() if backend == "pyarrow" else {c: list(frame[c]) for c in ("x", "y")}
    assert columns == {"x": ["a", "b"] if edges else [], "y": ["c", "c"] if edges else []}


def test_empty_frame_has_text_columns():
    import polars as pl

    assert Graph("ab").to_frame().schema == {"x": pl.String, "y": pl.String}


def test_networkx_nodes_become_strings():
    assert Graph.from_networkx(nx.path_graph(3)) == Graph("012", [("0", "1"), ("1", "2")])


# A graph does not change


def test_nothing_can_be_set_or_deleted():
    graph = Graph("ab", [("a", "b")])
    for name in ("names", "pairs", "_index", "new"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(graph, name, ())
    with pytest.raises(AttributeError, match="does not change"):
        del graph.names
    for array in (graph.adjacency, graph.pairs, graph.neighbours(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    graph.to_numpy()[0, 1] = 0
    assert graph.has_edge("a", "b")


def test_the_callers_matrix_is_not_shared():
    matrix = np.array([[0, 1], [1, 0]], dtype=bool)
    graph = Graph.from_adjacency(matrix)
    matrix[:] = False
    assert graph.n_edges == 1


def test_names_are_contained_and_other_types_differ():
    assert "a" in Graph("ab")
    assert "c" not in Graph("ab")
    assert Graph("ab") != "ab"


# Bad input: one clear line


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Graph(["a", "b", "a"]), "variable 'a' is named twice"),
        (lambda: Graph(["a", 1]), "must be strings: got 1"),
        (lambda: Graph("ab", [("a", "a")]), "variable 'a' cannot have an edge to itself"),
        (lambda: Graph("ab", ["ab"]), "an edge is a pair of names: got 'ab'"),
        (lambda: Graph("ab", [("a", "b", "a")]), "an edge is a pair of names"),
        (lambda: Graph("ab", [3]), "an edge is a pair of names: got 3"),
        (lambda: Graph.from_pairs([[0, 2]], "ab"), "positions below 2"),
        (lambda: Graph.from_pairs([[-1, 0]], "ab"), "positions below 2"),
        (lambda: Graph.from_pairs([[0.0, 1.0]], "ab"), "integer array"),
        (lambda: Graph.from_pairs([0, 1], "ab"), "two columns"),
        (lambda: Graph.from_adjacency([[0, 1]]), "must be square"),
        (lambda: Graph.from_adjacency([[0, 1], [0, 0]]), "must be symmetric"),
        (lambda: Graph.from_adjacency([[0, 0.5], [0.5, 0]]), "nothing but 0 and 1"),
        (lambda: Graph.from_adjacency([[0, np.nan], [np.nan, 0]]), "nothing but 0 and 1"),
        (lambda: Graph.from_adjacency([["0", "1"], ["1", "0"]]), "nothing but 0 and 1"),
        (lambda: Graph.from_adjacency([[1, 0], [0, 0]]), "'x0' cannot have an edge to itself"),
        (lambda: Graph.from_adjacency([[0, 1], [1, 0]], "abc"), "3 names given for 2 variables"),
        (lambda: Graph.from_networkx(nx.DiGraph([(0, 1)])), "directed"),
        (lambda: Graph.from_json("{"), "not a graph in JSON"),
        (lambda: Graph.from_json("[1, 2]"), "not a graph in JSON"),
        (lambda: Graph.from_json('{"variables": "ab", "edges": []}'), "not a graph in JSON"),
        (lambda: Graph.from_json({"variables": ["a"]}), "not a graph in JSON"),
        (lambda: Graph("ab").separated("a", "a"), "'a' is on both sides"),
        (lambda: Graph("abc").separated("a", "b", ["c", "b"]), "'b' is both tested and conditioned on"),
        (lambda: Graph("abc").separated("a", []), "at least one variable"),
        (lambda: Graph("ab").flip("a", "a"), "edge to itself"),
        (lambda: Graph("ab").permute("a"), "'b' is missing"),
        (lambda: Graph("ab").permute("aba"), "named twice"),
        (lambda: Graph("ab").to_frame("dask"), "backend must be 'polars', 'pandas' or 'pyarrow', not 'dask'"),
    ],
)
def test_bad_requests_get_one_line(build, message):
    with pytest.raises(RequestError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda g: g.index("diagnosys"),
        lambda g: g.blanket("diagnosys"),
        lambda g: g.separated("age", "diagnosys"),
        lambda g: g.flip("age", "diagnosys"),
        lambda g: g.permute(["age", "diagnosys"]),
        lambda g: Graph(g.names, [("age", "diagnosys")]),
    ],
)
def test_unknown_variable_gets_advice(ask):
    with pytest.raises(UnknownVariableError, match=r"'diagnosys'; did you mean 'diagnosis'\?"):
        ask(Graph(["diagnosis", "age"]))
    with pytest.raises(UnknownVariableError, match=r"^unknown variable 3$"):
        Graph("ab").index(3)


def test_a_graph_is_a_container_of_names_and_edges():
    graph = Graph(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert ("a", "b") in graph
    assert ("b", "a") in graph
    assert ("a", "c") not in graph
    assert ("a", "z") not in graph
    assert "a" in graph
    assert "z" not in graph
    assert ["a"] not in graph
    assert (len(graph), list(graph)) == (3, ["a", "b", "c"])
    assert graph["b"] == ("a", "c")
    with pytest.raises(UnknownVariableError):
        graph["z"]
