"""Weighted rows: whole weights are repeated rows, exactly; others are worth their effective sample size."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import GSMN, IBMAP, Bootstrap, EvidenceMAP, load
from ibmap.data.weights import (
    CountedRows,
    cluster_numbers,
    complete_rows,
    design_effect,
    repeated,
    row_weights,
    some_rows,
    with_rows,
)
from ibmap.engines import as_engine
from ibmap.errors import DataError, DataWarning, RequestError


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
        ([1, 2], "one weight: 60 rows"),
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
    with pytest.raises(DataError, match="not whole numbers, so they cannot be frequencies"):
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
        ([1, 2, 3], "each row needs one cluster: 4 rows"),
        ([1, None, 2, np.nan], "are missing in 2 of 4 rows"),
        ([7, 7, 7, 7], "are all the same"),
    ):
        with pytest.raises(DataError, match=words):
            cluster_numbers(np.array(odd, object), 4)


def clustered(seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Rows of clusters of one to four, with levels, numbers and holes."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(14), rng.integers(1, 5, 14))
    of_cluster, n = rng.normal(size=14), len(clusters)
    size = of_cluster[clusters] + rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    kind = np.where(rng.random(n) < 0.5, clusters % 3, rng.integers(0, 3, n))
    columns = {
        "size": size,
        "kind": np.array(["a", "b", "c"])[kind],
        "sex": np.array(["f", "m"])[clusters % 2],
    }
    return columns, clusters


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("names", [("size", "kind", "sex"), ("kind",), ("size", "kind")])
def test_the_design_effect_is_that_of_all_pairs_of_rows_of_a_cluster(seed, names):
    columns, clusters = clustered(seed)
    data = load(
        {name: columns[name] for name in names} | ({} if len(names) > 1 else {"flat": ["x"] * len(clusters)}),
        continuous=[name for name in names if name == "size"],
        numbers="values" if "size" in names else None,
        missing="testwise",
    )
    found = design_effect(data, clusters)
    expected = []
    for name in names:
        known = np.array([value == value for value in columns[name]])
        levels = np.unique(columns[name]) if name != "size" else [None]
        together = alone = 0.0
        for level in levels:
            x = columns[name] if level is None else (columns[name] == level).astype(float)
            apart = x - x[known].mean()
            for i in np.flatnonzero(known):
                for j in np.flatnonzero(known & (clusters == clusters[i])):
                    if i != j:
                        together += apart[i] * apart[j]
                        alone += apart[i] ** 2
        expected.append(together / alone)
    assert found.correlations[: len(names)] == pytest.approx(expected)
    sizes = np.bincount(clusters)
    mean_size = (sizes**2).sum() / sizes.sum()
    products = [a * b for k, a in enumerate(expected) for j, b in enumerate(expected) if j != k]
    share = np.mean(products) if products else expected[0] ** 2
    assert found.effect == pytest.approx(max(1.0, 1 + (mean_size - 1) * share))
    if len(names) == 1:
        assert np.isnan(found.correlations[1]), "what does not vary has none"


@pytest.mark.parametrize("seed", range(2))
def test_frequencies_in_clusters_are_repeated_rows(seed):
    columns, clusters = clustered(seed)
    times = np.random.default_rng(seed).integers(0, 3, len(clusters))
    again = np.repeat(np.arange(len(clusters)), times)
    how = {"continuous": ["size"], "numbers": "values", "missing": "testwise"}
    data = load(columns, **how)
    found = design_effect(data, clusters, times.astype(float))
    expected = design_effect(data.rows(again), clusters[again])
    assert found.correlations == pytest.approx(expected.correlations)
    assert found.effect == pytest.approx(expected.effect)


def test_it_is_said_what_clusters_do():
    codes = np.random.default_rng(0).integers(0, 2, (4, 60)).astype(str)
    data = load({f"v{k}": np.repeat(row, 2) for k, row in enumerate(codes)})
    clusters = np.repeat(np.arange(60), 2)
    found, said = with_rows(data, None, clusters, "households")
    assert said == ["120 rows in 60 households count as 60 (design effect 2)"]
    assert found.n_rows == 60
    assert found.reading["clusters"] == 60
    assert (found.reading["design_effect"], found.reading["effective_rows"]) == (2.0, 60.0)
    assert found.clusters.tolist() == list(range(60))
    alone, said = with_rows(data, None, np.arange(120), "households")
    assert said == ["every row is a cluster of its own: rows count as they are"]
    assert np.array_equal(alone.codes, data.codes)
    partly = load(
        {"fixed": np.repeat(codes[0], 2), "too": np.repeat(codes[1], 2), "free": codes.ravel()[:120]}
    )
    with pytest.warns(DataWarning, match="'fixed', 'too' are constant within clusters.*only 60 clus"):
        with_rows(partly, None, clusters)
    one = partly.variables([0, 2])
    assert with_rows(one, None, clusters)[0].warnings == one.warnings, "one variable has no edge to itself"


@pytest.mark.parametrize("given", [None, "weights", "clusters", "both"])
def test_rows_that_are_left_out_take_their_weights_and_clusters_along(given):
    table = {"a": [1, 0, None, 1, 0, 1], "b": [0, 1, 1, None, 0, 9], "c": [0, 0, 1, 1, 1, 1]}
    weights = row_weights([1, 2, 3, 1, 2, 1], 6) if given in ("weights", "both") else None
    clusters = np.array([0, 0, 1, 2, 2, 3]) if given in ("clusters", "both") else None
    counts = CountedRows(weights, clusters)
    how = {"missing": "drop", "missing_values": [9]}
    data = load(table, **how)
    kept = [0, 1, 4]
    found, _ = counts.of(data, table, how)
    expected, _ = with_rows(
        data,
        None if weights is None else weights._replace(weights=weights.weights[kept]),
        None if clusters is None else np.array([0, 0, 1]),
    )
    assert found.codes.tolist() == expected.codes.tolist()
    assert complete_rows(table, how).tolist() == [True, True, False, False, True, False]
    assert complete_rows({**table, "d": [0, 1] * 3}, {"only": ["c", "d"]}) is None
    assert complete_rows(table, {"drop": ["a"]}).tolist() == [True, True, True, False, True, True]
    whole = load(table, missing="testwise")
    assert np.array_equal(counts.of(whole)[0].codes, with_rows(whole, weights, clusters)[0].codes)
    assert (counts.kept is None) or given in ("weights", "both")
    assert CountedRows(row_weights([1, 0, 2], 3)).kept.tolist() == [True, False, True]
