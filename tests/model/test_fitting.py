"""Parameters: the optimum, what is recovered, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from ibmap.data import Table, load
from ibmap.engines import as_engine
from ibmap.errors import DataWarning, RequestError
from ibmap.graph import Graph
from ibmap.learners import dag_hc
from ibmap.model import MarkovNetwork
from ibmap.model.blanket_counts import blanket_counts
from ibmap.model.pseudo_likelihood import VAGUE, pseudo_likelihood
from ibmap.synthetic import simulate_random
from tests.engines.partitioned import PartitionedEngine
from tests.model.models import random_network, seeds
from tests.reference import enumeration

BOTH = ["maximum-likelihood", "pseudo-likelihood"]


def rows_of(network: MarkovNetwork, n_rows: int, seed: int) -> Table:
    return network.sample(n_rows, random_state=seed)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_the_pseudo_likelihood_is_that_of_its_slow_twin(seed: int) -> None:
    network = random_network(seed, interactions=False)
    data = rows_of(network, 20, seed)
    goal = pseudo_likelihood(blanket_counts(as_engine(data), network.layout), 2.0)
    slow = enumeration.log_pseudo_likelihood(
        network.graph.pairs.tolist(), network.fields, network.factors, data.codes.T.tolist()
    )
    penalty = 0.5 * VAGUE * sum((field**2).sum() for field in network.fields)
    penalty += 0.5 * 2.0 * sum((table**2).sum() for table in network.factors)
    assert goal.value(network.theta)[0] == pytest.approx(slow - penalty)
    assert network.log_pseudo_likelihood(data).sum() == pytest.approx(slow)


@pytest.mark.parametrize("levels", [2, 3])
def test_no_step_from_a_fit_raises_the_pseudo_likelihood(levels: int) -> None:
    world = simulate_random(12, 2, 400, levels=levels, random_state=1)
    data = world.to_table()
    network = MarkovNetwork.fit(world.graph, data, method="pseudo-likelihood")
    goal = pseudo_likelihood(blanket_counts(as_engine(data), network.layout), 4.0)
    best, rng = goal.value(network.theta)[0], np.random.default_rng(0)
    for scale in (1e-2, 1e-1):
        for _ in range(20):
            move = [scale * rng.normal(size=table.shape) for table in network.factors]
            move = [m - m.mean(0) - m.mean(1, keepdims=True) + m.mean() for m in move]
            fields = [scale * rng.normal(size=field.shape) for field in network.fields]
            fields = [f - f.mean() for f in fields]
            assert goal.value(network.theta + network.layout.flat(fields, move))[0] < best + 1e-4


def test_maximum_likelihood_has_the_observed_table_of_every_edge() -> None:
    world = simulate_random(10, 3, 500, levels=3, random_state=2)
    data = world.to_table()
    network = MarkovNetwork.fit(world.graph, data, method="maximum-likelihood", pseudo_rows=0.5)
    for (i, j), (x, y) in zip(world.graph.pairs.tolist(), world.graph.edges, strict=True):
        seen = np.zeros((3, 3))
        np.add.at(seen, (data.codes[i], data.codes[j]), 1)
        wanted = (seen + 0.5 / 9) / 500.5
        given_x = np.array([list(network.query(y, {x: level}).values()) for level in range(3)])
        found = given_x * np.array(list(network.query(x).values()))[:, None]
        assert found == pytest.approx(wanted, abs=2e-4)


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("levels", [2, 3])
def test_more_rows_bring_the_parameters_nearer_to_the_truth(method: str, levels: int) -> None:
    errors = []
    for n_rows in (200, 20_000):
        world = simulate_random(8, 2, n_rows, levels=levels, potentials="symmetric", random_state=5)
        network = MarkovNetwork.fit(world.graph, world.to_table(), method=method)
        if levels == 2:
            truth = [np.array([[c, -c], [-c, c]]) / 4 for c in world.model.couplings]
        else:
            truth = [t - t.mean(0) - t.mean(1, keepdims=True) + t.mean() for t in world.model.factors]
        gaps = [np.abs(a - b).mean() for a, b in zip(network.factors, truth, strict=True)]
        errors.append(np.mean(gaps))
    assert errors[1] < 0.25 * errors[0]
    assert errors[1] < 0.02


def test_auto_takes_the_likelihood_where_it_is_cheap_and_rows_are_complete() -> None:
    names = [f"x{i}" for i in range(18)]
    rng = np.random.default_rng(0)
    data = load(dict(zip(names, rng.integers(2, size=(18, 50)), strict=True)))
    edges = list(pairwise(names))
    assert MarkovNetwork.fit(Graph(names, edges), data).fitted_by.method == BOTH[0]
    assert MarkovNetwork.fit(Graph.complete(names), data).fitted_by.method == BOTH[1]
    codes = data.codes.copy()
    codes[3, 7] = -1
    holes = Table(codes, data.names, data.levels)
    assert MarkovNetwork.fit(Graph(names, edges), holes).fitted_by.method == BOTH[1]
    with pytest.raises(RequestError, match="complete rows"):
        MarkovNetwork.fit(Graph(names, edges), holes, method=BOTH[0])


@pytest.mark.parametrize("method", BOTH)
def test_partitions_of_the_rows_and_order_of_the_columns_change_nothing(method: str) -> None:
    world = simulate_random(9, 2, 300, levels=3, random_state=3)
    data = world.to_table()
    network = MarkovNetwork.fit(world.graph, data, method=method)
    parts = MarkovNetwork.fit(world.graph, PartitionedEngine(data, 3), method=method)
    assert parts.theta == pytest.approx(network.theta, abs=1e-9)
    turned = Table(data.codes[::-1], data.names[::-1], data.levels[::-1])
    other = MarkovNetwork.fit(world.graph, turned, method=method)
    for (x, y), table in zip(network.graph.edges, network.factors, strict=True):
        k = other.graph.edges.index((y, x))
        assert pytest.approx(table, abs=5e-3) == other.factors[k].T


@pytest.mark.parametrize("method", BOTH)
def test_what_was_never_seen_and_constants_have_finite_parameters(method: str) -> None:
    data = Table(
        np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]), ("a", "b", "c"), ((0, 1, 2), (0, 1), ("x",))
    )
    network = MarkovNetwork.fit(Graph("abc", [("a", "b"), ("b", "c")]), data, method=method)
    assert np.isfinite(network.theta).all()
    assert network.query("c")["x"] == 1.0


@pytest.mark.parametrize("method", BOTH)
def test_the_order_of_columns_and_unseen_levels_change_no_parameter(method: str) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (3, 60))
    codes[1] = np.where(rng.random(60) < 0.8, codes[0], codes[1])
    levels = ((0, 1), (0, 1, 2, 3), (0, 1, 2))
    there = MarkovNetwork.fit(
        Graph("abc", [("a", "b"), ("b", "c")]), Table(codes, tuple("abc"), levels), method=method
    )
    back = MarkovNetwork.fit(
        Graph("cba", [("a", "b"), ("b", "c")]),
        Table(codes[::-1].copy(), tuple("cba"), levels[::-1]),
        method=method,
    )
    for name in "abc":
        assert back.query(name) == pytest.approx(there.query(name), abs=1e-5)
        assert len(there.query(name)) == len(levels["abc".index(name)])


def test_a_model_that_nobody_has_fitted_does_not_say_so() -> None:
    assert "fitted" not in repr(random_network(1))


def test_without_pseudo_rows_what_was_never_seen_is_impossible() -> None:
    data = load({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    network = MarkovNetwork.fit(Graph("ab", [("a", "b")]), data, pseudo_rows=0)
    assert network.query("b", {"a": 0})[1] == 0.0


@pytest.mark.parametrize(("method", "words"), [(BOTH[0], "max_iter"), (BOTH[1], "effect_variance")])
def test_a_fit_that_has_not_converged_says_what_to_do(method: str, words: str) -> None:
    world = simulate_random(9, 4, 300, random_state=3, log_odds=3.0)
    with pytest.warns(DataWarning, match=words):
        MarkovNetwork.fit(world.graph, world.to_table(), method=method, max_iter=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "em"}, "'auto'"),
        ({"effect_variance": 0}, "positive"),
        ({"pseudo_rows": -1}, "positive"),
        ({"max_iter": 0}, "max_iter must be 1 or more"),
        ({"max_iter": 0.5}, "max_iter must be 1 or more"),
    ],
)
def test_requests_that_make_no_sense(options: dict[str, object], words: str) -> None:
    data = load({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(RequestError, match=words):
        MarkovNetwork.fit(Graph("ab"), data, **options)


def test_a_graph_of_other_variables_is_refused() -> None:
    data = load({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(RequestError, match="only the graph has 'c'; only the table has 'b'"):
        MarkovNetwork.fit(Graph("ac"), data)
    with pytest.raises(RequestError, match="expected a Graph"):
        MarkovNetwork.fit([("a", "b")], data)


def test_more_variables_than_rows() -> None:
    world = simulate_random(60, 2, 10, random_state=0)
    network = MarkovNetwork.fit(world.graph, world.to_table(), method="pseudo-likelihood")
    assert np.isfinite(network.theta).all()


def test_tables_of_any_kind_and_numbers() -> None:
    network = MarkovNetwork.fit(Graph("ab", [("a", "b")]), {"a": ["x", "y", None], "b": [0, 1, 1]})
    assert network.fitted_by.method == BOTH[1]
    numbers = MarkovNetwork.fit(Graph("ab"), load({"a": [0.5, 1.5], "b": [1.0, 2.0]}, continuous="all"))
    assert numbers.fitted_by.method == BOTH[0]


@pytest.mark.parametrize("is_directed", [False, True])
@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("interactions", [None, []])
@pytest.mark.parametrize("method", ["auto", *BOTH, "conditional-tables"])
def test_what_finds_the_parameters(
    is_directed: bool, has_gaps: bool, interactions: list[object] | None, method: str
) -> None:
    """Tables of the directed graph, where it was learned and nothing else is told; else the likelihood."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (3, 200))
    codes[2] = codes[0] & codes[1]
    if has_gaps:
        codes[0, :20] = -1
    data = Table(codes, tuple("abc"), ((0, 1),) * 3)
    learned = dag_hc(data)
    expected = method
    if method == "auto":
        expected = BOTH[has_gaps]
        if is_directed and interactions is None:
            expected = "conditional-tables"
    if (method == BOTH[0] and has_gaps) or (method == "conditional-tables" and not is_directed):
        with pytest.raises(RequestError, match="complete rows" if method == BOTH[0] else "has none"):
            MarkovNetwork.fit(learned.graph, data, method=method, interactions=interactions)
        return
    source = learned if is_directed else learned.graph
    found = MarkovNetwork.fit(source, data, method=method, interactions=interactions)
    assert found.fitted_by is not None
    assert found.fitted_by.method == expected
    assert found.fitted_by.n_rows == 200
    assert repr(found).endswith(f", fitted by {expected})")
