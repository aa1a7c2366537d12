"""Where variables stand in a picture."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ibmap import _checks
from ibmap._text import in_short
from ibmap.drawing import Drawn
from ibmap.drawing.stress import path_lengths, stress_layout
from ibmap.errors import RequestError

Place = Mapping[str, Sequence[float]]
Layout = str | PathLike[str] | Place | Callable[[Any], Place]

LAYOUTS = ("packed", "circle", "stress", "spring", "kamada_kawai", "shell")  #: and all others of networkx
SAME = {"circle": "circular", "stress": "packed"}  #: other names; "packed" draws each part by least stress
LARGE = 300  #: components of more variables are drawn by springs, which are faster


def places_of(graph: Drawn, layout: Layout, seed: int) -> Place:
    """Return where each variable stands, by the name of a layout, a mapping, or a function."""
    if isinstance(layout, PathLike):
        layout = read_places(layout)
    if isinstance(layout, Mapping):
        return _checked(layout, graph)
    if not isinstance(layout, str) and not callable(layout):
        raise RequestError(f"layout must be a name, a file, a dict or a function, not {in_short(layout)}")
    layout = SAME.get(layout, layout) if isinstance(layout, str) else layout
    if layout == "packed":
        return packed(graph, seed)
    import networkx as nx

    theirs = graph.to_networkx()
    if callable(layout):
        return _checked(layout(theirs), graph)
    function: Callable[..., Place] | None = getattr(nx, f"{layout}_layout", None)
    if function is None:
        raise RequestError(f"unknown layout {layout!r}: {', '.join(LAYOUTS)}, ...")
    try:
        return function(theirs, seed=seed) if layout in ("spring", "random") else function(theirs)
    except (nx.NetworkXException, TypeError, ValueError, AttributeError) as error:
        words = str(error).partition("\n")[0]
        raise RequestError(f"the layout {layout!r} does not work for this network: {words}") from None


def read_places(path: PathLike[str]) -> Place:
    """Read a CSV file with the columns variable, x and y."""
    try:
        rows = list(csv.DictReader(io.StringIO(Path(path).read_text("utf-8-sig"), newline="")))
        return {str(row["variable"]): (float(row["x"]), float(row["y"])) for row in rows}
    except (OSError, UnicodeDecodeError, LookupError, TypeError, ValueError):
        raise RequestError(f"{str(path)!r} must be a CSV file with the columns variable, x and y") from None


def _checked(places: object, graph: Drawn) -> Place:
    """Return places, if there is one for every variable."""
    if not isinstance(places, Mapping):
        raise RequestError(f"a layout must be a dict from variables to places, not {in_short(places)}")
    for name in graph.names:
        if name not in places:
            raise RequestError(f"the layout has no place for {name!r}")
        if np.shape(places[name]) != (2,) or not all(map(_checks.is_number, places[name])):
            raise RequestError(f"the place of {name!r} must be two numbers, not {in_short(places[name])}")
    return places


def packed(graph: Drawn, seed: int) -> Place:
    """Lay out every connected part by itself, the largest first, side by side; lone variables below.

    Examples
    --------
    >>> from ibmap import Graph
    >>> places = packed(Graph("abc", [("a", "b")]), 0)
    >>> places["c"][1] < places["a"][1]
    True
    """
    parts = sorted(_parts(graph), key=lambda part: (-len(part), part))
    places: dict[str, tuple[float, float]] = {}
    left = top = height = 0.0
    width = math.sqrt(sum(4 * len(part) for part in parts if len(part) > 1)) * 1.2
    for part in [part for part in parts if len(part) > 1]:
        radius = math.sqrt(len(part))
        if left and left + 2 * radius > width:
            left, top, height = 0.0, top - height - 1, 0.0
        within = _within(graph, part, seed)
        low, high = min(y for _, y in within), max(y for _, y in within)
        for i, (x, y) in zip(part, within, strict=True):
            places[graph.names[i]] = (left + radius * (1 + x), top - radius * (high - y))
        left, height = left + 2 * radius + 1, max(height, radius * (high - low))
    lone = sorted(part[0] for part in parts if len(part) == 1)
    across = max(1, math.ceil(max(width, math.sqrt(len(lone)))))
    for k, i in enumerate(lone):
        places[graph.names[i]] = (float(k % across), top - height - 1.2 * (1 + k // across))
    return places


def _parts(graph: Drawn) -> list[list[int]]:
    """Return the connected parts."""
    parts: list[list[int]] = []
    seen = np.zeros(graph.n_variables, bool)
    for i in range(graph.n_variables):
        if not seen[i]:
            part = graph.reachable([i])
            seen |= part
            parts.append(np.flatnonzero(part).tolist())
    return parts


def _within(graph: Drawn, part: list[int], seed: int) -> list[list[float]]:
    """Lay out one connected part between -1 and 1."""
    if len(part) <= LARGE:
        places = stress_layout(path_lengths(graph.adjacency[np.ix_(part, part)]))
    else:
        import networkx as nx

        theirs = nx.Graph(graph.to_networkx().subgraph(graph.names[i] for i in part))
        found = nx.spring_layout(theirs, seed=seed, k=1.6 / math.sqrt(len(part)))
        places = np.array([found[graph.names[i]] for i in part])
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return (places / np.abs(places).max()).tolist()  # type: ignore[no-any-return]
