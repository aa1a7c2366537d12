"""A small picture of a network as SVG text: for notebooks and pages, without matplotlib."""

from collections.abc import Mapping, Sequence
from html import escape
from math import sqrt
from typing import NamedTuple

import numpy as np

from ibmap.drawing import Drawn
from ibmap.drawing.layouts import places_of

Edge = tuple[str, str]

ACCENT, WRONG, UNSIGNED, INK = "#2563a8", "#c8322b", "#555555", "#222222"
LONGEST = 18  #: characters of a name that are shown
NAMED = 60  #: variables up to which names are shown
MOST = 300  #: variables with edges beyond which nothing is drawn
MARGIN = 34


class Line(NamedTuple):
    """How an edge is drawn."""

    width: float = 1.5
    colour: str = ACCENT
    dashed: bool = False
    title: str = ""  #: what is shown where the mouse rests


def network_svg(graph: Drawn, lines: Mapping[Edge, Line] | None = None, *, width: int = 420) -> str:
    """Return a picture of the variables that have edges; how many have none is said below.

    Nothing is drawn if more than 300 have edges.

    Parameters
    ----------
    graph : Graph
        What to draw.
    lines : mapping of (str, str) to Line, optional
        How each edge is drawn.
    width : int
        Pixels.

    Examples
    --------
    >>> from ibmap import Graph
    >>> text = network_svg(Graph(["a", "b", "<c>"], [("a", "b")]))
    >>> text.startswith("<svg"), text.count("<line"), "1 variable has no edge" in text, "<c>" in text
    (True, 1, True, False)
    """
    kept = [name for i, name in enumerate(graph.names) if len(graph.neighbours(i))]
    alone = graph.n_variables - len(kept)
    if len(kept) > MOST:
        return ""
    part: Drawn = type(graph)(kept, graph.edges)  # type: ignore[call-arg]
    at, height = _points(part, width) if kept else ({}, 8)
    height += 20 * bool(alone)
    drawn = [_line(at, edge, (lines or {}).get(edge, Line())) for edge in part.edges]
    drawn += [part for name in kept for part in _variable(name, at[name], len(kept) <= NAMED)]
    if alone:
        have = "variable has" if alone == 1 else "variables have"
        drawn.append(
            f'<text x="4" y="{height - 4}" font-size="10" fill="{UNSIGNED}">{alone:,} {have} no edge</text>'
        )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="sans-serif" style="background:#fff;max-width:100%">'
    )
    return head + "".join(drawn) + "</svg>"


def _points(graph: Drawn, width: int) -> tuple[dict[str, tuple[float, float]], int]:
    """Return where variables stand, in pixels, and how high the picture is."""
    places = places_of(graph, "packed", seed=0)
    points = np.array([places[name] for name in graph.names], float).reshape(-1, 2)
    low, span = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    free = width - 2 * MARGIN
    tall = free * min(max(span[1] / span[0], 0.1), 0.9)
    xs, ys = ((points - low) / span).T
    at = {
        name: (MARGIN + free * x, 0.7 * MARGIN + tall * (1 - y))
        for name, x, y in zip(graph.names, xs.tolist(), ys.tolist(), strict=True)
    }
    return at, round(tall + 1.2 * MARGIN)


def _line(at: Mapping[str, Sequence[float]], edge: Edge, line: Line) -> str:
    (x1, y1), (x2, y2) = (at[name] for name in edge)
    dash = ' stroke-dasharray="5 3"' if line.dashed else ""
    title = f"<title>{escape(line.title)}</title>" if line.title else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{line.colour}" '
        f'stroke-width="{line.width:.1f}" stroke-opacity="0.85"{dash}>{title}</line>'
    )


def _variable(name: str, at: Sequence[float], named: bool) -> list[str]:
    x, y = at
    shown = " ".join(name.split())
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
    text = (
        f'<text x="{x:.1f}" y="{y - 5:.1f}" font-size="10" text-anchor="middle" fill="{INK}" stroke="#fff" '
        f'stroke-width="3" paint-order="stroke">{escape(shown)}</text>'
    )
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{INK}"><title>{escape(name)}</title></circle>'
    return [circle, text] if named else [circle]


def width_of(strength: float) -> float:
    """Return how wide an edge of this strength, from 0 to 1, is drawn.

    Examples
    --------
    >>> width_of(0.0), width_of(1.0)
    (0.8, 4.0)
    """
    return 0.8 + 3.2 * sqrt(min(abs(strength), 1.0))
