"""Models with interactions: chosen by evidence, fitted in every way, exact for what was learned."""

import json
from itertools import combinations, product

import networkx
import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph, MarkovNetwork
from ibmap.data import Table
from ibmap.engines import as_engine
from ibmap.errors import DataWarning, IbmapError
from ibmap.model import model_of, model_text
from ibmap.model.blanket_counts import blanket_counts, table_counts
from ibmap.model.conditional_tables import families_of
from ibmap.model.interactions import _maximal_cliques, interactions_in
from ibmap.model.proportional_fitting import centered
from ibmap.model.pseudo_likelihood import VAGUE, identified, maximise_with_interactions
from ibmap.model.sampling import gibbs_rows
from ibmap.synthetic import simulate_random
from tests.engines.partitioned import HiddenEngine, data_of
from tests.model.models import random_network
from tests.reference import enumeration

METHODS = ["auto", "maximum-likelihood", "pseudo-likelihood"]


def exclusive_or(rows: int = 4000, seed: int = 0) -> Table:
    """y is a xor b, or w; but for three rows in a hundred."""
    rng = np.random.default_rng(seed)
    a, b, w = (rng.random(rows) < p for p in (0.5, 0.4, 0.3))
    y = ((a ^ b) | w) ^ (rng.random(rows) < 0.03)
    return Table(np.stack([a, b, w, y]).astype(np.int8), tuple("abwy"), ((False, True),) * 4)


@pytest.mark.parametrize("view", [None, "undirected", "directed"])
@pytest.mark.parametrize("method", METHODS)
def test_answers_are_those_of_counting(view: str | None, method: str) -> None:
    data = exclusive_or()
    learned = EvidenceMAP(view=view).fit(data)
    network = MarkovNetwork.fit(learned, data, method=method)
    assert network.interactions == (("a", "b", "w", "y"),)
    if method == "auto":
        expected = "conditional-tables" if view == "directed" else "maximum-likelihood"
        assert network.fitted_by is not None
        assert network.fitted_by.method == expected
    for given in product((False, True), repeat=3):
        rows = (data.codes[:3] == np.array(given)[:, None]).all(axis=0)
        answer = network.query("y", dict(zip("abw", given, strict=True)))
        assert answer[True] == pytest.approx(data.codes[3, rows].mean(), abs=0.02)
        assert str(answer).splitlines()[0].endswith("exact for a model with interactions of a, b, w and y")


def test_predictions_and_gaps_use_interactions() -> None:
    data = exclusive_or()
    network = MarkovNetwork.fit(EvidenceMAP().fit(data), data)
    codes = np.array([[1, 1, 0, -1], [1, 0, 0, -1], [1, -1, 0, 0], [1, -1, 0, 1]]).T
    rows = Table(codes, data.names, data.levels)
    assert network.impute(rows).codes[[3, 3, 1, 1], range(4)].tolist() == [0, 1, 1, 0]
    assert network.predict("y", rows)[:2] == [False, True]


def test_pairs_are_enough_for_pairwise_worlds() -> None:
    for seed in range(5):
        world = simulate_random(12, 4, 1000, potentials="symmetric", random_state=seed)
        assert interactions_in(as_engine(world.to_table()), world.graph) == []


def test_who_does_not_take_part_is_left_out() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (5, 500))
    codes[3] = codes[0] ^ codes[1] ^ (rng.random(500) < 0.1)
    data = data_of(codes, [2] * 5)
    for engine in (as_engine(data), HiddenEngine(data)):
        assert interactions_in(engine, Graph.complete(data.names)) == [(0, 1, 3)]
    assert interactions_in(engine, Graph(data.names, [("v0", "v1"), ("v1", "v3")])) == []


@pytest.mark.parametrize("seed", range(20))
def test_largest_cliques_are_those_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((12, 12)) < 0.5, 1))
    graph = Graph.from_pairs(pairs, [f"v{i}" for i in range(12)])
    wanted = [tuple(sorted(c)) for c in networkx.find_cliques(networkx.Graph(pairs.tolist())) if len(c) > 2]
    assert _maximal_cliques(graph) == sorted(wanted)


def test_more_cells_than_rows_have_no_table() -> None:
    codes = np.random.default_rng(0).integers(0, 5, (3, 60))
    codes[2] = (codes[0] + codes[1]) % 5
    assert interactions_in(as_engine(data_of(codes, [5] * 3)), Graph.complete(("v0", "v1", "v2"))) == []


def test_maximum_likelihood_has_the_observed_table_of_every_interaction() -> None:
    codes = np.random.default_rng(0).integers(0, [[2], [3], [2], [3]], (4, 300))
    codes[3, :100] = codes[1, :100]
    data = data_of(codes, [2, 3, 2, 3])
    graph = Graph(data.names, [("v0", "v1"), ("v0", "v2"), ("v1", "v2"), ("v2", "v3"), ("v1", "v3")])
    network = MarkovNetwork.fit(graph, data, interactions=[("v0", "v1", "v2")], pseudo_rows=0.5)
    (counts,) = table_counts(as_engine(data), [(0, 1, 2)])
    wanted = (counts + 0.5 / counts.size) / 300.5
    parts = network.layout.scopes, network.fields, (*network.factors, *network.tables)
    weights = enumeration.weights(*parts)
    found = np.zeros(counts.shape)
    for x, weight in weights.items():
        found[x[:3]] += weight
    assert found / sum(weights.values()) == pytest.approx(wanted, abs=2e-4)


def test_no_step_from_a_fit_raises_the_pseudo_likelihood_with_interactions() -> None:
    data = exclusive_or(300)
    network = MarkovNetwork.fit(Graph.complete("abwy"), data, method="pseudo-likelihood")
    layout, rows = network.layout, data.codes.T.tolist()
    best = maximise_with_interactions(blanket_counts(as_engine(data), layout), 4.0)

    def goal(theta: np.ndarray) -> float:
        tables = [*layout.factors(theta), *layout.tables(theta)]
        slow = enumeration.log_pseudo_likelihood(layout.scopes, layout.fields(theta), tables, rows)
        fields, others = np.split(theta, [layout.field_start[-1]])
        return slow - 0.5 * VAGUE * (fields**2).sum() - 0.5 * (others**2).sum()

    rng, highest = np.random.default_rng(0), goal(best)
    for scale in (1e-3, 1e-1):
        for _ in range(5):
            step = identified(layout, scale * rng.normal(size=layout.size))
            assert goal(best + step) < highest + 1e-3


def test_conditional_tables_are_counts_with_the_prior_of_the_score() -> None:
    data = exclusive_or(500)
    learned = EvidenceMAP(view="directed").fit(data).learned_
    network = MarkovNetwork.fit(learned, data, method="conditional-tables")
    assert network.log_partition == pytest.approx(0.0, abs=1e-9)
    families = families_of(learned.graph, learned.arcs)
    for row in product((0, 1), repeat=4):
        log_p = 0.0
        for x, family in families.items():
            alike = [(data.codes[v] == row[v]) for v in family if v != x]
            given = np.logical_and.reduce([np.ones(500, bool), *alike])
            both = given & (data.codes[x] == row[x])
            log_p += np.log((both.sum() + 2.0 ** -len(family)) / (given.sum() + 2.0 ** (1 - len(family))))
        one = Table(np.array(row)[:, None], data.names, data.levels)
        assert network.log_likelihood(one)[0] == pytest.approx(log_p)


@pytest.mark.parametrize("seed", range(12))
def test_centred_tables_are_the_same_distribution(seed: int) -> None:
    network = random_network(seed, largest=5)
    theta = centered(network.layout, network.theta)
    for mine, same in zip(network.tree.marginals(network.theta), network.tree.marginals(theta), strict=True):
        assert mine == pytest.approx(same)
    for table in network.layout.tables(theta):
        for pair in combinations(range(table.ndim), 2):
            others = tuple(axis for axis in range(table.ndim) if axis not in pair)
            assert table.mean(axis=others) == pytest.approx(0.0, abs=1e-12)


def test_gibbs_sampling_sees_interactions() -> None:
    rng = np.random.default_rng(3)
    tables = {"factors": [rng.normal(size=(2, 3)), rng.normal(size=(2, 2)), rng.normal(size=(3, 2))]}
    tables |= {"interactions": [("a", "b", "c")], "tables": [2 * rng.normal(size=(2, 3, 2))]}
    labels = ((0, 1), (0, 1, 2), (0, 1))
    network = MarkovNetwork(
        Graph.complete("abc"), labels, [rng.normal(size=len(r)) for r in labels], **tables
    )
    rows = gibbs_rows(network.layout, network.theta, 4000, sweeps=50, random_state=0)
    for v, shares in enumerate(network.marginals().values()):
        found = np.bincount(rows[:, v], minlength=len(shares)) / 4000
        assert found == pytest.approx(list(shares.values()), abs=0.04)


def test_files_of_models_without_interactions_are_read_by_older_versions() -> None:
    data = exclusive_or(300)
    with_them, without = (
        MarkovNetwork.fit(Graph.complete("abwy"), data, **about) for about in ({}, {"interactions": ()})
    )
    assert [json.loads(model_text(one))["version"] for one in (with_them, without)] == [2, 1]
    assert model_of(model_text(with_them)).interactions == with_them.interactions
    assert str(without.query("y")).splitlines()[0] == "P(y), exact for a model without interactions"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "conditional-tables"}, "this network has none"),
        ({"interactions": [("a", "b")]}, "three variables or more"),
        ({"interactions": "abw"}, "sets of names"),
        ({"interactions": [("a", "b", "z")]}, "variable 'z'"),
        ({"interactions": [("a", "b", "w")]}, "needs edges between all of them"),
    ],
)
def test_requests_that_make_no_sense(options: dict[str, object], words: str) -> None:
    with pytest.raises(IbmapError, match=words):
        MarkovNetwork.fit(Graph("abwy", [("a", "b"), ("b", "w")]), exclusive_or(50), **options)


@pytest.mark.parametrize("method", ["pseudo-likelihood", "maximum-likelihood"])
def test_fits_of_tables_of_any_shape_have_the_observed_tables(method: str) -> None:
    """With this prior next to nothing the fit of a complete graph is what was observed."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(r, size=3000) for r in (2, 3, 4)])
    codes[2] = np.where(rng.random(3000) < 0.5, (codes[0] * 2 + codes[1]) % 4, codes[2])
    data = Table(codes, ("a", "b", "c"), tuple(tuple(range(r)) for r in (2, 3, 4)))
    network = MarkovNetwork.fit(
        Graph.complete("abc"), data, method=method, interactions=[("c", "a", "b")], effect_variance=1e6
    )
    seen = np.zeros((2, 3, 4))
    np.add.at(seen, tuple(codes), 1 / 3000)
    rows = Table(np.indices((2, 3, 4)).reshape(3, -1), data.names, data.levels)
    found = np.exp(network.log_likelihood(rows)).reshape(2, 3, 4)
    assert found == pytest.approx(seen, abs=2e-3)


def test_questions_about_tables_of_any_shape_are_answered_by_enumeration() -> None:
    for seed in range(6):
        network = random_network(seed + 100, largest=6, fewest=2)
        parts = network.layout.scopes, network.fields, (*network.factors, *network.tables)
        rng = np.random.default_rng(seed)
        for v, name in enumerate(network.names):
            known = {
                u: int(rng.integers(len(network.levels[u]))) for u in range(len(network.names)) if u != v
            }
            for some in (known, dict(list(known.items())[:2]), {}):
                given = {network.names[u]: network.levels[u][k] for u, k in some.items()}
                expected = enumeration.marginal(*parts, v, some)
                assert list(network.query(name, given).values()) == pytest.approx(expected)


def test_a_fit_that_was_cut_short_says_so() -> None:
    data = exclusive_or(300)
    layout = MarkovNetwork.fit(Graph.complete("abwy"), data, method="pseudo-likelihood").layout
    with pytest.warns(DataWarning):
        maximise_with_interactions(blanket_counts(as_engine(data), layout), 4.0, max_iter=1)
