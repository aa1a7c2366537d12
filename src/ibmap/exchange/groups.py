"""Groups of variables, found or given, and how central a variable is in its network."""

import csv
import io
from collections.abc import Mapping
from os import PathLike
from typing import Any, TypeAlias

from ibmap import _checks
from ibmap._files import read_whole
from ibmap._text import in_short
from ibmap.errors import DataError, RequestError
from ibmap.exchange.network import Network, Numbers, as_network

Groups: TypeAlias = Mapping[str, str]  #: from variables to the names of their groups

FOUND = "found"  #: instead of groups: communities
NONE = ""  #: of a variable that is in no group
SIZES = ("partial_correlation", "score_correlation", "strength", "posterior")  #: how strong an edge is


def weight_of(numbers: Numbers) -> float:
    """Return how strong an edge is, from 0 to 1: by its effect, or its posterior; 1 if nothing is known.

    Examples
    --------
    >>> weight_of({"posterior": 0.9, "strength": -0.25}), weight_of({})
    (0.25, 1.0)
    """
    return next((abs(numbers[name]) for name in SIZES if name in numbers), 1.0)


def strengths(source: Any) -> dict[str, float]:
    """Return the strength centrality of every variable: how strong its edges are, added up.

    Examples
    --------
    >>> from ibmap import Graph
    >>> strengths(Graph("abc", [("a", "b"), ("b", "c")]))
    {'a': 1.0, 'b': 2.0, 'c': 1.0}
    """
    network = as_network(source)
    found = dict.fromkeys(network.graph.names, 0.0)
    for x, y, numbers in network.edges():
        found[x] += weight_of(numbers)
        found[y] += weight_of(numbers)
    return found


def communities(source: Any) -> dict[str, str]:
    """Return groups of variables with more, and stronger, edges among them than between them.

    They have the largest modularity that joining groups step by step finds (Clauset, Newman and Moore 2004),
    the same every time; the largest one is the first. A variable without edges is in none: "".

    Parameters
    ----------
    source : Graph, Learned or estimator
        The network; edges weigh as much as their effect, or their posterior.

    Examples
    --------
    >>> from ibmap import Graph
    >>> communities(Graph("abcdef", [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")]))
    {'a': 'group 1', 'b': 'group 1', 'c': 'group 1', 'd': 'group 2', 'e': 'group 2', 'f': ''}
    """
    import networkx as nx

    network = as_network(source)
    graph, found = nx.Graph(), dict.fromkeys(network.graph.names, NONE)
    graph.add_nodes_from(i for i in range(network.graph.n_variables) if len(network.graph.neighbours(i)))
    for x, y, numbers in network.edges():
        ends = network.graph.index(x), network.graph.index(y)
        graph.add_edge(*ends, weight=max(weight_of(numbers), 1e-6))
    if not graph.number_of_edges():
        return found
    parts = nx.community.greedy_modularity_communities(graph, weight="weight")
    ordered = sorted((sorted(part) for part in parts), key=lambda part: (-len(part), part[0]))
    for k, part in enumerate(ordered, start=1):
        found |= {network.graph.names[i]: f"group {k}" for i in part}
    return {name: found[name] for name in network.graph.names}


def as_groups(source: Any, groups: Any) -> dict[str, str]:
    """Return the group of every variable: those that are given, a file of them, or communities if "found".

    Examples
    --------
    >>> from ibmap import Graph
    >>> as_groups(Graph("ab"), {"a": "drinks"})
    {'a': 'drinks', 'b': ''}
    """
    network = as_network(source)
    if isinstance(groups, str) and groups == FOUND:
        return communities(network)
    if isinstance(groups, str | PathLike):
        groups = read_groups(groups)
    if not isinstance(groups, Mapping):
        raise RequestError(
            f'groups must be "found", a file, or a dict from variables to groups, not {in_short(groups)}'
        )
    for name in groups:
        network.graph.index(name)  # raises if there is no such variable
    return {name: str(groups.get(name, NONE)) for name in network.graph.names}


def read_groups(path: str | PathLike[str]) -> dict[str, str]:
    """Read a CSV file with the columns variable and group."""
    try:
        text = read_whole(_checks.file_path(path, "groups")).decode("utf-8-sig")
    except (FileNotFoundError, IsADirectoryError):
        raise RequestError(
            f"there is no file {str(path)!r}: groups are a CSV with the columns variable and group, "
            'or "found"'
        ) from None
    except UnicodeDecodeError:
        raise DataError(f"{str(path)!r} is not text in UTF-8") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if not {"variable", "group"} <= set(rows.fieldnames or ()):
        raise DataError(f"{str(path)!r} must have the columns variable and group")
    return {str(row["variable"]): str(row["group"] or NONE) for row in rows}


def with_groups(source: Any, groups: Any) -> Network:
    """Return a network that knows the groups of its variables, and how central they are."""
    network = as_network(source)
    return Network(network.graph, network.numbers, as_groups(network, groups))
