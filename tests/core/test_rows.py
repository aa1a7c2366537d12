"""Rows of the core: from bits and from cells the same, whatever is listed; bad arrays are refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import Table
from ibmap.engines import MemoryEngine
from ibmap.engines.model import Model
from ibmap.engines.rows import as_lists
from tests.engines.partitioned import HiddenEngine

FAMILIES = ["pairwise", "saturated", "adaptive"]


def table(seed: int, n: int, n_rows: int, most: int, missing: float = 0.0) -> Table:
    """Noisy copies of each other, some levels in order, some of one level only."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, most + 1, n)
    codes = np.empty((n, n_rows), np.int64)
    for v in range(n):
        own = rng.integers(levels[v], size=n_rows)
        copied = codes[rng.integers(v)] % levels[v] if v else own
        codes[v] = np.where(rng.random(n_rows) < 0.5, own, copied)
    codes[rng.random(codes.shape) < missing] = -1
    names = tuple(f"x{v}" for v in range(n))
    ordinal = tuple(name for name in names if rng.random() < 0.3)
    return Table(codes.astype(np.int8), names, tuple(tuple(range(r)) for r in levels), ordinal=ordinal)


def blankets(rng: np.random.Generator, n: int, most: int) -> list[np.ndarray]:
    sizes = rng.integers(0, min(most, n - 1) + 1, n)
    others = [np.delete(np.arange(n), x) for x in range(n)]
    return [np.sort(rng.choice(some, size, replace=False)) for some, size in zip(others, sizes, strict=True)]


def same(one: Any, other: Any, tolerance: float = 1e-9) -> None:
    assert np.array_equal(one.start, other.start)
    assert np.array_equal(one.y, other.y)
    np.testing.assert_allclose(one.t, other.t, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(one.rest, other.rest, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(one.value, other.value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 24),
    n_rows=st.sampled_from([1, 2, 63, 64, 65, 300, 2000]),
    most=st.sampled_from([2, 3, 5, 12, 40]),
    missing=st.sampled_from([0.0, 0.1]),
)
def test_bits_and_cells_make_the_same_rows(
    family: str, seed: int, n: int, n_rows: int, most: int, missing: float
) -> None:
    """Blankets up to ten members, many levels, values that are missing, constants, one row."""
    data, rng = table(seed, n, n_rows, most, missing), np.random.default_rng(seed)
    given_, model = blankets(rng, n, 10 if most < 12 else 4), Model(family, log_odds=np.full((1, 1), -1.5))
    for how in ({}, {"exact": True}, {"floor": np.inf}):
        same(
            *(
                engine.rows(model, range(n), given_, **how)
                for engine in (MemoryEngine(data), HiddenEngine(data))
            )
        )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30), floor=st.floats(-8, 3))
def test_what_is_listed_is_a_part_of_whole_rows(seed: int, n: int, floor: float) -> None:
    data, rng = table(seed, n, 150, 3), np.random.default_rng(seed)
    given_, also, engine, model = (
        blankets(rng, n, 3),
        blankets(rng, n, 2),
        MemoryEngine(data),
        Model("adaptive"),
    )
    whole, found = (
        engine.rows(model, range(n), given_),
        engine.rows(model, range(n), given_, floor=floor, also=also),
    )
    for x, row in enumerate(whole.matrix(n)):
        mine = slice(found.start[x], found.start[x + 1])
        listed = {y for y in range(n) if y != x and (row[y] > floor or y in given_[x] or y in also[x])}
        assert set(found.y[mine].tolist()) == listed
        assert np.array_equal(found.t[mine], row[found.y[mine]])
        rest = [y for y in range(n) if y != x and y not in listed]
        assert found.rest[x] == pytest.approx(np.exp(np.minimum(row[rest], 0.0)).sum())
    assert np.array_equal(found.value, whole.value)


def test_threads_and_batches_change_nothing() -> None:
    data = table(1, 40, 700, 4)
    given_ = blankets(np.random.default_rng(2), 40, 4)
    one = MemoryEngine(data).rows(Model("adaptive"), range(40), given_)
    many = MemoryEngine(data).rows(Model("adaptive", n_threads=4), range(40), given_)
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))
    engine = MemoryEngine(data)
    for x in range(40):
        row = engine.rows(Model("adaptive"), [x], [given_[x]])
        assert np.array_equal(row.t, one.t[one.start[x] : one.start[x + 1]])


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 10),
    n_rows=st.sampled_from([1, 65, 2000]),
    most=st.sampled_from([2, 5, 12]),
    missing=st.sampled_from([0.0, 0.02]),
)
def test_margins_of_a_blanket_are_what_counting_without_each_member_gives(
    family: str, seed: int, size: int, n_rows: int, most: int, missing: float
) -> None:
    data = table(seed, 14, n_rows, most, missing)
    rng = np.random.default_rng(seed)
    x, *blanket = rng.choice(14, size + 1, replace=False)
    without = [np.sort([v for v in blanket if v != y]) for y in blanket]
    engine, model = MemoryEngine(data), Model(family)
    together = engine.rows(model, [x] * size, without)
    for q, members in enumerate(without):
        alone = engine.rows(model, [x], [members])
        assert np.array_equal(alone.t, together.t[together.start[q] : together.start[q + 1]])
        assert alone.value[0] == together.value[q]


@pytest.mark.parametrize(
    ("xs", "given_"), [([7], [[]]), ([-1], [[]]), ([0], [[0]]), ([0], [[9]]), ([0], [[-1]]), ([0, 1], [[]])]
)
def test_questions_that_make_no_sense_are_refused(xs: list[int], given_: list[list[int]]) -> None:
    engine = MemoryEngine(table(0, 5, 50, 3))
    with pytest.raises(ValueError, match=r"not a variable|own blanket|not lists"):
        engine.rows(Model("adaptive"), xs, given_)


def test_arrays_that_do_not_fit_are_refused() -> None:
    engine = MemoryEngine(table(0, 5, 50, 3))
    other = MemoryEngine(table(1, 5, 60, 3))
    lists = as_lists([[]])
    with pytest.raises(ValueError, match="another one"):
        engine.conditionals(Model("adaptive")).rows(
            other.table, np.array([0]), *lists, np.zeros((1, 1)), 0.0, *lists, False, 1
        )
    with pytest.raises(ValueError, match="one number"):
        engine.rows(Model("adaptive", log_odds=np.zeros((2, 2))), [0], [[]])
