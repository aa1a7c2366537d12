"""Column order, row order, names of levels, threads and the hash seed change nothing (exact ties aside)."""

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibmap import IBMAP, BayesianTest
from ibmap.learners import ibmap_hc
from tests.engines.partitioned import data_of
from tests.reference import search as twin
from tests.reference.score import bayesian_test, pair_scores_by
from tests.reference.tables import random_table

Codes = NDArray[np.int64]


@st.composite
def noisy_networks(draw: st.DrawFn) -> tuple[Codes, list[int]]:
    """Tables from random trees with noise and mixed arity: enough rows that ties are rare."""
    n, n_rows = draw(st.integers(3, 7)), draw(st.integers(60, 400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cards = rng.integers(2, 5, size=n)
    codes = rng.integers(cards[:, None], size=(n, n_rows))
    for v in range(1, n):
        parent = codes[rng.integers(v)]
        copied = rng.random(n_rows) < rng.uniform(0.2, 0.9)
        codes[v] = np.where(copied, parent % cards[v], codes[v])
    codes[:, : cards.max()] = np.minimum(np.arange(cards.max()), cards[:, None] - 1)  # all levels occur
    return codes, cards.tolist()


def has_ties(codes: Codes, cards: list[int]) -> bool:
    """Whether some step of the slow search had to choose between pairs, or gained next to nothing."""
    result = twin.ibmap_hc(codes, cards)
    test, graph = bayesian_test(codes, cards), np.zeros((len(cards), len(cards)), bool)
    for ascent in [*result.history, None]:
        scores = pair_scores_by(test, graph)
        values = sorted(float(scores[x, y] + scores[y, x]) for x, y in combinations(range(len(cards)), 2))
        if values[1] - values[0] < 1e-6 * max(1, abs(values[0])):
            return True
        if ascent is not None:
            graph = twin.flipped(graph, ascent.pair)
    return bool((np.diff([a.score for a in result.history]) < 1e-6).any())


@settings(max_examples=30)
@given(table=noisy_networks(), seed=st.integers(0, 999))
def test_permuting_columns_permutes_the_graph(table: tuple[Codes, list[int]], seed: int) -> None:
    codes, cards = table
    assume(not has_ties(codes, cards))
    order = np.random.default_rng(seed).permutation(len(cards))
    here = ibmap_hc(data_of(codes, cards))
    there = ibmap_hc(data_of(codes[order], [cards[v] for v in order]))
    assert np.array_equal(there.graph.adjacency, here.graph.adjacency[np.ix_(order, order)])
    assert there.pair_scores == pytest.approx(here.pair_scores[np.ix_(order, order)], rel=1e-9)
    assert there.score == pytest.approx(here.score, rel=1e-9)


def test_columns_by_name_may_come_in_any_order() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(3, size=(6, 500))
    codes[1:] = np.where(rng.random((5, 500)) < 0.5, codes[1:], codes[:5])
    assert not has_ties(codes, [3] * 6)
    columns = {f"name {v}": codes[v] for v in range(6)}
    here = IBMAP().fit(columns)
    there = IBMAP().fit(dict(reversed(columns.items())))
    assert here.graph_ == there.graph_
    assert here.graph_.n_edges > 0


@settings(max_examples=20)
@given(table=noisy_networks(), seed=st.integers(0, 999), patience=st.integers(0, 2))
def test_the_order_of_rows_changes_no_bit(table: tuple[Codes, list[int]], seed: int, patience: int) -> None:
    codes, cards = table
    order = np.random.default_rng(seed).permutation(codes.shape[1])
    here = ibmap_hc(data_of(codes, cards), patience=patience)
    there = ibmap_hc(data_of(codes[:, order], cards), patience=patience)
    assert here.history == there.history
    assert np.array_equal(here.pair_scores, there.pair_scores)


@settings(max_examples=20)
@given(table=noisy_networks(), seed=st.integers(0, 999))
def test_relabelling_the_levels_changes_nothing(table: tuple[Codes, list[int]], seed: int) -> None:
    codes, cards = table
    assume(not has_ties(codes, cards))
    rng = np.random.default_rng(seed)
    renamed = np.array([rng.permutation(n)[column] for column, n in zip(codes, cards, strict=True)])
    here, there = ibmap_hc(data_of(codes, cards)), ibmap_hc(data_of(renamed, cards))
    assert here.graph == there.graph
    assert here.score == pytest.approx(there.score, rel=1e-9)
    words = np.array(["zoo", "ant", "elk", "fly", "bee"], dtype=object)[renamed.T]
    assert np.array_equal(IBMAP().fit(words).adjacency_, here.graph.adjacency)


@pytest.mark.parametrize("levels", [2, 4])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_no_bit(n_jobs: int, levels: int) -> None:
    codes, cards = random_table(300, 80, levels, 0.0, seed=levels)
    one, many = (
        ibmap_hc(data_of(codes, cards), patience=1),
        ibmap_hc(data_of(codes, cards), patience=1, n_jobs=n_jobs),
    )
    assert one.history == many.history
    assert one.graph == many.graph
    assert one.n_tests == many.n_tests
    assert np.array_equal(one.pair_scores, many.pair_scores)


def test_threads_change_nothing_with_a_test_that_is_not_compiled() -> None:
    codes, cards = random_table(100, 6, 3, 0.0, seed=3)
    twin_test = bayesian_test(codes, cards)
    results = [
        ibmap_hc(
            data_of(codes, cards),
            lambda x, y, z: twin_test(x, y, z).log_independent,
            n_jobs=n_jobs,
            patience=1,
        )
        for n_jobs in (1, 3)
    ]
    assert results[0].history == results[1].history


SCRIPT = """
import numpy as np
from ibmap import IBMAP
rng = np.random.default_rng(5)
base = rng.integers(3, size=300)
words = np.array(["red", "green", "blue"], dtype=object)
table = {name: words[np.where(rng.random(300) < 0.4, rng.integers(3, size=300), base)] for name in "qwertz"}
table["copy"] = table["w"]
net = IBMAP(patience=2, required={("q", "z"), ("w", "e")}, forbidden={("r", "t"), ("t", "z")}).fit(table)
print(net.graph_.to_json(), net.score_.hex(), net.history_.rows(), net.edges_.rows())
"""


def test_the_hash_seed_changes_nothing() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "42")
    ]
    one, other = (run.communicate()[0] for run in runs)
    assert "copy" in one
    assert one == other


def test_fitting_twice_changes_nothing() -> None:
    codes, cards = random_table(300, 8, 3, 0.0, seed=1)
    test = BayesianTest()
    net = IBMAP(test)
    first = net.fit(data_of(codes, cards)).learned_
    second = net.fit(data_of(codes, cards)).learned_
    assert first.history == second.history
    assert first.graph == second.graph
