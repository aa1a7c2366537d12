"""Communities, groups that are given, and strength: found, coloured, written."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from ibmap import Graph
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.exchange import communities, dumps, loads, strengths, with_groups
from ibmap.exchange.groups import as_groups, read_groups
from ibmap.exchange.network import network_of

CLIQUES = Graph(
    "abcdefgh", [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e"), ("d", "f"), ("e", "f"), ("c", "d")]
)


def test_cliques_are_communities_whatever_the_order() -> None:
    found = communities(CLIQUES)
    assert found == {**dict.fromkeys("abc", "group 1"), **dict.fromkeys("def", "group 2"), "g": "", "h": ""}
    turned = communities(CLIQUES.permute("hgfedcba"))
    parts = [
        {frozenset(v for v in "abcdef" if one[v] == k) for k in ("group 1", "group 2")}
        for one in (found, turned)
    ]
    assert parts[0] == parts[1]


def test_weak_edges_join_no_communities() -> None:
    edges = [("a", "b", {"strength": 0.9}), ("b", "c", {"strength": -0.01}), ("c", "d", {"strength": 0.9})]
    network = network_of("abcd", edges)
    assert list(communities(network).values()) == ["group 1", "group 1", "group 2", "group 2"]
    assert strengths(network)["b"] == pytest.approx(0.91)


@pytest.mark.parametrize("graph", [Graph("a"), Graph("abc")])
def test_without_edges_there_are_no_groups(graph: Graph) -> None:
    assert set(communities(graph).values()) == {""}
    assert set(strengths(graph).values()) == {0.0}


def test_hundreds_of_variables_take_no_time() -> None:
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(300)]
    pairs = {tuple(sorted(rng.choice(300, 2, replace=False).tolist())) for _ in range(900)}
    assert len(set(communities(Graph(names, [(names[i], names[j]) for i, j in pairs])).values())) > 2


def test_graphml_holds_groups_and_strength() -> None:
    text = dumps(with_groups(CLIQUES, {"a": "<one> & two"}), "graphml")
    found = nx.parse_graphml(text)
    assert found.nodes["a"]["group"] == "<one> & two"
    assert found.nodes["c"]["strength"] == 3.0
    assert loads(text, "graphml").graph.edges == CLIQUES.edges
    with pytest.raises(RequestError, match="which GraphML cannot"):
        dumps(with_groups(CLIQUES, {"a": "\x00"}), "graphml")


def test_groups_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "groups.csv").write_text('variable,group\na,"x, y"\nb,\n')
    assert read_groups(tmp_path / "groups.csv") == {"a": "x, y", "b": ""}
    (tmp_path / "other.csv").write_text("name,group\na,x\n")
    with pytest.raises(DataError, match="columns variable and group"):
        read_groups(tmp_path / "other.csv")
    with pytest.raises(RequestError, match="there is no file"):
        read_groups(tmp_path / "none.csv")


@pytest.mark.parametrize("groups", [{"z": "x"}, 3])
def test_groups_that_make_no_sense_are_refused(groups: Any) -> None:
    with pytest.raises(IbmapError):
        as_groups(CLIQUES, groups)
