"""Objects of other libraries; each library is imported when it is asked for."""

from typing import Any

from ibmap._libraries import library
from ibmap.errors import RequestError
from ibmap.exchange.network import Network, as_network, network_of


def to_networkx(source: Any) -> Any:
    """Return a ``networkx.Graph`` with posteriors as edge attributes.

    Examples
    --------
    >>> from ibmap import Graph
    >>> to_networkx(Graph("abc", [("a", "b")])).edges
    EdgeView([('a', 'b')])
    """
    network = as_network(source)
    graph = network.graph.to_networkx()
    graph.add_edges_from((x, y, dict(numbers)) for x, y, numbers in network.edges())
    return graph


def from_networkx(graph: Any) -> Network:
    """Return the network of an undirected networkx graph; numbers on its edges are kept."""
    if graph.is_directed():
        raise RequestError("the networkx graph is directed: pass graph.to_undirected()")
    edges = [(str(x), str(y), _numbers(data)) for x, y, data in graph.edges(data=True)]
    return network_of(map(str, graph.nodes), edges)


def to_igraph(source: Any) -> Any:
    """Return an ``igraph.Graph`` with names as vertex attribute "name" and posteriors on the edges."""
    igraph = library("igraph")
    network = as_network(source)
    graph = igraph.Graph(n=network.graph.n_variables, edges=network.graph.pairs.tolist())
    graph.vs["name"] = list(network.graph.names)
    for column in network.columns:
        graph.es[column] = [numbers.get(column) for numbers in network.numbers]
    return graph


def from_igraph(graph: Any) -> Network:
    """Return the network of an undirected igraph graph; vertices without a name are called by number."""
    if graph.is_directed():
        raise RequestError("the igraph graph is directed: pass graph.as_undirected()")
    attributes = graph.vs.attributes()
    key = next((key for key in ("name", "id", "label") if key in attributes), None)
    names = [str(v.index if key is None else v[key]) for v in graph.vs]
    edges = [(names[e.source], names[e.target], _numbers(e.attributes())) for e in graph.es]
    return network_of(names, edges)


def to_pgmpy(source: Any) -> Any:
    """Return pgmpy's Markov network with this structure; its factors are still to be fitted."""
    models = library("pgmpy.models")
    kind = getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork
    network = as_network(source)
    model = kind()
    model.add_nodes_from(network.graph.names)
    for x, y, numbers in network.edges():
        model.add_edge(x, y)
        model.edges[x, y].update(numbers)
    return model


def from_pgmpy(model: Any) -> Network:
    """Return the structure of pgmpy's Markov network."""
    return from_networkx(model)


def _numbers(data: dict[str, Any]) -> dict[str, float]:
    """Return the numbers among the attributes of an edge."""
    return {
        str(name): float(value)
        for name, value in data.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
