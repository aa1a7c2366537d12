"""GraphML, as networkx, igraph and yEd read it: names are ids, posteriors are data of the edges.

Nodes hold their names a second time, as data: igraph leaves ``&`` in an id encoded. Where variables have
groups, nodes hold these, and their strength.
"""

from xml.etree import ElementTree

from ibmap.errors import RequestError
from ibmap.exchange.groups import strengths
from ibmap.exchange.network import Network, network_of, number
from ibmap.exchange.xml_text import attribute, child, content, parsed, required

SPACE = "http://graphml.graphdrawing.org/xmlns"


def dumps(network: Network) -> str:
    """Return GraphML text."""
    columns = network.columns
    lines = ["<?xml version='1.0' encoding='utf-8'?>", f'<graphml xmlns="{SPACE}">']
    for k, name in enumerate(columns):
        quoted = attribute(name, "GraphML")
        lines.append(f'  <key id="d{k}" for="edge" attr.name={quoted} attr.type="double"/>')
    lines.append('  <key id="name" for="node" attr.name="name" attr.type="string"/>')
    if network.groups:
        lines.append('  <key id="group" for="node" attr.name="group" attr.type="string"/>')
        lines.append('  <key id="strength" for="node" attr.name="strength" attr.type="double"/>')
    lines.append('  <graph edgedefault="undirected">')
    ids = {name: attribute(name, "GraphML") for name in network.graph.names}
    more = _groups(network)
    lines += [
        f'    <node id={quoted}><data key="name">{content(name)}</data>{more.get(name, "")}</node>'
        for name, quoted in ids.items()
    ]
    for x, y, numbers in network.edges():
        data = "".join(
            f'<data key="d{columns.index(name)}">{value!r}</data>' for name, value in numbers.items()
        )
        lines.append(f"    <edge source={ids[x]} target={ids[y]}>{data}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _groups(network: Network) -> dict[str, str]:
    """Return what nodes hold about their groups; nothing if there are none."""
    if not network.groups:
        return {}
    for group in network.groups.values():
        attribute(group, "GraphML")  # raises if it holds what XML cannot
    central = strengths(network)
    return {
        name: f'<data key="group">{content(group)}</data><data key="strength">{central[name]!r}</data>'
        for name, group in network.groups.items()
    }


def loads(text: str) -> Network:
    """Read GraphML text; numbers on edges are kept, other data are not."""
    top = parsed(text, "graphml")
    graph = child(top, "graph")
    _refuse_directed(graph)
    numeric = {
        required(key, "id"): key.get("attr.name", required(key, "id"))
        for key in top.findall("key")
        if key.get("for") == "edge" and key.get("attr.type") in ("double", "float", "int", "long")
    }
    names = [required(node, "id") for node in graph.iter("node")]
    edges = []
    for edge in graph.iter("edge"):
        found = {
            numeric[key]: number(data.text, "an edge")
            for data in edge.findall("data")
            if (key := data.get("key", "")) in numeric
        }
        edges.append((required(edge, "source"), required(edge, "target"), found))
    return network_of(names, edges)


def _refuse_directed(graph: ElementTree.Element) -> None:
    """Refuse edges that have a direction, by default or one by one."""
    default = "true" if graph.get("edgedefault") == "directed" else "false"
    said = [edge.get("directed", default) for edge in graph.iter("edge")] or [default]
    if any(word.strip().lower() not in ("false", "0") for word in said):
        raise RequestError("the graph is directed")
