from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap import IBMAP, Bootstrap, Graph, OracleTest, accuracy, f_measure, hamming, load
from ibmap.data import Table
from ibmap.engines import MemoryEngine
from ibmap.errors import IbmapError, RequestError
from ibmap.independence import BayesianTest, BoundTest, ChiSquareTest, FunctionTest
from ibmap.metrics import _drawn_queries, compare_edges, log_score, separated_each
from tests.chains import noisy_chain

NAMES = list("abcdefg")
PAIRS = list(combinations(NAMES, 2))
GRAPHS = st.sets(st.sampled_from(PAIRS)).map(lambda edges: Graph(NAMES, sorted(edges)))


def slow_f(learned, truth, of):
    def claims(graph):
        return {p for p in PAIRS if graph.has_edge(*p) == (of == "edges")}

    found, true = claims(learned), claims(truth)
    precision = len(found & true) / len(found) if found else 1.0
    recall = len(found & true) / len(true) if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(GRAPHS, GRAPHS, st.permutations(NAMES), st.sampled_from(["independences", "edges"]))
def test_measures_count_pairs_by_name(learned, truth, order, of):
    shuffled = learned.permute(order)
    assert f_measure(shuffled, truth, of=of) == pytest.approx(slow_f(learned, truth, of))
    wrong = sum(learned.has_edge(*p) != truth.has_edge(*p) for p in PAIRS)
    assert hamming(shuffled, truth) == hamming(truth, shuffled) == wrong
    swapped = f_measure(truth, learned, of=of)
    measured = f_measure(learned, truth, of=of)
    assert (measured.precision, measured.f) == pytest.approx((swapped.recall, swapped.f))


@given(GRAPHS)
def test_the_truth_itself_is_perfect(graph):
    assert hamming(graph, graph) == 0
    assert f_measure(graph, graph) == f_measure(graph, graph, of="edges") == (1.0, 1.0, 1.0)


def test_measures_where_nothing_is_found_or_nothing_is_true():
    empty, complete, one = Graph("abc"), Graph.complete("abc"), Graph("abc", [("a", "b")])
    assert f_measure(empty, one, of="edges") == (1.0, 0.0, 0.0)
    assert f_measure(one, empty, of="edges") == (0.0, 1.0, 0.0)
    assert f_measure(complete, one) == (1.0, 0.0, 0.0)
    assert f_measure(one, complete) == (0.0, 1.0, 0.0)
    other = Graph("abc", [("b", "c")])
    assert f_measure(one, other, of="edges") == (0.0, 0.0, 0.0)
    assert f_measure(Graph([]), Graph([])) == (1.0, 1.0, 1.0)


def test_large_sparse_graphs_need_no_matrix():
    names = [f"x{i}" for i in range(20_000)]
    ring = Graph.from_pairs([(i, i + 1) for i in range(19_999)], names)
    assert hamming(ring, Graph(names)) == 19_999
    assert ring._adjacency is None


@given(GRAPHS, st.integers(0, 10**6))
def test_separation_of_many_is_separation_of_each(graph, seed):
    order = np.random.default_rng(seed).random((12, 7)).argsort(axis=1)
    sizes = np.arange(12) % 6
    found = separated_each(graph, order[:, 0], order[:, 1], order[:, 2:], sizes)
    for q, k, separated in zip(order, sizes, found, strict=True):
        x, y, *given_ = (NAMES[i] for i in q)
        assert separated == graph.separated(x, y, given_[:k])


def table(seed=0, rows=60, levels=(2, 3, 2, 4, 2, 3, 40), missing=False):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(-missing, k, size=rows) for k in levels])
    codes[1] = np.where(rng.random(rows) < 0.7, codes[0], codes[1])
    return Table(codes, NAMES, [tuple(range(k)) for k in levels])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "test",
    [
        BayesianTest(),
        BayesianTest(ties="dependent", prior_counts="bdeu"),
        BayesianTest(combine="global", prior=0.8),
        BayesianTest(slices="all", prior=np.full((7, 7), 0.3)),
        ChiSquareTest(),
    ],
    ids=lambda test: test.name,
)
def test_unrelated_questions_are_answered_as_one_by_one(test, missing):
    bound = test.bind(MemoryEngine(table(missing=missing)))
    order = np.random.default_rng(1).random((400, 7)).argsort(axis=1)
    arguments = (order[:, 0].copy(), order[:, 1].copy(), order[:, 2:], np.arange(400) % 6)
    together = bound.each(*arguments)
    np.testing.assert_array_equal(together, BoundTest.each(bound, *arguments))
    assert len(set(together.tolist())) == 2


def slow_accuracy(graph, data, test, per_size, seed):
    bound = test.bind(MemoryEngine(data))
    matches = total = 0
    for order, sizes in _drawn_queries(data.n_variables, per_size, np.random.default_rng(seed)):
        for q, k in zip(order, sizes, strict=True):
            separated = graph.separated(
                *(data.names[i] for i in q[:2]), [data.names[i] for i in q[2 : 2 + k]]
            )
            matches += separated == bound.fixed(q[0], q[1:2], q[2 : 2 + k]).independent[0]
            total += 1
    return matches / total


@pytest.mark.parametrize("test", [BayesianTest(), ChiSquareTest()], ids=["bayesian", "chi-square"])
def test_accuracy_counts_agreements(test):
    data = table(2)
    graph = Graph(NAMES[::-1], [("a", "b"), ("b", "c"), ("d", "g")])
    assert accuracy(graph, data, test=test, queries=30, random_state=5) == slow_accuracy(
        graph, data, test, 30, 5
    )


def test_with_the_oracle_of_a_graph_its_accuracy_is_one():
    graph = Graph(NAMES, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("e", "f")])
    assert accuracy(graph, table(), test=OracleTest(graph), queries="per-size") == 1.0
    assert accuracy(graph.flip("a", "c"), table(), test=OracleTest(graph), queries="per-size") < 1.0
    always = FunctionTest(lambda x, y, given: -0.1)
    assert accuracy(Graph(NAMES), table(), test=always, queries=3) == 1.0
    assert accuracy(Graph.complete(NAMES), table(), test=always, queries=3) == 0.0


@pytest.mark.parametrize(("queries", "each"), [("formula", 350), ("per-size", 100), (7, 7)])
def test_every_size_of_the_conditioning_set_comes_equally_often(queries, each):
    drawn = list(_drawn_queries(7, queries, np.random.default_rng(0)))
    sizes = np.concatenate([some for _, some in drawn])
    assert np.bincount(sizes).tolist() == [each] * 6
    if queries == "formula":
        assert len(sizes) == 100 * 7 * 6 // 2
    orders = np.concatenate([order for order, _ in drawn])
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(7), (len(orders), 1)))


def test_every_pair_is_asked_equally_often():
    orders = np.concatenate([order for order, _ in _drawn_queries(5, 4000, np.random.default_rng(0))])
    counts = np.bincount(orders[:, 0] * 5 + orders[:, 1], minlength=25).reshape(5, 5)
    expected = len(orders) / 20
    assert np.diag(counts).sum() == 0
    assert np.abs(counts[~np.eye(5, dtype=bool)] - expected).max() < 6 * np.sqrt(expected)


def test_a_seed_asks_the_same_and_two_variables_are_enough():
    data, graph = table(3), Graph(NAMES, [("a", "b")])
    one, same, other = (accuracy(graph, data, queries=20, random_state=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    told: list[tuple[int, int]] = []
    accuracy(graph, data, queries=1000, advance=lambda *now: told.append(now))
    assert told == [(4096, 6000), (6000, 6000)]
    assert accuracy(Graph("ab"), {"a": [0, 1] * 9, "b": [0, 0, 1] * 6}) == 1.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: hamming(Graph("abc"), Graph("abd")), "the true one lacks 'c'; the learned graph lacks 'd'"),
        (lambda: f_measure(Graph("abcdefgh"), Graph("ab")), "the true one lacks 'c', 'd', 'e' and more"),
        (lambda: f_measure(Graph("ab"), Graph("ab"), of="pairs"), "of must be 'independences' or 'edges'"),
        (lambda: accuracy(Graph("ab"), table()), "different variables: the graph lacks 'c'"),
        (lambda: accuracy(Graph("a"), load({"a": [0, 1]})), "at least two variables"),
        (lambda: accuracy(Graph(NAMES), table(), queries=0), "queries must be"),
        (lambda: accuracy(Graph(NAMES), table(), queries="all"), "queries must be 'formula', 'per-size'"),
        (lambda: accuracy(Graph(NAMES), table(), queries=True), "queries must be"),
        (lambda: accuracy(Graph(NAMES), table(), test="guess"), "unknown test 'guess'"),
        (lambda: accuracy(Graph(NAMES), table(), random_state=-1), "random_state must be"),
    ],
)
def test_bad_requests_get_one_line(build, message):
    with pytest.raises(IbmapError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
    assert issubclass(RequestError, IbmapError)


def test_graphs_of_fitted_learners_are_taken_too():
    data = noisy_chain(4, 300)
    net = IBMAP().fit(data)
    for source in (net, net.learned_, Bootstrap(net, 2, random_state=0).fit(data).learner_):
        assert hamming(net.graph_, source) == 0
        assert f_measure(source, net).f == 1.0
        assert compare_edges(source, net.graph_).false == []
    with pytest.raises(RequestError, match="expected a Graph or a fitted learner, not str"):
        hamming(net, "graph")


def test_log_score_of_levels_and_numbers_prefers_the_right_graph() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 400)
    height = rng.normal(size=400) + (sex == "m")
    weight = height + rng.normal(size=400)
    weight[::10] = np.nan
    data = load({"sex": sex, "height": height, "weight": weight}, missing="testwise", continuous="auto")
    graphs = [
        Graph(data.names, edges)
        for edges in ([("sex", "height"), ("height", "weight")], [("sex", "weight")], [])
    ]
    scores = [log_score(graph, data) for graph in graphs]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[2] + 0.1
    with pytest.raises(RequestError, match="too few"):
        log_score(graphs[0], data.rows(np.arange(9)))
