"""Rows that belong together: they count as their effective number, and are drawn together."""

import numpy as np
import pandas as pd
import pytest

from ibmap import GSMN, Bootstrap, EvidenceMAP, compare, load
from ibmap.data import Table
from ibmap.data.weights import cluster_numbers, design_effect
from ibmap.engines import as_engine
from ibmap.engines.memory import drawn_rows
from ibmap.errors import DataError, DataWarning, RequestError
from ibmap.learners.comparison import permuted_rows
from tests.data.test_weights import mixed_table, posteriors, table


def load_any(source, **how):
    return load(source, **{"missing": "auto", "continuous": "auto", **how})


def slow_design_effect(blocks, clusters):
    """1 + (m - 1) r: pairs of rows of a cluster one by one, no row is missing."""
    sizes = np.array([(clusters == c).sum() for c in clusters])
    rho = []
    for columns in blocks:
        apart = columns - columns.mean(axis=0)
        together, alone = 0.0, 0.0
        for i in range(len(clusters)):
            alone += (sizes[i] - 1) * apart[i] @ apart[i]
            for j in range(len(clusters)):
                if i != j and clusters[i] == clusters[j]:
                    together += apart[i] @ apart[j]
        rho.append(together / alone)
    pairs = [rho[x] * rho[y] for x in range(len(rho)) for y in range(x)]
    return 1 + (sizes.mean() - 1) * np.mean(pairs)


def test_the_design_effect_is_that_of_pairs_of_rows():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 60)
    shared = rng.integers(0, 3, (12, 4))[clusters]
    codes = np.where(rng.random((60, 4)) < 0.6, shared, rng.integers(0, 3, (60, 4)))
    blocks = [np.eye(3)[codes[:, v]] for v in range(4)]
    expected = max(1.0, slow_design_effect(blocks, clusters))
    assert expected > 1.1
    assert design_effect(load(codes), clusters).effect == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("holes", [False, True])
def test_rows_that_are_repeated_k_times_count_once(k, holes):
    x = mixed_table()
    if holes:
        x.loc[::7, "size"] = np.nan
        x.loc[::5, "diet"] = None
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(x)), k))
    data = load_any(x.iloc[rows].reset_index(drop=True))
    assert design_effect(data, cluster_numbers(rows, len(rows))).effect == pytest.approx(k, rel=1e-12)


def test_independent_rows_in_random_clusters_count_as_they_are():
    rng = np.random.default_rng(3)
    data = load_any(mixed_table(2000))
    found = [design_effect(data, rng.integers(0, 200, 2000)).effect for _ in range(20)]
    assert min(found) >= 1.0
    assert np.mean(found) < 1.02


@pytest.mark.parametrize("learner", [EvidenceMAP(), GSMN()])
def test_repeated_levels_with_their_cluster_give_the_network_of_the_table(learner):
    x, _ = table(4, 80)
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(80), 6))
    one, other = learner.fit(x).learned_, learner.fit(x[rows], groups=rows).learned_
    assert (one.graph, one.score, one.n_rows) == (other.graph, other.score, other.n_rows)


def test_repeated_numbers_with_their_cluster_give_the_network_of_the_table():
    x = mixed_table()
    rows = np.random.default_rng(5).permutation(np.repeat(np.arange(len(x)), 8))
    one, other = EvidenceMAP().fit(x), EvidenceMAP().fit(x.iloc[rows], groups=rows)
    assert one.graph_ == other.graph_
    for pair, logs in posteriors(one).items():
        np.testing.assert_allclose(logs, posteriors(other)[pair], atol=1e-6)
    assert other.engine_.schema.reading["effective_rows"] == pytest.approx(300)


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(6)
    clusters = rng.integers(0, 10, 50)
    for share in (None, 0.5):
        rows = drawn_rows(np.random.default_rng(7), 50, share, clusters)
        sizes = np.bincount(clusters[rows], minlength=10)
        assert not (sizes % np.bincount(clusters, minlength=10)).any()
    assert len(np.unique(clusters[rows])) == 5
    x = mixed_table(60)
    groups = np.repeat(np.arange(12), 5)
    for data in (x, x[["sex", "diet"]]):
        engine = EvidenceMAP().fit(data, groups=groups).engine_
        drawn = engine.resampled(np.random.default_rng(8), 0.5).data
        assert len(np.unique(drawn.clusters)) == 6
    support = Bootstrap(n_replicates=3, random_state=0).fit(x, groups=groups)
    assert support.bootstrapped_.n_replicates == 3


def test_permutations_keep_clusters_together():
    clusters = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 4])  # the first group ends within the cluster 1
    for seed in range(20):
        table = Table(np.zeros((1, 10), int), ("a",), (("x",),), clusters=clusters)
        first, second = permuted_rows(np.random.default_rng(seed), 4, table)
        assert sorted([*first, *second]) == list(range(10))
        mine = [np.isin(np.flatnonzero(clusters == c), first).mean() for c in range(5)]
        assert mine[1] == 0.5
        assert sum(mine) == 1.5
        assert set(mine) <= {0.0, 0.5, 1.0}


def test_groups_of_copies_do_not_differ():
    """Each row eight times: rows drawn one by one would differ with certainty."""
    rng = np.random.default_rng(9)
    x = rng.integers(0, 2, (60, 3))
    x[:, 1] = x[:, 0] ^ (rng.random(60) < 0.25)
    rows = np.repeat(np.arange(60), 8)
    frame = pd.DataFrame(x[rows], columns=list("abc")).assign(by=np.array(["u", "v"])[rows % 2])
    found = compare(frame, by="by", groups=rows, n_permutations=30, random_state=0)
    assert found.learned[0].n_rows + found.learned[1].n_rows == 60


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1] * 60, "at least two clusters"),
        ([1, None] * 30, "missing in 30 of 60 rows"),
        ([1.5, np.nan] * 30, "missing in 30 of 60 rows"),
        ([1, 2], "one cluster: 60 rows"),
    ],
)
def test_bad_clusters(groups, words):
    with pytest.raises(DataError, match=words):
        EvidenceMAP().fit(table()[0], groups=groups)
    with pytest.raises(RequestError, match="give weights and groups with a table"):
        EvidenceMAP().fit(as_engine(load(table()[0])), groups=groups)


def test_clusters_of_single_rows_change_nothing():
    x = mixed_table()
    one, other = EvidenceMAP().fit(x), EvidenceMAP().fit(x, groups=np.arange(300))
    assert one.graph_ == other.graph_
    assert one.score_ == pytest.approx(other.score_, abs=1e-9)


def test_what_does_not_vary_within_clusters_is_doubted():
    x, groups = mixed_table(), np.repeat(np.arange(60), 5)
    x["region"], x["school"] = np.array(["n", "s"])[groups % 2], np.array(["p", "q", "r"])[groups % 3]
    with pytest.warns(DataWarning, match="'region', 'school' are constant within clusters"):
        EvidenceMAP().fit(x, groups=groups)


def test_a_dropped_row_takes_its_cluster_along():
    x, groups = mixed_table(), np.repeat(np.arange(60), 5)
    x.loc[:9, "size"] = np.nan
    net = EvidenceMAP(missing="drop").fit(x, groups=groups, sample_weight=np.arange(300) % 3)
    assert net.engine_.schema.reading["clusters"] == 58
    assert net.engine_.data.n_rows == int((np.arange(10, 300) % 3 > 0).sum())
