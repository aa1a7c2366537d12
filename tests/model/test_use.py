"""Samples, missing cells, scores, and tables that are not those of the model."""

import numpy as np
import pytest
from hypothesis import given, settings

from ibmap.data import CategoricalData, load
from ibmap.errors import DataError, RequestError, UnknownVariableError
from ibmap.graph import Graph
from ibmap.model import MarkovNetwork
from tests.model.models import random_network, seeds
from tests.reference import enumeration


def parts(network: MarkovNetwork) -> tuple[object, object, object]:
    return network.graph.pairs.tolist(), network.fields, network.factors


def dense(n: int = 24, scale: float = 0.15) -> MarkovNetwork:
    """A network that is too large for exact inference."""
    rng = np.random.default_rng(0)
    graph = Graph.complete([f"x{i}" for i in range(n)])
    tables = [scale * rng.normal(size=(2, 2)) for _ in range(graph.n_edges)]
    return MarkovNetwork(graph, ((0, 1),) * n, tuple(rng.normal(size=(n, 2))), tuple(tables))


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_samples_have_the_probabilities_of_enumeration(seed: int) -> None:
    network = random_network(seed, largest=4)
    data = network.sample(20_000, random_state=seed)
    expected = enumeration.weights(*parts(network))
    total = sum(expected.values())
    rows, counts = np.unique(data.codes.T, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    for x, weight in expected.items():
        p = weight / total
        assert abs(seen.get(x, 0) / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-9


def test_samples_repeat_with_their_seed_and_know_all_levels() -> None:
    network = random_network(3)
    one, other = (network.sample(50, random_state=7) for _ in range(2))
    assert (one.codes == other.codes).all()
    assert one.levels == network.levels
    with pytest.raises(RequestError, match="n_rows must be at least 1"):
        network.sample(0)


def test_a_network_that_is_too_large_answers_by_gibbs_sampling_with_an_error_bar() -> None:
    network = dense()
    assert not network.is_tractable
    answer = network.query("x0", {"x1": 1})
    assert answer.method == "gibbs"
    assert "Gibbs" in str(answer)
    again = network.query("x0", {"x1": 1}, random_state=1)
    assert abs(answer[1] - again[1]) < 5 * (answer.errors[1] + again.errors[1])
    assert network.sample(10, random_state=0).n_rows == 10
    with pytest.raises(RequestError, match="not tractable"):
        network.marginals()
    with pytest.raises(RequestError, match="not tractable"):
        network.log_likelihood(network.sample(2, random_state=0))


def test_what_is_given_makes_a_large_network_tractable() -> None:
    network = dense()
    known = {f"x{i}": i % 2 for i in range(8, 24)}
    answer = network.query("x0", known)
    assert answer.method == "exact"
    keep = [k for k, (_, j) in enumerate(network.graph.pairs.tolist()) if j < 8]
    fields = [f.copy() for f in network.fields[:8]]
    for (i, j), table in zip(network.graph.pairs.tolist(), network.factors, strict=True):
        if i < 8 <= j:
            fields[i] += table[:, j % 2]
    small = [network.graph.pairs[k].tolist() for k in keep]
    wanted = enumeration.marginal(small, fields, [network.factors[k] for k in keep], 0)
    assert list(answer.values()) == pytest.approx(wanted)


def test_the_error_bar_covers_the_truth() -> None:
    network = dense(12, 0.3)
    from ibmap.model.query import SAMPLES, conditional
    from ibmap.model.sampling import gibbs_rows

    truth = network.query("x3")[1]
    rows = gibbs_rows(network.layout, network.theta, SAMPLES, random_state=4)
    shares = conditional(network.layout, network.theta, 3, rows.T.astype(np.int64))[:, 1]
    assert abs(shares.mean() - truth) < 4 * shares.std() / np.sqrt(SAMPLES)


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_likelihoods_are_those_of_enumeration_also_of_incomplete_rows(seed: int) -> None:
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    codes = network.sample(8, random_state=seed).codes.copy()
    codes[rng.random(codes.shape) < 0.3] = -1
    data = CategoricalData(codes, network.names, network.levels)
    weights = enumeration.weights(*parts(network))
    for row, found in zip(codes.T.tolist(), network.log_likelihood(data).tolist(), strict=True):
        fits = [
            w for x, w in weights.items() if all(c in (-1, level) for c, level in zip(row, x, strict=True))
        ]
        assert found == pytest.approx(np.log(sum(fits) / sum(weights.values())), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_missing_cells_get_the_most_probable_level(seed: int) -> None:
    network = random_network(seed, largest=6)
    rng = np.random.default_rng(seed)
    codes = network.sample(10, random_state=seed).codes.copy()
    codes[rng.random(codes.shape) < 0.5] = -1
    data = CategoricalData(codes, network.names, network.levels)
    filled = network.impute(data).codes
    assert (filled[codes >= 0] == codes[codes >= 0]).all()
    for v, row in np.argwhere(codes < 0).tolist():
        known = {u: int(c) for u, c in enumerate(codes[:, row]) if c >= 0}
        shares = enumeration.marginal(*parts(network), v, known)
        assert shares[filled[v, row]] == pytest.approx(max(shares))


def test_gaps_of_a_network_that_is_too_large_are_filled() -> None:
    network = dense(24, 2.0)
    rows = network.sample(4, random_state=0).codes.copy()
    rows[:2, 0] = -1
    rows[:, 1] = -1
    filled = network.impute(CategoricalData(rows, network.names, network.levels))
    assert not filled.has_missing


def test_predictions_hide_the_variable_itself() -> None:
    table = {"a": ["x", "y"] * 40, "b": ["x", "y"] * 40}
    network = MarkovNetwork.fit(Graph("ab", [("a", "b")]), load(table))
    wrong = {"a": ["x", "y"], "b": ["y", "x"]}
    assert network.predict("b", wrong) == ["x", "y"]
    assert network.predict_probabilities("b", wrong).sum(axis=1) == pytest.approx(1.0)


SURVEY = {
    "smokes": ["no", "yes", "no", "yes"] * 10,
    "age": [18.5, 30.0, 44.25, 60.0] * 10,
    "n": [0, 1, 2, 1] * 10,
}


@pytest.fixture(scope="module")
def survey() -> MarkovNetwork:
    data = load(SURVEY, discretize="quantile", bins={"age": 2, "n": 3})
    return MarkovNetwork.fit(Graph(data.names, [("smokes", "age"), ("age", "n")]), data)


def test_tables_are_read_with_the_bins_and_levels_of_the_model(survey: MarkovNetwork) -> None:
    other = {"n": ["1", "0"], "extra": [5, 6], "smokes": ["yes", None], "age": [2.0, 99.0]}
    filled = survey.impute(other)
    assert filled.names == survey.names
    assert filled.codes[:, 0].tolist() == [1, 0, 1]
    assert filled.codes[1:, 1].tolist() == [1, 0]


def test_levels_that_the_model_has_not_seen(survey: MarkovNetwork) -> None:
    strange = {"smokes": ["no", "cigars"], "age": [20.0, 30.0], "n": [0, 1]}
    with pytest.raises(DataError, match=r"column 'smokes' has the level 'cigars'.*unseen='missing'"):
        survey.log_likelihood(strange)
    assert np.isfinite(survey.log_likelihood(strange, unseen="missing")).all()
    assert not survey.impute(strange).has_missing
    with pytest.raises(RequestError, match="unseen must be"):
        survey.impute(strange, unseen="drop")


def test_a_table_without_a_column_of_the_model(survey: MarkovNetwork) -> None:
    with pytest.raises(DataError, match="no column 'age'"):
        survey.impute({"smokes": ["no"], "n": [1]})


def test_questions_that_make_no_sense(survey: MarkovNetwork) -> None:
    with pytest.raises(UnknownVariableError, match="smoke"):
        survey.query("smoke")
    with pytest.raises(RequestError, match="'smokes' is both asked about and given"):
        survey.query("smokes", {"smokes": "no"})
    with pytest.raises(RequestError, match="no level 'maybe': it has 'no', 'yes'"):
        survey.query("n", {"smokes": "maybe"})
    with pytest.raises(RequestError, match="no level"):
        survey.query("n", {"smokes": ["no"]})


def test_all_values_of_a_column_may_be_missing(survey: MarkovNetwork) -> None:
    assert not survey.impute({"smokes": [None, None], "age": [None, 20.0], "n": [1, None]}).has_missing


@pytest.mark.parametrize(
    ("fields", "factors"),
    [([[0, 0]], [[[0, 0], [0, 0]]]), ([[0, 0], [0, 0]], []), ([[0, np.nan], [0, 0]], [[[0, 0], [0, 0]]])],
)
def test_parameters_that_do_not_fit_are_refused(fields: list[object], factors: list[object]) -> None:
    with pytest.raises(RequestError):
        MarkovNetwork(Graph("ab", [("a", "b")]), ((0, 1), (0, 1)), tuple(fields), tuple(factors))
