"""Two views of one table: neighbours without direction, or the moral graph of a directed one; data judge.

The directed view raises BDeu or qNML, whichever is larger with the same prior of arcs: both are code lengths,
and neither wins everywhere (sum of errors on 16 tables: BDeu 1441, qNML 1294, the larger one 1256). Without a
prior of arcs BDeu overfits (500 variables, 1600 rows: 4113 errors, 928 by BIC). The judge between views is
half of the leave-one-out pseudo-likelihood, and the log prior of edges or arcs; with prior counts that add up
to 3 families predict better than with 1, nearly everywhere.

A directed graph is searched for only where full tables say more than main effects, which the parents of a
common child do. Without this rule it won in undirected worlds of 100 rows, where rows left out cannot tell:
1420 errors instead of 171 (ising, six tables).

Where a variable has many levels the undirected search takes most of the time, up to all of it (a hub of 60
levels with 108 children, 2000 rows: 127 CPU s, 6 without it). There a directed graph is searched for first,
and the undirected search is left out if the same neighbours without direction predict worse, even if all that
single edges would gain beside them added up. The judge then takes the prior counts that predict best, as
three of them smooth large families far too little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

import numpy as np

from ibmap._types import Bools, Floats
from ibmap.criteria.directed import DirectedScore
from ibmap.criteria.families import FEWEST, FIRST_GUESS, is_modelled, log_prior_odds
from ibmap.criteria.left_out import best_left_out, directed_left_out
from ibmap.data.schema import NOMINAL, Schema
from ibmap.engines import Engine
from ibmap.engines.engine import level_counts
from ibmap.engines.model import Model
from ibmap.engines.rows import as_lists
from ibmap.graph import Graph
from ibmap.learners.dag_hc import credibilities, named_arcs, pair_matrix
from ibmap.learners.score_based import constraints, read_only
from ibmap.results.directed import score_of_arcs
from ibmap.results.learned import Learned, Step, learned_from
from ibmap.results.provenance import Provenance
from ibmap.search.best_dag import DagSearches, WithoutEdge, searched_log_odds
from ibmap.search.climb import MATRIX
from ibmap.search.dag import moral
from ibmap.search.state import State

SIZE = 3.0  #: prior counts of a family, all together, where a directed graph predicts
MIXED = 0.05  #: share of the variables with more than main effects that makes a directed view worth a search
BEYOND = 4.6  #: log evidence by which a full table must surpass main effects, to count as more than these
HOPELESS = 0.05  #: a directed graph that is worse by this share after one climb is not searched on
ENOUGH = 300  #: rows from which on qNML is tried: with few rows a slice it is no code length, and overfits
UNFIT = 0.2  #: share by which a graph of qNML may predict worse than one of BDeu
MANY = 8  #: levels of a variable from which on a directed graph is searched for first
WORTH_IT = 50_000  #: cells of such a table; of smaller ones both searches are fast, and few rows tell less
SIZES = (3.0, 10.0, 30.0, 100.0, 300.0)  #: prior counts of which the best are taken there
DIVISOR = 2.0  #: of the log odds of edges: above .9, .989, .994, .997 and .997 were true with 1, 1.5, 2 and 3
VIEWS = ("undirected", "directed")
Pairs = Sequence[tuple[str, str]]
NAMED = 2  #: edges that could stand in for one, at most


def best_view(learned: Learned, engine: Engine, values: Floats, view: str | None = None) -> Learned:
    """Return the network of the better view, with what each of them is worth.

    The directed view is searched for if ``view`` is "directed", or if one variable in twenty depends on its
    neighbours in more than main effects. That view wins which predicts better, its prior included; or the
    directed one, if ``view`` is that. ``values`` are the scores s_x of all variables, from the search.
    """
    if view is None and more_than_main_effects(learned, engine, values).mean() < MIXED:
        return learned
    by, scores = Judge(engine), scores_of(learned, engine)
    first = DagSearches(scores["bdeu"], *bounds_of(learned, engine))
    known = {
        "undirected": worth_of_edges(learned, engine),
        "directed": by.worth(first.matrix, scores),
    }
    if view is None and known["directed"] < known["undirected"] - HOPELESS * abs(known["undirected"]):
        return replace(learned, view_scores=known)
    searches = both_searches(first, scores, learned, engine)
    name = larger(searches, by)
    searches[name].finish()
    known["directed"] = by.worth(searches[name].matrix, scores)
    if view is None and known["directed"] <= known["undirected"]:
        return replace(learned, view_scores=known)
    return directed_view(learned, searches, name, scores, known)


def directed_first(
    provenance: Provenance, engine: Engine, required: Pairs, forbidden: Pairs, view: str | None = None
) -> Learned | None:
    """Return the directed view of a table with many levels, without a search for the undirected one.

    None if no variable has many levels, if the table is small, or if the undirected view could predict as
    well: by the same neighbours and all flips that gain beside them, as if what they gain added up. The prior
    of arcs expects as many neighbours as a first climb finds.
    """
    schema, score, seconds = engine.schema, cast(Any, provenance.score), perf_counter()
    nominal = is_modelled(schema) & (np.array(schema.kinds) == NOMINAL)
    is_small = schema.n_rows * schema.n_variables < WORTH_IT
    if is_small or schema.n_variables > MATRIX or max(schema.cardinalities[nominal], default=0) < MANY:
        return None
    none, told = np.empty((0, 2), np.int64), {"required": tuple(required), "forbidden": tuple(forbidden)}
    learned = learned_from(schema, none, provenance, n_tests=0, n_iter=0, seconds=0.0, **told)
    guess = replace(learned, provenance=provenance.expecting(score.expected_neighbours or FIRST_GUESS))
    first = DagSearches(scores_of(guess, engine)["bdeu"], *bounds_of(guess, engine))
    if score.expected_neighbours is None:
        degree = moral(first.matrix).sum() / schema.n_variables
        guess = replace(learned, provenance=provenance.expecting(max(float(degree), FEWEST)))
        first = DagSearches(scores_of(guess, engine)["bdeu"], *bounds_of(guess, engine))
    by, scores = Judge(engine, SIZES), scores_of(guess, engine)
    searches = both_searches(first, scores, guess, engine)
    name = larger(searches, by)
    worth, beside = by.worth(searches[name].matrix, scores), graph_of(searches[name], schema)
    same = replace(guess, graph=beside)
    known = {"undirected": worth_of_edges(same, engine), "directed": worth}
    if view is None and worth <= known["undirected"] + all_gains(same, engine):
        return None
    searches[name].finish()
    found = directed_view(guess, searches, name, scores, known)
    return replace(found, seconds=perf_counter() - seconds)


def directed_view(
    learned: Learned,
    searches: Mapping[str, DagSearches],
    name: str,
    scores: Mapping[str, DirectedScore],
    known: Mapping[str, float],
) -> Learned:
    """Return the network of a directed graph, with what both views are worth."""
    n = learned.graph.n_variables
    n_tests = learned.n_tests + sum(n + one.n_rows for one in searches.values()) * max(n - 1, 0)
    found = network_of(searches[name], scores[name], learned)
    return replace(found, n_tests=n_tests, seconds=learned.seconds, view_scores=known, arc_score=name)


def graph_of(search: DagSearches, schema: Schema) -> Graph:
    """Return the moral graph of the best directed graph."""
    return Graph.from_pairs(np.argwhere(np.triu(moral(search.matrix))), schema.names)


def scores_of(learned: Learned, engine: Engine) -> dict[str, DirectedScore]:
    """Return the scores of directed graphs, with the prior of the undirected one."""
    return {name: score_of_arcs(learned.provenance, engine, name)[1] for name in ("bdeu", "qnml")}


def both_searches(
    first: DagSearches, scores: Mapping[str, DirectedScore], learned: Learned, engine: Engine
) -> dict[str, DagSearches]:
    """Return searches by BDeu and, where there are rows enough, by qNML."""
    searches = {"bdeu": first}
    if engine.schema.n_rows >= ENOUGH:
        searches["qnml"] = DagSearches(scores["qnml"], *bounds_of(learned, engine))
    return searches


def worth_of_edges(learned: Learned, engine: Engine) -> float:
    """Return how well neighbours predict, with the prior of edges; each pair of conditionals counts once."""
    score: Any = learned.provenance.score
    edges = learned.graph.adjacency
    odds = log_prior_odds(len(edges), score.expected_neighbours, score.prior)
    return float(predicted(learned, engine).sum() + (odds * edges).sum()) / 2


def all_gains(learned: Learned, engine: Engine) -> float:
    """Return what all flips of a graph that gain would add to the undirected score, if that added up."""
    required, forbidden, _ = bounds_of(learned, engine)
    state = State(cast(Any, learned.provenance.score).bind(engine, None), learned.graph.pairs.tolist())
    gains = state.native.matrix()
    gains = np.where(learned.graph.adjacency, -1, 1) * (gains + gains.T) / 2
    return float(np.triu(np.maximum(gains, 0) * ~(required | forbidden), 1).sum())


def bounds_of(learned: Learned, engine: Engine) -> tuple[Bools, Bools, bool]:
    """Return the pairs that are required and forbidden, and whether all values are known.

    Variables of too many levels get no arcs.
    """
    schema, n = engine.schema, learned.graph.n_variables
    _, must, must_not = constraints(schema, None, learned.required, learned.forbidden)
    required, forbidden = pair_matrix(must, n), pair_matrix(must_not, n)
    alone = ~is_modelled(schema)
    forbidden |= alone | alone[:, None]
    np.fill_diagonal(forbidden, val=False)
    return required, forbidden, int(level_counts(engine).sum()) == schema.n_rows * n


def larger(searches: Mapping[str, DagSearches], judge: "Judge") -> str:
    """Return the score that a first search raises most; not one whose graph predicts far worse."""
    for search in searches.values():
        search.pilot()
    name = max(searches, key=lambda one: searches[one].score)
    unfit = judge(searches[name].matrix) < (1 + UNFIT) * judge(searches["bdeu"].matrix)
    return "bdeu" if unfit else name


class Judge:
    """How well directed graphs predict every value from the rest of its row, each row left out in turn.

    Of several prior counts of a family, those that predict best.
    """

    def __init__(self, engine: Engine, sizes: Sequence[float] = (SIZE,)) -> None:
        self._engine = engine
        self._known: dict[float, tuple[Bools, Floats] | None] = dict.fromkeys(sizes)

    def __call__(self, arcs: Bools) -> float:
        """Return the log pseudo-likelihood; families that the graph before had are not counted again."""
        for size, before in self._known.items():
            self._known[size] = arcs, directed_left_out(self._engine, arcs, size, before)
        return max(float(known[1].sum()) for known in self._known.values() if known)

    def worth(self, arcs: Bools, scores: Mapping[str, DirectedScore]) -> float:
        """Return half of that, with the prior of arcs."""
        return self(arcs) / 2 + float((scores["bdeu"].model.log_odds * arcs).sum())


def network_of(searches: DagSearches, score: DirectedScore, learned: Learned) -> Learned:
    """Return the moral graph of the best directed graph, with posteriors of its edges, and their rivals.

    A step of its history is an arc, parents first: one way to the graph, where the searches took many.
    """
    odds, without = searched_log_odds(searches)
    arcs, schema, names = searches.matrix, score.engine.schema, score.engine.schema.names
    found = moral(arcs)
    history = steps_to(arcs, score)
    return learned_from(
        schema,
        np.argwhere(np.triu(found)),
        learned.provenance,
        n_tests=0,
        n_iter=len(history),
        seconds=0.0,
        score=searches.score,
        pair_scores=read_only(credibilities(np.where(found, odds / DIVISOR, odds), found)),
        history=history,
        required=learned.required,
        forbidden=learned.forbidden,
        arcs=named_arcs(schema, arcs),
        rivals={
            (names[i], names[j]): tuple(
                (names[x], names[y], without[i, j].share) for x, y in nearest((i, j), without.get((i, j)))
            )
            for i, j in np.argwhere(np.triu(found)).tolist()
        },
    )


def nearest(pair: tuple[int, int], without: WithoutEdge | None) -> list[tuple[int, int]]:
    """Return the edges that could stand in for one: those of its ends, the end that stays first."""
    found = without.pairs if without else ()
    at_an_end = [(x, y) if x in pair else (y, x) for x, y in found if x in pair or y in pair]
    return (at_an_end or list(found))[:NAMED]


def steps_to(arcs: Bools, score: DirectedScore) -> tuple[Step, ...]:
    """Return the arcs of a graph as steps from none, each with what it gains beside those before it."""
    names, families = score.engine.schema.names, [np.flatnonzero(row) for row in arcs]
    xs = np.repeat(np.arange(len(arcs)), [len(parents) for parents in families])
    given = as_lists([parents[: k + 1] for parents in families for k in range(len(parents))])
    rows = score.engine.rows(score.model, xs, given, floor=np.inf)
    newest = given.members[given.start[1:] - 1]
    gains = rows.t[rows.y == np.repeat(newest, np.diff(rows.start))]
    totals = score.total([()] * len(arcs)) + np.cumsum(gains)
    steps = zip(newest.tolist(), xs.tolist(), gains.tolist(), totals.tolist(), strict=True)
    return tuple(Step(k, names[y], names[x], True, *more) for k, (y, x, *more) in enumerate(steps, start=1))


def more_than_main_effects(learned: Learned, engine: Engine, values: Floats) -> Bools:
    """Return which variables depend on their neighbours in more than main effects, by the evidence.

    The evidence of a full table beyond that of main effects, less what it is ahead without neighbours, where
    both are the same model; a table of more cells than rows says nothing. The search knows the mixture of
    both, e^s = (1 - w) e^main + w e^full, half of which with the prior of edges is its value.
    """
    graph = learned.graph
    score: Any = learned.provenance.score
    out = np.zeros(graph.n_variables, bool)
    several = np.array([x for x in range(graph.n_variables) if len(graph.neighbours(x)) > 1], np.int64)
    blankets, adjacency = [graph.neighbours(x) for x in several.tolist()], graph.adjacency
    odds = log_prior_odds(graph.n_variables, score.expected_neighbours, score.prior)
    mixture = 2 * values - (odds * adjacency).sum(axis=1)
    model = Model("saturated", score.effect_variance, score.prior_count)
    full = 2 * engine.rows(model, several, blankets, floor=np.inf).value
    share = score.saturated_share
    cells = np.log(np.maximum(engine.schema.cardinalities, 1)) @ (adjacency | np.eye(len(out), dtype=bool))
    most = mixture[several] - full < np.log(share + (1 - share) * np.exp(-BEYOND))
    out[several] = most & (cells[several] <= np.log(max(engine.schema.n_rows, 1)))
    return out


def predicted(learned: Learned, engine: Engine) -> Floats:
    """Return how well the neighbours predict every variable, each row left out in turn.

    By main effects or by a full table, whichever is better.
    """
    score: Any = learned.provenance.score
    blankets = [learned.graph.neighbours(x) for x in range(learned.graph.n_variables)]
    variance, count = getattr(score, "effect_variance", 1.0), getattr(score, "prior_count", 0.5)
    return best_left_out(engine, blankets, variance, count)
