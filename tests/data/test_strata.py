"""Strata: rows are drawn, and distributed anew, within them; nothing else changes."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ibmap import Bootstrap, EvidenceMAP, compare, load
from ibmap.data import Table
from ibmap.data.weights import CountedRows
from ibmap.engines import as_engine
from ibmap.engines.memory import drawn_rows
from ibmap.errors import IbmapError
from ibmap.learners.comparison import permuted_rows
from tests.data.test_weights import mixed_table

SITES = np.repeat(["north", "south", "west"], [150, 100, 50])


def some(clusters=None, strata=None) -> Table:
    n_rows = len(clusters if strata is None else strata)
    return Table(np.zeros((1, n_rows), int), ("a",), (("x",),), clusters=clusters, strata=strata)


@pytest.mark.parametrize("share", [None, 0.3, 0.8])
def test_a_replicate_has_of_every_stratum_its_share(share):
    strata = np.random.default_rng(0).permutation(np.repeat(np.arange(4), [1, 2, 30, 67]))
    whole = np.bincount(strata)
    drawn = []
    for seed in range(300):
        rows = drawn_rows(np.random.default_rng(seed), 100, share, None, strata)
        assert (np.diff(rows) >= 0).all()
        assert len(rows) == (100 if share is None else 100 * share)
        assert share is None or len(set(rows.tolist())) == len(rows)
        drawn.append(np.bincount(strata[rows], minlength=4))
    if share is None:
        assert (np.array(drawn) == whole).all()
        return
    assert np.abs(np.array(drawn) - share * whole).max() < 1
    np.testing.assert_allclose(np.mean(drawn, axis=0), share * whole, atol=0.15)


def test_clusters_are_drawn_whole_within_strata():
    clusters, strata = np.repeat(np.arange(12), 5), np.repeat([0, 1], [20, 40])
    for share, number in ((None, None), (0.5, [2, 4])):
        rows = drawn_rows(np.random.default_rng(1), 60, share, clusters, strata)
        sizes = np.bincount(clusters[rows], minlength=12)
        assert not (sizes % 5).any()
        assert np.bincount(strata[rows]).tolist() == [5 * k for k in number or (4, 8)]


def test_one_stratum_is_no_stratum_and_its_number_does_not_matter():
    rows = drawn_rows(np.random.default_rng(2), 50, None, None, np.full(50, 7))
    assert rows.tolist() == np.sort(drawn_rows(np.random.default_rng(2), 50)).tolist()


def test_rows_are_distributed_anew_within_strata():
    strata = np.tile([0, 1, 2, 2], 10)
    moved = set()
    for seed in range(20):
        first, second = permuted_rows(np.random.default_rng(seed), 15, some(strata=strata))
        assert sorted([*first, *second]) == list(range(40))
        assert np.bincount(strata[first]).tolist() == np.bincount(strata[:15]).tolist()
        moved |= set(first.tolist())
    assert moved == set(range(40))
    clusters, strata = np.repeat(np.arange(8), 3), np.repeat([0, 1], 12)
    for seed in range(20):
        first, _ = permuted_rows(np.random.default_rng(seed), 9, some(clusters, strata))
        assert set(np.bincount(clusters[first], minlength=8).tolist()) == {0, 3}
        assert np.bincount(strata[first], minlength=2).tolist() == [9, 0]  # three of four clusters


def test_what_strata_differ_in_is_not_what_groups_differ_in():
    """The groups are alike at each site, which have other effects and other shares of the groups."""
    rng = np.random.default_rng(0)
    site = np.repeat([0, 1], 500)
    group = rng.random(1000) < np.where(site, 0.9, 0.1)
    a = rng.random(1000) < 0.5
    b = np.where(site == 1, a ^ (rng.random(1000) < 0.2), rng.random(1000) < 0.5)
    table = {"a": a, "b": b, "group": group}
    found, within = (
        compare(table, by="group", strata=strata, n_permutations=49, random_state=0)
        for strata in (None, site)
    )
    assert found.largest.p_value == 0.02
    assert within.largest.p_value > 0.1


@pytest.mark.parametrize("columns", [["sex", "diet", "size", "weight"], ["sex", "diet"]])
def test_a_table_and_what_is_drawn_from_it_know_their_strata(columns):
    x = mixed_table()
    x = x[[name for name in columns if name in x.columns]]
    found = Bootstrap(n_replicates=5, random_state=0).fit(x, strata=SITES)
    drawn = found.learner_.engine_.resampled(np.random.default_rng(8), 0.5).data
    assert np.bincount(drawn.strata).tolist() == [75, 50, 25]
    assert found.learner_.graph_ == EvidenceMAP().fit(x).graph_
    groups = np.arange(300) // 5
    both = Bootstrap(n_replicates=2, random_state=0).fit(x, groups=groups, strata=SITES).learner_.engine_
    assert len(both.data.strata) == both.data.n_rows


def test_frequencies_repeat_strata_and_dropped_rows_take_theirs_along():
    data = load({"a": [0, 1, 0, 1], "b": [0, 1, 1, 0]})
    found, _ = CountedRows(strata=np.array([0, 1, 1, 0])).of(data)
    assert found.variables([1, 0]).rows(np.array([3, 1])).strata.tolist() == [0, 1]
    x = mixed_table()
    x.loc[:9, "size"] = np.nan
    net = Bootstrap(EvidenceMAP(missing="drop"), n_replicates=1).fit(x, strata=SITES).learner_
    assert np.bincount(net.engine_.data.strata).tolist() == [140, 100, 50]


def test_scikit_learn_cross_validates_within_strata():
    scores = cross_val_score(EvidenceMAP(), mixed_table(), y=SITES, cv=StratifiedKFold(3))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("strata", "words"),
    [
        (["n", None] * 150, "missing in 150 of 300 rows: name the stratum of each row"),
        (["n", "s"], "one stratum: 300 rows"),
        (np.arange(300) % 2, "strata differ within 60 clusters"),
    ],
)
def test_bad_strata(strata, words):
    with pytest.raises(IbmapError, match=words):
        Bootstrap().fit(mixed_table(), groups=np.arange(300) // 5, strata=strata)
    with pytest.raises(IbmapError, match="an engine holds its rows already"):
        Bootstrap().fit(as_engine(load({"a": [0, 1], "b": [0, 1]})), strata=[0, 1])
    with pytest.raises(IbmapError, match="groups and strata belong to the rows of one table"):
        compare({"a": [0, 1], "b": [0, 1]}, {"a": [0, 1], "b": [0, 1]}, strata=[0, 1])
