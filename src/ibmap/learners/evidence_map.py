"""EvidenceMAP, the recommended learner: the network of most evidence, and how certain each edge is.

0. Put the columns into an order made from their contents, copies merged (``results/arranged.py``).
1. Raise the evidence of adaptive conditionals by rounds and swaps, learning the prior of edges on the way;
   join triples that say something only together (``engines/triples.py``), as no single edge shows them.
2. Compare every edge with the variables that could stand in for it (``search/rivals.py``): posteriors.
   Where the posterior is flat, average over graphs instead (``search/averaging.py``).
3. Leave out an edge if on average its ends say that rivals are likelier, neither speaks for it, and the score
   would miss it by less than 10. Without the second condition true edges beside near copies go (38 errors
   instead of 22 in 10 tables); without the third, a variable among near copies could end without any edge.
4. Where full tables say more than main effects, search for a directed view, too, and keep the one that
   predicts better (``views.py``). Where a variable has many levels that is tried first: if it predicts far
   better, 1 to 3 are left out.

Posteriors over all graphs one swap away, both ends at once, were overconfident. A tabu list of 15 to 50 steps
found nothing better than rounds on five networks and 63 random tables; swaps cut the errors on alarm from
26, 18, 19 to 24, 14, 19 (500, 2000, 10,000 rows).
"""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from time import perf_counter
from typing import Any, cast

import numpy as np

from ibmap._checks import word
from ibmap._text import first_few
from ibmap._types import Bools, Floats, Ints
from ibmap.criteria import AdaptiveScore, MixedScore, Score, as_score
from ibmap.criteria.families import is_modelled
from ibmap.data.schema import Schema
from ibmap.engines import Engine, Source, as_engine
from ibmap.engines.model import MOST_LEVELS
from ibmap.errors import RequestError, SearchInterrupted
from ibmap.graph import Graph
from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.dag_hc import pair_matrix
from ibmap.learners.score_based import (
    NEAR,
    Edges,
    constraints,
    edge_list,
    named_pairs,
    raise_score,
    read_only,
    with_posteriors,
)
from ibmap.learners.views import VIEWS, best_view, directed_first
from ibmap.results.arranged import arranged_table, as_it_is
from ibmap.results.edges import listed_edges
from ibmap.results.explain import near_copies
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Provenance
from ibmap.results.warnings import few_rows_per_level
from ibmap.search import Search, Swaps, as_search, climb
from ibmap.search.averaging import POSTERIORS, averaged_posteriors
from ibmap.search.gains import GainSearch, near_misses, whole_evidence
from ibmap.search.rivals import Rivals, rivals
from ibmap.search.state import State

UNDECIDED = 0.5  #: log odds of an edge, seen from one end, up to which that end does not speak for it
COUNTED = ("adaptive", "pairwise", "saturated")  #: scores that count tables, which must be complete
CERTAIN = 10.0  #: an edge that the score would miss by more than this stays, whoever could stand in


def evidence_map(
    data: Source,
    *,
    score: object = None,
    search: object = None,
    view: str | None = None,
    posterior: str | None = None,
    expected_neighbours: float | None = None,
    prior: Any = None,
    start: Graph | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    n_jobs: int | None = None,
    callback: Callable[[Step], object] | None = None,
    engine: Any = None,
    checkpoint: Checkpoint | str | PathLike[str] | None = None,
) -> Learned:
    """Learn the Markov network that has the most evidence, by rounds and swaps.

    The options are those of :class:`ibmap.EvidenceMAP`; ``data`` is a table, or an engine that holds one. If
    some variables are numbers, or values are missing, the score is :class:`ibmap.criteria.MixedScore`. The
    posterior of an edge averages over graphs in which another variable takes the place of one of its ends.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> table = load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)})
    >>> evidence_map(table).graph.edges
    (('a', 'b'),)
    """
    if view is not None:
        word(view, "view", VIEWS)
    counting = as_engine(data, engine)
    if view == "directed" and counting.schema.n_variables > climb.MATRIX:
        raise RequestError(
            f"a directed view needs a matrix of all pairs, which is too large for "
            f"{counting.schema.n_variables:,} "
            f"variables (up to {climb.MATRIX:,}): leave out the view, or some variables"
        )
    usual = usual_score(counting)
    by = chosen_score(score, expected_neighbours, prior, usual)
    if counting.schema.has_missing and by.name in COUNTED:
        raise RequestError(
            f"the score {by.name!r} counts each table in the rows that are complete for it, and scores from "
            f"different rows cannot be compared: leave out the score, or fill missing values "
            f"(missing='drop', 'category')"
        )
    how = Swaps() if search is None else as_search(search)
    if posterior is not None:
        view = undirected_only(posterior, view, counting.schema, by, how)
    required, forbidden = edge_list(required, "required"), edge_list(forbidden, "forbidden")
    alone = many_levels(counting.schema, required)
    said: dict[str, Any] = {} if score is None and type(by) is type(usual) else {"score": by.name}
    said |= {} if search is None else {"search": how.name}
    said |= {} if view is None else {"view": view}
    said |= {} if posterior is None else {"posterior": posterior}
    said |= {} if expected_neighbours is None else {"expected_neighbours": expected_neighbours}
    said |= {"start": f"{start.n_edges} edges"} if isinstance(start, Graph) else {}
    _, must, must_not = constraints(counting.schema, start, required, forbidden)
    table = arranged_table(counting) if by.is_evidence else as_it_is(counting)
    try:
        learned = learn_arranged(
            table.engine,
            Provenance("evidence-map", said, None, table.score(by), how),
            view,
            posterior is not None,
            start=table.start(start),
            required=table.required(must),
            forbidden=table.forbidden(must_not),
            n_jobs=n_jobs,
            callback=callback,
            checkpoint=checkpoint,
        )
    except SearchInterrupted as stopped:
        raise SearchInterrupted(table.names_as_before(stopped.graph), stopped.n_steps) from None
    if by.is_evidence:
        table = table.judged(counting, cast(Score, learned.provenance.score).with_options(prior=None))
    pairs = named_pairs(counting.schema, must), named_pairs(counting.schema, must_not)
    found = table.restored(learned, *pairs, score=by)
    more = (*alone, *few_rows_per_level(counting.schema), *near_copies(counting, found.graph))
    return replace(found, warnings=(*found.warnings, *more))


def undirected_only(posterior: str, view: str | None, schema: Schema, by: Score, how: Search) -> str:
    """Return the view over whose graphs posteriors can be averaged; refuse what has no such graphs."""
    word(posterior, "posterior", POSTERIORS)
    if view == "directed":
        raise RequestError(
            "posterior='averaged' averages over graphs without arcs: leave out view='directed'"
        )
    if schema.n_variables > climb.MATRIX:
        raise RequestError(
            f"posterior='averaged' needs a matrix of all pairs, which is too large for "
            f"{schema.n_variables:,} "
            f"variables (up to {climb.MATRIX:,}): leave it out, or some variables"
        )
    if not by.is_evidence or not how.trusts_gains:
        raise RequestError(
            "posterior='averaged' samples graphs by the gains of flips: it needs a score of evidence and "
            "search='swaps', 'rounds' or 'steepest'"
        )
    return "undirected"


def learn_arranged(
    engine: Engine, provenance: Provenance, view: str | None, averaged: bool, **options: Any
) -> Learned:
    """Learn from a table whose columns stand in the order of their contents."""
    by: Any = provenance.score
    how: Any = provenance.search
    tries_arcs = engine.schema.n_variables <= climb.MATRIX and by.tries_arcs
    if tries_arcs and view != "undirected" and options["start"] is None:
        told = options["required"], options["forbidden"]
        if (found := directed_first(provenance, engine, *told, view)) is not None:
            return found
    learned, running = raise_score(engine, provenance, **options)
    if not how.trusts_gains:
        return with_posteriors(learned, running, engine.schema)
    running = cast(GainSearch, running)
    searched = perf_counter()
    if (expected := running.score.expected_neighbours) is not None:
        learned = replace(learned, provenance=provenance.expecting(expected))
    if running.finished and (view == "directed" or (view is None and tries_arcs)):
        viewed = best_view(learned, engine, running.state.native.values(), view)
        if view is None and viewed.arcs is not None and is_one_of_many(learned, running):
            viewed = replace(learned, view_scores=viewed.view_scores)
        learned = viewed
    learned = learned if learned.arcs is not None else with_rivals(learned, running, averaged)
    return replace(learned, seconds=learned.seconds + perf_counter() - searched)


def usual_score(engine: Engine) -> Score:
    """Return the score that is raised where none is chosen: of levels that are all there, or of rows."""
    by_rows = engine.schema.is_continuous or engine.schema.has_missing
    return MixedScore() if by_rows else AdaptiveScore()


def chosen_score(score: object, expected_neighbours: float | None, prior: Any, usual: Score) -> Score:
    """Return the score with its prior of edges, or the usual one; that of a user is taken as it is."""
    if score is None or isinstance(score, str):
        chosen = usual if score is None else as_score(score)
        if not chosen.is_evidence:
            raise RequestError(
                f"evidence-map maximises the evidence of a family of models, which {chosen.name!r} does not "
                f"have: use score='mixed', 'adaptive', 'pairwise', 'saturated' or 'gaussian', or ibmap-hc"
            )
        return chosen.with_options(expected_neighbours=expected_neighbours, prior=prior)
    if expected_neighbours is not None or prior is not None:
        raise RequestError("the score has a prior of its own: leave out expected_neighbours and prior")
    return as_score(score)


def many_levels(schema: Schema, edges: Edges) -> tuple[str, ...]:
    """Return the warning about variables that have too many levels to have edges; refuse such edges."""
    alone = {schema.names[i]: schema.cardinalities[i] for i in np.flatnonzero(~is_modelled(schema))}
    if not alone:
        return ()
    for name in [end for edge in edges for end in edge if end in alone]:
        raise RequestError(
            f"{name!r} has {alone[name]:,} levels and will have no edges: evidence-map uses variables of up "
            f"to {MOST_LEVELS}"
        )
    columns = first_few([f"{name!r} ({levels:,})" for name, levels in alone.items()])
    have = "has" if len(alone) == 1 else "have"
    return (
        f"more than {MOST_LEVELS} levels: {columns} {have} no edges; cut numbers with "
        "discretize='equal-width' or 'quantile', group values, or drop the column",
    )


def with_rivals(learned: Learned, running: GainSearch, averaged: bool = False) -> Learned:
    """Return what was learned with posteriors over rivals, without the edges that are doubtful.

    Or, where that is better or wanted, the pairs that most of many sampled graphs join.

    The score has joined the best of several that could stand in for each other. An edge that is less likely
    than its rivals together (by the mean of both ends, neither of which speaks for it) is left out again,
    unless the score insists on it.
    """
    state, pairs, found = running.state, running.pairs, rivals(running)
    average = over_graphs(learned, running, found, averaged)
    if average is not None:
        return with_average(learned, running, average, found)
    odds = (state.evidence(*pairs.T) + state.evidence(*pairs.T[::-1])) / 2
    edges, must = learned.graph.edges, set(map(frozenset, learned.required))
    free = np.array([frozenset(edge) not in must for edge in edges], bool)
    mean = found.log_odds.mean(axis=1)
    doubtful = free & (odds < CERTAIN) & (mean < 0) & (found.log_odds < UNDECIDED).all(axis=1)
    graph = Graph(learned.graph.names, [edges[k] for k in np.flatnonzero(~doubtful)])
    known = _known_pairs(learned, running, graph, doubtful, mean)
    named = _named(learned, found)
    history = [*learned.history, *_left_out(learned, state, pairs[doubtful])]
    return replace(
        learned,
        graph=graph,
        score=running.total,
        n_tests=running.n_tests,
        n_iter=len(history),
        history=tuple(history),
        rivals={edge: named[edge] for edge in graph.edges},
        **known,
    )


def is_one_of_many(learned: Learned, running: GainSearch) -> bool:
    """Whether very many graphs are as good: then the best directed one is no better a guess.

    100 strongly coupled coins of six neighbours, 100 rows: it has 474 errors, no edges 300, the average 288.
    """
    return over_graphs(learned, running, rivals(running)) is not None


def over_graphs(
    learned: Learned, running: GainSearch, found: Rivals, everywhere: bool = False
) -> Floats | None:
    """Return the posteriors of all pairs over sampled graphs, where these are better, or wanted."""
    index = learned.graph.index
    told = [(index(x), index(y)) for x, y in (*learned.required, *learned.forbidden)]
    locked = pair_matrix(told, learned.graph.n_variables)
    return averaged_posteriors(running, found, locked, everywhere)


def with_average(learned: Learned, running: GainSearch, average: Floats, found: Rivals) -> Learned:
    """Return the pairs that most sampled graphs join, with their share of these graphs as posteriors."""
    names, edges = learned.graph.names, average > 0.5
    named, before = _named(learned, found), learned.graph.adjacency
    graph = Graph.from_pairs(np.argwhere(np.triu(edges)), names)
    steps = _left_out(learned, running.state, np.argwhere(np.triu(edges != before)))
    history = (*learned.history, *steps)
    sigma = np.log(np.maximum(np.where(edges, average, 1 - average), 1e-300))
    np.fill_diagonal(sigma, 0.0)
    return replace(
        learned,
        graph=graph,
        score=running.total,
        n_tests=running.n_tests,
        n_iter=len(history),
        history=history,
        rivals={edge: named.get(edge, ()) for edge in graph.edges},
        pair_scores=read_only(sigma),
    )


def exact_odds(running: GainSearch, pairs: Ints) -> Floats:
    """Return the log odds of some edges that are not there, by fits with each of them.

    A search has left them out because of such fits, though by a single step from the fit without them they
    look likelier than not.
    """
    xs, ys = np.concatenate([pairs, pairs[:, ::-1]]).T
    rows = running.score.rows(xs, running.state.blankets(xs).with_one_more(ys), floor=np.inf, exact=True)
    odds = rows.matrix(int(max(rows.y, default=0)) + 1)[np.arange(len(xs)), ys]
    return np.asarray(odds[: len(pairs)] + odds[len(pairs) :]) / 2


def _known_pairs(
    learned: Learned, running: GainSearch, graph: Graph, doubtful: Bools, mean: Floats
) -> dict[str, Any]:
    """Return what is known about pairs, as a result keeps it: of all, or of those that matter."""
    state = running.state
    pairs, evidence = state.pairs, whole_evidence(state)
    asserted = np.where(doubtful, mean, -mean)
    if evidence is not None:
        odds = (evidence + evidence.T) / 2
        odds[pairs[:, 0], pairs[:, 1]] = -np.inf
        likely = np.argwhere(np.triu(odds > 0, 1))
        odds[likely[:, 0], likely[:, 1]] = odds[likely[:, 1], likely[:, 0]] = exact_odds(running, likely)
        odds[pairs[:, 0], pairs[:, 1]] = odds[pairs[:, 1], pairs[:, 0]] = asserted
        sigma = -np.logaddexp(0.0, odds)
        np.fill_diagonal(sigma, 0.0)
        return {"pair_scores": read_only(sigma)}
    near = near_misses(state, NEAR)
    odds = (state.evidence(*near.T) + state.evidence(*near.T[::-1])) / 2
    odds[odds > 0] = exact_odds(running, near[odds > 0])
    absent, against = np.concatenate([near, pairs[doubtful]]), np.concatenate([odds, mean[doubtful]])
    of_edges, of_absent = (
        np.repeat(-np.logaddexp(0.0, logs)[:, None], 2, axis=1) for logs in (-mean[~doubtful], against)
    )
    table = listed_edges(graph, of_edges, absent, of_absent, learned.constant)
    return {"known_edges": table}


def _left_out(learned: Learned, state: State, pairs: Ints) -> list[Step]:
    """Flip pairs of the graph of a search; return these steps, which lower the score."""
    names, n = learned.graph.names, len(learned.history)
    return [
        Step(n + k, names[x], names[y], added, gain, total)
        for k, (x, y, added, gain, total) in enumerate(state.flip(pairs), start=1)
    ]


def _named(learned: Learned, found: Rivals) -> dict[tuple[str, str], tuple[tuple[str, str, float], ...]]:
    """Return, by edge, who could stand in for it: (the end that stays, who comes, with which probability)."""
    names = learned.graph.names
    named = {}
    for (x, y), who, share in zip(learned.graph.pairs.tolist(), found.rival, found.share, strict=True):
        named[names[x], names[y]] = tuple(
            (names[stays], names[z], float(p))
            for stays, z, p in zip((x, y), who.tolist(), share.tolist(), strict=True)
            if z >= 0
        )
    return named
