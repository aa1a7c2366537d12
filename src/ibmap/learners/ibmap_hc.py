"""IBMAP-HC: hill climbing on the IB-score (paper, Algorithms 1 and 2); or any score, by any search."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

from ibmap._checks import flag
from ibmap.criteria import Score, as_score
from ibmap.engines import Engine, Source, as_engine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence import IndependenceTest, as_test
from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.score_based import Edges, raise_score, with_posteriors
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Provenance
from ibmap.search import Search, as_search


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
    drop_untested: bool = False,
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
    >>> import numpy as np
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> table = load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)})
    >>> ibmap_hc(table).graph.edges
    (('a', 'b'),)
    >>> ibmap_hc(table, score="saturated", search="rounds").graph.edges
    (('a', 'b'),)
    """
    by, how = as_score(score), as_search(search, patience)
    drop_untested = flag(drop_untested, "drop_untested")
    said = _said(by, how, start) | ({"drop_untested": True} if drop_untested else {})
    provenance = Provenance("ibmap-hc", said, chosen_test(by, test), by, how)
    counting = as_engine(data, engine)
    known: dict[str, Any] = {"required": required, "forbidden": forbidden, "n_jobs": n_jobs}
    found = raise_score(counting, provenance, start=start, **known, callback=callback, checkpoint=checkpoint)
    learned = with_posteriors(*found, counting.schema)
    return without_untested(learned, counting, known) if drop_untested else learned


def without_untested(learned: Learned, engine: Engine, known: dict[str, Any]) -> Learned:
    """Return the network without the edges that neither end could test, scored anew; required ones stay."""
    gone = set(learned.untested) - set(learned.required)
    if not gone:
        return learned
    kept = Graph(learned.graph.names, [edge for edge in learned.graph.edges if edge not in gone])
    scored = raise_score(engine, learned.provenance, start=kept, **known, search_on=False)
    found = with_posteriors(*scored, engine.schema)
    return replace(
        found,
        n_tests=learned.n_tests + found.n_tests,
        n_iter=learned.n_iter,
        seconds=learned.seconds + found.seconds,
        history=learned.history,
    )


def chosen_test(score: Score, test: object) -> IndependenceTest | None:
    """Return the test that the score asks; None if it asks none, and then none may be given."""
    if score.uses_test:
        return as_test(test)
    if test is not None:
        raise RequestError(f"the score {score.name!r} uses no test: leave test=None, or use score='ib'")
    return None


def _said(score: Score, search: Search, start: Graph | None) -> dict[str, Any]:
    """Return the options that are not the paper's, as a result shows them."""
    said: dict[str, Any] = {} if score.name == "ib" else {"score": score.name}
    if search.name != "climb":
        said["search"] = search.name
    if isinstance(start, Graph):
        said["start"] = f"{start.n_edges} edges"
    return said | {name: value for name, value in search.options().items() if value}
