"""GEXF, as Gephi and networkx read it: names are ids and labels, posteriors are attributes of the edges."""

from xml.etree import ElementTree

from ibmap.errors import RequestError
from ibmap.exchange.network import Network, network_of, number
from ibmap.exchange.xml_text import attribute, child, parsed, required

SPACE = "http://www.gexf.net/1.2draft"


def dumps(network: Network) -> str:
    """Return GEXF text."""
    columns = network.columns
    lines = ["<?xml version='1.0' encoding='utf-8'?>", f'<gexf xmlns="{SPACE}" version="1.2">']
    lines += ['  <graph defaultedgetype="undirected" mode="static">', '    <attributes class="edge">']
    for k, name in enumerate(columns):
        lines.append(f'      <attribute id="{k}" title={attribute(name, "GEXF")} type="double"/>')
    lines += ["    </attributes>", "    <nodes>"]
    ids = {name: attribute(name, "GEXF") for name in network.graph.names}
    lines += [f"      <node id={quoted} label={quoted}/>" for quoted in ids.values()]
    lines += ["    </nodes>", "    <edges>"]
    for k, (x, y, numbers) in enumerate(network.edges()):
        values = "".join(
            f'<attvalue for="{columns.index(name)}" value="{value!r}"/>' for name, value in numbers.items()
        )
        inside = f"<attvalues>{values}</attvalues>" if values else ""
        lines.append(f'      <edge id="{k}" source={ids[x]} target={ids[y]}>{inside}</edge>')
    return "\n".join([*lines, "    </edges>", "  </graph>", "</gexf>"]) + "\n"


def loads(text: str) -> Network:
    """Read GEXF text; labels are the names, if every node has its own, and ids otherwise."""
    graph = child(parsed(text, "gexf"), "graph")
    every = [graph.get("defaultedgetype"), *(edge.get("type") for edge in graph.iter("edge"))]
    if "directed" in every:
        raise RequestError("the graph is directed")
    ids = [required(node, "id") for node in graph.iter("node")]
    labels = [node.get("label", "") for node in graph.iter("node")]
    names = dict(zip(ids, labels if len(set(labels)) == len(ids) else ids, strict=True))
    numeric = _numeric(graph)
    edges = []
    for edge in graph.iter("edge"):
        found = {
            numeric[key]: number(value.get("value"), "an edge")
            for value in edge.iter("attvalue")
            if (key := value.get("for", value.get("id", ""))) in numeric
        }
        ends = required(edge, "source"), required(edge, "target")
        if unknown := [end for end in ends if end not in names]:
            raise RequestError(f"an edge names the node {unknown[0][:40]!r}, which does not exist")
        edges.append((names[ends[0]], names[ends[1]], found))
    return network_of(names.values(), edges)


def _numeric(graph: ElementTree.Element) -> dict[str, str]:
    """Return the titles of the numeric attributes of edges, by id."""
    return {
        required(one, "id"): one.get("title", required(one, "id"))
        for group in graph.findall("attributes")
        if group.get("class") == "edge"
        for one in group.findall("attribute")
        if one.get("type") in ("double", "float", "integer", "long")
    }
