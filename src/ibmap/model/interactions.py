"""Which variables of a network have a table together, because their pairs do not say it all.

Chosen by the evidence that also learns the network: a clique has a table if of each of its variables, given
the others, a full table has more evidence than main effects, and on average so much that it is the likelier
of the two (``criteria/adaptive.py``: one in a hundred a priori). Otherwise its parts are looked at.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from math import log
from typing import Any

import numpy as np

from ibmap import _checks
from ibmap._text import in_short, listing
from ibmap._types import Floats
from ibmap.criteria.adaptive import AdaptiveScore
from ibmap.criteria.families import is_modelled
from ibmap.engines import Engine
from ibmap.engines.model import Model
from ibmap.errors import RequestError
from ibmap.graph import Graph

WIDE = 7  #: variables of a clique up to which all its parts are looked at; beyond, its triples
MOST_CLIQUES = 10_000  #: that are looked at; dense graphs have very many
Scope = tuple[int, ...]


def interactions_in(engine: Engine, graph: Graph) -> list[Scope]:
    """Return the cliques of three variables or more that have a table together, by the evidence.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> a, b, c = np.random.default_rng(0).integers(2, size=(3, 200))
    >>> engine = as_engine(load({"a": a, "b": b, "c": c, "d": a ^ b}))
    >>> interactions_in(engine, Graph.complete("abcd"))
    [(0, 1, 3)]
    """
    left: dict[int, set[Scope]] = defaultdict(set)
    for clique in _maximal_cliques(graph):
        left[len(clique)].add(clique)
    found: list[Scope] = []
    for size in range(max(left, default=0), 2, -1):
        new = sorted(scope for scope in left[size] if not any(set(scope) <= set(other) for other in found))
        chosen = set(_are_more(engine, _with_a_say(engine, new)))
        found += sorted(chosen)
        smaller = size - 1 if size <= WIDE else 3
        for scope in new:
            if scope not in chosen and smaller > 2:
                left[smaller].update(combinations(scope, smaller))
    return sorted(found)


def _maximal_cliques(graph: Graph) -> list[Scope]:
    """Return the largest cliques of three variables or more; of very many, some (Bron and Kerbosch 1973)."""
    around = [set(graph.neighbours(v).tolist()) for v in range(graph.n_variables)]

    def cliques(clique: Scope, left: set[int], seen: set[int]) -> Iterator[Scope]:
        if not left and not seen and len(clique) > 2:
            yield tuple(sorted(clique))
        if not left:
            return
        pivot = max(sorted(left | seen), key=lambda v: len(around[v] & left))
        for v in sorted(left - around[pivot]):
            yield from cliques((*clique, v), left & around[v], seen & around[v])
            left, seen = left - {v}, seen | {v}

    def all_cliques() -> Iterator[Scope]:
        for v, neighbours in enumerate(around):  # each with those that come later
            later = {u for u in neighbours if u > v}
            yield from cliques((v,), later, neighbours - later)

    return sorted(islice(all_cliques(), MOST_CLIQUES))


def _with_a_say(engine: Engine, scopes: Iterable[Scope]) -> list[Scope]:
    """Return those of few enough levels, with no more cells than there are rows."""
    modelled, levels = is_modelled(engine.schema), np.asarray(engine.schema.cardinalities)
    logs, most = np.log(np.maximum(levels, 1)), log(max(engine.schema.n_rows, 1)) + 1e-9
    return [scope for scope in scopes if modelled[list(scope)].all() and logs[list(scope)].sum() <= most]


def _are_more(engine: Engine, scopes: Sequence[Scope]) -> list[Scope]:
    """Return the sets of variables whose full tables are likelier than main effects."""
    if not scopes:
        return []
    owner = [s for s, scope in enumerate(scopes) for _ in scope]
    evidence = more_than_main_effects(engine, scopes)
    mean, least = np.bincount(owner, evidence) / np.bincount(owner), np.full(len(scopes), np.inf)
    np.minimum.at(least, owner, evidence)
    share = float(AdaptiveScore().options()["saturated_share"])
    chosen = (mean > log((1 - share) / share)) & (least > 0)
    return [scopes[k] for k in np.flatnonzero(chosen).tolist()]


def more_than_main_effects(engine: Engine, scopes: Sequence[Scope]) -> Floats:
    """Return the log evidence of a full table beyond main effects, of each variable given its set.

    Less what it is ahead without neighbours, where both are the same model.
    """
    xs = np.array([x for scope in scopes for x in scope], np.int64)
    blankets = [np.array([y for y in scope if y != x], np.int64) for scope in scopes for x in scope]
    options = AdaptiveScore().options()
    about: dict[str, Any] = {name: options[name] for name in ("effect_variance", "prior_count")}
    alone = [np.empty(0, np.int64)] * engine.schema.n_variables
    found, start = [], []
    for family in ("saturated", "pairwise"):
        model = Model(family, **about)
        found.append(2 * engine.rows(model, xs, blankets, floor=np.inf).value)
        start.append(2 * engine.rows(model, np.arange(len(alone)), alone, floor=np.inf).value)
    return np.asarray(found[0] - found[1] - (start[0] - start[1])[xs])


def as_scopes(interactions: object, graph: Graph) -> list[Scope]:
    """Return sets of names as variables of a graph, in its order, each once."""
    if isinstance(interactions, str) or not isinstance(interactions, Iterable):
        raise RequestError(f"interactions are sets of names, not {interactions!r}")
    scopes = set()
    for given in interactions:
        names = _checks.names_in(given, "an interaction")
        if len(names) < 3:
            raise RequestError(f"an interaction has three variables or more, not {in_short(given)}")
        scopes.add(tuple(sorted({graph.index(name) for name in names})))
    require_cliques(scopes, graph)
    return sorted(scopes)


def require_cliques(scopes: Iterable[Scope], graph: Graph) -> None:
    """Refuse sets of variables that are not all adjacent to each other."""
    for scope in scopes:
        if not all(graph.adjacency[i, j] for i, j in combinations(scope, 2)):
            of = listing(graph.names[v] for v in scope)
            raise RequestError(f"an interaction of {of} needs edges between all of them")
