"""Where variables stand in a picture."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ibmap.errors import RequestError
from ibmap.graph import Graph

Place = Mapping[str, Sequence[float]]
Layout = str | Place | Callable[[Any], Place]

LARGE = 300  #: components of more variables are drawn by springs, which are faster


def places_of(graph: Graph, layout: Layout, seed: int) -> Place:
    """Return where each variable stands, by the name of a layout, a mapping, or a function."""
    if isinstance(layout, Mapping):
        if missing := [name for name in graph.names if name not in layout]:
            raise RequestError(f"the layout has no place for {missing[0]!r}")
        return layout
    import networkx as nx

    theirs = graph.to_networkx()
    if callable(layout):
        return layout(theirs)
    if layout == "packed":
        return packed(theirs, seed)
    function: Callable[..., Place] | None = getattr(nx, f"{layout}_layout", None)
    if function is None:
        raise RequestError(f"unknown layout {layout!r}: packed, spring, circular, kamada_kawai, shell, ...")
    return function(theirs, seed=seed) if layout in ("spring", "random") else function(theirs)


def packed(graph: Any, seed: int) -> Place:
    """Lay out every connected part by itself, the largest first, side by side; lone variables below.

    Examples
    --------
    >>> places = packed(Graph("abc", [("a", "b")]).to_networkx(), 0)
    >>> places["c"][1] < places["a"][1]
    True
    """
    import networkx as nx

    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda p: (-len(p), p))
    places: dict[str, tuple[float, float]] = {}
    left = top = height = 0.0
    width = math.sqrt(sum(4 * len(part) for part in parts if len(part) > 1)) * 1.2
    for part in [part for part in parts if len(part) > 1]:
        radius = math.sqrt(len(part))
        if left and left + 2 * radius > width:
            left, top, height = 0.0, top - height - 1, 0.0
        own = nx.Graph(graph.subgraph(part))
        inner = (
            nx.kamada_kawai_layout(own)
            if len(part) <= LARGE
            else nx.spring_layout(own, seed=seed, k=1.6 / radius)
        )
        for name, (x, y) in inner.items():
            places[name] = (left + radius * (1 + float(x)), top - radius * (1 - float(y)))
        left, height = left + 2 * radius + 1, max(height, 2 * radius)
    lone = [part[0] for part in parts if len(part) == 1]
    across = max(1, math.ceil(max(width, math.sqrt(len(lone)))))
    for k, name in enumerate(name for name in graph.nodes if name in set(lone)):
        places[name] = (float(k % across), top - height - 1.2 * (1 + k // across))
    return places
