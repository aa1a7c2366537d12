"""The compiled Gibbs step equals the slow one, bit by bit, and its probabilities are counted frequencies."""

import numpy as np
import pytest

from ibmap.eda.conditionals import SAMPLING, Conditionals
from ibmap.errors import RequestError
from tests.reference import gibbs


def world(seed, n, n_rows, levels, degree):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, levels + 1, size=n)
    rows = rng.integers(sizes, size=(n_rows, n))
    rows = rows[rng.integers(max(1, n_rows // 2), size=n_rows)]  # some configurations come often
    others = [np.delete(np.arange(n), i) for i in range(n)]
    neighbours = [rng.choice(some, min(degree, n - 1), replace=False) for some in others]
    return rows, sizes, neighbours


@pytest.mark.parametrize("sampling", SAMPLING)
def test_probabilities_are_what_counting_says(sampling):
    rows, sizes, neighbours = world(5, 7, 60, 3, 3)
    table = Conditionals(rows, sizes, neighbours)
    states = [*rows[:20], *np.random.default_rng(1).integers(sizes, size=(20, 7))]
    for state in states:
        for i, around in enumerate(neighbours):
            expected = gibbs.probabilities(rows, i, around, state, sizes[i], sampling, 2.5)
            np.testing.assert_allclose(table.probabilities(i, state, sampling, 2.5), expected, atol=1e-12)


def test_a_large_blanket_needs_no_more_room_than_the_rows():
    n = 100
    rows = np.random.default_rng(0).integers(2, size=(50, n))
    table = Conditionals(rows, np.full(n, 2), [np.delete(np.arange(n), i) for i in range(n)])
    assert table.tables.n_counts == n * 51 * 2
    state = rows[3]
    assert table.probabilities(7, state, "conditional")[state[7]] == 1.0
    unseen = 1 - state
    assert table.probabilities(7, unseen, "conditional").tolist() == [0.5, 0.5]
    around = [np.delete(np.arange(n), i).tolist() for i in range(n)]
    drawn = table.sample(2, 300, 9, "boltzmann-conditional", 1.0)
    assert drawn.tolist() == gibbs.sample(rows, [2] * n, around, 2, 300, 9, "boltzmann-conditional", 1.0)


@pytest.mark.parametrize("n_levels", [2, 3, 40])
def test_blankets_over_several_words_equal_the_slow_sampler(n_levels):
    rng = np.random.default_rng(n_levels)
    n = 150
    sizes = rng.integers(2, n_levels + 1, size=n)
    sizes[0] = n_levels
    seeds = rng.integers(sizes, size=(6, n))
    rows = seeds[rng.integers(6, size=40)]
    others = [np.delete(np.arange(n), i) for i in range(n)]
    degrees = rng.choice([0, 1, 3, 12, 60, n - 1], size=n)
    neighbours = [rng.choice(some, k, replace=False) for some, k in zip(others, degrees, strict=True)]
    table = Conditionals(rows, sizes, neighbours)
    assert {*table.tables.hashed.tolist()} == {False, True}
    around = [some.tolist() for some in neighbours]
    drawn = table.sample(2, 400, 5, "boltzmann-conditional", 4.0)
    assert drawn.tolist() == gibbs.sample(rows, sizes, around, 2, 400, 5, "boltzmann-conditional", 4.0)
    for i in range(n):  # chains seldom meet a row; here one does, and one that differs from it in a neighbour
        state = rows[i % 40].copy()
        for _ in range(2):
            expected = gibbs.probabilities(rows, i, around[i], state, sizes[i], "boltzmann-conditional", 4.0)
            found = table.probabilities(i, state, "boltzmann-conditional", 4.0)
            np.testing.assert_allclose(found, expected, atol=1e-12)
            for j in around[i][:1]:
                state[j] = (state[j] + 1) % sizes[j]


def test_one_variable_with_many_levels_does_not_widen_the_tables_of_the_others():
    sizes = np.array([2, 5000, 2])
    rows = np.array([[0, 4999, 1], [1, 17, 1]])
    table = Conditionals(rows, sizes, [np.array([1]), np.array([0]), np.array([0, 1])])
    assert table.tables.n_counts == 3 * 2 + 3 * 5000 + 3 * 2
    assert table.probabilities(0, rows[0], "conditional").tolist() == [1.0, 0.0]
    drawn = table.sample(20, 50, 1, "boltzmann-joint", 2.0)
    assert (drawn < sizes).all()
    assert drawn[:, 1].max() > 2000


def test_a_very_cold_generation_does_not_overflow():
    rows = np.zeros((4, 2), np.int64)
    table = Conditionals(rows, np.array([2, 2]), [np.array([1]), np.array([0])])
    assert table.probabilities(0, rows[0], "boltzmann-joint", 1e5).tolist() == [1.0, 0.0]
    rows[1:, 0] = 1, 1, 1
    uneven = Conditionals(rows[:3], np.array([2, 2]), [np.array([1]), np.array([0])])
    for inverse in (1e5, 7e20, 1e300):
        assert uneven.probabilities(0, rows[0], "boltzmann-joint", inverse).tolist() == [0.0, 1.0]


def test_long_chains_have_the_frequencies_of_the_rows():
    rng = np.random.default_rng(0)
    rows = np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [40, 30, 20, 10], axis=0)
    table = Conditionals(rows, np.array([2, 2]), [np.array([1]), np.array([0])])
    drawn = table.sample(40_000, 60, int(rng.integers(2**63)), "conditional")
    shares = np.bincount(2 * drawn[:, 0] + drawn[:, 1], minlength=4) / len(drawn)
    np.testing.assert_allclose(shares, [0.4, 0.2, 0.1, 0.3], atol=0.01)


def test_unknown_sampling_is_refused():
    with pytest.raises(RequestError, match="'gibbs'; there are boltzmann-joint"):
        Conditionals(np.zeros((2, 1), np.int64), np.array([2]), [np.empty(0, np.int64)]).sample(
            1, 1, 0, "gibbs"
        )
