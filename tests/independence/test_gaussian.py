"""Gaussian tests and the Gaussian score: partial correlations, Bayes factors, learners, bad input."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import GSMN, IBMAP, Bootstrap, EvidenceMAP
from ibmap.criteria.gaussian import GaussianScore
from ibmap.data import Table, load
from ibmap.engines import as_engine
from ibmap.engines.mixed import MixedEngine
from ibmap.engines.moments import moments_of
from ibmap.errors import DataError, RequestError
from ibmap.graph import Graph
from ibmap.independence.gaussian import FisherZTest, GaussianTest, log_bayes_factor
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information
from ibmap.metrics import hamming
from tests.number_tables import table_of_numbers
from tests.reference.gaussian import log_bayes_factor as slow_bayes_factor
from tests.reference.gaussian import partial_correlation
from tests.rows import whole

NONE = np.array([], np.int64)


def sparse_gaussian(n: int, n_rows: int, seed: int = 0) -> tuple[Table, Graph]:
    """Rows of a Gaussian chain: each variable is adjacent to the next."""
    rng = np.random.default_rng(seed)
    precision = np.eye(n) + np.diag(np.full(n - 1, -0.4), 1) + np.diag(np.full(n - 1, -0.4), -1)
    rows = rng.multivariate_normal(np.zeros(n), np.linalg.inv(precision), n_rows)
    names = tuple(f"x{i}" for i in range(n))
    return table_of_numbers(rows.T * 10 + 3, names), Graph(
        names, [(f"x{i}", f"x{i + 1}") for i in range(n - 1)]
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000))
def test_answers_are_about_the_partial_correlations_of_regressions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5))
    bound = FisherZTest().bind(MixedEngine(table_of_numbers(rows.T, tuple("abcde"))))
    z = bound.fixed(0, np.array([1, 2]), np.array([3, 4])).statistic
    for k, y in enumerate((1, 2)):
        r = abs(partial_correlation(rows, 0, y, [3, 4]))
        assert z[k] == pytest.approx(np.arctanh(r) * np.sqrt(40 - 3 - 2), rel=1e-4, abs=1e-6)
    z = bound.round_robin(0, np.array([1, 3])).statistic
    assert z[0] == pytest.approx(
        np.arctanh(abs(partial_correlation(rows, 0, 1, [3]))) * 6, rel=1e-4, abs=1e-6
    )


@pytest.mark.parametrize(("r", "m"), [(0.0, 4), (0.6, 6), (-0.3, 10)])
def test_the_bayes_factor_is_that_of_draws_from_the_priors(r: float, m: int) -> None:
    found = float(log_bayes_factor(np.array([r]), np.array([float(m)]))[0])
    assert found == pytest.approx(slow_bayes_factor(r, m), abs=0.05)


def test_without_degrees_of_freedom_the_data_say_nothing() -> None:
    assert log_bayes_factor(np.array([0.3]), np.array([-2.0]))[0] == pytest.approx(0.0)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 29))
def test_moments_of_partitions_add_up(seed: int, cut: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(30, 4)) * 5 + 100
    whole, parts = moments_of(rows), moments_of(rows[:cut]) + moments_of(rows[cut:])
    assert parts.n_rows == 30
    assert parts.correlation == pytest.approx(whole.correlation)


def test_learners_find_a_chain() -> None:
    data, truth = sparse_gaussian(12, 2000)
    for learned in (
        ibmap_hc(data, GaussianTest()),
        ibmap_hc(data, score=GaussianScore(), search="rounds"),
        gsmn(data, GaussianTest()),
        gsmn(data, FisherZTest(alpha=1e-4)),
        hhc_mn(data, FisherZTest(alpha=1e-4), max_condition=3),
    ):
        assert hamming(learned.graph, truth) <= 3


def test_the_score_gains_what_its_rows_promise() -> None:
    data, _ = sparse_gaussian(6, 100, seed=3)
    score = GaussianScore().bind(as_engine(data), None)
    for blanket in (NONE, np.array([1]), np.array([1, 3])):
        row = whole(score, [0], [blanket])
        for y in range(1, 6):
            flipped = np.setxor1d(blanket, [y])
            gain = 2 * (score.value(0, flipped) - row.values[0])
            sign = -1 if y in blanket else 1
            assert sign * row.evidence[0, y] == pytest.approx(gain, abs=1e-6)


def test_units_and_order_of_columns_change_nothing() -> None:
    data, _ = sparse_gaussian(8, 150, seed=1)
    other = table_of_numbers(data.values[::-1] * -7 + 1000, data.names[::-1])
    assert ibmap_hc(data, GaussianTest()).graph == ibmap_hc(other, GaussianTest()).graph


def test_a_singular_covariance_a_constant_and_more_variables_than_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    data = table_of_numbers(np.stack([a, a, b, a + b, np.full(200, 7.0)]), tuple("abcde"))
    for learned in (ibmap_hc(data, GaussianTest()), ibmap_hc(data, score=GaussianScore(), search="rounds")):
        assert learned.graph.degree("e") == 0
        assert learned.graph.n_edges > 0
    wide = table_of_numbers(rng.normal(size=(60, 20)), tuple(f"x{i}" for i in range(60)))
    assert ibmap_hc(wide, GaussianTest()).graph.n_edges < 60
    assert np.isfinite(
        GaussianTest().bind(as_engine(wide)).fixed(0, np.array([1]), np.arange(2, 40)).strength
    )


def test_mixed_tables_go_by_ranks() -> None:
    rng = np.random.default_rng(0)
    size = np.exp(rng.normal(size=300))
    sex = np.where(np.log(size) + 0.5 * rng.normal(size=300) > 0, "m", "f")
    grade = pl.Series(rng.choice(["low", "mid", "high"], 300), dtype=pl.Enum(["low", "mid", "high"]))
    frame = pl.DataFrame({"size": size, "sex": sex, "grade": grade})
    data = load(frame, continuous="all", numbers="ranks")
    assert data.reading["numbers"] == "ranks"
    assert ibmap_hc(data, GaussianTest()).graph.edges == (("size", "sex"),)
    stretched = load(frame.with_columns(pl.col("size").log()), continuous="all", numbers="ranks")
    found = MixedEngine(stretched).gaussian_moments, MixedEngine(data).gaussian_moments
    assert np.array_equal(found[0].scatter, found[1].scatter)


def test_tables_that_cannot_be_used() -> None:
    with pytest.raises(DataError, match="3 levels without an order"):
        load({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "z"]}, continuous="all", numbers="ranks")
    assert load({"a": [1.5, 2.5], "b": ["x", "y"]}, continuous="all").values.tolist() == [[1.5, 2.5], [0, 1]]
    with pytest.raises(DataError, match="missing"):
        load({"a": [1.5, None], "b": [1.0, 2.0]}, continuous="all")
    assert load({"a": [1.5, None, 2.0], "b": [1, 2, 3]}, missing="drop", continuous="all").schema.n_rows == 2
    with pytest.raises(DataError, match="'a' holds infinite values"):
        load({"a": [1.5, np.inf], "b": [1.0, 2.0]}, continuous="all")
    with pytest.raises(DataError, match="missing numbers cannot be a category"):
        load({"a": [1.5, None], "b": [1.0, 2.0]}, missing="category", continuous="all")


@pytest.mark.parametrize(
    "learn", [gsmn, ibmap_hc, mutual_information, dag_hc, partial(evidence_map, score="pairwise")]
)
def test_what_counts_levels_refuses_numbers(learn: Any) -> None:
    with pytest.raises(RequestError, match=r"these variables are numbers.*the test 'gaussian'"):
        learn(sparse_gaussian(3, 50)[0])


def test_tests_and_scores_that_cannot_be_used() -> None:
    categories, numbers = load({"a": [0, 1], "b": [0, 1]}), sparse_gaussian(3, 50)[0]
    for more in ({"test": GaussianTest()}, {"score": GaussianScore()}):
        with pytest.raises(RequestError, match="need numbers in all rows of all columns"):
            ibmap_hc(categories, **more)
    with pytest.raises(RequestError, match="between 0 and 1"):
        ibmap_hc(numbers, GaussianTest(prior=1.0))
    with pytest.raises(RequestError, match="between 0 and 1"):
        gsmn(numbers, FisherZTest(alpha=0.0))
    with pytest.raises(RequestError, match="has none"):
        ibmap_hc(numbers, FisherZTest())
    with pytest.raises(RequestError, match="expected_neighbours must be a positive number, not 0"):
        ibmap_hc(numbers, score=GaussianScore(expected_neighbours=0))
    with pytest.raises(RequestError, match="takes no numbers and no missing values"):
        as_engine(numbers, "gpu")


def test_a_prior_of_single_pairs() -> None:
    data, truth = sparse_gaussian(4, 300, seed=2)
    prior = np.full((4, 4), 0.5)
    prior[0, 1] = prior[1, 0] = 1 - 1e-15
    for learned in (ibmap_hc(data, GaussianTest(prior)), gsmn(data, "gaussian")):
        assert learned.graph.has_edge("x2", "x3")
    assert truth.has_edge("x0", "x1")
    evenly, against = (GaussianTest(p).bind(as_engine(data)) for p in (0.5, prior))
    for bound, more in ((evenly, 0.0), (against, np.log(1e-15))):
        for answers in (bound.fixed(0, np.array([1]), NONE), bound.round_robin(0, np.array([1]))):
            expected = evenly.fixed(0, np.array([1]), NONE).strength[0] + more
            assert answers.strength[0] == pytest.approx(expected, rel=1e-3)


def test_evidence_map_finds_a_chain_and_learns_its_prior() -> None:
    data, truth = sparse_gaussian(12, 2000)
    learned = evidence_map(data, score="gaussian")
    assert learned.graph == truth
    assert learned.provenance.score.expected_neighbours == pytest.approx(2 * 11 / 12, rel=0.15)
    assert evidence_map(data, score="gaussian", expected_neighbours=2.0).graph == truth
    twins = table_of_numbers(np.vstack([data.values[:3], data.values[:1] * 2]), ("a", "b", "c", "copy of a"))
    found = evidence_map(twins)
    assert found.graph.has_edge("a", "copy of a")


def test_estimators_take_frames_of_numbers() -> None:
    data, truth = sparse_gaussian(6, 1500)
    frame = pl.DataFrame(dict(zip(data.names, data.values, strict=True)))
    for net in (IBMAP("gaussian"), GSMN(FisherZTest(alpha=1e-4)), EvidenceMAP(criterion="gaussian")):
        assert net.fit(frame).graph_ == truth
        assert net.feature_names_in_.tolist() == list(data.names)
    assert set(truth.edges) <= set(EvidenceMAP().fit(data).graph_.edges)
    with pytest.raises(RequestError, match="leave out discretize and bins"):
        IBMAP("gaussian", discretize="quantile").fit(frame)
    with pytest.raises(DataError, match="test='gaussian' takes numbers as they are"):
        IBMAP().fit(frame)
    support = Bootstrap(IBMAP("gaussian"), n_replicates=3, random_state=0).fit(frame).support_
    assert support["support"][0] == 1
