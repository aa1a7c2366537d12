"""DAG-HC: greedy search through directed acyclic graphs; its moral graph is the Markov network."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ibmap import _checks
from ibmap._checks import MOST, whole
from ibmap._parallel import n_threads
from ibmap._types import Bools, Floats
from ibmap.criteria.directed import DirectedScore, arc_odds, directed_score
from ibmap.data import Schema
from ibmap.engines import Source, as_engine
from ibmap.learners.score_based import Edges, Indices, constraints, named_pairs, read_only
from ibmap.results.arranged import arranged_table
from ibmap.results.learned import Learned, Step, learned_from
from ibmap.results.provenance import Provenance
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

    ``n_tests`` counts the arcs whose gain was computed. A step of the history is an arc that was added or
    removed; a reversal is two. Its gain is that on the rows that know the child and all parents in question,
    its score that of the structure after it, each variable on the rows that know it and its parents. With
    missing values these rows differ, and gains do not add up to scores; structures are compared on the rows
    that know the variables of both.

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
    _checks.function(callback, "callback")
    most = MOST if max_parents is None else whole(max_parents, "max_parents", 0)
    tabu, shakes = whole(tabu, "tabu", 0), whole(shakes, "shakes", 0)
    n_threads(n_jobs)
    counting = as_engine(data, engine)
    _, must, must_not = constraints(counting.schema, None, required, forbidden)
    directed_score(score, counting, equivalent_sample_size)  # refuses what makes no sense
    table = arranged_table(counting)
    schema = table.engine.schema
    odds = None if expected_neighbours is None else arc_odds(schema.n_variables, expected_neighbours)
    families = directed_score(score, table.engine, equivalent_sample_size, odds)
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
    _, in_, out = constraints(schema, None, table.required(must), table.forbidden(must_not))
    most = min(most, families.n)
    learned = climb_dags(families, provenance, in_, out, most, tabu=tabu, shakes=shakes, callback=callback)
    learned = replace(learned, seconds=perf_counter() - began)
    return table.restored(learned, named_pairs(counting.schema, must), named_pairs(counting.schema, must_not))


def climb_dags(
    families: DirectedScore,
    provenance: Provenance,
    must: Indices,
    must_not: Indices,
    max_parents: int,
    *,
    tabu: int,
    shakes: int,
    callback: Callable[[Step], object] | None = None,
) -> Learned:
    """Raise a score of directed graphs; return the moral graph of the best."""
    began, schema, n = perf_counter(), families.engine.schema, families.n
    locked, out = pair_matrix(must, n), pair_matrix(must_not, n)
    climb = DagClimb(families, oriented(locked, out, max_parents), locked, out, max_parents, tabu)
    history: list[Step] = []
    total, kept, stopped = families.total(climb.parents), 0, False
    parents = [set(mine.tolist()) for mine in climb.parents.one_by_one()]
    best = total
    for move in moves_of(climb, shakes):
        if move is None:  # back at the best structure
            for step in history[kept:]:
                parents[schema.index(step.y)] ^= {schema.index(step.x)}
            del history[kept:]
            total = best
            continue
        for child, parent, added, gain in move.parts:
            then = sorted(parents[child])
            parents[child] ^= {parent}
            if families.adds_up:
                total += gain
            else:
                before, after = families.values([child] * 2, [then, sorted(parents[child])])
                total += float(after - before)
            x, y = schema.names[parent], schema.names[child]
            history.append(Step(len(history) + 1, x, y, added, gain, total))
            if callback and _checks.is_true(callback(history[-1])):
                stopped = True
        if not climb.n_beyond:
            kept, best = len(history), total
        if stopped:
            break
    climb.go_back()
    found, odds = moral(climb.arcs), pair_log_odds(climb.evidence, climb.arcs, climb.ancestors)
    return learned_from(
        schema,
        np.argwhere(np.triu(found)),
        provenance,
        n_tests=n * (n - 1) // 2 + climb.n_rows * max(n - 1, 0),
        n_iter=kept,
        seconds=perf_counter() - began,
        score=best,
        pair_scores=read_only(credibilities(odds, found)),
        history=tuple(history[:kept]),
        required=named_pairs(schema, must),
        forbidden=named_pairs(schema, must_not),
        arcs=named_arcs(schema, climb.arcs),
        arc_score=families.model.family,
    )


def moves_of(climb: DagClimb, shakes: int) -> Iterator[Move | None]:
    """Yield all moves; None when a search is over, and the structure is the best one again.

    After the first search every variable is shaken, in their order; as often as told, if that is of use.
    """
    while move := climb.advance():
        yield move
    yield None
    for _ in range(shakes):
        before = climb.best_mark
        for v in range(climb.score.n):
            shaken = climb.shake(v)
            yield from shaken
            while shaken and (move := climb.advance()):
                yield move
            yield None
        if climb.best_mark == before:
            return


def named_arcs(schema: Schema, arcs: Bools) -> tuple[tuple[str, str], ...]:
    """Return arcs as names: (parent, child)."""
    return tuple((schema.names[y], schema.names[x]) for y, x in np.argwhere(arcs.T).tolist())


def credibilities(odds: Floats, found: Bools) -> Floats:
    """Return σ: the log posterior of what the moral graph asserts about every pair, from its log odds."""
    sigma = -np.logaddexp(0.0, np.where(found, -odds, odds))
    np.fill_diagonal(sigma, 0.0)
    return np.asarray(sigma)


def pair_matrix(pairs: Indices, n: int) -> Bools:
    """Return pairs as a symmetric matrix."""
    out = np.zeros((n, n), bool)
    for i, j in pairs:
        out[i, j] = out[j, i] = True
    return out
