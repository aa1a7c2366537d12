"""IBMAP-HC: hill climbing on the IB-score (paper, Algorithms 1 and 2); or any score, by any search."""

from collections.abc import Callable, Iterable
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np

from ibmap._parallel import n_threads
from ibmap._types import Floats
from ibmap.data import Schema
from ibmap.engines import Source, as_engine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence import IndependenceTest, as_test
from ibmap.learners.checkpoint import Checkpoint, keeper_of
from ibmap.results.learned import Learned, Step, learned_from
from ibmap.results.provenance import Provenance
from ibmap.scores import Score, as_score
from ibmap.search import Search, as_search

Edges = Iterable[tuple[str, str]]
Indices = list[tuple[int, int]]

BATCH = 50_000_000  #: cells of the table that pass between two looks at the keyboard


def ibmap_hc(
    data: Source,
    test: object = None,
    *,
    score: object = None,
    search: object = None,
    patience: int = 0,
    start: Graph | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    n_jobs: int | None = None,
    callback: Callable[[Step], object] | None = None,
    engine: Any = None,
    checkpoint: Checkpoint | str | PathLike[str] | None = None,
) -> Learned:
    """Learn a Markov network by hill climbing on the IB-score.

    Start from the empty graph; flip the pair that is least credible under the current graph, as long as that
    raises the score. The options are those of :class:`ibmap.IBMAP`; ``data`` is a table, or an engine that
    holds one; ``checkpoint`` names a file where the search is saved every ten seconds (or as
    :class:`Checkpoint` says) and taken up again if it is there. It stays when the search is over.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> table = load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)})
    >>> ibmap_hc(table).graph.edges
    (('a', 'b'),)
    >>> ibmap_hc(table, score="mpl", search="rounds").graph.edges
    (('a', 'b'),)
    """
    began = perf_counter()
    by, how = as_score(score), as_search(search, patience)
    asked = chosen_test(by, test)
    counting = as_engine(data, engine)
    schema = counting.schema
    edges, must, must_not = constraints(schema, start, required or (), forbidden or ())
    locked = must + must_not
    bound = by.bind(counting, asked, min(n_threads(n_jobs), max(schema.n_variables, 1)))
    running = how.begin(bound, edges, locked)  # Algorithm 1, lines 1 and 2
    history: list[Step] = []
    provenance = Provenance("ibmap-hc", _said(by, how, start), asked, by, how)
    keeper = keeper_of(checkpoint, schema, provenance, sorted(edges), sorted(locked))
    finished = keeper.restore(running, history, schema.names) if keeper else False
    batch = max(1, min(512, BATCH // max(1, schema.n_rows * schema.n_variables)))
    stopped = False
    while not (finished or stopped):  # lines 3 to 10
        flips = running.advance(1 if callback else batch, batch)
        finished = running.finished
        for x, y, added, gain, value in flips:
            history.append(Step(len(history) + 1, schema.names[x], schema.names[y], added, gain, value))
            if callback and callback(history[-1]) in (True, np.True_):
                stopped = True
        if keeper:
            keeper.save(running, history, schema.index, finished=finished, at_once=finished or stopped)
    return learned_from(
        schema,
        running.pairs,
        provenance,
        n_tests=running.n_tests,
        n_iter=len(history),
        seconds=perf_counter() - began + (keeper.seconds if keeper else 0.0),
        score=running.total,
        pair_scores=read_only(running.pair_scores),
        history=tuple(history),
        required=named_pairs(schema, must),
        forbidden=named_pairs(schema, must_not),
    )


def chosen_test(score: Score, test: object) -> IndependenceTest | None:
    """Return the test that the score asks; None if it asks none, and then none may be given."""
    if score.uses_test:
        return as_test(test)
    if test is not None:
        raise RequestError(f"the score {score.name!r} asks no test: leave test=None, or use score='ib'")
    return None


def _said(score: Score, search: Search, start: Graph | None) -> dict[str, Any]:
    """Return the options that are not the paper's, as a result shows them."""
    said: dict[str, Any] = {} if score.name == "ib" else {"score": score.name}
    if search.name != "climb":
        said["search"] = search.name
    if start is not None:
        said["start"] = f"{start.n_edges} edges"
    return said | {name: value for name, value in search.options().items() if value}


def constraints(
    schema: Schema, start: Graph | None, required: Edges, forbidden: Edges
) -> tuple[Indices, Indices, Indices]:
    """Return the edges to start from, the required and the forbidden ones, as indices."""
    if start is not None and not isinstance(start, Graph):
        raise RequestError(
            f"start must be a Graph, not {type(start).__name__}: Graph(names, edges) makes one"
        )
    must, must_not = _pairs(schema, required, "required"), _pairs(schema, forbidden, "forbidden")
    edges = _pairs(schema, start.edges if start is not None else (), "start")
    for pairs, name in ((must, "required"), (edges, "in the start graph")):
        if both := sorted(set(pairs) & set(must_not)):
            x, y = (schema.names[i] for i in both[0])
            raise RequestError(f"the edge between {x!r} and {y!r} is both {name} and forbidden")
    return edges + must, must, must_not


def _pairs(schema: Schema, edges: Edges, what: str) -> Indices:
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or len(tuple(edge)) != 2:
            raise RequestError(f"{what} edges are pairs of names, not {edge!r}")
        i, j = schema.indices(edge)
        if i == j:
            raise RequestError(f"a {what} edge needs two different variables, not {edge[0]!r} twice")
        pairs.append((min(i, j), max(i, j)))
    return pairs


def named_pairs(schema: Schema, pairs: Indices) -> tuple[tuple[str, str], ...]:
    """Return pairs of indices as pairs of names, each once."""
    return tuple((schema.names[i], schema.names[j]) for i, j in dict.fromkeys(pairs))


def read_only(array: Floats) -> Floats:
    """Return the array, closed for writing."""
    array.flags.writeable = False
    return array
