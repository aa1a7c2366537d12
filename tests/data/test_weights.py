"""Weighted rows: whole weights are repeated rows, exactly; others are worth their effective sample size."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import GSMN, IBMAP, Bootstrap, EvidenceMAP, load
from ibmap.data.weights import cluster_numbers, repeated, row_weights, some_rows
from ibmap.engines import as_engine
from ibmap.errors import DataError, RequestError


def table(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (n, 5))
    x[:, 1] = (x[:, 0] + (rng.random(n) < 0.3)) % 3
    return x, rng.integers(0, 4, n)


@pytest.mark.parametrize("learner", [EvidenceMAP(), IBMAP(), GSMN()])
def test_whole_weights_are_repeated_rows_exactly(learner):
    x, weights = table()
    weighted = learner.fit(x, sample_weight=weights).learned_
    plain = learner.fit(np.repeat(x, weights, axis=0)).learned_
    assert weighted.graph == plain.graph
    assert weighted.score == plain.score
    assert weighted.n_rows == plain.n_rows == weights.sum()
    assert weighted.history == plain.history


@pytest.mark.parametrize(
    "kind",
    [
        lambda x: pd.DataFrame(x, columns=list("abcde")),
        lambda x: pl.DataFrame(x, schema=list("abcde")),
        lambda x: pd.DataFrame(x, columns=list("abcde")).to_dict("list"),
        lambda x: x.tolist(),
        lambda x: pl.DataFrame(x, schema=list("abcde")).to_arrow(),
        load,
    ],
)
def test_weights_of_any_table(kind, tmp_path):
    x, weights = table()
    expected = EvidenceMAP().fit(np.repeat(x, weights, axis=0)).adjacency_
    assert np.array_equal(EvidenceMAP().fit(kind(x), sample_weight=pd.Series(weights)).adjacency_, expected)


def test_weights_of_a_file_and_of_a_bootstrap(tmp_path):
    x, weights = table()
    pl.DataFrame(x, schema=list("abcde")).write_csv(tmp_path / "x.csv")
    net = EvidenceMAP().fit(tmp_path / "x.csv", sample_weight=weights)
    assert net.learned_.n_rows == weights.sum()
    one = Bootstrap(n_replicates=5, random_state=0).fit(x, sample_weight=weights).bootstrapped_
    other = Bootstrap(n_replicates=5, random_state=0).fit(np.repeat(x, weights, axis=0)).bootstrapped_
    assert np.array_equal(one.hits, other.hits)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 50), min_size=1, max_size=80))
def test_sampling_weights_are_worth_their_effective_size(weights):
    values = np.array(weights)
    found = np.bincount(repeated(row_weights(values, len(values)).weights), minlength=len(values))
    if (values == np.floor(values)).all():
        assert np.array_equal(found, values)
        return
    effective = values.sum() ** 2 / (values**2).sum()
    assert abs(found.sum() - effective) <= 0.5 + 1e-9
    shares = np.cumsum(values) / values.sum() * effective
    assert (np.abs(np.cumsum(found) - shares) <= 0.5 + 1e-6).all()


def test_rows_of_weight_zero_do_not_exist():
    x, weights = table()
    weights[x[:, 4] == 2] = 0
    net = EvidenceMAP().fit(x, sample_weight=weights)
    assert net.engine_.schema.levels[4] == (0, 1)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], "one weight a row: 60 rows"),
        (np.full(60, -1), "zero or more"),
        (np.full(60, np.nan), "none may be missing"),
        (np.zeros(60), "all zero"),
        (["a"] * 60, "must be numbers"),
        (np.full(60, 1e8), "6,000,000,000 rows, more than"),
    ],
)
def test_bad_weights(weights, words):
    with pytest.raises(DataError, match=words):
        EvidenceMAP().fit(table()[0], sample_weight=weights)


def test_an_engine_has_its_rows_already():
    x, weights = table()
    with pytest.raises(RequestError, match="give weights and groups with a table"):
        EvidenceMAP().fit(as_engine(load(x)), sample_weight=weights)


def test_nothing_is_changed():
    x, weights = table()
    before = x.copy(), weights.copy()
    some_rows(x, repeated(row_weights(weights, 60).weights))
    assert np.array_equal(before[0], x)
    assert np.array_equal(before[1], weights)


@pytest.mark.parametrize("weights", [[1e19, 1.0], [1e300, 1.0], [1e19, 1e19]])
def test_weights_that_no_table_could_have_are_refused(weights):
    with pytest.raises(DataError, match="more than 200,000,000"):
        row_weights(weights, 2)


def test_weights_may_be_of_any_size_if_they_are_not_whole():
    small = row_weights([0.5, 1.5, 1.5, 0.5], 4).weights
    np.testing.assert_allclose(row_weights([0.5e-160, 1.5e-160, 1.5e-160, 0.5e-160], 4).weights, small)
    assert round(row_weights([1.5e160, 4.5e160, 4.5e160, 0.5], 4).weights.sum()) == 3


def test_rows_of_a_packed_table_are_repeated_too():
    values, weights = table()
    packed = load(iter([pl.DataFrame(values)]))
    one, other = (GSMN().fit(data, sample_weight=weights).learned_ for data in (packed, load(values)))
    assert one.graph.pairs.tolist() == other.graph.pairs.tolist()


def test_it_is_said_what_weights_were_taken_for():
    """Whole weights may say how many people a row stands for, and nobody can know."""
    assert row_weights([5, 15, 0], 3).words == (
        "the weights are whole numbers, taken for frequencies: 20 rows in all; if they are sampling weights "
        "of a survey, say that weights are 'sampling'"
    )
    assert "survey" not in row_weights([5, 15], 2, kind="frequency").words
    found = row_weights([5, 15], 2, kind="sampling")
    assert found.words.endswith("2 rows count as 1.6, their effective sample size")
    np.testing.assert_allclose(found.weights, [0.4, 1.2])
    with pytest.raises(DataError, match="not whole, so they are no frequencies"):
        row_weights([0.5, 1.5], 2, kind="frequency")
    with pytest.raises(RequestError, match="weights_are must be 'sampling' or 'frequency'"):
        row_weights([1, 2], 2, kind="often")


def mixed_table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    size, sex = rng.normal(size=n), rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "size": size,
            "sex": np.array(["f", "m"])[sex],
            "weight": size + 0.5 * sex + rng.normal(size=n),
            "diet": np.array(["a", "b", "c"])[(rng.integers(0, 3, n) * (size < 0.5)).astype(int)],
        }
    )


def posteriors(net):
    table = net.learned_.edge_table
    return {tuple(pair): logs for pair, logs in zip(table.pairs.tolist(), table.log_posteriors, strict=True)}


def test_frequencies_of_a_table_with_numbers_are_repeated_rows():
    x = mixed_table()
    weights = np.random.default_rng(1).integers(0, 4, len(x))
    weighted = EvidenceMAP().fit(x, sample_weight=weights)
    plain = EvidenceMAP().fit(x.loc[np.repeat(np.arange(len(x)), weights)])
    assert weighted.graph_ == plain.graph_
    assert weighted.score_ == pytest.approx(plain.score_, abs=1e-6)
    one, other = posteriors(weighted), posteriors(plain)
    assert one.keys() == other.keys()
    for pair, logs in one.items():
        np.testing.assert_allclose(logs, other[pair], atol=1e-6)
    assert weighted.explain("sex", "weight").means == plain.explain("sex", "weight").means


def test_sampling_weights_count_by_their_share():
    x = mixed_table()
    half = np.where(np.arange(300) < 150, 2.5, 0.5)
    net = EvidenceMAP().fit(x, sample_weight=half)
    assert net.engine_.data.weights.sum() == pytest.approx(half.sum() ** 2 / (half**2).sum())
    same = EvidenceMAP().fit(x, sample_weight=np.full(300, 7), weights_are="sampling")
    assert same.score_ == pytest.approx(EvidenceMAP().fit(x).score_, abs=1e-6)


def test_clusters_of_any_kind_are_told_apart_and_odd_ones_are_refused():
    for labels in (["x", "y", "x", "z"], ["x", 1, "x", 2.5], [(1,), "y", (1,), 3]):
        groups = np.empty(4, object)
        groups[:] = labels
        found = cluster_numbers(groups, 4).tolist()
        assert sorted(set(found)) == [0, 1, 2]
        assert found[0] == found[2]
    for odd, words in (
        ([1, 2, 3], "there must be one cluster a row: 4 rows"),
        ([1, None, 2, np.nan], "are missing in 2 of 4 rows"),
        ([7, 7, 7, 7], "are all the same"),
    ):
        with pytest.raises(DataError, match=words):
            cluster_numbers(np.array(odd, object), 4)
