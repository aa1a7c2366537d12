"""How good is a learned graph: against the truth, or against data that it has not seen."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._checks import word
from ibmap._random import RandomState, generator
from ibmap.errors import RequestError
from ibmap.graph import Graph

Ints = NDArray[np.int64]
Edge = tuple[str, str]

HasGraph = Any  #: a Graph, or something fitted that has one
QUERIES = ("formula", "per-size")
AT_ONCE = 4096  #: questions that are drawn and answered together
MOST_QUERIES = 1_000_000_000  #: for each size of Z


class FMeasure(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f: float


def as_graph(source: HasGraph) -> Graph:
    """Return the graph that is meant: itself, that of a fitted learner, or that of what was learned.

    Examples
    --------
    >>> as_graph(Graph("ab")).n_variables
    2
    """
    found = source
    for name in ("learned_", "learned", "graph"):  # of an estimator, of a result, of what was learned
        found = found if isinstance(found, Graph) else getattr(found, name, found)
    if not isinstance(found, Graph):
        raise RequestError(f"expected a Graph or a fitted learner, not {type(source).__name__}")
    return found


def hamming(learned: HasGraph, truth: HasGraph) -> int:
    """Return the number of wrong pairs: false edges plus missing edges; of graphs, or of fitted learners.

    Examples
    --------
    >>> hamming(Graph("abc", [("a", "b")]), Graph("abc", [("b", "c")]))
    2
    """
    one, other = as_graph(learned), as_graph(truth)
    return one.n_edges + other.n_edges - 2 * _n_shared(one, other)


def f_measure(learned: HasGraph, truth: HasGraph, *, of: str = "independences") -> FMeasure:
    """Return precision, recall and F = 2 · precision · recall / (precision + recall).

    Parameters
    ----------
    learned, truth : Graph or fitted learner
        Two graphs of the same variables.
    of : {"independences", "edges"}
        What counts as found: pairs without an edge, as in the paper, or edges. In sparse graphs nearly all
        pairs have no edge, and the first is near 1 even for the empty graph: look at both.

    Returns
    -------
    FMeasure
        Where nothing was found the precision is 1 (nothing found is wrong), where nothing was to be found the
        recall is 1 (nothing is missing); F is 0 if both are 0.

    Examples
    --------
    >>> truth = Graph("abcd", [("a", "b"), ("b", "c")])
    >>> f_measure(Graph("abcd", [("a", "b")]), truth)
    FMeasure(precision=0.8, recall=1.0, f=0.888888888888889)
    >>> f_measure(Graph("abcd", [("a", "b")]), truth, of="edges")
    FMeasure(precision=1.0, recall=0.5, f=0.6666666666666666)
    """
    word(of, "of", ("independences", "edges"))
    learned, truth = as_graph(learned), as_graph(truth)
    found, true, both = learned.n_edges, truth.n_edges, _n_shared(learned, truth)
    if of == "independences":
        n_pairs = truth.n_variables * (truth.n_variables - 1) // 2
        found, true, both = n_pairs - found, n_pairs - true, n_pairs - found - true + both
    precision = both / found if found else 1.0
    recall = both / true if true else 1.0
    total = precision + recall
    return FMeasure(precision, recall, 2 * precision * recall / total if total else 0.0)


class EdgeComparison(NamedTuple):
    """The edges of two graphs: those of both, those only in the learned one, those only in the true one."""

    right: list[Edge]
    false: list[Edge]
    missing: list[Edge]


def compare_edges(learned: HasGraph, truth: HasGraph) -> EdgeComparison:
    """Return which edges of a learned graph are right, which are false, and which are missing.

    Examples
    --------
    >>> compare_edges(Graph("abc", [("a", "b"), ("a", "c")]), Graph("abc", [("a", "b"), ("b", "c")]))
    EdgeComparison(right=[('a', 'b')], false=[('a', 'c')], missing=[('b', 'c')])
    """
    learned, truth = as_graph(learned), as_graph(truth)
    _check_same_variables(learned.names, truth.names, "the learned graph", "the true one")
    right = [edge for edge in truth.edges if learned.has_edge(*edge)]
    false = [edge for edge in learned.edges if not truth.has_edge(*edge)]
    missing = [edge for edge in truth.edges if not learned.has_edge(*edge)]
    return EdgeComparison(right, false, missing)


def log_score(graph: Graph, data: Any, *, engine: Any = None) -> float:
    """Return how well the neighbours of a variable in a graph predict its values in unseen rows.

    The mean log probability of a value given the other values of its row, over all rows and variables: the
    log pseudo-likelihood per row and variable, which is 0 for perfect predictions. Whichever learner a graph
    comes from, the same models predict: main effects of the neighbours, or a full table with prior counts,
    whichever is better, fitted to all rows but the one that is predicted. False edges and missing edges both
    cost; with enough rows the true graph ranks first.

    Parameters
    ----------
    graph : Graph
        What was learned, from other rows.
    data : table
        Anything that :func:`ibmap.load` takes, or an engine that holds it, with the variables of the graph.
        Variables of more than 100 levels are not predicted. Of numbers
        (``continuous="all"``) it is the mean log density by linear regressions, in units
        of the standard deviation of each variable; constants are not predicted. Of levels and numbers
        together, or numbers with holes, each fifth of the rows is predicted by a model of the others, and
        numbers count by the normal density of their standard scores.
    engine : Engine, callable, str or None
        Engine that counts, see :func:`ibmap.engines.as_engine`.

    Examples
    --------
    >>> rain = np.repeat([0, 1], 50)
    >>> table = {"rain": rain, "wet": rain, "tea": np.tile([0, 1], 50)}
    >>> right, none = Graph(["rain", "wet", "tea"], [("rain", "wet")]), Graph(["rain", "wet", "tea"])
    >>> round(log_score(right, table), 3), round(log_score(none, table), 3)
    (-0.241, -0.703)
    """
    from ibmap.criteria.families import is_modelled
    from ibmap.criteria.left_out import best_left_out

    counting = _engine_of(data, engine)
    names = counting.schema.names
    graph = as_graph(graph)
    _check_same_variables(graph.names, names, "the graph", "the table")
    if counting.schema.is_continuous and counting.gaussian_moments is None:
        from ibmap.model.held_out import log_score_of_mixed

        return log_score_of_mixed(graph.permute(names), counting)
    if counting.schema.is_continuous:
        return _log_score_of_numbers(graph.permute(names), counting)
    known = is_modelled(counting.schema)
    if not (known.any() and counting.schema.n_rows):
        raise RequestError("there is no value to predict")
    ordered = graph.permute(names)
    blankets = [ordered.neighbours(x) for x in range(len(names))]
    blankets = [blanket[known[blanket]] for blanket in blankets]
    return float(best_left_out(counting, blankets)[known].mean() / counting.schema.n_rows)


def _log_score_of_numbers(graph: Graph, engine: Any) -> float:
    """Return the mean log density of a value given its neighbours, by regressions on the other rows."""
    varies = np.flatnonzero(~engine.gaussian_moments.is_constant)
    if not len(varies):
        raise RequestError("there is no value to predict: all columns are constant")
    blankets = [np.intersect1d(graph.neighbours(x), varies) for x in varies.tolist()]
    logs = [engine.log_left_out(x, given) for x, given in zip(varies.tolist(), blankets, strict=True)]
    return float(np.mean(logs) / engine.schema.n_rows)


def accuracy(
    graph: Graph,
    data: Any,
    *,
    test: Any = None,
    queries: str | int = "formula",
    engine: Any = None,
    random_state: RandomState = None,
    advance: Callable[[int, int], object] | None = None,
) -> float:
    """Return the share of conditional independences, from 0 to 1, on which a graph and unseen data agree.

    A query asks whether x and y are independent given Z. By the graph they are if Z separates them, by the
    data if the test accepts it. Pairs and sets are drawn at random; every size of Z, from 0 to n - 2, is
    equally frequent.

    Parameters
    ----------
    graph : Graph
        What was learned, from other rows.
    data : table
        The test set: anything that :func:`ibmap.load` takes, or an engine that holds it, with the variables
        of the graph. Best cut from the whole table by :func:`ibmap.paper.datasets.split`: the Bayesian
        test counts the levels of the whole table, not of the test set.
    test : test, str or None
        The test on the data; by default the Bayesian one: of categories, or of whatever the columns hold.
        Where the posterior equals the prior, as with one row in every slice, it decides by its option
        ``ties``.
    queries : {"formula", "per-size"} or int
        "formula": 100 · n (n - 1) / 2 queries in all, that is 50 n per size; "per-size": 100 per size; a
        number: that many per size. The paper mentions both of the first two.
    engine : Engine, callable, str or None
        Engine that counts, see :func:`ibmap.engines.as_engine`.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness of the queries: with one seed, all graphs get the same ones.
    advance : callable or None
        Called now and then with the number of queries that are answered, and of all.

    Examples
    --------
    >>> rain = np.repeat([0, 1], 50)
    >>> table = {"rain": rain, "wet": rain, "tea": np.tile([0, 1], 50)}
    >>> accuracy(Graph(["rain", "wet", "tea"], [("rain", "wet")]), table, random_state=0)
    1.0
    """
    how: Any = {"test": test, "queries": queries, "engine": engine, "advance": advance}
    return accuracies([graph], data, random_state=random_state, **how)[0]


def accuracies(
    graphs: Sequence[Graph],
    data: Any,
    *,
    test: Any = None,
    queries: str | int = "formula",
    engine: Any = None,
    random_state: RandomState = None,
    advance: Callable[[int, int], object] | None = None,
) -> list[float]:
    """Return the :func:`accuracy` of several graphs; the data are asked once.

    Examples
    --------
    >>> rain = np.repeat([0, 1], 50)
    >>> table = {"rain": rain, "wet": rain, "tea": np.tile([0, 1], 50)}
    >>> right, empty = Graph(["rain", "wet", "tea"], [("rain", "wet")]), Graph(["rain", "wet", "tea"])
    >>> [round(share, 2) for share in accuracies([right, empty], table, random_state=1)]
    [1.0, 0.63]
    """
    from ibmap.independence import as_test
    from ibmap.independence.mixed import MixedTest

    counting = _engine_of(data, engine)
    names = counting.schema.names
    if len(names) < 2:
        raise RequestError("accuracy needs at least two variables")
    graphs = [as_graph(graph) for graph in graphs]
    for graph in graphs:
        _check_same_variables(graph.names, names, "the graph", "the table")
    ordered = [graph.permute(names) for graph in graphs]
    any_kind = test is None and counting.schema.is_continuous
    bound = (MixedTest() if any_kind else as_test(test)).bind(counting)
    matches, done = [0] * len(ordered), 0
    for order, sizes in _drawn_queries(len(names), queries, generator(random_state)):
        x, y, given = order[:, 0], order[:, 1], order[:, 2:]
        by_data = bound.each(x.copy(), y.copy(), given, sizes)
        for k, graph in enumerate(ordered):
            matches[k] += int((separated_each(graph, x, y, given, sizes) == by_data).sum())
        done += len(order)
        if advance:
            advance(done, n_queries(len(names), queries))
    return [number / done for number in matches]


def _engine_of(data: Any, engine: Any) -> Any:
    """Return an engine that holds the table: the data, if they are one."""
    from ibmap.data import Table, load
    from ibmap.engines import as_engine
    from ibmap.engines.engine import is_engine

    return as_engine(data if is_engine(data) or isinstance(data, Table) else load(data), engine)


def n_queries(n: int, queries: str | int = "formula") -> int:
    """Return how many questions :func:`accuracy` asks about n variables.

    Examples
    --------
    >>> n_queries(100), n_queries(100, "per-size")
    (495000, 9900)
    """
    return _per_size(n, queries) * (n - 1)


def separated_each(graph: Graph, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> NDArray[np.bool_]:
    """Return for every i whether the first ``sizes[i]`` of ``given[i]`` separate x_i from y_i (positions).

    Examples
    --------
    >>> chain = Graph("abc", [("a", "b"), ("b", "c")])
    >>> ends = np.array([[0, 2], [0, 2]])
    >>> separated_each(chain, ends[:, 0], ends[:, 1], np.array([[1], [1]]), np.array([0, 1]))
    array([False,  True])
    """
    rows = np.arange(len(xs))
    fresh = np.ones((len(xs), graph.n_variables), dtype=np.bool_)  # where a walk may still go
    place = np.arange(given.shape[1]) < sizes[:, None]
    fresh[np.nonzero(place)[0], given[place]] = False
    fresh[rows, xs] = False
    joined = graph.adjacency.astype(np.float32)
    frontier = graph.adjacency[xs] & fresh
    while len(rows):  # all walks take a step at once, until they are at y or can go nowhere
        fresh[rows] &= ~frontier
        going = frontier.any(axis=1) & fresh[rows, ys[rows]]
        rows, frontier = rows[going], frontier[going]
        frontier = (frontier.astype(np.float32) @ joined > 0) & fresh[rows]
    return np.asarray(fresh[np.arange(len(xs)), ys])


def _drawn_queries(n: int, queries: str | int, rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Yield random orders of the variables, x and y first, and how many of the others are in Z."""
    total = n_queries(n, queries)
    for first in range(0, total, AT_ONCE):
        sizes = np.arange(first, min(first + AT_ONCE, total)) % (n - 1)
        yield rng.random((len(sizes), n)).argsort(axis=1), sizes


def _per_size(n: int, queries: str | int) -> int:
    """Return how many queries there are for each size of Z."""
    named = dict(zip(QUERIES, (50 * n, 100), strict=True))
    per_size = named.get(queries) if isinstance(queries, str) else queries
    if not isinstance(per_size, int | np.integer) or isinstance(queries, bool) or per_size < 1:
        raise RequestError(
            f"queries must be {', '.join(map(repr, QUERIES))} or a positive number, not {queries!r}"
        )
    if per_size > MOST_QUERIES:
        raise RequestError(f"queries must be at most {MOST_QUERIES:,} for each size of Z")
    return int(per_size)


def _n_shared(learned: Graph, truth: Graph) -> int:
    """Return the number of edges that both graphs have."""
    _check_same_variables(learned.names, truth.names, "the learned graph", "the true one")
    n = max(truth.n_variables, 1)
    one, other = (
        pairs[:, 0] * n + pairs[:, 1] for pairs in (learned.permute(truth.names).pairs, truth.pairs)
    )
    return len(np.intersect1d(one, other, assume_unique=True))


def _check_same_variables(one: Iterable[str], other: Iterable[str], here: str, there: str) -> None:
    """Refuse to compare what has different variables."""
    first, second = dict.fromkeys(one), dict.fromkeys(other)
    lacking = []
    for where, names in ((there, first.keys() - second.keys()), (here, second.keys() - first.keys())):
        some = sorted(names)[:3]
        if some:
            lacking.append(f"{where} lacks {', '.join(map(repr, some))}{' and more' * (len(names) > 3)}")
    if lacking:
        raise RequestError(f"different variables: {'; '.join(lacking)}")
