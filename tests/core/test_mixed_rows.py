"""Rows of mixed tables: the core and its slow twin say the same, and bad arrays are refused."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.engines.rows import Rows, as_lists, no_lists
from tests.reference import mixed as twin

NO_ODDS = np.zeros((1, 1))
KINDS = {"nominal": 0, "ordinal": 1, "number": 2}


def second_column(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return z² without what 1 and z say of it, divided by its spread."""
    known = ~np.isnan(z)

    def mean(values: np.ndarray) -> float:
        return float(np.average(values[known], weights=w[known])) if w[known].sum() else 0.0

    h = z**2 - mean(z**2)
    h = h - z * mean(h * z) / max(mean(z**2), 1e-300)
    spread = np.sqrt(mean(h**2))
    return h / spread if spread > 1e-6 else np.where(known, 0.0, np.nan)


def columns(
    seed: int, n: int, n_rows: int, most: int, missing: float, strength: float = 1.0
) -> tuple[Any, Any]:
    """Return noisy functions of each other as the twin's columns, and weights of rows."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, n_rows) / (1 + 4 * (seed % 2)) if seed % 3 == 0 else np.ones(n_rows)
    hidden = rng.normal(size=(n, n_rows))
    for v in range(1, n):
        hidden[v] += strength * rng.choice([-1.5, 0.0, 1.0, 3.0]) * hidden[rng.integers(v)]
    found = []
    for v in range(n):
        kind = rng.choice(["nominal", "ordinal", "number"])
        gone = rng.random(n_rows) < missing
        if kind == "number":
            z = (hidden[v] - hidden[v].mean()) / max(hidden[v].std(), 1e-9)
            z[gone] = np.nan
            pair = (np.stack([z, second_column(z, weights)]) / np.sqrt(2)).astype(np.float32)
            found.append(twin.Column("number", numbers=pair))
            continue
        r = int(rng.integers(1, most + 1))
        codes = np.argsort(np.argsort(hidden[v])) * r // n_rows
        coded = [column for column in found if column.kind != "number" and column.levels]
        if len(coded) > 1 and rng.random() < 0.4:  # what two others say only together
            one, other = rng.choice(len(coded), 2, replace=False)
            both = np.maximum(coded[one].codes, 0) + np.maximum(coded[other].codes, 0)
            codes = np.where(rng.random(n_rows) < 0.3, codes, both % r)
        if kind == "nominal":
            codes = rng.permutation(r)[codes]
        found.append(twin.Column(str(kind), np.where(gone, -1, codes), r))
    return found, weights


def native(found: Any, weights: np.ndarray, prior_rows: float = 0.0) -> _core.MixedTable:
    """Return the columns as the core has them."""
    n_rows = len(weights)
    codes = [column.codes for column in found if column.kind != "number"]
    numbers = [column.numbers for column in found if column.kind == "number"]
    return _core.MixedTable(
        np.array([KINDS[column.kind] for column in found], np.uint8),
        np.array([column.levels for column in found], np.int64),
        np.array(codes, np.int16).reshape(-1, n_rows),
        np.array(numbers, np.float32).reshape(-1, 2, n_rows).swapaxes(0, 1).copy(),
        weights,
        1,
        prior_rows,
    )


def rows_of(table: _core.MixedTable, xs: Any, blankets: Any, exact: bool = False) -> Rows:
    asked = np.asarray(xs, np.int64)
    return Rows(*table.rows(asked, *as_lists(blankets), NO_ODDS, -np.inf, *no_lists(len(asked)), exact, 1))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 9),
    n_rows=st.sampled_from([1, 2, 7, 63, 200, 500]),
    most=st.sampled_from([2, 3, 5, 8, 14]),
    missing=st.sampled_from([0.0, 0.0, 0.1]),
    strength=st.sampled_from([0.3, 1.0]),
)
def test_core_and_twin_say_the_same(
    seed: int, n: int, n_rows: int, most: int, missing: float, strength: float
) -> None:
    found, weights = columns(seed, n, n_rows, most, missing, strength)
    prior_rows = float(seed % 2 * 2)
    slow, rng = twin.Table(found, weights, prior_rows), np.random.default_rng(seed + 1)
    table = native(found, weights, prior_rows)
    for x in range(n):
        others = np.delete(np.arange(n), x)
        blanket = np.sort(rng.choice(others, rng.integers(0, min(4, len(others)) + 1), replace=False))
        rows = rows_of(table, [x], [blanket])
        value, t = twin.row(slow, x, blanket.tolist())
        np.testing.assert_allclose(2 * rows.value[0], value, rtol=1e-7, atol=1e-5)
        np.testing.assert_allclose(rows.matrix(n)[0], t, rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 7), missing=st.sampled_from([0.0, 0.1]))
def test_a_weight_of_two_is_the_row_twice(seed: int, n: int, missing: float) -> None:
    """And rows that come five times with a weight of a fifth are the rows."""
    found, _ = columns(3 * seed + 1, n, 150, 4, missing)
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 4, 150)
    again = np.repeat(np.arange(150), times)

    def drawn(which: np.ndarray) -> Any:
        return [
            twin.Column(
                column.kind,
                None if column.codes is None else column.codes[which],
                column.levels,
                None if column.numbers is None else column.numbers[:, which],
            )
            for column in found
        ]

    several = native(drawn(again), np.ones(len(again)))
    others = [
        native(found, times.astype(float)),
        native(drawn(np.tile(again, 5)), np.full(5 * len(again), 0.2)),
    ]
    for x in range(n):
        blanket = rng.permutation(np.delete(np.arange(n), x))[: rng.integers(0, n)]
        rows = rows_of(several, [x], [np.sort(blanket)])
        for other in others:
            same = rows_of(other, [x], [np.sort(blanket)])
            np.testing.assert_allclose(same.value, rows.value, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(same.matrix(n), rows.matrix(n), rtol=1e-5, atol=1e-5)


def test_threads_change_nothing() -> None:
    found, weights = columns(5, 12, 300, 4, 0.05)
    table, xs = native(found, weights), np.arange(12)
    blankets = [np.delete(xs, x)[x % 4 : x % 4 + 3] for x in xs]
    one, three = (
        Rows(*table.rows(xs, *as_lists(blankets), NO_ODDS, -np.inf, *no_lists(12), False, threads))
        for threads in (1, 3)
    )
    for mine, other in zip(one, three, strict=True):
        np.testing.assert_array_equal(mine, other)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 9), most=st.sampled_from([3, 14]))
def test_what_is_not_asked_changes_nothing_else(seed: int, n: int, most: int) -> None:
    """Rough rows say the same of variables outside; exact ones of some members the same of these."""
    found, weights = columns(seed, n, 300, most, seed % 2 * 0.05)
    table, rng, x = native(found, weights), np.random.default_rng(seed + 1), np.zeros(1, np.int64)
    members = np.sort(rng.permutation(np.arange(1, n))[: rng.integers(1, min(n, 5))])
    some = np.sort(rng.permutation(members)[: rng.integers(1, len(members) + 1)])

    def rows(also: Any, floor: float, exact: bool, rough: bool) -> Rows:
        asked = *as_lists([members]), NO_ODDS, floor, *also, exact, 1, rough
        return Rows(*table.rows(x, *asked))

    plain, rough = (rows(no_lists(1), -np.inf, exact=False, rough=rough) for rough in (False, True))
    outside = ~np.isin(plain.y, members)
    np.testing.assert_array_equal(rough.value, plain.value)
    np.testing.assert_array_equal(rough.t[outside], plain.t[outside])
    every, few = (rows(also, np.inf, exact=True, rough=False) for also in (no_lists(1), as_lists([some])))
    np.testing.assert_array_equal(few.y, members)
    np.testing.assert_array_equal(few.t[np.isin(members, some)], every.t[np.isin(members, some)])
    np.testing.assert_array_equal(few.value, every.value)
