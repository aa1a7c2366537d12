"""Models of pgmpy and pyAgrum, to and from; each library is imported when it is asked for."""

from typing import Any

import numpy as np

from ibmap._libraries import library
from ibmap.errors import RequestError
from ibmap.model.markov_network import MarkovNetwork
from ibmap.model.tables import Table, checked, network_of_tables, weights_of


def to_pgmpy(network: MarkovNetwork) -> Any:
    """Return pgmpy's ``DiscreteMarkovNetwork`` with the factors of a network.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> ab = MarkovNetwork(Graph("ab", [("a", "b")]), ((0, 1),) * 2, (np.zeros(2),) * 2, (np.eye(2),))
    >>> to_pgmpy(ab).check_model()
    True
    """
    models, factors = library("pgmpy.models"), library("pgmpy.factors.discrete")
    model = getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork
    model = model()
    model.add_nodes_from(network.names)
    model.add_edges_from(network.graph.edges)
    for variables, weights in weights_of(network):
        names = [network.names[v] for v in variables]
        states = {network.names[v]: list(network.levels[v]) for v in variables}
        model.add_factors(factors.DiscreteFactor(names, list(weights.shape), weights.ravel(), states))
    return model


def from_pgmpy(model: Any) -> MarkovNetwork:
    """Return the network of a pgmpy model."""
    names = [str(node) for node in checked(model, "nodes", "a Markov network of pgmpy")]
    factors = checked(model, "get_factors", "a Markov network of pgmpy")()
    states: dict[str, tuple[Any, ...]] = {}
    for factor in factors:
        states.update({str(name): tuple(labels) for name, labels in factor.state_names.items()})
    absent = [name for name in names if name not in states]
    if absent:
        raise RequestError(f"the model has no factor of {absent[0]!r}: nothing says which levels it has")
    tables: list[Table] = [([names.index(str(v)) for v in one.variables], one.values) for one in factors]
    return network_of_tables(names, [states[name] for name in names], tables)


def to_pyagrum(network: MarkovNetwork) -> Any:
    """Return pyAgrum's ``MarkovRandomField`` with the factors of a network; labels become text."""
    gum = library("pyagrum")
    model, tables = gum.MarkovRandomField(), list(weights_of(network))
    for name, labels in zip(network.names, network.levels, strict=True):
        model.add(gum.LabelizedVariable(name, name, [str(label) for label in labels]))
    for variables, weights in tables:
        names = [network.names[v] for v in variables]
        model.addFactor(names)
        tensor = model.factor(names)
        ordered = weights.transpose([names.index(name) for name in tensor.names])
        tensor[:] = np.ascontiguousarray(ordered.T)  # its arrays have the last variable first
    return model


def from_pyagrum(model: Any) -> MarkovNetwork:
    """Return the network of a ``MarkovRandomField``."""
    scopes = checked(model, "factors", "a MarkovRandomField of pyAgrum")()
    nodes = sorted(model.nodes())
    names = [model.variable(node).name() for node in nodes]
    levels = [tuple(model.variable(node).labels()) for node in nodes]
    tables: list[Table] = []
    for scope in scopes:
        tensor = model.factor(scope)
        order = [names.index(name) for name in tensor.names]
        tables.append((order, np.asarray(tensor.toarray()).T))
    return network_of_tables(names, levels, tables)
