"""The pseudo-likelihood of pairwise models: value, gradient, maximum and covariances, as its slow twin's."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap._core import PseudoLikelihood
from tests.reference import pseudo_likelihood as slow

OF_FIELD, OF_TABLE = 0.01, 1.0
seeds = st.integers(0, 2**32 - 1)


class Counted(NamedTuple):
    """A random graph, and counts in some slices of every variable."""

    levels: list[int]
    pairs: list[tuple[int, int]]
    blankets: list[slow.Slices]

    @property
    def starts(self) -> np.ndarray:
        """Where every field and every table begins, and the end."""
        return np.cumsum([0, *self.levels, *(self.levels[i] * self.levels[j] for i, j in self.pairs)])

    def parts(self, theta: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        flat = [theta[a:b] for a, b in pairwise(self.starts)]
        n, shapes = len(self.levels), [(self.levels[i], self.levels[j]) for i, j in self.pairs]
        return flat[:n], [one.reshape(shape) for one, shape in zip(flat[n:], shapes, strict=True)]

    def arguments(self) -> dict[str, Any]:
        slices = [one for blanket in self.blankets for one in blanket]
        return {
            "levels": np.array(self.levels, np.int64),
            "pairs": np.array(self.pairs, np.int64).reshape(-1, 2),
            "slice_start": np.cumsum([0, *map(len, self.blankets)]),
            "keys": np.array([level for key, _ in slices for level in key], np.int64),
            "counts": np.array([count for _, counts in slices for count in counts], np.int64),
            "field_precision": OF_FIELD,
            "table_precision": OF_TABLE,
        }


def counted(seed: int, most_levels: int = 4, n: int = 5, rows: int = 60) -> Counted:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, n + 1))
    levels = rng.integers(1, most_levels + 1, n).tolist()
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.6]
    codes = np.stack([rng.integers(r, size=rows) for r in levels])
    codes = codes[:, : rng.integers(rows + 1)]
    for i, j in pairs:  # some dependence
        same = rng.random(codes.shape[1]) < 0.5
        codes[j, same] = codes[i, same] % levels[j]
    blankets: list[slow.Slices] = []
    for v in range(n):
        found: dict[tuple[int, ...], list[int]] = {}
        for row in codes.T.tolist():
            key = tuple(row[y] for y in slow.neighbours(pairs, v))
            found.setdefault(key, [0] * levels[v])[row[v]] += 1
        blankets.append([(list(key), counts) for key, counts in found.items()])
    return Counted(levels, pairs, blankets)


@settings(deadline=None, max_examples=100)
@given(seeds, st.sampled_from([4, 12]))
def test_the_value_is_that_of_the_slow_twin(seed: int, most_levels: int) -> None:
    table = counted(seed, most_levels)
    theta = np.random.default_rng(seed).normal(size=table.starts[-1])
    found, gradient = PseudoLikelihood(**table.arguments()).value(theta)
    expected = slow.value(table.pairs, table.blankets, *table.parts(theta), OF_FIELD, OF_TABLE)
    assert found == pytest.approx(expected, rel=1e-12)
    assert len(gradient) == len(theta)


@settings(deadline=None, max_examples=40)
@given(seeds, st.sampled_from([4, 12]))
def test_the_gradient_is_that_of_finite_differences(seed: int, most_levels: int) -> None:
    table = counted(seed, most_levels, n=4, rows=30)
    theta, goal = (
        np.random.default_rng(seed).normal(size=table.starts[-1]),
        PseudoLikelihood(**table.arguments()),
    )
    gradient, step = goal.value(theta)[1], 1e-5
    for k in range(len(theta)):
        move = step * (np.arange(len(theta)) == k)
        slope = (goal.value(theta + move)[0] - goal.value(theta - move)[0]) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-5)


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_the_maximum_is_that_of_newtons_method_and_is_centred(seed: int) -> None:
    table = counted(seed)
    theta, _, slope = PseudoLikelihood(**table.arguments()).maximum(1e-9, 10_000)
    fields, factors = slow.maximum(table.levels, table.pairs, table.blankets, OF_FIELD, OF_TABLE)
    assert theta == pytest.approx(np.concatenate([*fields, *map(np.ravel, factors)]), abs=2e-6)
    assert slope < 1e-6
    for field, factor in zip(*table.parts(theta), strict=False):
        assert np.abs([field.sum(), *factor.sum(axis=0), *factor.sum(axis=1)]).max() < 1e-12


@settings(deadline=None, max_examples=60)
@given(seeds, st.sampled_from([3, 9]))
def test_covariances_are_those_of_the_slow_twin(seed: int, most_levels: int) -> None:
    table = counted(seed, most_levels, n=4)
    theta = 0.3 * np.random.default_rng(seed).normal(size=table.starts[-1])
    start, found = PseudoLikelihood(**table.arguments()).covariances(theta, 10_000)
    expected = []
    for v, slices in enumerate(table.blankets):
        prior = (OF_FIELD, OF_TABLE)
        expected += slow.covariance(table.levels, table.pairs, slices, v, *table.parts(theta), *prior)
    assert np.diff(start).tolist() == [one.size for one in expected]
    assert found == pytest.approx(
        np.concatenate([np.empty(0), *map(np.ravel, expected)]), rel=1e-9, abs=1e-12
    )


def test_many_slices_are_taken_in_parts() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(12, 6000))
    pairs = [(0, j) for j in range(1, 12)]
    keys, counts = np.unique(codes[1:], axis=1), np.zeros((2048, 2), np.int64)
    place = codes[1:].T @ 2 ** np.arange(10, -1, -1)
    np.add.at(counts, (np.searchsorted(keys.T @ 2 ** np.arange(10, -1, -1), place), codes[0]), 1)
    slices = list(zip(keys.T.tolist(), counts[: keys.shape[1]].tolist(), strict=True))
    leaves: list[slow.Slices] = [
        [([a], np.bincount(codes[j, codes[0] == a], minlength=2).tolist()) for a in (0, 1)]
        for j in range(1, 12)
    ]
    table = Counted([2] * 12, pairs, [slices, *leaves])
    goal, theta = PseudoLikelihood(**table.arguments()), 0.3 * rng.normal(size=table.starts[-1])
    expected = slow.value(pairs, table.blankets, *table.parts(theta), OF_FIELD, OF_TABLE)
    assert goal.value(theta)[0] == pytest.approx(expected, rel=1e-12)
    start, found = goal.covariances(theta, 400)
    of_hub = slow.covariance(table.levels, pairs, slices, 0, *table.parts(theta), OF_FIELD, OF_TABLE)
    assert found[: start[11]] == pytest.approx(np.ravel(of_hub), rel=1e-9)


def test_variables_with_more_effects_than_asked_for_have_no_covariances() -> None:
    table = Counted([3, 2], [(0, 1)], [[([0], [1, 2, 0]), ([1], [3, 0, 1])], [([0], [4, 1])]])
    start, found = PseudoLikelihood(**table.arguments()).covariances(np.zeros(11), 3)
    assert start.tolist() == [0, 0, 4]  # 2 contrasts × 2 columns of the design; 1 × 3
    assert len(found) == 4


def test_tables_without_variables_edges_or_rows() -> None:
    for table in (Counted([], [], []), Counted([1], [], [[([], [3])]]), Counted([2, 2], [(0, 1)], [[], []])):
        goal = PseudoLikelihood(**table.arguments())
        theta, n_steps, slope = goal.maximum(1e-6, 100)
        assert theta == pytest.approx(np.zeros(table.starts[-1]))
        assert (n_steps, slope) == (0, 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"levels": [2, 0]}, "levels"),
        ({"pairs": [[1, 0]]}, "i < j"),
        ({"pairs": [[0, 2]]}, "i < j"),
        ({"pairs": [[-1, 1]]}, "i < j"),
        ({"pairs": [[0, 1], [0, 1]]}, "do not fit"),
        ({"pairs": [[0, 1, 1]]}, "two columns"),
        ({"slice_start": [0, 2]}, "slice_start"),
        ({"slice_start": [0, 3, 2]}, "slice_start"),
        ({"slice_start": [0, 2, 2**60]}, "too many slices"),
        ({"keys": [0, 1]}, "do not fit"),
        ({"keys": [0, 2, 0]}, "no level"),
        ({"keys": [0, -1, 0]}, "no level"),
        ({"counts": [1, 2, 3, -1, 4, 1]}, "negative"),
        ({"levels": [2**31, 2]}, "levels"),
        ({"table_precision": 0.0}, "positive"),
        ({"field_precision": float("nan")}, "positive"),
    ],
)
def test_counts_that_make_no_sense_are_refused(change: dict[str, Any], words: str) -> None:
    good = Counted([2, 2], [(0, 1)], [[([0], [1, 2]), ([1], [3, 0])], [([0], [4, 1])]]).arguments()
    made = good | {name: np.array(part) if isinstance(part, list) else part for name, part in change.items()}
    with pytest.raises(ValueError, match=words):
        PseudoLikelihood(**made)


def test_parameters_of_another_model_are_refused() -> None:
    goal = PseudoLikelihood(**Counted([2], [], [[([], [1, 2])]]).arguments())
    for ask in (lambda: goal.value(np.zeros(3)), lambda: goal.covariances(np.zeros(1), 9)):
        with pytest.raises(ValueError, match="theta"):
            ask()
