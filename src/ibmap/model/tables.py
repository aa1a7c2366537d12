"""Networks from tables, as other programs hold them: weights, not logarithms."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ibmap._types import Floats
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.markov_network import MarkovNetwork

Table = tuple[Sequence[int], Any]  #: variables, and weights with a dimension for each


def weights_of(network: MarkovNetwork) -> Iterable[tuple[list[int], Floats]]:
    """Yield the variables and the weights of every table, the largest weight 1."""
    if not all(network.levels):
        raise RequestError("a model with numbers is not a product of tables: write it as model.json")
    for v, field in enumerate(network.fields):
        yield [v], np.exp(field - field.max())
    for pair, table in zip(network.graph.pairs.tolist(), network.factors, strict=True):
        yield pair, np.exp(table - table.max())
    for scope, table in zip(network.layout.interactions, network.tables, strict=True):
        yield list(scope), np.exp(table - table.max())


def network_of_tables(
    names: Sequence[str], levels: Sequence[tuple[Hashable, ...]], tables: Iterable[Table]
) -> MarkovNetwork:
    """Return the network that is the product of some tables.

    Examples
    --------
    >>> network = network_of_tables("ab", [(0, 1), (0, 1)], [([1, 0], [[3, 1], [1, 1]]), ([0], [1, 2])])
    >>> network.graph.edges, np.exp(network.factors[0]).round(3).tolist()
    ((('a', 'b'),), [[3.0, 1.0], [1.0, 1.0]])
    """
    fields = [np.zeros(len(labels)) for labels in levels]
    factors: dict[tuple[int, ...], Floats] = {}
    for variables, weights in tables:
        logs = _logs(weights, tuple(len(levels[v]) for v in variables), [names[v] for v in variables])
        if len(variables) == 1:
            fields[variables[0]] = fields[variables[0]] + logs
        elif len(variables) == 2 or (variables and np.ptp(logs) > 0):
            scope = tuple(sorted(variables))
            logs = logs.transpose(np.argsort(variables))
            factors[scope] = factors[scope] + logs if scope in factors else logs
    pairs = {pair for scope in factors for pair in combinations(scope, 2)}
    graph = Graph.from_pairs(np.array(sorted(pairs), np.int64).reshape(-1, 2), names)
    shapes = [(len(levels[i]), len(levels[j])) for i, j in graph.pairs.tolist()]
    of_pairs = zip(map(tuple, graph.pairs.tolist()), shapes, strict=True)
    ordered = tuple(factors.get(pair, np.zeros(shape)) for pair, shape in of_pairs)
    wide = sorted(scope for scope in factors if len(scope) > 2)
    interactions = tuple(tuple(graph.names[v] for v in scope) for scope in wide)
    more = {"interactions": interactions, "tables": tuple(factors[scope] for scope in wide)}
    return MarkovNetwork(graph, tuple(levels), tuple(fields), ordered, **more)  # type: ignore[arg-type]


def _logs(weights: Any, shape: tuple[int, ...], names: Sequence[str]) -> Floats:
    found = np.asarray(weights, dtype=np.float64)
    if found.size != np.prod(shape, dtype=int):
        raise RequestError(f"the table of {', '.join(map(str, names))} has {found.size} entries, not {shape}")
    if not np.isfinite(found).all() or (found < 0).any():
        raise RequestError(f"the table of {', '.join(map(str, names))} has entries that are not weights")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(found.reshape(shape)))


def checked(model: Mapping[str, Any] | Any, attribute: str, expected: str) -> Any:
    """Return an attribute of an object of another library, or say what was expected."""
    found = getattr(model, attribute, None)
    if found is None:
        raise RequestError(f"expected {expected}, not {type(model).__name__}")
    return found
