"""EvidenceMAP, the recommended learner: the network of most evidence, and how certain each edge is."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ibmap.engines import Source
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.raising import Edges, raise_score, read_only
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Provenance
from ibmap.scores import AdaptiveScore, as_score
from ibmap.scores.families import FamilyScore
from ibmap.search import Swaps, as_search
from ibmap.search.gains import Gains
from ibmap.search.rivals import Rivals, rivals


def evidence_map(
    data: Source,
    *,
    score: object = None,
    search: object = None,
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

    The options are those of :class:`ibmap.EvidenceMAP`; ``data`` is a table, or an engine that holds one.
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
    by = chosen_score(score, expected_neighbours, prior)
    how = Swaps() if search is None else as_search(search)
    said: dict[str, Any] = {} if score is None else {"score": by.name}
    said |= {} if search is None else {"search": how.name}
    said |= {} if expected_neighbours is None else {"expected_neighbours": expected_neighbours}
    said |= {"start": f"{start.n_edges} edges"} if isinstance(start, Graph) else {}
    learned, running = raise_score(
        data,
        Provenance("evidence-map", said, None, by, how),
        start=start,
        required=required,
        forbidden=forbidden,
        n_jobs=n_jobs,
        callback=callback,
        engine=engine,
        checkpoint=checkpoint,
    )
    return with_rivals(learned, running, by) if isinstance(running, Gains) else learned


def chosen_score(score: object, expected_neighbours: float | None, prior: Any) -> FamilyScore:
    """Return the score with its prior of edges; by default the adaptive one."""
    if score is None or isinstance(score, str):
        chosen = AdaptiveScore() if score is None else as_score(score)
        if not isinstance(chosen, FamilyScore):
            raise RequestError(
                f"evidence-map raises the evidence of a family of conditionals; {chosen.name!r} has none: "
                "use score='adaptive', 'pairwise' or 'saturated', or ibmap-hc"
            )
        options = {**chosen.options(), "expected_neighbours": expected_neighbours, "prior": prior}
        return type(chosen)(**options)
    if not isinstance(score, FamilyScore):
        raise RequestError(f"{score!r} has no family of conditionals: give a name or a FamilyScore")
    if expected_neighbours is not None or prior is not None:
        raise RequestError("the score has a prior of its own: leave out expected_neighbours and prior")
    return score


def with_rivals(learned: Learned, running: Gains, score: FamilyScore) -> Learned:
    """Return what was learned with posteriors over rivals, and with the prior that was learned."""
    pairs = running.pairs
    found = rivals(running.score, running.adjacency, running.evidence, getattr(running, "compared", None))
    odds = (running.evidence + running.evidence.T) / 2
    against = np.where(running.adjacency, -odds, odds)
    for (x, y), log_odds in zip(pairs, found.log_odds, strict=True):
        against[x, y] = against[y, x] = -log_odds
    sigma = -np.logaddexp(0.0, against)
    np.fill_diagonal(sigma, 0.0)
    options = {**score.options(), "expected_neighbours": running.score.learned_prior[0]}  # type: ignore[attr-defined]
    provenance = replace(learned.provenance, score=type(score)(**options))
    return replace(
        learned, provenance=provenance, pair_scores=read_only(sigma), rivals=_named(learned, found)
    )


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
