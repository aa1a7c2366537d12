"""IBMAP-HC: hill climbing on the IB-score (paper, Algorithms 1 and 2)."""

from collections.abc import Callable, Iterable
from os import PathLike
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ibmap.data import CategoricalData
from ibmap.engines import Counts, LocalCounts
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence import as_test
from ibmap.learners.checkpoint import Checkpoint, keeper_of
from ibmap.results.learned import Learned, Step, learned_from
from ibmap.scores import IBScore

Edges = Iterable[tuple[str, str]]
Indices = list[tuple[int, int]]

BATCH = 50_000_000  #: cells of the table that pass between two looks at the keyboard


def ibmap_hc(
    data: CategoricalData,
    test: object = None,
    *,
    patience: int = 0,
    start: Graph | None = None,
    required: Edges = (),
    forbidden: Edges = (),
    n_jobs: int | None = None,
    callback: Callable[[Step], object] | None = None,
    counts: Counts | None = None,
    checkpoint: Checkpoint | str | PathLike[str] | None = None,
) -> Learned:
    """Learn a Markov network by hill climbing on the IB-score.

    Start from the empty graph; flip the pair that is least credible under the current graph, as long as that
    raises the score. The options are those of :class:`ibmap.IBMAP`; ``counts`` is an engine that counts
    instead of the one in memory; ``checkpoint`` names a file where the search is saved every ten seconds (or
    as :class:`Checkpoint` says) and taken up again if it is there. It stays when the search is over.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> learned = ibmap_hc(load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)}))
    >>> learned.graph.edges
    (('a', 'b'),)
    """
    began = perf_counter()
    asked = as_test(test)
    if not asked.has_posteriors:
        raise RequestError(
            f"IBMAP-HC sums log posteriors, and {asked.name} has none: use the Bayesian test, "
            "or a learner that only asks whether two variables are independent"
        )
    if not isinstance(patience, int | np.integer) or patience < 0:
        raise RequestError(f"patience must be 0 or more, a whole number, not {patience!r}")
    patience = min(patience, data.n_variables * (data.n_variables - 1) // 2)
    bound = asked.bind(counts if counts is not None else LocalCounts(data))
    edges, must, must_not = constraints(data, start, required or (), forbidden or ())
    locked = must + must_not
    n_threads = min(threads(n_jobs), data.n_variables)
    score = IBScore(bound, data.n_variables, edges, locked, n_threads)  # Algorithm 1, lines 1 and 2
    history: list[Step] = []
    keeper = keeper_of(checkpoint, data, asked, patience, sorted(edges), sorted(locked))
    finished = keeper.restore(score, history, data.names) if keeper else False
    batch = max(1, min(512, BATCH // max(1, data.n_rows * data.n_variables)))
    stopped = False
    while not (finished or stopped):  # lines 3 to 10
        ascents = score.ascend(1 if callback else batch, patience, budget=batch)
        finished = score.at_maximum
        for x, y, added, gain, value in ascents:
            history.append(Step(len(history) + 1, data.names[x], data.names[y], added, gain, value))
            if callback and callback(history[-1]) in (True, np.True_):
                stopped = True
        if keeper:
            at_once = finished or stopped
            keeper.save(score, history, data.index, finished=finished, at_once=at_once)
    return learned_from(
        data,
        score.pairs,
        learner="ibmap-hc" if patience == 0 else f"ibmap-hc(patience={patience})",
        test=asked.name,
        n_tests=score.n_tests,
        n_iter=len(history),
        seconds=perf_counter() - began + (keeper.seconds if keeper else 0.0),
        score=score.total,
        pair_scores=read_only(score.pair_scores),
        history=tuple(history),
        required=_named(data, must),
        forbidden=_named(data, must_not),
    )


def constraints(
    data: CategoricalData, start: Graph | None, required: Edges, forbidden: Edges
) -> tuple[Indices, Indices, Indices]:
    """Return the edges to start from, the required and the forbidden ones, as indices."""
    if start is not None and not isinstance(start, Graph):
        raise RequestError(
            f"start must be a Graph, not {type(start).__name__}: Graph(names, edges) makes one"
        )
    must, must_not = _pairs(data, required, "required"), _pairs(data, forbidden, "forbidden")
    edges = _pairs(data, start.edges if start is not None else (), "start")
    for pairs, name in ((must, "required"), (edges, "in the start graph")):
        if both := sorted(set(pairs) & set(must_not)):
            x, y = (data.names[i] for i in both[0])
            raise RequestError(f"the edge between {x!r} and {y!r} is both {name} and forbidden")
    return edges + must, must, must_not


def _pairs(data: CategoricalData, edges: Edges, what: str) -> Indices:
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or len(tuple(edge)) != 2:
            raise RequestError(f"{what} edges are pairs of names, not {edge!r}")
        i, j = data.indices(edge)
        if i == j:
            raise RequestError(f"a {what} edge needs two different variables, not {edge[0]!r} twice")
        pairs.append((min(i, j), max(i, j)))
    return pairs


def _named(data: CategoricalData, pairs: Indices) -> tuple[tuple[str, str], ...]:
    return tuple((data.names[i], data.names[j]) for i, j in dict.fromkeys(pairs))


def threads(n_jobs: int | None) -> int:
    """Return the number of threads as scikit-learn counts: None is 1, -1 is all cores."""
    from os import cpu_count

    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer):
        raise RequestError(f"n_jobs must be a whole number or None, not {n_jobs!r}")
    if n_jobs == 0:
        raise RequestError("n_jobs must not be 0: None is one thread, -1 all cores")
    return n_jobs if n_jobs > 0 else max(1, (cpu_count() or 1) + 1 + n_jobs)


def read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the array, closed for writing."""
    array.flags.writeable = False
    return array
