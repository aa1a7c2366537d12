"""What makes people doubt a network, at the numbers from which on it is said."""

import numpy as np
import pytest

from ibmap import BayesianTest
from ibmap.data import Schema
from ibmap.results.warnings import (
    certain_but_absent,
    certain_of,
    few_rows_per_level,
    given_up,
    hardly_tested,
    more_cells_than_rows,
    stalled,
    untested,
)

NAMES = ("a", "b", "c", "d")


def sigma(**absent: tuple[float, float]) -> np.ndarray:
    """σ of four variables: log posterior of no edge as both ends see it, 0.5 unless it is given."""
    out = np.log(np.full((4, 4), 0.5))
    for pair, ends in absent.items():
        i, j = map(NAMES.index, pair)
        out[i, j], out[j, i] = np.log(ends)
    return out


def table(levels: list[int], n_rows: int) -> Schema:
    return Schema(NAMES[: len(levels)], tuple(tuple(range(r)) for r in levels), n_rows)


def test_certain_pairs_are_those_of_which_both_ends_say_more_than_99_percent() -> None:
    scores = sigma(ab=(0.009, 0.009), ac=(0.009, 0.011), bc=(0.011, 0.011), cd=(0.001, 0.0099))
    none = np.empty((0, 2), np.int64)
    assert certain_but_absent(none, scores).tolist() == [[0, 1], [2, 3]]
    assert certain_but_absent(np.array([[0, 1]]), scores).tolist() == [[2, 3]]
    assert certain_but_absent(np.array([[0, 2], [2, 3]]), scores).tolist() == [[0, 1]]
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    both_ways = np.column_stack([scores[pairs[:, 0], pairs[:, 1]], scores[pairs[:, 1], pairs[:, 0]]])
    assert certain_of(pairs, both_ways).tolist() == [[0, 1], [2, 3]]


def test_pairs_are_looked_at_in_bands_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores, edges = np.log(rng.random((30, 30)) ** 4), np.array([[0, 1], [3, 7], [28, 29]])
    expected = certain_but_absent(edges, scores).tolist()
    low = scores < np.log(0.01)
    told = {tuple(edge) for edge in edges.tolist()}
    assert expected == [
        list(p) for p in np.argwhere(np.triu(low & low.T, 1)).tolist() if tuple(p) not in told
    ]
    for band in (1, 31, 100):
        monkeypatch.setattr("ibmap.results.warnings.PAIRS_AT_ONCE", band)
        assert certain_but_absent(edges, scores).tolist() == expected


@pytest.mark.parametrize(("n_pairs", "n_edges", "said"), [(2, 0, 0), (3, 60, 1), (3, 61, 0), (4, 61, 1)])
def test_three_certain_pairs_and_five_in_a_hundred_edges_are_worth_a_word(
    n_pairs: int, n_edges: int, said: int
) -> None:
    found = given_up(NAMES, n_edges, np.array([[0, 1], [0, 2], [1, 3], [2, 3]])[:n_pairs], patience=2)
    assert len(found) == said
    assert all(f"{n_pairs} pairs without an edge look certain, such as a - b" in words for words in found)
    tested = hardly_tested((("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))[:n_pairs], n_edges)
    assert len(tested) == said
    assert all(
        f"{n_pairs} of {n_edges} edges could not be tested, such as a - b" in words for words in tested
    )


@pytest.mark.parametrize(("patience", "advice"), [(1, 5), (2, 5), (3, 6), (10, 20)])
def test_the_advice_is_more_patience(patience: int, advice: int) -> None:
    certain = dict.fromkeys(("ab", "ac", "bd"), (0.001, 0.001))
    (words,) = stalled(NAMES, np.empty((0, 2), np.int64), sigma(**certain), patience)
    assert f"search on with patience={advice}," in words


@pytest.mark.parametrize("prior", [0.5, 0.2, 0.9])
@pytest.mark.parametrize(
    ("factor", "says_nothing"), [(2.9, True), (1 / 2.9, True), (3.1, False), (1 / 3.1, False)]
)
def test_a_test_says_next_to_nothing_up_to_a_bayes_factor_of_three(
    prior: float, factor: float, says_nothing: bool
) -> None:
    odds = factor * (1 - prior) / prior
    edge, sure = np.log(odds / (1 + odds)), np.log(0.9999)
    assert untested(np.array([[edge, edge], [edge, sure]]), prior).tolist() == [says_nothing, False]
    assert untested(np.array([[edge, edge]]), np.array([prior])).tolist() == [says_nothing]


def test_edges_of_more_cells_than_rows_are_named_where_prior_counts_are_ones() -> None:
    edges, ones = np.array([[0, 1], [1, 2]]), BayesianTest()
    (words,) = more_cells_than_rows(table([3, 4, 5], 19), edges, ones)
    assert words.startswith(
        "1 edge joins columns with more cells than rows, as b - c (4 by 5 levels, 19 rows)"
    )
    (words,) = more_cells_than_rows(table([3, 4, 5], 11), edges, ones)
    assert words.startswith(
        "2 edges join columns with more cells than rows, as a - b (3 by 4 levels, 11 rows)"
    )
    assert more_cells_than_rows(table([3, 4, 5], 20), edges, ones) == ()
    assert more_cells_than_rows(table([2, 400, 2], 100), edges, ones) == (), "two levels need few rows"
    assert more_cells_than_rows(table([3, 4, 5], 19), edges[:0], ones) == ()
    assert more_cells_than_rows(table([3, 4, 5], 19), edges, BayesianTest(prior_counts="bdeu")) == ()


def test_columns_of_ten_levels_with_fewer_than_twenty_rows_each_are_named() -> None:
    for levels, n_rows, is_said in ((10, 199, 1), (10, 200, 0), (9, 100, 0), (10, 50, 1), (10, 49, 0)):
        found = few_rows_per_level(table([levels, 2], n_rows))
        assert len(found) == is_said, (levels, n_rows)
        assert all(
            f"a has 10 levels in {n_rows} rows, {round(n_rows / 10)} each:" in words for words in found
        )
    (words,) = few_rows_per_level(table([10, 12, 2, 11], 150))
    assert words.startswith("b has 12 levels in 150 rows, 12 each (2 columns more like this): ")
    assert few_rows_per_level(table([101, 2], 1000)) == (), "so many levels have no edges at all"
    (words,) = few_rows_per_level(table([100, 2], 1000))
    assert few_rows_per_level(table([10, 2], 0)) == ()
