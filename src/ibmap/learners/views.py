"""Two views of one table: neighbours without direction, or the moral graph of a directed one; data judge."""

from dataclasses import replace
from typing import Any

import numpy as np

from ibmap._types import Bools, Floats
from ibmap.engines import Engine
from ibmap.learners.dag_hc import climb_dags
from ibmap.learners.raising import constraints
from ibmap.results.learned import Learned
from ibmap.scores import PairwiseScore, SaturatedScore
from ibmap.scores.directed import arc_odds, directed_score
from ibmap.scores.families import log_prior_odds
from ibmap.scores.left_out import directed_left_out, pairwise_left_out, saturated_left_out
from ibmap.scores.local_score import in_batches

SIZE = 1.0  #: equivalent sample size of the directed view
MIXED = 0.05  #: share of the variables with more than main effects that makes a directed view worth a search
BEYOND = 4.6  #: log evidence by which a full table must surpass main effects, to count as more than these
TABU, SHAKES = 10, 1
HOPELESS = 0.05  #: a directed view that is worse by this share is not improved by turning arcs round
VIEWS = ("undirected", "directed")


def best_view(learned: Learned, engine: Engine, view: str | None = None) -> Learned:
    """Return the network of the better view, with what each of them is worth.

    The directed view is searched for if ``view`` is "directed", or if one variable in twenty depends on its
    neighbours in more than main effects, which the parents of a common child do. That view wins which
    predicts better, its prior included.
    """
    if view is None and more_than_main_effects(learned, engine).mean() < MIXED:
        return learned
    score: Any = learned.provenance.score
    edges = learned.graph.adjacency
    odds = log_prior_odds(len(edges), score.expected_neighbours, score.prior)
    worth = {"undirected": float(predicted(learned, engine).sum() / 2 + (odds * edges).sum() / 2)}
    for shakes in (0, SHAKES):
        found = directed_view(learned, engine, shakes)
        arcs = matrix_of(found)
        odds = arc_odds(len(arcs), score.expected_neighbours, score.prior)
        logs = directed_left_out(engine, arcs, SIZE)
        worth["directed"] = float(logs.sum() / 2 + (odds * arcs).sum())
        if worth["directed"] < worth["undirected"] - HOPELESS * abs(worth["undirected"]):
            break
    if view == "directed" or worth["directed"] > worth["undirected"]:
        n_tests = learned.n_tests + found.n_tests
        return replace(found, n_tests=n_tests, seconds=learned.seconds, view_scores=worth)
    return replace(learned, view_scores=worth)


def more_than_main_effects(learned: Learned, engine: Engine) -> Bools:
    """Return which variables depend on their neighbours in more than main effects, by the evidence."""
    score: Any = learned.provenance.score
    n = learned.graph.n_variables
    blankets = [learned.graph.neighbours(x) for x in range(n)]
    options = {"expected_neighbours": score.expected_neighbours, "prior": score.prior}
    pairwise, saturated = (
        in_batches(family(**options).bind(engine, None), range(n), blankets).values * 2
        for family in (PairwiseScore, SaturatedScore)
    )
    several = np.array([len(blanket) > 1 for blanket in blankets], bool)
    return several & (saturated > pairwise + BEYOND)


def predicted(learned: Learned, engine: Engine) -> Floats:
    """Return how well the neighbours predict every variable, each row left out in turn.

    By main effects or by a full table, whichever is better.
    """
    score: Any = learned.provenance.score
    blankets = [learned.graph.neighbours(x) for x in range(learned.graph.n_variables)]
    pairwise = pairwise_left_out(engine, blankets, 4.0 / getattr(score, "effect_variance", 1.0))
    saturated = saturated_left_out(engine, blankets, getattr(score, "prior_count", 0.5))
    return np.maximum(pairwise, saturated)


def directed_view(learned: Learned, engine: Engine, shakes: int) -> Learned:
    """Return the moral graph of the best directed graph that was found, with the prior of ``learned``."""
    score: Any = learned.provenance.score
    families = directed_score("bdeu", engine, SIZE)
    families.prior_odds = arc_odds(families.n, score.expected_neighbours, score.prior)
    _, must, must_not = constraints(engine.schema, None, learned.required, learned.forbidden)
    return climb_dags(families, learned.provenance, must, must_not, families.n, tabu=TABU, shakes=shakes)


def matrix_of(learned: Learned) -> Bools:
    """Return arcs as a matrix: y → x at [x, y]."""
    index, n = learned.graph.index, learned.graph.n_variables
    arcs = np.zeros((n, n), bool)
    for parent, child in learned.arcs or ():
        arcs[index(child), index(parent)] = True
    return arcs
