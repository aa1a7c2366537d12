"""Fits with their measures: what the experiments with a known truth have in common."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ibmap.paper.experiment import seed_of
from ibmap.paper.results import Measures, Value

if TYPE_CHECKING:
    from ibmap.data import Table
    from ibmap.graph import Graph
    from ibmap.independence import BayesianTest

PAPER_LEARNERS = ("gsmn", "hhc-mn", "ibmap-hc")
RANDOM = {"seed": 0, "log_odds": 1.0, "sweeps": 200}  #: how random networks are drawn
TEST = {"prior_counts": "ones", "combine": "slices"}  #: options of the test that learners use
RULES = {**TEST, "hhc_symmetry": "and"}  #: and how HHC-MN joins what two variables say of each other
EMPTY = "empty"  #: the graph without edges: what every learner has to beat


class Sampled(NamedTuple):
    """A world: its truth, and rows by variable."""

    truth: "Graph"
    codes: Any

    def first(self, n_rows: int) -> "Table":
        """Return the first rows as a table."""
        from ibmap.data import Table

        names = self.truth.names
        return Table(self.codes[:, :n_rows], names, ((0, 1),) * len(names))


def random_world(
    n: int, tau: int, n_rows: int, potentials: str, settings: Mapping[str, Value], repetition: int
) -> Sampled:
    """Draw a random network and rows from it; the seed depends on everything but the number of rows.

    With n variables nobody has more than n - 1 neighbours: a larger tau gives the complete graph, as the
    paper's recipe ("the first nτ/2 variable pairs of a random permutation") does.
    """
    log_odds = float(settings["log_odds"])
    what = {"world": "random", "n": n, "tau": tau, "potentials": potentials, "log_odds": log_odds}
    seed = seed_of(int(settings["seed"]), what, repetition)
    return _random_world(n, min(tau, n - 1), n_rows, potentials, log_odds, int(settings["sweeps"]), seed)


@lru_cache(maxsize=2)
def _random_world(
    n: int, tau: int, n_rows: int, potentials: str, log_odds: float, sweeps: int, seed: int
) -> Sampled:
    from ibmap.synthetic import simulate_random

    options: dict[str, Any] = {"potentials": potentials, "log_odds": log_odds, "sweeps": sweeps}
    return sampled(simulate_random(n, tau, n_rows, random_state=seed, **options))


def sampled(world: Any) -> Sampled:
    """Return truth and rows of a world of binary variables."""
    import numpy as np

    return Sampled(world.graph, np.ascontiguousarray(world.data.T.astype(np.int8)))


def bayesian(settings: Mapping[str, Value], **more: str) -> "BayesianTest":
    """Return the test that the settings describe."""
    from ibmap.independence import BayesianTest

    counts = str(settings["prior_counts"])
    number = counts.replace(".", "", 1).isdecimal()
    return BayesianTest(
        prior_counts=float(counts) if number else counts, combine=str(settings["combine"]), **more
    )


def told(learner: str, settings: Mapping[str, Value]) -> dict[str, Any]:
    """Return the options of a learner that the settings describe."""
    if learner == EMPTY:
        return {}
    symmetry = {"symmetry": str(settings["hhc_symmetry"])} if learner == "hhc-mn" else {}
    return {"test": bayesian(settings), **symmetry}


def fit(learner: str, table: "Table", **options: Any) -> tuple["Graph", Measures]:
    """Learn a graph by one thread; also returns wall time, tests and ascents."""
    from ibmap.graph import Graph

    if learner == EMPTY:
        return Graph(table.names), {}
    search = _warm(learner)
    began = perf_counter()
    learned = search(table, **options)
    milliseconds = 1000 * (perf_counter() - began)
    return learned.graph, {
        "milliseconds": milliseconds,
        "tests": learned.n_tests,
        "ascents": learned.n_iter,
        "score": learned.score,
    }


@cache
def _warm(learner: str) -> Callable[..., Any]:
    """Return the function of a learner, after a first call, which loads what it needs."""
    from ibmap.learners.registry import find_learner

    search = find_learner(learner)
    search(random_world(16, 2, 64, "symmetric", RANDOM, 0).first(64))
    return search


def quality(learned: "Graph", truth: "Graph") -> Measures:
    """Return how far a graph is from the truth."""
    from ibmap.metrics import compare_edges, f_measure, hamming

    edges = compare_edges(learned, truth)
    return {
        "hamming": hamming(learned, truth),
        "false_positives": len(edges.false),
        "false_negatives": len(edges.missing),
        "f_independences": f_measure(learned, truth, of="independences")[2],
        "f_edges": f_measure(learned, truth, of="edges")[2],
    }
