"""Fits of levels and numbers: they raise what the blackboard raises, and worlds come back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import Graph
from ibmap.errors import DataWarning
from ibmap.model.cell_program import cell_program
from ibmap.model.missing_draws import fill_missing
from ibmap.model.mixed_fitting import Parameters, _Problem, fit_mixed, fit_numbers, positive, precision_of
from tests.reference.mixed_models import penalised

NAMES = "xyabc"
SIZES = np.array([3, 2, 0, 0, 0])
EDGES = Graph(NAMES, [("x", "y"), ("x", "a"), ("y", "b"), ("a", "b"), ("b", "c")])
PRECISION = np.array([[2, -0.8, 0], [-0.8, 2, 0.5], [0, 0.5, 1.5]])
SHIFT_X = np.array([[0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]])
SHIFT_Y = np.array([[0, -0.5, 0], [0, 0.5, 0]])


def world(rng, n_rows):
    """Rows of a network of three and two levels, and three numbers."""
    x = rng.integers(3, size=n_rows)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(1.0 - x))).astype(int)
    covariance = np.linalg.inv(PRECISION)
    noise = rng.normal(size=(n_rows, 3)) @ np.linalg.cholesky(covariance).T
    return np.vstack([x, y, ((SHIFT_X[x] + SHIFT_Y[y]) @ covariance + noise).T]).astype(float)


@given(st.integers(0, 2**32), st.booleans(), st.floats(0.5, 20.0))
@settings(deadline=None, max_examples=15)
def test_the_value_is_that_of_the_blackboard_and_the_slope_is_its(seed, ordered, variance):
    rng = np.random.default_rng(seed)
    rows = world(rng, 30)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    problem = _Problem(EDGES, rows, SIZES, np.array([ordered, *[False] * 4]), 4 / variance)
    theta = rng.normal(scale=0.2, size=problem.size)
    value, slope = problem.value_and_slope(theta)
    shown = problem.parameters(theta)
    if not ordered:  # scores of three levels are no contrasts, so that the blackboard cannot tell their size
        constant = penalised(EDGES, shown.fields, shown.factors, rows, SIZES, variance) - value
        n_numbers = sum(problem.asked[v].sum() for v in (2, 3, 4))
        assert constant == pytest.approx(-n_numbers * np.log(2 * np.pi) / 2, abs=1e-6)
    for k in range(problem.size):
        step = np.eye(problem.size)[k] * 1e-5
        there, back = (problem.value_and_slope(theta + side * step)[0] for side in (1, -1))
        assert slope[k] == pytest.approx((there - back) / 2e-5, abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_a_world_comes_back(holes):
    rng = np.random.default_rng(1)
    rows = world(rng, 20_000)
    rows[rng.random(rows.shape) < holes] = np.nan
    found = fit_mixed(EDGES, rows, SIZES, np.zeros(5, bool))
    np.testing.assert_allclose(precision_of(EDGES, SIZES == 0, found), PRECISION, atol=0.08)
    x_a, y_b = found.factors[EDGES.edges.index(("x", "a"))], found.factors[EDGES.edges.index(("y", "b"))]
    np.testing.assert_allclose(np.diff(x_a[:, 0]), [0.5, 0.5], atol=0.08)
    np.testing.assert_allclose(np.diff(y_b[:, 0]), [1.0], atol=0.08)


def test_numbers_alone_have_the_covariances_of_their_edges():
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal(np.ones(3), [[1, 0.99, 0.5], [0.99, 1, 0.5], [0.5, 0.5, 1]], size=400).T
    graph = Graph("abc", [("a", "b"), ("a", "c")])
    found = fit_numbers(graph, rows, pseudo_rows=0)
    k = precision_of(graph, np.ones(3, bool), found)
    assert k[1, 2] == 0
    inside = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]], bool)
    np.testing.assert_allclose(np.linalg.inv(k)[inside], np.cov(rows, bias=True)[inside], atol=1e-5)
    np.testing.assert_allclose(np.linalg.solve(k, [field[0] for field in found.fields]), rows.mean(axis=1))


def test_couplings_that_no_covariance_has_are_made_smaller_with_a_warning():
    graph, numbers = Graph.complete("abc"), np.ones(3, bool)
    fields, factors = [np.array([0.0, 1.0])] * 3, [np.full((1, 1), -0.8)] * 3
    for sign in (-1, 1):
        factors[0] = np.full((1, 1), sign * -0.8)
        k = precision_of(graph, numbers, Parameters(fields, factors))
        if np.linalg.eigvalsh(k).min() > 0:
            assert (
                precision_of(graph, numbers, positive(graph, numbers, Parameters(fields, factors))) == k
            ).all()
            continue
        with pytest.warns(DataWarning, match="were shrunk"):
            found = positive(graph, numbers, Parameters(fields, factors))
        smaller = precision_of(graph, numbers, found)
        assert np.linalg.eigvalsh(smaller).min() > 0
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(smaller[off] / k[off], (smaller[off] / k[off])[0])


def test_drawn_cells_have_the_distribution_of_the_world():
    rng = np.random.default_rng(2)
    rows = world(rng, 20_000)
    found = fit_mixed(EDGES, rows, SIZES, np.zeros(5, bool))
    program = cell_program(SIZES, found.fields, EDGES.pairs.tolist(), found.factors)
    gaps = np.where(rng.random(rows.shape) < 0.5, np.nan, rows)
    filled = fill_missing(program, gaps, random_state=0)
    assert (filled[~np.isnan(gaps)] == rows[~np.isnan(gaps)]).all()
    np.testing.assert_allclose(np.corrcoef(filled), np.corrcoef(rows), atol=0.03)
    np.testing.assert_allclose(filled.mean(axis=1), rows.mean(axis=1), atol=0.03)
    assert (fill_missing(program, gaps, random_state=0, n_threads=2) == filled).all()


def test_numbers_of_a_complete_graph_have_the_inverse_of_the_covariance():
    rows = np.random.default_rng(0).normal(size=(3, 50)) @ np.diag(np.linspace(0.5, 2, 50))
    rows[2] += rows[0]
    graph = Graph.complete("abc")
    centred = rows - rows.mean(axis=1)[:, None]
    for pseudo_rows, more in ((0, 1e-6), (1, 0.0), (4, 0.0)):
        covariance = (centred @ centred.T + pseudo_rows * np.eye(3)) / (50 + pseudo_rows) + more * np.eye(3)
        found = fit_numbers(graph, rows, pseudo_rows=pseudo_rows)
        expected = np.linalg.inv(covariance)
        precision = precision_of(graph, np.ones(3, bool), found)
        np.testing.assert_allclose(precision, expected, rtol=1e-9)
        np.testing.assert_allclose(
            [field[0] for field in found.fields], expected @ rows.mean(axis=1), rtol=1e-7, atol=1e-9
        )
    copies = fit_numbers(Graph("ab", [("a", "b")]), np.vstack([rows[0], rows[0]]), pseudo_rows=0)
    assert np.isfinite(precision_of(Graph("ab", [("a", "b")]), np.ones(2, bool), copies)).all()
