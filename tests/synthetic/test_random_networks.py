from itertools import combinations

import numpy as np
import pytest

from ibmap.errors import RequestError
from ibmap.synthetic import random_network, simulate_random
from ibmap.synthetic.random_networks import _random_log_factors, _random_pairs, _uniform_log_factors


@pytest.mark.parametrize(
    ("n", "tau", "edges"),
    [(75, 2, 75), (75, 4, 150), (75, 8, 300), (5, 3, 7), (10, 0, 0), (6, 5, 15), (1, 0, 0)],
)
def test_number_of_edges_is_n_tau_over_two(n, tau, edges):
    graph = random_network(n, tau, random_state=0).graph
    assert graph.n_edges == edges
    assert graph.names == tuple(f"x{i}" for i in range(n))


def test_every_pair_is_equally_likely():
    rng = np.random.default_rng(0)
    n, draws = 6, 3000
    counts = np.zeros((n, n))
    for _ in range(draws):
        i, j = _random_pairs(n, 2, rng).T
        counts[i, j] += 1
    expected = draws * 6 / 15
    observed = counts[np.triu_indices(n, 1)]
    assert counts.sum() == draws * 6
    assert np.abs(observed - expected).max() < 4.5 * np.sqrt(expected * 0.6)


@pytest.mark.parametrize("n", [2, 3, 7, 30])
def test_ranks_name_every_pair_once(n):
    pairs = _random_pairs(n, n - 1, np.random.default_rng(0))
    assert sorted(map(tuple, pairs.tolist())) == list(combinations(range(n), 2))


def test_large_networks_do_not_list_all_pairs():
    assert random_network(20_000, 4, random_state=0).graph.n_edges == 40_000


@pytest.mark.parametrize("potentials", ["random", "symmetric"])
@pytest.mark.parametrize("log_odds", [1.0, -2.5, 0.0])
def test_log_odds_of_every_factor(potentials, log_odds):
    model = random_network(40, 4, potentials=potentials, log_odds=log_odds, random_state=3)
    np.testing.assert_allclose(model.couplings, log_odds, rtol=0, atol=1e-12)


def test_random_factors_solve_one_entry_and_draw_three():
    log_phi = _random_log_factors(4000, 1.0, np.random.default_rng(0))
    np.testing.assert_allclose(log_phi @ [1, -1, -1, 1], 1.0, atol=1e-12)
    assert ((log_phi > 0).sum(axis=1) <= 1).all()  # only a solved entry can exceed 1
    # A solved entry is e·φ01·φ10/φ on the diagonal, φ00·φ11/(e·φ) off it, in a quarter of the tables each.
    u, v, w = np.random.default_rng(1).random((3, 200_000))
    on, off = (np.e * u * v > w).mean() / 4, (u * v > np.e * w).mean() / 4
    np.testing.assert_allclose((log_phi > 0).mean(axis=0), [on, off, off, on], atol=0.02)


def test_symmetric_factors_have_no_field():
    model = random_network(30, 4, potentials="symmetric", random_state=0)
    states = np.random.default_rng(0).integers(0, 2, size=(50, 30))
    np.testing.assert_allclose(model.log_weight(states), model.log_weight(1 - states), atol=1e-9)


def test_world_holds_data_and_truth():
    world = simulate_random(12, 2, 70, sweeps=5, random_state=4)
    assert world.data.shape == (70, 12)
    assert world.data.dtype == np.uint8
    assert set(np.unique(world.data)) == {0, 1}
    assert world.graph is world.model.graph
    with pytest.raises(ValueError, match="read-only"):
        world.data[0, 0] = 1


def test_seed_decides_everything():
    def make(seed):
        return simulate_random(12, 2, 70, sweeps=5, random_state=seed)

    a, b, c, d = make(4), make(4), make(5), make(np.random.default_rng(4))
    np.testing.assert_array_equal(a.data, b.data)
    np.testing.assert_array_equal(a.data, d.data)
    assert a.graph == b.graph == d.graph
    assert a.graph != c.graph
    assert make(None).data.shape == (70, 12)


def test_more_rows_keep_the_network_and_the_first_rows():
    short, long = (simulate_random(12, 2, rows, sweeps=5, random_state=4) for rows in (70, 200))
    assert short.graph == long.graph
    np.testing.assert_array_equal(short.data, long.data[:70])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: random_network(5, 4.5), "tau must lie between 0 and n_variables - 1"),
        (lambda: random_network(5, -1), "tau must lie"),
        (lambda: random_network(5, float("nan")), "tau must lie"),
        (lambda: random_network(0, 0), "n_variables must be between 1 and"),
        (lambda: random_network(5, 2, potentials="ising"), "unknown potentials 'ising'"),
        (lambda: random_network(5, 2, log_odds=np.inf), "log_odds must be finite"),
        (lambda: random_network(5, 2, random_state=-1), "random_state must be"),
        (lambda: random_network(5, 2, random_state="seed"), "random_state must be"),
        (lambda: simulate_random(5, 2, 0), "n_rows must be 1 or more"),
        (lambda: simulate_random(5, 2, 10, sweeps=0), "sweeps must be 1 or more"),
    ],
)
def test_bad_requests_get_one_line(build, message):
    with pytest.raises(RequestError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)


# Log-potentials in [0, 1]


def drawn_again(n: int, log_odds: float, rng: np.random.Generator) -> np.ndarray:
    """The paper's sentence, read slowly: three of four at random, one solved, again until it is in [0, 1]."""
    signs, found = np.array([1, -1, -1, 1]), []
    while len(found) < n:
        log_phi, solved = rng.random(4), rng.integers(4)
        log_phi[solved] = 0
        log_phi[solved] = signs[solved] * (log_odds - signs @ log_phi)
        if 0 <= log_phi[solved] <= 1:
            found.append(log_phi)
    return np.array(found)


@pytest.mark.parametrize("log_odds", [1.0, 0.0, 0.4, -1.5, 2.0])
def test_log_uniform_factors_lie_in_the_unit_interval(log_odds):
    log_phi = _uniform_log_factors(500, log_odds, np.random.default_rng(0))
    np.testing.assert_allclose(log_phi @ [1, -1, -1, 1], log_odds, atol=1e-12)
    assert log_phi.min() >= 0
    assert log_phi.max() <= 1


@pytest.mark.parametrize("log_odds", [1.0, 0.3, -1.0])
def test_log_uniform_factors_are_those_of_the_sentence(log_odds):
    fast = _uniform_log_factors(6000, log_odds, np.random.default_rng(0))
    slow = drawn_again(6000, log_odds, np.random.default_rng(1))
    np.testing.assert_allclose(fast.mean(axis=0), slow.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(fast.T), np.cov(slow.T), atol=0.005)
    for share in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(
            np.quantile(fast, share, axis=0), np.quantile(slow, share, axis=0), atol=0.03
        )


@pytest.mark.parametrize("levels", [3, 5])
@pytest.mark.parametrize("log_odds", [1.0, -2.0, 0.0])
def test_log_uniform_factors_of_more_levels(levels, log_odds):
    model = random_network(12, 3, levels=levels, potentials="log-uniform", log_odds=log_odds, random_state=1)
    for factor in model.factors:
        assert factor.min() >= -1e-12
        assert factor.max() <= 1 + 1e-12
        for a, b in combinations(range(levels), 2):
            found = factor[a, a] + factor[b, b] - factor[a, b] - factor[b, a]
            assert found == pytest.approx(log_odds, abs=1e-12)


def test_impossible_log_odds_are_refused():
    with pytest.raises(RequestError, match="must lie between -2 and 2 with potentials='log-uniform'"):
        random_network(5, 2, potentials="log-uniform", log_odds=2.5)
