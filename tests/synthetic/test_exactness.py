"""Frequencies of one and two variables against exact enumeration; all false alarms together: 1 in 10⁶."""

import numpy as np
import pytest

from ibmap.graph import Graph
from ibmap.synthetic import FactorModel, PairwiseModel, ising_lattice, random_network, sample
from tests.reference.worlds import exact

ROWS = 20_000
ALARM = 1e-8  # per test; there are fewer than a hundred


def mixed_levels():
    rng = np.random.default_rng(0)
    graph = Graph("abcde", [("a", "b"), ("b", "c"), ("a", "c"), ("c", "e")])
    levels = [2, 1, 5, 3, 4]
    fields = [rng.normal(size=k) for k in levels]
    return FactorModel(graph, fields, [rng.normal(size=(levels[i], levels[j])) for i, j in graph.pairs])


MODELS = {
    **{
        f"{potentials}, {levels} levels": random_network(
            n, tau, levels=levels, potentials=potentials, log_odds=log_odds, random_state=levels
        )
        for n, tau, levels, log_odds in [(12, 3, 2, 1.0), (7, 2, 3, 1.0), (5, 2, 4, -1.5), (4, 2, 10, 2.0)]
        for potentials in ("random", "symmetric")
    },
    **{
        f"ising, {couplings}, {boundary}, field {field}": ising_lattice(
            n, boundary=boundary, couplings=couplings, strength=0.3, field=field, random_state=1
        )
        for couplings in ("ferromagnetic", "plus-minus", "gaussian")
        for n, boundary, field in [(12, "periodic", 0.0), (11, "open", 0.2), (7, "periodic", -0.4)]
    },
    "levels of all sorts": mixed_levels(),
}


def frequencies(states, levels, weights):
    """Return the frequency of every pair of levels of every two variables, and of every level of each."""
    start = np.cumsum([0, *levels])
    indicators = np.zeros((len(states), start[-1]))
    for i in range(len(levels)):
        indicators[np.arange(len(states)), start[i] + states[:, i]] = 1.0
    return (indicators.T * weights) @ indicators


def divergence(q, p):
    """Kullback-Leibler divergence of two coins; n times that is how surprising n throws are (Chernoff)."""
    p = np.clip(p, 1e-300, 1 - 1e-16)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = q * np.log(q / p), (1 - q) * np.log((1 - q) / (1 - p))
    return np.where(q > 0, one, 0.0) + np.where(q < 1, other, 0.0)


def surprise(model, data):
    """Return how many times as far from the truth as they may be the frequencies are, at worst."""
    levels = model.cardinalities
    states, p = exact(model)
    expected = frequencies(states, levels, p)
    observed = frequencies(data.astype(int), levels, 1 / len(data))
    assert (observed[expected < 1e-12] == 0).all()
    return (len(data) * divergence(observed, expected)).max() / np.log(2 * expected.size / ALARM)


@pytest.mark.parametrize("thin", [None, 25], ids=["independent chains", "one chain"])
@pytest.mark.parametrize("name", MODELS)
def test_frequencies_match_exact_enumeration(name, thin):
    model = MODELS[name]
    data = sample(model, ROWS, sweeps=50, thin=thin, random_state=0)
    assert surprise(model, data) < 1


def test_the_comparison_notices_a_wrong_distribution():
    model = MODELS["ising, ferromagnetic, periodic, field 0.0"]
    wrong = PairwiseModel(model.graph, model.fields * 1.3, model.couplings * 1.3)
    assert surprise(model, sample(wrong, ROWS, sweeps=50, random_state=0)) > 1
    assert surprise(model, sample(model, ROWS, sweeps=1, random_state=0)) > 1  # not yet forgotten the start


def test_a_chain_that_is_read_too_often_repeats_itself():
    model = MODELS["ising, ferromagnetic, periodic, field 0.0"]
    rows = [sample(model, 4000, thin=thin, random_state=0).astype(float) for thin in (1, 25)]
    often, seldom = (np.corrcoef(x[:-1, 0], x[1:, 0])[0, 1] for x in rows)
    assert often > 0.15
    assert abs(seldom) < 6 / np.sqrt(4000)
