"""Steps of the sum-product program: as the slow twin, and never outside of the workspace."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap._core import SumProduct
from tests.reference.sum_product import run_step

Table = tuple[int, list[int]]


def row_major(sizes: np.ndarray) -> np.ndarray:
    return np.cumprod([1, *sizes[:0:-1]])[::-1]


def random_steps(rng: np.random.Generator, work_size: int) -> list[tuple[list[int], list[Table], Table]]:
    """Return steps over up to four dimensions, with up to three operands, anywhere in the workspace."""
    steps = []
    for _ in range(rng.integers(1, 4)):
        sizes = rng.integers(1, 4, rng.integers(1, 5))
        tables = []
        for _ in range(rng.integers(1, 5)):
            kept = rng.random(len(sizes)) < 0.6
            shape = np.where(kept, sizes, 1)
            tables.append(
                (int(rng.integers(work_size - shape.prod() + 1)), (row_major(shape) * kept).tolist())
            )
        steps.append((sizes.tolist(), tables[:-1], tables[-1]))
    return steps


def program(steps: list[tuple[list[int], list[Table], Table]], work_size: int) -> SumProduct:
    every = [[*operands, target] for _, operands, target in steps]
    parts: list[Any] = [
        np.cumsum([0, *(len(sizes) for sizes, _, _ in steps)]),
        [size for sizes, _, _ in steps for size in sizes],
        np.cumsum([0, *map(len, every)]),
        [place for tables in every for place, _ in tables],
        [stride for tables in every for _, strides in tables for stride in strides],
    ]
    return SumProduct(*(np.array(part, np.int64) for part in parts), work_size=work_size)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_steps_are_those_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    work = rng.normal(size=150)
    work[rng.random(150) < 0.2] = -np.inf
    slow, fast, steps = work.copy(), work.copy(), random_steps(rng, 150)
    for sizes, operands, target in steps:
        run_step(sizes, operands, target, slow)
    program(steps, 150).run(fast, 0, len(steps))
    assert fast == pytest.approx(slow, rel=1e-12, abs=1e-12)


def test_large_logarithms_do_not_overflow_and_small_ones_are_not_lost() -> None:
    work = np.array([1000.0, 999.0, -2000.0, -2001.0, 0.0, 0.0])
    over_all = program([([2], [(0, [1])], (4, [0])), ([2], [(2, [1])], (5, [0]))], 6)
    over_all.run(work, 0, 1)
    assert work[5] == 0.0
    over_all.run(work, 1, 2)
    assert work[4:] == pytest.approx(np.log1p(np.exp(-1)) + np.array([1000.0, -2000.0]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shape": [0, 3]}, "shape must rise"),
        ({"places": [0, 1, 2]}, "the same steps"),
        ({"place": [0, 60]}, "outside of the workspace"),
        ({"place": [-1, 4]}, "outside of the workspace"),
        ({"stride": [2, 1, 1]}, "per dimension"),
        ({"stride": [5, 1, 0, 1]}, "outside of the workspace"),
        ({"stride": [-1, 1, 0, 1]}, "a stride is out of range"),
        ({"stride": [2, 1, 0, 2], "work_size": 8}, "a target has gaps"),
        ({"size": [2, 0]}, "no cells"),
        ({"size": [2**40, 2**40]}, "too many"),
        ({"work_size": -1}, "work_size"),
    ],
)
def test_programs_that_leave_the_workspace_are_refused(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"shape": [0, 2], "size": [2, 2], "places": [0, 2], "place": [0, 4]}
    good |= {"stride": [2, 1, 0, 1], "work_size": 6}
    made = {name: part if name == "work_size" else np.array(part) for name, part in (good | change).items()}
    with pytest.raises(ValueError, match=words):
        SumProduct(**made)


def test_steps_and_workspaces_that_are_not_there_are_refused() -> None:
    one = program([([2], [(0, [1])], (2, [0]))], 3)
    for work, first, last in ((np.zeros(3), 0, 2), (np.zeros(3), 1, 0), (np.zeros(2), 0, 1)):
        with pytest.raises(ValueError, match=r"no such steps|too small"):
            one.run(work, first, last)
    with pytest.raises(TypeError):
        one.run(np.zeros(3, np.float32), 0, 1)
