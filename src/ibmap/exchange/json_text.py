"""JSON: ``{"variables": [...], "edges": [[x, y], ...], "numbers": {name: [one per edge]}}``.

Networks with variables that are the same in all rows have ``"copies": [[x, y, ...], ...]``, too, and those
that know how well each variable is predicted ``"predictability": {name: share}``.
"""

import json
import math
from dataclasses import replace
from typing import Any

from ibmap.errors import RequestError
from ibmap.exchange.network import Network, network_of, number
from ibmap.graph import Graph


def dumps(network: Network) -> str:
    """Return JSON text; ``Graph.from_json`` reads it too."""
    return json.dumps(content(network), ensure_ascii=False) + "\n"


def content(network: Network) -> dict[str, Any]:
    """Return what the text holds, as a dict."""
    graph = network.graph
    found: dict[str, Any] = {"variables": list(graph.names), "edges": [list(edge) for edge in graph.edges]}
    if network.numbers:
        found["numbers"] = {
            name: [_finite(numbers.get(name)) for numbers in network.numbers] for name in network.columns
        }
    if network.copies:
        found["copies"] = [list(group) for group in network.copies]
    if network.predictability:
        found["predictability"] = dict(network.predictability)
    return found


def loads(text: str) -> Network:
    """Read JSON text; other keys are ignored."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the text is damaged ({error})") from None
    return network_from(found)


def network_from(found: Any) -> Network:
    """Return the network of a dict."""
    graph = Graph.from_json(found)
    columns = found.get("numbers") or {}
    edges = found["edges"]
    lists = columns.values() if isinstance(columns, dict) else [None]
    if not all(isinstance(column, list) and len(column) == len(edges) for column in lists):
        raise RequestError("numbers must hold lists as long as the list of edges")
    numbers = [
        {name: number(column[k], name) for name, column in columns.items() if column[k] is not None}
        for k in range(len(edges))
    ]
    network = network_of(graph.names, [(x, y, these) for (x, y), these in zip(edges, numbers, strict=True)])
    return replace(
        network,
        copies=_copies(found.get("copies") or [], graph),
        predictability=_shares(found.get("predictability") or {}, graph),
    )


def _shares(found: Any, graph: Graph) -> dict[str, float]:
    """Return how well variables are predicted; older files do not say."""
    if not isinstance(found, dict):
        raise RequestError("predictability must have a share for each variable")
    shares = {graph.names[graph.index(name)]: number(share, name) for name, share in found.items()}
    if not all(0 <= share <= 1 for share in shares.values()):
        raise RequestError("predictability must lie between 0 and 1")
    return shares


def _copies(groups: Any, graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Return the variables that are the same in all rows; older files do not say."""
    found = tuple(tuple(str(name) for name in list(group)) for group in list(groups))
    every = [name for group in found for name in group]
    for name in every:
        graph.index(name)  # raises if there is no such variable
    if any(len(group) < 2 for group in found) or len(set(every)) < len(every):
        raise RequestError("copies are groups of two variables or more, each in one of them")
    return found


def _finite(value: float | None) -> float | str | None:
    """Return a number; JSON knows no infinity, so it becomes a word that ``float`` understands."""
    return value if value is None or math.isfinite(value) else str(value)
