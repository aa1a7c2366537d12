import numpy as np
import pytest
from scipy.stats import chi2

from ibmap.graph import Graph
from ibmap.synthetic import PairwiseModel, random_network, sample
from tests.reference.worlds import slow_binary_chain


def exact(model):
    n = model.graph.n_variables
    states = np.indices((2,) * n).reshape(n, -1).T
    p = np.exp(model.log_weight(states))
    return states, p / p.sum()


MODELS = {
    "random": random_network(8, 3, random_state=1),
    "symmetric": random_network(8, 3, potentials="symmetric", random_state=2),
    "repulsive": random_network(7, 2, log_odds=-2.0, random_state=3),
    "complete": random_network(5, 4, log_odds=0.7, random_state=4),
    "independent": PairwiseModel(Graph("abc"), [-2.0, 0.0, 3.0], []),
    "one variable": PairwiseModel(Graph("a"), [0.5], []),
}


@pytest.mark.parametrize("name", MODELS)
def test_frequencies_match_exact_enumeration(name):
    model, rows = MODELS[name], 20_000
    states, p = exact(model)
    data = sample(model, rows, random_state=0).astype(float)
    pairs = (states.T * p) @ states  # Pr(x_i = 1, x_j = 1); the diagonal holds the marginals
    bound = 4.5 * np.sqrt(pairs * (1 - pairs) / rows)
    assert (np.abs(data.T @ data / rows - pairs) <= bound).all()


@pytest.mark.parametrize("name", MODELS)
def test_joint_distribution_passes_chi_square(name):
    model, rows = MODELS[name], 20_000
    n = model.graph.n_variables
    _, p = exact(model)
    codes = sample(model, rows, random_state=7) @ (1 << np.arange(n)[::-1])
    observed = np.bincount(codes, minlength=2**n)
    order = np.argsort(p)
    bins = np.minimum(np.cumsum(p[order]) * rows // 25, 40).astype(int)  # cells of 25 expected rows or more
    o, e = (np.bincount(bins, v[order]) for v in (observed, p * rows))
    o, e = o[e > 0], e[e > 0]
    statistic = ((o - e) ** 2 / e).sum()
    assert chi2.sf(statistic, max(len(e) - 1, 1)) > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_compiled_chains_equal_the_slow_ones(name):
    model = MODELS[name]
    seed = int(np.random.default_rng(5).integers(2**64, dtype=np.uint64))
    data = sample(model, 70, sweeps=6, random_state=5)
    for row in (0, 1, 63, 64, 69):
        assert data[row].tolist() == slow_binary_chain(model, seed, row, 6)


def test_huge_couplings_do_not_overflow():
    model = PairwiseModel(Graph("abc", [("a", "b"), ("a", "c")]), [0.0, 900.0, 900.0], [900.0, -900.0])
    data = sample(model, 4000, random_state=0)
    assert data[:, 1].all()
    # given b = 1 the three states of (a, c) other than (0, 0) weigh e^1800 each, and (0, 0) e^900
    counts = np.bincount(2 * data[:, 0] + data[:, 2], minlength=4)
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:] / 4000, 1 / 3, atol=0.03)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 130])
def test_a_longer_sample_begins_with_the_shorter(rows):
    model = MODELS["random"]
    long = sample(model, 200, sweeps=5, random_state=9)
    np.testing.assert_array_equal(sample(model, rows, sweeps=5, random_state=9), long[:rows])


def test_rows_and_seeds_differ():
    model = random_network(64, 2, potentials="symmetric", random_state=0)
    a, b = (sample(model, 100, sweeps=3, random_state=seed) for seed in (0, 1))
    assert len(np.unique(np.concatenate([a, b]), axis=0)) == 200


def test_no_variables_give_no_columns():
    assert sample(PairwiseModel(Graph([]), [], []), 3, random_state=0).shape == (3, 0)
