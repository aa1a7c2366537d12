"""Effects of edges between continuous variables: partial correlations and their standard errors."""

import numpy as np
import pytest

from ibmap.data import Table
from ibmap.engines import as_engine
from ibmap.graph import Graph
from ibmap.learners import evidence_map
from ibmap.model.effects import effects_in, effects_of
from ibmap.model.partial_correlations import PartialCorrelations, partial_correlations_of
from tests.number_tables import table_of_numbers


def world(seed: int, n_rows: int, n: int = 8) -> tuple[Table, Graph, np.ndarray]:
    """Rows of a ring with two chords, the graph, and the true partial correlations of its edges."""
    rng = np.random.default_rng(seed)
    pairs = sorted({(i, (i + 1) % n) if i + 1 < n else (0, i) for i in range(n)} | {(0, 4), (2, 6)})
    precision = np.eye(n)
    for i, j in pairs:
        precision[i, j] = precision[j, i] = rng.choice([-0.3, 0.2])
    rows = rng.multivariate_normal(np.zeros(n), np.linalg.inv(precision), n_rows) * rng.uniform(1, 100, n)
    names = tuple(f"x{i}" for i in range(n))
    truth = np.array([-precision[i, j] for i, j in pairs])
    return table_of_numbers(rows.T, names), Graph.from_pairs(np.array(pairs), names), truth


def test_with_all_edges_they_are_those_of_the_inverse() -> None:
    data, _, _ = world(0, 300)
    pairs = np.stack(np.triu_indices(8, 1), axis=1)
    found = effects_in(as_engine(data), Graph.from_pairs(pairs, data.names))
    inverse = np.linalg.inv(np.corrcoef(data.values))
    scale = np.sqrt(np.diagonal(inverse))
    expected = (-inverse / np.outer(scale, scale))[pairs[:, 0], pairs[:, 1]]
    assert found.strength == pytest.approx(expected, abs=1e-6)
    errors = (1 - expected**2) / np.sqrt(300 - 1 - 6)  # given six others
    assert found.partial_correlation_se == pytest.approx(errors, abs=1e-6)
    assert found.correlation == pytest.approx(np.corrcoef(data.values)[pairs[:, 0], pairs[:, 1]], abs=1e-9)


def test_intervals_of_two_errors_hold_the_truth_nineteen_times_in_twenty() -> None:
    inside = []
    for seed in range(200):
        data, graph, truth = world(seed, 150)
        found = partial_correlations_of(as_engine(data).gaussian_moments, graph)
        inside += (np.abs(found.strength - truth) < 1.96 * found.partial_correlation_se).tolist()
    assert len(inside) == 2000
    assert 0.94 < np.mean(inside) < 0.98  # an upper bound, as edges that are not there are known


def test_words_and_numbers() -> None:
    found = PartialCorrelations(np.array([-0.42, np.nan]), np.array([0.031, np.nan]), np.array([-0.5, 0.1]))
    assert found.in_short(0) == "r -0.42 ± 0.03"
    assert found.in_words(0, ("a", "b")) == (
        "a falls where b rises, everything else equal: their partial correlation is -0.42 ± 0.03. Their "
        "correlation, other variables ignored, is -0.50."
    )
    assert (found.in_short(1), found.in_words(1, ("a", "b")), found.numbers(1)) == (
        "",
        "",
        {"correlation": 0.1},
    )
    assert found.sign.tolist() == [-1.0, 0.0]
    again = effects_of([found.numbers(0), found.numbers(1)])
    assert isinstance(again, PartialCorrelations)
    assert np.array_equal(again.partial_correlation, found.partial_correlation, equal_nan=True)


def test_copies_sums_constants_and_hardly_any_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    data = table_of_numbers(np.stack([a, -3 * a, b, a + b, np.full(100, 7.0)]), tuple("abcde"))
    graph = Graph("abcde", [("a", "b"), ("c", "d"), ("a", "e")])
    found = effects_in(as_engine(data), graph)
    assert found.strength[0] == pytest.approx(-1.0, abs=1e-6)
    assert found.strength[1] == 0.0  # the constant
    assert np.isfinite(found.partial_correlation_se).all()
    few = table_of_numbers(rng.normal(size=(4, 3)), tuple("abcd"))
    full = Graph("abcd", [(x, y) for x in "abcd" for y in "abcd" if x < y])
    assert np.isnan(effects_in(as_engine(few), full).strength).all()
    assert effects_in(as_engine(few), Graph("abcd")).strength.shape == (0,)


def test_learned_networks_have_them_in_their_tables() -> None:
    data, _, _ = world(3, 2000)
    learned = evidence_map(data).with_effects(data)
    frame = learned.edges_frame
    edges = frame.filter(frame["in_graph"])
    assert {"partial_correlation", "partial_correlation_se", "correlation"} <= set(frame.columns)
    assert "log_odds_ratio" not in frame.columns
    assert (edges["partial_correlation"].abs() > 0.1).all()
    x, y = edges["x"][0], edges["y"][0]
    assert learned.effect_in_short[x, y].startswith(f"r {edges['partial_correlation'][0]:+.2f}")
