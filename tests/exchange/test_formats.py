import io
import json
import re
from contextlib import suppress
from itertools import pairwise

import networkx as nx
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibmap import IBMAP, Graph, exchange
from ibmap.errors import DataError, RequestError
from ibmap.exchange import FORMATS, Network, dumps, loads
from tests.exchange.networks import NASTY, networks

ALL = Network(Graph.complete(NASTY))
UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # what XML 1.0 leaves out
# What a format cannot hold; a new one that holds everything needs no line here.
WITHOUT_NUMBERS = {"adjacency"}
WITHOUT_ORDER = {"edges"}
REFUSES_CONTROL_CHARACTERS = {"graphml", "gexf"}
EMPTY = [Network(Graph([])), Network(Graph(["lonely"])), Network(Graph(NASTY))]


def numbers_by_edge(network):
    """The numbers of each edge, as seen from the end that comes first in the alphabet."""
    found = {}
    for x, y, numbers in network.edges():
        if x < y:
            found[x, y] = dict(numbers)
        else:
            turned = {"log_posterior_xy": "log_posterior_yx", "log_posterior_yx": "log_posterior_xy"}
            found[y, x] = {turned.get(name, name): value for name, value in numbers.items()}
    return found


@pytest.mark.parametrize("form", FORMATS)
@given(network=networks())
@example(network=ALL)
@example(network=EMPTY[0])
@example(network=EMPTY[1])
@example(network=EMPTY[2])
def test_everything_written_is_read_back(form, network):
    back = loads(dumps(network, form), form)
    assert back.graph == network.graph
    if form not in WITHOUT_ORDER:
        assert back.graph.names == network.graph.names
    if form not in WITHOUT_NUMBERS:
        assert numbers_by_edge(back) == numbers_by_edge(network)


@pytest.mark.parametrize("form", FORMATS)
@given(network=networks(names=st.text(st.characters(codec="utf-8"), max_size=4), numbers=False))
def test_any_character_is_kept_or_refused(form, network):
    unspeakable = any(UNSPEAKABLE.search(name) for name in network.graph.names)
    if form in REFUSES_CONTROL_CHARACTERS and unspeakable:
        with pytest.raises(RequestError, match="cannot: write JSON, or rename it"):
            dumps(network, form)
    else:
        assert loads(dumps(network, form), form).graph == network.graph


@pytest.mark.parametrize("form", FORMATS)
@given(garbage=st.text(max_size=60))
def test_garbage_is_one_clear_line(form, garbage):
    with suppress(DataError):  # anything else is a failure
        assert loads(garbage, form).graph.n_edges == 0


@pytest.mark.parametrize("form", FORMATS)
@given(network=networks(), data=st.data())
def test_a_damaged_text_is_refused_or_another_graph(form, network, data):
    text = dumps(network, form)
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=2)) + text[at + data.draw(st.integers(0, 3)) :]
    with suppress(DataError):  # anything else is a failure
        assert isinstance(loads(damaged, form), Network)


# Read by those for whom it was written


@given(network=networks())
@example(network=ALL)
def test_networkx_reads_graphml_and_gexf(network):
    for read, form in ((nx.read_graphml, "graphml"), (nx.read_gexf, "gexf")):
        theirs = read(io.BytesIO(dumps(network, form).encode()))
        back = exchange.from_networkx(theirs)
        assert back.graph.names == network.graph.names
        assert back.graph == network.graph
        ours = [{k: v for k, v in data.items() if k != "id"} for _, _, data in theirs.edges(data=True)]
        assert ours == [numbers for _, _, numbers in network.edges()]


@given(network=networks(names=st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=5)))
def test_what_networkx_writes_is_read(network):
    graph = exchange.to_networkx(network)
    assert exchange.from_networkx(graph).edges() == network.edges()
    for write, form in ((nx.write_graphml, "graphml"), (nx.write_gexf, "gexf")):
        text = io.BytesIO()
        write(graph, text)
        assert loads(text.getvalue().decode(), form).graph == network.graph


@given(network=networks())
@example(network=ALL)
def test_igraph_and_back(network):
    pytest.importorskip("igraph", reason="igraph is not installed")
    theirs = exchange.to_igraph(network)
    assert theirs.vs["name"] == list(network.graph.names)
    assert theirs.ecount() == network.graph.n_edges
    assert exchange.from_igraph(theirs).edges() == network.edges()


def test_igraph_reads_graphml(tmp_path):
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    path = tmp_path / "net.graphml"
    names = [name for name in NASTY if name]
    exchange.write(Network(Graph(names, pairwise(names))), path)
    theirs = igraph.Graph.Read_GraphML(str(path))
    assert not theirs.is_directed()
    assert theirs.vs["name"] == names
    assert exchange.from_igraph(theirs).graph == exchange.read(path).graph


@given(network=networks(names=st.sampled_from(NASTY)))
def test_pgmpy_and_back(network):
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    model = exchange.to_pgmpy(network)
    assert list(model.nodes) == list(network.graph.names)
    assert exchange.from_pgmpy(model).edges() == network.edges()
    if network.graph.n_edges:
        x, y = network.graph.edges[0]
        assert y in model.markov_blanket(x)


def test_polars_reads_the_csv_formats():
    network = loads("x,y,posterior\na,b,0.5\nc,a,0.25\n", "edges")
    assert pl.read_csv(dumps(network, "edges").encode()).rows() == [("a", "b", 0.5), ("a", "c", 0.25)]
    matrix = pl.read_csv(dumps(network, "adjacency").encode())
    assert matrix.columns[1:] == ["a", "b", "c"]
    assert matrix.rows()[0] == ("a", 0, 1, 1)


def test_learners_and_estimators_bring_their_posteriors(tmp_path):
    table = {"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1] * 40}
    net = IBMAP().fit(table)
    path = tmp_path / "net.gexf"
    exchange.write(net, path)
    back = exchange.read(path)
    rows = {row[:2]: row[2:5] for row in net.edges_.rows() if row[5]}
    assert {(x, y): tuple(numbers.values())[:3] for x, y, numbers in back.edges()} == rows
    assert back.edges() == exchange.as_network(net).edges()
    with pytest.raises(RequestError, match="not int"):
        dumps(3)


# Bad input

GRAPHML = (
    '<graphml><graph edgedefault="{}"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b" {}/></graph></graphml>'
)
GEXF = (
    '<gexf><graph><nodes><node id="a"/><node id="b"/></nodes>'
    '<edges><edge source="a" target="b" type="{}"/></edges></graph></gexf>'
)
BAD = [
    ("json", '{"variables": ["a"', "the text is damaged"),
    ("json", "[1, 2]", 'expected {"variables"'),
    ("json", '{"variables": ["a", "b"], "edges": [["a", "c"]]}', "unknown variable 'c'"),
    ("json", '{"variables": ["a", "b"], "edges": [["a", "b"]], "numbers": {"p": []}}', "as long as"),
    ("json", '{"variables": ["a", "b"], "edges": [["a", "b"]], "numbers": {"p": ["?"]}}', "not a number"),
    ("json", '{"variables": ["a", "b"], "edges": [["a", "a"]]}', "edge to itself"),
    ("graphml", "<graphml>", "the text is damaged"),
    ("graphml", "<gexf/>", "the outermost element is <gexf>"),
    ("graphml", "<graphml/>", "no <graph> in <graphml>"),
    ("graphml", '<graphml><graph edgedefault="directed"/></graphml>', "directed"),
    ("graphml", GRAPHML.format("directed", ""), "directed"),
    ("graphml", GRAPHML.format("undirected", 'directed="true"'), "directed"),
    ("graphml", GRAPHML.format("undirected", 'directed="1"'), "directed"),
    ("graphml", "<graphml><graph><node/></graph></graphml>", "lacks its id"),
    ("gexf", '<gexf><graph defaultedgetype="directed"/></gexf>', "directed"),
    ("gexf", GEXF.format("directed"), "directed"),
    ("gexf", '<gexf><graph><edge source="a" target="b"/></graph></gexf>', "does not exist"),
    ("dot", "digraph { a -> b }", "directed"),
    ("dot", "graph { a -> b }", "directed"),
    ("dot", "graph { a -- ", "ends too early"),
    ("dot", "graph { subgraph x { a } }", "subgraphs and ports are not read"),
    ("dot", "hello", "must begin with"),
    ("dot", "graph { a ? b }", "cannot read '? b }'"),
    ("adjacency", "a,b\n", "empty cell"),
    ("adjacency", ",a,b\na,0,1\nb,0,0\n", "symmetric"),
    ("adjacency", ",a,b\na,0,1\n", "same names"),
    ("adjacency", ",a,b\na,0,2\nb,2,0\n", "expected 0 or 1"),
    ("adjacency", ",a,b\na,0\nb,1,0\n", "cells"),
    ("edges", "a,b\n", "must name the columns"),
    ("edges", "x,y\na,b,c\n", "row 2 has 3 cells"),
    ("edges", "x,y,posterior\na,b,high\n", "'high' is not a number"),
    ("edges", 'x,y\n"a,b\n', "damaged"),
]


@pytest.mark.parametrize(("form", "text", "words"), BAD)
def test_bad_text(form, text, words):
    with pytest.raises(DataError) as caught:
        loads(text, form)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("form", "text"),
    [("graphml", GRAPHML.format("directed", 'directed="false"')), ("gexf", GEXF.format("undirected"))],
)
def test_edges_that_say_that_they_have_no_direction(form, text):
    assert loads(text, form).graph.edges == (("a", "b"),)


def test_dot_of_other_hands():
    text = 'strict graph "my net" { rankdir=LR; node [shape=box]; // note\n a -- "b c" -- d [weight=2]\n e }'
    network = loads(text, "dot")
    assert network.graph == Graph(["a", "b c", "d", "e"], [("a", "b c"), ("b c", "d")])
    assert network.numbers == ({"weight": 2.0}, {"weight": 2.0})


def test_json_is_what_graph_reads():
    text = dumps(ALL, "json")
    assert Graph.from_json(text) == ALL.graph
    assert list(json.loads(text)) == ["variables", "edges"]


def test_files(tmp_path):
    graph = Graph("abc", [("a", "b")])
    path = tmp_path / "net.csv"
    exchange.write(graph, path, "adjacency")
    assert exchange.read(path).graph == graph  # a matrix is recognised by its empty corner
    with pytest.raises(RequestError, match="exists"):
        exchange.write(graph, path)
    exchange.write(graph, path, overwrite=True)
    assert exchange.read(path).graph == graph
    assert [file.name for file in tmp_path.iterdir()] == ["net.csv"]
    with pytest.raises(RequestError, match="is a folder"):
        exchange.write(graph, tmp_path, "json")
    with pytest.raises(RequestError, match="there is no file"):
        exchange.read(tmp_path / "other.dot")
    with pytest.raises(RequestError, match=r"other\.txt"):
        exchange.read(tmp_path / "other.txt")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not text in UTF-8"):
        exchange.read(path)
