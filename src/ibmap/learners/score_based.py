"""What learners by score share: what is known beforehand, the search step by step, and the result."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from time import perf_counter
from typing import Any, cast

from ibmap import _checks
from ibmap._parallel import n_threads
from ibmap._text import in_short
from ibmap._types import Floats
from ibmap.criteria import Score
from ibmap.data import Schema
from ibmap.engines import Source, as_engine
from ibmap.errors import RequestError, SearchInterrupted
from ibmap.graph import Graph
from ibmap.independence import IndependenceTest
from ibmap.learners.checkpoint import Checkpoint, keeper_of
from ibmap.results.edges import listed_edges
from ibmap.results.learned import Learned, Step, constant_of, learned_from
from ibmap.results.provenance import Provenance
from ibmap.results.warnings import certain_of, given_up, hardly_tested, stalled
from ibmap.search import Running, Search

Edges = Iterable[tuple[str, str]]
Indices = list[tuple[int, int]]

NEAR = 1000  #: pairs without an edge that are listed where there are too many to look at all
BATCH = 50_000_000  #: cells of the table that pass between two looks at the keyboard


def raise_score(
    data: Source,
    provenance: Provenance,
    *,
    start: Graph | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    n_jobs: int | None = None,
    callback: Callable[[Step], object] | None = None,
    engine: Any = None,
    checkpoint: Checkpoint | str | PathLike[str] | None = None,
    search_on: bool = True,
) -> tuple[Learned, Running]:
    """Raise the score that is named in ``provenance`` by its search; return what was learned, and the search.

    What was learned has no posteriors yet: those of the search are added by :func:`with_posteriors`. Without
    ``search_on``, the start is scored and left as it is. The other parameters are those of
    :func:`ibmap.learners.ibmap_hc`.
    """
    began = perf_counter()
    _checks.function(callback, "callback")
    score, search = cast(Score, provenance.score), cast(Search, provenance.search)
    counting = as_engine(data, engine)
    schema = counting.schema
    edges, must, must_not = constraints(schema, start, required, forbidden)
    locked = must + must_not
    threads = min(n_threads(n_jobs), max(schema.n_variables, 1))
    bound = score.bind(counting, cast(IndependenceTest | None, provenance.test), threads)
    running = search.begin(bound, edges, locked)  # Algorithm 1, lines 1 and 2
    history: list[Step] = []
    keeper = keeper_of(checkpoint, schema, provenance, sorted(edges), sorted(locked))
    if keeper:
        running.finished = keeper.restore(running, history, schema.names)
    batch = max(1, min(512, BATCH // max(1, schema.n_rows * schema.n_variables)))
    stopped = False
    try:
        while search_on and not (running.finished or stopped):  # lines 3 to 10
            flips = running.advance(1 if callback else batch, batch)
            for x, y, added, gain, value in flips:
                history.append(Step(len(history) + 1, schema.names[x], schema.names[y], added, gain, value))
                if callback and _checks.is_true(callback(history[-1])):
                    stopped = True
            if keeper:
                keeper.save(running, history, schema.index, at_once=running.finished or stopped)
    except KeyboardInterrupt:
        if history:
            raise SearchInterrupted(graph_after(schema, edges, history), len(history)) from None
        raise
    learned = learned_from(
        schema,
        running.pairs,
        provenance,
        n_tests=running.n_tests,
        n_iter=len(history),
        seconds=perf_counter() - began + (keeper.seconds if keeper else 0.0),
        score=running.total,
        history=tuple(history),
        required=named_pairs(schema, must),
        forbidden=named_pairs(schema, must_not),
    )
    return learned, running


def graph_after(schema: Schema, edges: Indices, history: Iterable[Step]) -> Graph:
    """Return the graph that some steps lead to: the state of a search may be anything when it is interrupted.

    Examples
    --------
    >>> from ibmap.data import load
    >>> schema = load({"a": [0, 1], "b": [0, 1], "c": [1, 0]}).schema
    >>> graph_after(schema, [(0, 1)], [Step(1, "b", "c", True, 2.0, -7.0)]).edges
    (('a', 'b'), ('b', 'c'))
    """
    joined = {(schema.names[i], schema.names[j]): True for i, j in map(sorted, edges)}
    for step in history:
        i, j = sorted(schema.indices((step.x, step.y)))
        joined[schema.names[i], schema.names[j]] = step.added
    return Graph(schema.names, [edge for edge, there in joined.items() if there])


def with_posteriors(learned: Learned, running: Running, schema: Schema) -> Learned:
    """Return what was learned with the posteriors of its search, and with the doubts that they raise."""
    patience = cast(Search, learned.provenance.search).options().get("patience")
    known, doubts = scores_of(running, schema, patience or 0)
    found = replace(learned, **known)
    said = hardly_tested(found.untested, found.graph.n_edges)
    if patience is not None and running.finished:
        said = (*doubts, *said)
    return replace(found, warnings=(*learned.warnings, *said))


def scores_of(running: Running, schema: Schema, patience: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a search knows about pairs, as a result keeps it, and what it makes one doubt."""
    names, scores = schema.names, running.pair_scores
    if scores is not None:
        return {"pair_scores": read_only(scores)}, stalled(names, running.pairs, scores, patience)
    edges, of_edges, absent, of_absent = running.listed(NEAR)
    graph = Graph.from_pairs(edges, names)
    table = listed_edges(graph, of_edges, absent, of_absent, constant_of(schema))
    return {"known_edges": table}, given_up(names, len(edges), certain_of(absent, of_absent), patience)


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


def edge_list(edges: Any, what: str) -> list[Any]:
    """Return edges as a list, which may be read twice; none if there are none."""
    if edges is None:
        return []
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise RequestError(
            f"{what} edges are a list of pairs of names, such as [('a', 'b')], not {in_short(edges)}"
        )
    return list(edges)


def _pairs(schema: Schema, edges: Edges, what: str) -> Indices:
    pairs = []
    for edge in edge_list(edges, what):
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(tuple(edge)) != 2:
            raise RequestError(f"{what} edges are pairs of names, not {in_short(edge)}")
        i, j = schema.indices(edge)
        if i == j:
            raise RequestError(f"a {what} edge needs two different variables, not {schema.names[i]!r} twice")
        pairs.append((min(i, j), max(i, j)))
    return pairs


def named_pairs(schema: Schema, pairs: Indices) -> tuple[tuple[str, str], ...]:
    """Return pairs of indices as pairs of names, each once."""
    return tuple((schema.names[i], schema.names[j]) for i, j in dict.fromkeys(pairs))


def read_only(array: Floats) -> Floats:
    """Return the array, closed for writing."""
    array.flags.writeable = False
    return array
