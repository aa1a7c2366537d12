import networkx as nx
import numpy as np
import pytest

from ibmap.errors import RequestError
from ibmap.synthetic import ising_lattice, lattice_shape, simulate_ising

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 29, 64, 97, 200, 500, 750]


def test_lattices_are_as_square_as_possible():
    for n in range(1, 400):
        rows, columns = lattice_shape(n)
        assert (rows - 1) * columns < n <= rows * columns
        assert rows <= columns <= 2 * rows
        if (rows * columns) != n:  # ragged only if no rectangle would do
            assert not any(n % r == 0 and r * r <= n <= 2 * r * r for r in range(1, n + 1))


def slow_pairs(n, periodic):
    """Neighbours on paper: look right and down; at the end of a row or column begin again."""
    columns = lattice_shape(n)[1]
    at = {divmod(i, columns): i for i in range(n)}
    pairs = set()
    for (r, c), i in at.items():
        for step, start in (((r, c + 1), (r, 0)), ((r + 1, c), (0, c))):
            j = at.get(step, at[start] if periodic else i)
            if i != j:
                pairs.add((min(i, j), max(i, j)))
    return sorted(pairs)


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("n", SIZES)
def test_edges_join_neighbouring_sites_once(n, boundary):
    graph = ising_lattice(n, boundary=boundary).graph
    assert [tuple(pair) for pair in graph.pairs.tolist()] == slow_pairs(n, boundary == "periodic")


def test_full_rectangles_are_grids():
    for n, shape in ((200, (10, 20)), (750, (25, 30))):
        for periodic in (False, True):
            graph = ising_lattice(n, boundary="periodic" if periodic else "open").graph
            grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(*shape, periodic=periodic))
            assert {tuple(sorted(e)) for e in grid.edges} == {tuple(e) for e in graph.pairs.tolist()}


@pytest.mark.parametrize("couplings", ["ferromagnetic", "plus-minus", "gaussian"])
def test_spins_and_bits_have_the_same_energy(couplings):
    model = ising_lattice(
        12, boundary="periodic", couplings=couplings, strength=0.7, field=0.3, random_state=0
    )
    x = np.random.default_rng(0).integers(0, 2, size=(40, 12))
    s = 2 * x - 1
    i, j = model.graph.pairs.T
    energy = (s[:, i] * s[:, j]) @ (model.couplings / 4) + 0.3 * s.sum(axis=1)
    np.testing.assert_allclose(np.ptp(model.log_weight(x) - energy), 0, atol=1e-9)
    kinds = {"ferromagnetic": [0.7], "plus-minus": [-0.7, 0.7]}
    if couplings in kinds:
        np.testing.assert_allclose(np.unique(model.couplings / 4), kinds[couplings])


def test_gaussian_couplings_have_the_strength_as_standard_deviation():
    J = ising_lattice(900, couplings="gaussian", strength=0.2, random_state=0).couplings / 4
    assert abs(J.mean()) < 6 * 0.2 / np.sqrt(len(J))
    assert abs(J.std() / 0.2 - 1) < 6 / np.sqrt(2 * len(J))


def test_without_a_field_spins_are_fair_and_neighbours_agree():
    world = simulate_ising(200, 3000, random_state=0)
    s = 2.0 * world.data - 1
    assert np.abs(s.mean(axis=0)).max() < 6 / np.sqrt(3000)
    i, j = world.graph.pairs.T
    correlation = (s[:, i] * s[:, j]).mean(axis=0)
    assert correlation.min() > np.tanh(0.25) - 6 / np.sqrt(
        3000
    )  # a single pair has tanh J; company adds to it
    assert abs(s.mean(axis=1)).mean() < 0.2  # no order at large: below the critical strength


def test_seed_decides_everything():
    a, b, c = (
        simulate_ising(20, 70, couplings="gaussian", sweeps=3, random_state=seed) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(a.data, b.data)
    np.testing.assert_array_equal(a.model.couplings, b.model.couplings)
    assert not np.array_equal(a.model.couplings, c.model.couplings)
    longer = simulate_ising(20, 200, couplings="gaussian", sweeps=3, random_state=4)
    np.testing.assert_array_equal(longer.data[:70], a.data)
    assert longer.graph == a.graph


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_variables": 0}, "n_variables must be between 1 and"),
        ({"boundary": "closed"}, "unknown boundary 'closed'; there are open, periodic"),
        ({"couplings": "random"}, "unknown couplings 'random'; there are ferromagnetic"),
        ({"strength": float("nan")}, "strength must be finite"),
        ({"field": float("inf")}, "field must be finite"),
        ({"n_rows": 0}, "n_rows must be 1 or more"),
        ({"thin": -1}, "thin must be 1 or more"),
        ({"random_state": -3}, "random_state must be"),
    ],
)
def test_bad_requests_get_one_line(options, message):
    with pytest.raises(RequestError, match=message) as caught:
        simulate_ising(**{"n_variables": 6, "n_rows": 10, **options})
    assert "\n" not in str(caught.value)
