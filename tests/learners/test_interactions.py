"""Interactions of three variables: found where they are, none in noise, refused where it would take days."""

import numpy as np
import pytest

from ibmap import IbmapError, find_interactions
from ibmap.data import Table, load
from tests.engines.partitioned import HiddenEngine


def table(columns: np.ndarray, levels: int = 2) -> Table:
    names = tuple(f"v{i}" for i in range(len(columns)))
    return Table(columns, names, (tuple(range(levels)),) * len(names))


def three_way(n: int, n_rows: int, noise: float, seed: int, levels: int = 2) -> np.ndarray:
    """Coins, of which the third is nearly the sum of the first two."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, n_rows))
    flips = rng.integers(0, levels, n_rows) * (rng.random(n_rows) < noise)
    codes[2] = (codes[0] + codes[1] + flips) % levels
    return codes


@pytest.mark.parametrize(("levels", "n_rows"), [(2, 800), (3, 800), (4, 2000)])
def test_an_exclusive_or_is_found_and_nothing_else(levels: int, n_rows: int) -> None:
    for seed in range(5):
        codes = three_way(40, n_rows, 0.5, seed, levels)
        found = find_interactions(table(codes, levels))
        assert [one.variables for one in found] == [("v0", "v1", "v2")]
        assert found[0].posterior > 0.9
        shuffled = np.random.default_rng(seed).permuted(codes, axis=1)
        assert find_interactions(table(shuffled, levels)) == []


def test_missing_values_may_stay_and_every_engine_says_the_same() -> None:
    codes = three_way(12, 600, 0.2, 0)
    codes[np.random.default_rng(1).random(codes.shape) < 0.1] = -1
    data = table(codes)
    here = find_interactions(data, least_posterior=1e-9)
    assert here[0].variables == ("v0", "v1", "v2")
    for there in (
        find_interactions(HiddenEngine(data), least_posterior=1e-9),
        find_interactions(data, least_posterior=1e-9, engine="threads=2", n_jobs=2),
    ):
        assert [one.variables for one in there] == [one.variables for one in here]
        numbers = [one.log_evidence for one in here]
        assert [one.log_evidence for one in there] == pytest.approx(numbers, rel=1e-9)


def test_columns_and_rows_may_come_in_any_order() -> None:
    codes = three_way(10, 300, 0.1, 2)
    order = np.random.default_rng(0).permutation(10)
    data, turned = table(codes), table(codes[order][:, ::-1])
    expected = {one.variables: one.log_evidence for one in find_interactions(data, least_posterior=1e-12)}
    for one in find_interactions(turned, least_posterior=1e-12):
        names = tuple(sorted(f"v{order[int(name[1:])]}" for name in one.variables))
        assert one.log_evidence == pytest.approx(expected.pop(names), abs=1e-9)
    assert not expected


def test_only_the_most_evident_are_listed() -> None:
    data = table(three_way(20, 100, 0.1, 0))
    every = find_interactions(data, least_posterior=1e-6)
    assert len(every) > 3
    assert find_interactions(data, least_posterior=1e-6, most=3) == every[:3]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_and_constant_tables_have_none(n: int) -> None:
    assert find_interactions(table(np.zeros((n, 3), int), 1)) == []
    assert find_interactions(table(np.ones((n, 1), int))) == []


def test_what_makes_no_sense_is_refused() -> None:
    data = load({"a": [0, 1] * 10, "b": [0, 1, 1, 0] * 5})
    with pytest.raises(IbmapError, match="least_posterior"):
        find_interactions(data, least_posterior=0)
    with pytest.raises(IbmapError, match="most"):
        find_interactions(data, most=0)
    with pytest.raises(IbmapError, match="numbers"):
        find_interactions(load({"a": [0.5, 1.5, 2.25], "b": [1.5, 0.25, 4.5]}, continuous="all"))


def test_too_many_columns_are_refused_with_an_estimate() -> None:
    data = table(np.random.default_rng(0).integers(0, 2, (100_000, 4)))
    with pytest.raises(IbmapError, match=r"100,000 columns have 1.7e\+14 triples.* days .*fewer columns"):
        find_interactions(data)
