"""DAG-HC: greedy search through directed acyclic graphs; its moral graph is the Markov network."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ibmap._parallel import n_threads
from ibmap._types import Bools, Floats
from ibmap.engines import Source, as_engine
from ibmap.errors import RequestError
from ibmap.learners.score_based import Edges, Indices, constraints, named_pairs, read_only
from ibmap.results.learned import Learned, Step, learned_from
from ibmap.results.provenance import Provenance
from ibmap.scores.directed import DirectedScore, arc_odds, directed_score
from ibmap.search.dag import DagClimb, Move, moral, oriented, pair_log_odds

DEFAULTS: dict[str, Any] = {
    "score": "bic",
    "equivalent_sample_size": 1.0,
    "expected_neighbours": None,
    "max_parents": None,
    "tabu": 10,
    "shakes": 0,
}


def dag_hc(
    data: Source,
    *,
    score: str = "bic",
    equivalent_sample_size: float = 1.0,
    expected_neighbours: float | None = None,
    max_parents: int | None = None,
    tabu: int = 10,
    shakes: int = 0,
    required: Edges = (),
    forbidden: Edges = (),
    n_jobs: int | None = None,
    callback: Callable[[Step], object] | None = None,
    engine: Any = None,
) -> Learned:
    """Learn a Markov network as the moral graph of a directed acyclic graph.

    Start without arcs; add, delete or reverse the arc that raises the score most. Where none does, go on
    for ``tabu`` moves without returning to a structure that was seen, and keep the best. Then, ``shakes``
    times at most, reverse the arcs of every variable in turn, and search on from there. The options are those
    of :class:`ibmap.DAGHC`; ``data`` is a table, or an engine that holds one.

    ``n_tests`` counts the arcs whose gain was computed. A step of the history is an arc that came or went;
    a reversal is two. Each is the gain on the rows that know the child and all parents in question; so is
    the score, which with missing values is that of no arcs, and what the steps have gained.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(2, size=(2, 300))
    >>> learned = dag_hc(load({"a": a, "b": b, "c": (a & b) ^ (rng.random(300) < 0.1)}))
    >>> learned.arcs
    (('a', 'c'), ('b', 'c'))
    >>> learned.graph.edges  # a and b are married: they have a child
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """
    began = perf_counter()
    check_options(max_parents, tabu, shakes)
    n_threads(n_jobs)
    counting = as_engine(data, engine)
    odds = None if expected_neighbours is None else arc_odds(counting.schema.n_variables, expected_neighbours)
    families = directed_score(score, counting, equivalent_sample_size, odds)
    _, must, must_not = constraints(counting.schema, None, required or (), forbidden or ())
    said = {
        "score": score,
        "equivalent_sample_size": equivalent_sample_size,
        "expected_neighbours": expected_neighbours,
        "max_parents": max_parents,
        "tabu": tabu,
        "shakes": shakes,
    }
    provenance = Provenance(
        "dag-hc", {name: value for name, value in said.items() if value != DEFAULTS[name]}
    )
    most = families.n if max_parents is None else int(max_parents)
    learned = climb_dags(
        families, provenance, must, must_not, most, tabu=int(tabu), shakes=int(shakes), callback=callback
    )
    return replace(learned, seconds=perf_counter() - began)


def climb_dags(
    families: DirectedScore,
    provenance: Provenance,
    must: Indices,
    must_not: Indices,
    max_parents: int,
    *,
    tabu: int,
    shakes: int,
    worth_shaking: Callable[[Bools], bool] = lambda arcs: True,
    callback: Callable[[Step], object] | None = None,
) -> Learned:
    """Raise a score of directed graphs; return the moral graph of the best.

    ``worth_shaking`` is asked about the arcs that the first search has found.
    """
    began, schema, n = perf_counter(), families.engine.schema, families.n
    locked, out = _matrix(must, n), _matrix(must_not, n)
    climb = DagClimb(families, oriented(locked, out, max_parents), locked, out, max_parents, tabu)
    history: list[Step] = []
    total, kept, stopped = families.total(climb.parents), 0, False
    best = total
    for move in moves_of(climb, shakes, worth_shaking):
        if move is None:  # back at the best structure
            del history[kept:]
            total = best
            continue
        for child, parent, added, gain in move.parts:
            total += gain
            x, y = schema.names[parent], schema.names[child]
            history.append(Step(len(history) + 1, x, y, added, gain, total))
            if callback and callback(history[-1]) in (True, np.True_):
                stopped = True
        if not climb.n_beyond:
            kept, best = len(history), total
        if stopped:
            break
    climb.go_back()
    found = moral(climb.arcs)
    return learned_from(
        schema,
        np.argwhere(np.triu(found)),
        provenance,
        n_tests=n * (n - 1) // 2 + climb.n_rows * max(n - 1, 0),
        n_iter=kept,
        seconds=perf_counter() - began,
        score=best,
        pair_scores=read_only(credibilities(climb, found)),
        history=tuple(history[:kept]),
        required=named_pairs(schema, must),
        forbidden=named_pairs(schema, must_not),
        arcs=tuple((schema.names[y], schema.names[x]) for y, x in np.argwhere(climb.arcs.T).tolist()),
    )


def moves_of(climb: DagClimb, shakes: int, worth_shaking: Callable[[Bools], bool]) -> Iterator[Move | None]:
    """Yield all moves; None when a search is over, and the structure is the best one again.

    After the first search every variable is shaken, in their order; as often as told, if that is of use.
    """
    while move := climb.advance():
        yield move
    yield None
    if shakes and not worth_shaking(climb.arcs):
        return
    for _ in range(shakes):
        before = climb.best_gain
        for v in range(climb.score.n):
            shaken = climb.shake(v)
            yield from shaken
            while shaken and (move := climb.advance()):
                yield move
            yield None
        if climb.best_gain == before:
            return


def check_options(max_parents: int | None, tabu: int, shakes: int) -> None:
    """Refuse what is no number of parents, of moves, or of passes."""
    numbers = (("max_parents", max_parents, ", or None"), ("tabu", tabu, ""), ("shakes", shakes, ""))
    for name, value, none in numbers:
        if value is None and none:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise RequestError(f"{name} must be 0 or more, a whole number{none}, not {value!r}")


def credibilities(climb: DagClimb, found: Bools) -> Floats:
    """Return σ: the log posterior of what the moral graph asserts about every pair, from its log odds."""
    odds = pair_log_odds(climb.evidence, climb.arcs, climb.ancestors)
    sigma = -np.logaddexp(0.0, np.where(found, -odds, odds))
    np.fill_diagonal(sigma, 0.0)
    return np.asarray(sigma)


def _matrix(pairs: Indices, n: int) -> Bools:
    out = np.zeros((n, n), bool)
    for i, j in pairs:
        out[i, j] = out[j, i] = True
    return out
