"""EvidenceMAP, the recommended learner: the network of most evidence, and how certain each edge is.

1. Raise the evidence of adaptive conditionals by rounds and swaps, learning the prior of edges on the way.
2. Compare every edge with the variables that could stand in for it (``search/rivals.py``): posteriors.
3. Leave out an edge if on average its ends say that rivals are likelier, neither speaks for it, and the score
   would miss it by less than 10. Without the second condition true edges beside near copies go (38 errors
   instead of 22 in 10 tables); without the third, a variable among near copies could end without any edge.
4. Where full tables say more than main effects, search for a directed view, too (``views.py``).

Posteriors over all graphs one swap away, both ends at once, were overconfident. A tabu list of 15 to 50 steps
found nothing better than rounds on five networks and 63 random tables; swaps cut the errors on alarm from
26, 18, 19 to 24, 14, 19 (500, 2000, 10,000 rows).
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np

from ibmap._text import first_few
from ibmap._types import Bools, Floats, Ints
from ibmap.data.schema import Schema
from ibmap.engines import Source, as_engine
from ibmap.engines.model import MOST_LEVELS
from ibmap.errors import DataWarning, RequestError
from ibmap.graph import Graph
from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.score_based import NEAR, Edges, raise_score, read_only, with_posteriors
from ibmap.learners.views import VIEWS, best_view
from ibmap.results.edges import listed_edges
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Provenance
from ibmap.scores import AdaptiveScore, GaussianScore, Score, as_score
from ibmap.scores.families import PriorOptions, PriorScore, is_modelled
from ibmap.search import Swaps, as_search, climb
from ibmap.search.gains import GainSearch, near_misses, whole_evidence
from ibmap.search.rivals import Rivals, rivals
from ibmap.search.state import State

UNDECIDED = 0.5  #: log odds of an edge, seen from one end, up to which that end does not speak for it
CERTAIN = 10.0  #: an edge that the score would miss by more than this stays, whoever could stand in


def evidence_map(
    data: Source,
    *,
    score: object = None,
    search: object = None,
    view: str | None = None,
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
    """Learn the Markov network of most evidence: adaptive conditionals, rounds and swaps.

    The options are those of :class:`ibmap.EvidenceMAP`; ``data`` is a table, or an engine that holds one. Of
    continuous variables (:func:`ibmap.data.numbers.load_numbers`) conditionals are linear regressions.
    The posterior of an edge averages over the graphs in which another variable stands in for one of its ends.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> table = load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)})
    >>> evidence_map(table).graph.edges
    (('a', 'b'),)
    """
    if view not in (None, *VIEWS):
        raise RequestError(f"view must be 'undirected', 'directed' or None, not {view!r}")
    counting = as_engine(data, engine)
    if view == "directed" and counting.schema.n_variables > climb.MATRIX:
        raise RequestError(
            f"a directed view takes a matrix of all pairs, too large for {counting.schema.n_variables:,} "
            f"variables (up to {climb.MATRIX:,}): leave out the view, or some variables"
        )
    usual = GaussianScore() if counting.schema.is_continuous else AdaptiveScore()
    by = chosen_score(score, expected_neighbours, prior, usual)
    look_at_levels(counting.schema, required or ())
    how = Swaps() if search is None else as_search(search)
    said: dict[str, Any] = {} if score is None and isinstance(by, AdaptiveScore) else {"score": by.name}
    said |= {} if search is None else {"search": how.name}
    said |= {} if view is None else {"view": view}
    said |= {} if expected_neighbours is None else {"expected_neighbours": expected_neighbours}
    said |= {"start": f"{start.n_edges} edges"} if isinstance(start, Graph) else {}
    learned, running = raise_score(
        counting,
        Provenance("evidence-map", said, None, by, how),
        start=start,
        required=required,
        forbidden=forbidden,
        n_jobs=n_jobs,
        callback=callback,
        checkpoint=checkpoint,
    )
    if not isinstance(running, GainSearch):
        return with_posteriors(learned, running, counting.schema)
    searched = perf_counter()
    if isinstance(running.score, PriorScore):
        options = {**by.options(), "expected_neighbours": running.score.expected_neighbours}
        known: Any = type(by)(**options)
        learned = replace(learned, provenance=replace(learned.provenance, score=known))
    tries_arcs = counting.schema.n_variables <= climb.MATRIX and isinstance(by, AdaptiveScore)
    if running.finished and (view == "directed" or (view is None and tries_arcs)):
        learned = best_view(learned, counting, running.state.native.values(), view)
    learned = learned if learned.arcs is not None else with_rivals(learned, running)
    return replace(learned, seconds=learned.seconds + perf_counter() - searched)


def chosen_score(score: object, expected_neighbours: float | None, prior: Any, usual: PriorOptions) -> Score:
    """Return the score with its prior of edges, or the usual one; that of a user is taken as it is."""
    if score is None or isinstance(score, str):
        chosen = usual if score is None else as_score(score)
        if not isinstance(chosen, PriorOptions):
            raise RequestError(
                f"evidence-map raises the evidence of a family of conditionals; {chosen.name!r} has none: "
                "use score='adaptive', 'pairwise', 'saturated' or 'gaussian' (of numbers), or ibmap-hc"
            )
        options = {**chosen.options(), "expected_neighbours": expected_neighbours, "prior": prior}
        return type(chosen)(**options)
    if expected_neighbours is not None or prior is not None:
        raise RequestError("the score has a prior of its own: leave out expected_neighbours and prior")
    return as_score(score)


def look_at_levels(schema: Schema, edges: Edges) -> None:
    """Warn of variables that are left without edges, because they have too many levels; refuse such edges."""
    alone = {schema.names[i]: schema.cardinalities[i] for i in np.flatnonzero(~is_modelled(schema))}
    if not alone:
        return
    for name in [end for edge in edges for end in edge if end in alone]:
        raise RequestError(
            f"{name!r} has {alone[name]:,} levels and can have no edges: evidence-map looks at variables of "
            f"up to {MOST_LEVELS}"
        )
    columns = first_few([f"{name!r} ({levels:,})" for name, levels in alone.items()])
    have = "has" if len(alone) == 1 else "have"
    warnings.warn(
        f"more than {MOST_LEVELS} levels: {columns} {have} no edges; cut numbers with "
        "discretize='equal-width' or 'quantile', group values, or drop the column",
        DataWarning,
        stacklevel=3,
    )


def with_rivals(learned: Learned, running: GainSearch) -> Learned:
    """Return what was learned with posteriors over rivals, without the edges that are doubtful.

    The score has joined the best of several that could stand in for each other. An edge that is less likely
    than its rivals together (by the mean of both ends, neither of which speaks for it) is left out again,
    unless the score insists on it.
    """
    state, pairs, found = running.state, running.pairs, rivals(running)
    odds = (state.evidence(*pairs.T) + state.evidence(*pairs.T[::-1])) / 2
    edges, must = learned.graph.edges, set(map(frozenset, learned.required))
    free = np.array([frozenset(edge) not in must for edge in edges], bool)
    mean = found.log_odds.mean(axis=1)
    doubtful = free & (odds < CERTAIN) & (mean < 0) & (found.log_odds < UNDECIDED).all(axis=1)
    graph = Graph(learned.graph.names, [edges[k] for k in np.flatnonzero(~doubtful)])
    known = _known_pairs(learned, state, graph, doubtful, mean)
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


def _known_pairs(
    learned: Learned, state: State, graph: Graph, doubtful: Bools, mean: Floats
) -> dict[str, Any]:
    """Return what is known about pairs, as a result keeps it: of all, or of those that matter."""
    pairs, evidence = state.pairs, whole_evidence(state)
    asserted = np.where(doubtful, mean, -mean)
    if evidence is not None:
        odds = (evidence + evidence.T) / 2
        odds[pairs[:, 0], pairs[:, 1]] = odds[pairs[:, 1], pairs[:, 0]] = asserted
        sigma = -np.logaddexp(0.0, odds)
        np.fill_diagonal(sigma, 0.0)
        return {"pair_scores": read_only(sigma)}
    near = near_misses(state, NEAR)
    odds = (state.evidence(*near.T) + state.evidence(*near.T[::-1])) / 2
    absent, against = np.concatenate([near, pairs[doubtful]]), np.concatenate([odds, mean[doubtful]])
    of_edges, of_absent = (
        np.repeat(-np.logaddexp(0.0, logs)[:, None], 2, axis=1) for logs in (-mean[~doubtful], against)
    )
    table = listed_edges(graph, of_edges, absent, of_absent, learned.constant)
    return {"known_edges": table}


def _left_out(learned: Learned, state: State, pairs: Ints) -> list[Step]:
    """Remove edges from the graph of a search; return these steps, which lower the score."""
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
