import numpy as np
import pytest

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.synthetic import FactorModel, PairwiseModel, random_network, sample, simulate_random
from tests.reference.worlds import slow_chain
from tests.synthetic.test_exactness import MODELS, mixed_levels

EDGE = Graph("ab", [("a", "b")])


def seed_of(random_state):
    return int(np.random.default_rng(random_state).integers(2**64, dtype=np.uint64))


def as_tables(model):
    return model if isinstance(model, FactorModel) else FactorModel.from_pairwise(model)


@pytest.mark.parametrize("name", MODELS)
def test_compiled_chains_equal_the_slow_ones(name):
    model = as_tables(MODELS[name])
    data = sample(model, 70, sweeps=6, random_state=5)
    for row in (0, 1, 63, 64, 69):
        assert data[row].tolist() == list(slow_chain(model, seed_of(5), row, 6))[-1]


@pytest.mark.parametrize("name", MODELS)
def test_one_chain_is_the_slow_one_read_on_its_way(name):
    model = MODELS[name]
    data = sample(model, 5, sweeps=4, thin=3, random_state=5)
    states = list(slow_chain(as_tables(model), seed_of(5), 0, 4 + 5 * 3))
    assert data.tolist() == states[7::3]


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_products_and_logarithms_agree(scale):
    model = mixed_levels()
    shifted = FactorModel(model.graph, model.fields, [scale * f for f in model.factors])
    far = FactorModel(  # the same distribution, and an isolated variable, so that nothing else changes
        Graph([*"abcde", "z"], [*model.graph.edges]),
        [*shifted.fields, np.array([0.0, -2000.0])],
        shifted.factors,
    )
    rows = sample(far, 64, sweeps=9, random_state=2)
    assert not rows[:, 5].any()
    for row in (0, 40):
        assert rows[row].tolist() == list(slow_chain(far, seed_of(2), row, 9))[-1]


def test_huge_factors_neither_overflow_nor_underflow():
    model = FactorModel(EDGE, [[0, 0, 0], [0, 0, 0]], [np.eye(3) * 5000 - 9000])
    data = sample(model, 3000, sweeps=5, random_state=0)
    np.testing.assert_array_equal(data[:, 0], data[:, 1])
    np.testing.assert_allclose(np.bincount(data[:, 0]) / 3000, 1 / 3, atol=0.05)


@pytest.mark.parametrize("thin", [None, 2])
@pytest.mark.parametrize("rows", [1, 64, 65, 256, 257])
def test_a_longer_sample_begins_with_the_shorter(rows, thin):
    model = mixed_levels()
    long = sample(model, 300, sweeps=3, thin=thin, random_state=9)
    np.testing.assert_array_equal(sample(model, rows, sweeps=3, thin=thin, random_state=9), long[:rows])


def test_a_binary_model_as_tables_weighs_the_same():
    model = random_network(6, 3, random_state=0)
    states = np.indices((2,) * 6).reshape(6, -1).T
    tables = FactorModel.from_pairwise(model)
    np.testing.assert_allclose(tables.log_weight(states), model.log_weight(states), atol=1e-12)
    assert tables.cardinalities.tolist() == model.cardinalities.tolist() == [2] * 6


def test_256_levels_fit_a_byte():
    model = FactorModel(Graph("a"), [np.zeros(256)], [])
    data = sample(model, 4000, sweeps=1, random_state=0)
    assert data.min() == 0
    assert data.max() == 255
    assert sample(FactorModel(Graph([]), [], []), 3, random_state=0).shape == (3, 0)


@pytest.mark.parametrize("potentials", ["random", "symmetric"])
@pytest.mark.parametrize("levels", [3, 7])
def test_every_two_levels_have_the_same_log_odds(potentials, levels):
    model = random_network(20, 3, levels=levels, potentials=potentials, log_odds=1.7, random_state=0)
    for factor in model.factors:
        diagonal = np.diag(factor)
        odds = diagonal[:, None] + diagonal[None, :] - factor - factor.T
        np.testing.assert_allclose(odds, 1.7 * (1 - np.eye(levels)), atol=1e-12)
        assert (np.ptp(factor - np.eye(levels) * 1.7 / 2) > 0.1) == (potentials == "random")


def test_levels_do_not_change_the_edges():
    graphs = [
        random_network(30, 4, levels=k, potentials=p, random_state=7).graph
        for k in (2, 3, 10)
        for p in ("random", "symmetric")
    ]
    assert all(graph == graphs[0] for graph in graphs)


def test_two_levels_of_a_potts_model_are_the_symmetric_potential():
    model = random_network(8, 2, potentials="symmetric", random_state=1)
    potts = FactorModel(model.graph, np.zeros((8, 2)), [np.eye(2) / 2] * model.graph.n_edges)
    states = np.indices((2,) * 8).reshape(8, -1).T
    difference = potts.log_weight(states) - model.log_weight(states)
    assert np.ptp(difference) < 1e-9


def test_a_world_of_many_levels_becomes_a_table():
    world = simulate_random(6, 2, 40, levels=5, sweeps=5, random_state=0)
    table = world.to_table()
    assert world.data.max() < 5
    assert table.names == world.graph.names
    assert table.levels == ((0, 1, 2, 3, 4),) * 6
    np.testing.assert_array_equal(table.codes, world.data.T)
    wide = simulate_random(2, 1, 500, levels=256, sweeps=1, random_state=0).to_table()
    assert wide.codes.max() > 200


def test_tables_are_copied_and_read_only():
    field = np.zeros(2)
    model = FactorModel(EDGE, [field, field], [np.zeros((2, 2))])
    field[0] = 7
    assert model.fields[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        model.factors[0][0, 0] = 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FactorModel(EDGE, [[0, 0]], []), "needs 2 fields and 1 factors: got 1 and 0"),
        (
            lambda: FactorModel(EDGE, [[0, 0], [np.inf, 0]], [np.eye(2)]),
            "fields must be 1-D tables of finite",
        ),
        (lambda: FactorModel(EDGE, [[0, 0], [0, 0]], [[0, 0]]), "factors must be 2-D tables"),
        (
            lambda: FactorModel(EDGE, [[0, 0], [0, 0, 0]], [np.eye(2)]),
            r"\('a', 'b'\) must have shape \(2, 3\)",
        ),
        (lambda: FactorModel(EDGE, [[], [0, 0]], [np.eye(2)]), "variable 'a' has 0 levels"),
        (lambda: FactorModel(Graph("a"), [np.zeros(257)], []), "variable 'a' has 257 levels"),
        (lambda: random_network(5, 2, levels=1), "levels must be between 2 and 256, a whole number, not 1"),
        (lambda: random_network(5, 2, levels=257), "levels must be between 2 and 256, a whole number"),
        (lambda: sample(PairwiseModel(Graph("a"), [0], []), 3, thin=0), "thin must be 1 or more"),
        (lambda: simulate_random(5, 2, 0, levels=3), "n_rows must be 1 or more"),
    ],
)
def test_bad_requests_get_one_line(build, message):
    with pytest.raises(RequestError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
