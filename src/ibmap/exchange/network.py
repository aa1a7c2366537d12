"""What passes between formats: a graph, and numbers on its edges."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ibmap.errors import RequestError
from ibmap.graph import Graph

Numbers = Mapping[str, float]

#: numbers that a learner puts on edges; the last two are what each end says, and change places with the ends
POSTERIORS = ("posterior", "log_posterior_xy", "log_posterior_yx")
_TURNED = {POSTERIORS[1]: POSTERIORS[2], POSTERIORS[2]: POSTERIORS[1]}


@dataclass(frozen=True)
class Network:
    """A graph with numbers on its edges.

    Attributes
    ----------
    graph : Graph
        The structure.
    numbers : tuple of mappings
        For each edge, in the order of ``graph.edges``, its numbers by name: ``posterior``,
        ``log_posterior_xy`` and ``log_posterior_yx`` (x is the first end); ``strength``, and
        ``log_odds_ratio`` of two binary variables and ``score_correlation`` of ordered levels, with standard
        errors; of continuous ones ``partial_correlation`` and its error, and ``correlation``. Empty if there
        are none.
    groups : mapping
        The group of each variable, "" if it is in none; empty if there are no groups.
    copies : tuple of tuples of str
        Variables that are the same in all rows, and share their edges.
    predictability : mapping
        Which share of a variable its neighbours predict in unseen rows; empty if that is not known.
    """

    graph: Graph
    numbers: tuple[Numbers, ...] = field(default=(), repr=False)
    groups: Mapping[str, str] = field(default_factory=dict, repr=False)
    copies: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    predictability: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> list[str]:
        """Names of the numbers, in the order in which they first occur."""
        return list(dict.fromkeys(name for numbers in self.numbers for name in numbers))

    def edges(self) -> list[tuple[str, str, Numbers]]:
        """Return every edge with its numbers."""
        numbers = self.numbers or ({},) * self.graph.n_edges
        return [(x, y, these) for (x, y), these in zip(self.graph.edges, numbers, strict=True)]


def network_of(names: Iterable[str], edges: Iterable[tuple[str, str, Numbers]]) -> Network:
    """Build a network from variables and edges in any order; of an edge named twice the first numbers count.

    Examples
    --------
    >>> network_of("ab", [("b", "a", {"posterior": 0.9, "log_posterior_xy": -0.1})]).numbers
    ({'posterior': 0.9, 'log_posterior_yx': -0.1},)
    """
    given = list(edges)
    graph = Graph(names, [(x, y) for x, y, _ in given])
    found: dict[tuple[str, str], Numbers] = {}
    for x, y, numbers in given:
        known = {name: value for name, value in numbers.items() if not math.isnan(value)}
        if graph.index(x) > graph.index(y):
            x, y, known = y, x, {_TURNED.get(name, name): value for name, value in known.items()}
        found.setdefault((x, y), known)
    ordered = tuple(found[edge] for edge in graph.edges)
    return Network(graph, ordered if any(ordered) else ())


def as_network(source: Any) -> Network:
    """Return a Network: from a Graph, what a learner returns, a fitted estimator, or a Network.

    Examples
    --------
    >>> as_network(Graph("ab", [("a", "b")])).edges()
    [('a', 'b', {})]
    """
    if isinstance(source, Network):
        return source
    if isinstance(source, Graph):
        return Network(source)
    learned = getattr(source, "described_", source)
    graph, table = getattr(learned, "graph", None), getattr(learned, "edge_table", None)
    if not isinstance(graph, Graph):
        raise RequestError(f"expected a Graph or what a learner returned, not {type(source).__name__}")
    numbers: list[dict[str, float]] = [{} for _ in range(graph.n_edges)]
    if table is not None and table.has_posteriors:
        for known, pair in zip(numbers, graph.pairs.tolist(), strict=True):
            one, other = table.of_pair[tuple(pair)]
            known.update(zip(POSTERIORS, (math.exp((one + other) / 2), one, other), strict=True))
    effects = getattr(learned, "effects", None)
    if effects is not None:
        for e, known in enumerate(numbers):
            known.update(effects.numbers(e))
    copies = tuple(map(tuple, getattr(learned, "copies", ())))
    shares = getattr(learned, "predictability", None) or {}
    return Network(graph, tuple(numbers) if any(numbers) else (), copies=copies, predictability=shares)


def copies_as_one(network: Network) -> tuple[Network, dict[str, str]]:
    """Return a network in which copies are one variable, "a = b", and how every variable is called there.

    Examples
    --------
    >>> three = Graph("abz", [("a", "b"), ("a", "z"), ("b", "z")])
    >>> copies_as_one(Network(three, copies=(("a", "b"),)))[0].edges()
    [('a = b', 'z', {})]
    """
    names = {name: name for name in network.graph.names}
    names |= {name: " = ".join(group) for group in network.copies for name in group}
    size = {" = ".join(group): len(group) for group in network.copies}
    edges = []
    for x, y, numbers in network.edges():
        one, other = names[x], names[y]
        if one != other:  # the posterior was shared out
            shared = size.get(one, 1) * size.get(other, 1)
            more = {"posterior": min(1.0, shared * numbers["posterior"])} if "posterior" in numbers else {}
            edges.append((one, other, {**numbers, **more}))
    merged = network_of(dict.fromkeys(names.values()), edges)
    shares = {names[name]: share for name, share in network.predictability.items()}
    return replace(merged, predictability=shares), names


def number(text: Any, where: str) -> float:
    """Return a number that a file holds as text."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(f"{where}: {str(text)[:40]!r} is not a number") from None
