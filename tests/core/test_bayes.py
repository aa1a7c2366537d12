"""The Bayesian test in the native core against its slow twin: questions, rows of the IB-score, all pairs."""

import math
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap._core import Bayes
from ibmap.data import Table
from ibmap.engines import MemoryEngine, Questions
from ibmap.independence import BayesianTest
from tests.engines.partitioned import data_of
from tests.independence.agreement import OPTIONS
from tests.reference.bayesian import Posterior, log_posterior
from tests.reference.tables import Codes, categorical_tables, random_table

Options = dict[str, Any]
CLOSE = {"rel": 1e-9, "abs": 1e-300}
EVERYONE = -math.inf
NOBODY = math.inf
NONE, ZEROS = np.empty(0, np.int64), np.zeros(2, np.int64)


def bound(table: Codes, **options: Any) -> Any:
    return BayesianTest(**options).bind(MemoryEngine(data_of(*table)))


def with_many_levels(table: Codes, *levels: int) -> Codes:
    """The same with columns of very many levels behind the others."""
    codes, cards = table
    rng = np.random.default_rng(0)
    wide = [rng.integers(size, size=codes.shape[1]) for size in levels]
    return np.vstack([codes, *wide]), [*cards, *levels]


def asked(table: Codes, x: int, y: int, given: Any, options: Options) -> Posterior:
    return log_posterior(*table, x, y, [int(z) for z in given], **options)


def rows_of(test: Any, xs: Any, blankets: Any, floor: float, also: Any = None, **more: Any) -> Any:
    lists = []
    for some in (blankets, also or [[]] * len(xs)):
        lists += [np.cumsum([0, *map(len, some)]), np.array([v for one in some for v in one], np.int64)]
    start, members, also_start, others = lists
    xs = np.array(xs, np.int64)
    return test.core.rows(test.engine.table, xs, start, members, floor, also_start, others, **more)


TABLES = categorical_tables(max_rows=300, max_columns=9, missing=True)


@settings(max_examples=60)
@given(table=TABLES, seed=st.integers(0, 10**6), options=OPTIONS, wide=st.booleans())
def test_questions_agree_with_the_twin(table: Codes, seed: int, options: Options, wide: bool) -> None:
    table = with_many_levels(table, 40, 300) if wide else table
    test, n, rng = bound(table, **options), len(table[1]), np.random.default_rng(seed)
    order, sizes = rng.random((6, n)).argsort(axis=1), rng.integers(0, n - 1, 6)
    each = Questions.each(order[:, 0].copy(), order[:, 1].copy(), order[:, 2:], sizes)
    many = Questions.of(
        [(int(row[0]), row[1 + size :], row[1 : 1 + size]) for row, size in zip(order, sizes, strict=True)]
    )
    for questions in (each, many):
        answers = test.answers(questions)
        for t, (q, y) in enumerate(zip(questions.of_table, questions.y.tolist(), strict=True)):
            z = questions.given[questions.given_start[q] : questions.given_start[q + 1]]
            twin = asked(table, int(questions.x[q]), y, z, options)
            assert answers.log_independent[t] == pytest.approx(twin.log_independent, **CLOSE)
            assert answers.log_dependent[t] == pytest.approx(twin.log_dependent, **CLOSE)
            if abs(twin.log_independent - math.log(0.5)) > 1e-8:
                assert answers.independent[t] == (twin.log_independent > math.log(0.5))


@settings(max_examples=60)
@given(
    table=TABLES, seed=st.integers(0, 10**6), options=OPTIONS, floor=st.sampled_from([EVERYONE, 0.0, NOBODY])
)
def test_rows_agree_with_the_twin(table: Codes, seed: int, options: Options, floor: float) -> None:
    test, n, rng = bound(table, **options), len(table[1]), np.random.default_rng(seed)
    xs = rng.permutation(n)[:3].tolist()
    blankets = [rng.permutation(np.delete(np.arange(n), x))[: rng.integers(n)].tolist() for x in xs]
    also = [rng.permutation(np.delete(np.arange(n), x))[: rng.integers(2)].tolist() for x in xs]
    start, ys, ts, rest, values = rows_of(test, xs, blankets, floor, also)
    assert [*map(np.ndarray.tolist, rows_of(test, xs, blankets, floor, also, n_threads=2))] == [
        *map(np.ndarray.tolist, (start, ys, ts, rest, values))
    ]
    only = rows_of(test, xs, blankets, EVERYONE, members_only=True)
    assert only[1].tolist() == [y for blanket in blankets for y in blanket]
    for q, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
        t, value = {}, 0.0
        for y in sorted(set(range(n)) - {x}):
            twin = asked(table, x, y, [z for z in blanket if z != y], options)
            t[y] = twin.log_dependent - twin.log_independent
            value += twin.log_dependent if y in blanket else twin.log_independent
        mine = slice(start[q], start[q + 1])
        listed = dict(zip(ys[mine].tolist(), ts[mine].tolist(), strict=True))
        assert list(listed) == sorted(listed)
        near = {y for y in t if abs(t[y] - floor) < 1e-8}
        wanted = {y for y in t if t[y] > floor} | set(blanket) | set(also[q])
        assert set(listed) - near == wanted - near
        assert {*blanket, *also[q]} <= set(listed)
        for y, found in listed.items():
            assert found == pytest.approx(t[y], rel=1e-9, abs=1e-9)
        others = sum(math.exp(min(t[y], 0.0)) for y in t if y not in listed)
        assert rest[q] == pytest.approx(others, rel=1e-9, abs=1e-300)
        assert values[q] == pytest.approx(value, rel=1e-9)
        inside = dict(zip(blanket, only[2][only[0][q] : only[0][q + 1]].tolist(), strict=True))
        assert inside == {y: listed[y] for y in blanket}


@settings(max_examples=30)
@given(table=TABLES, options=OPTIONS, seed=st.integers(0, 99))
def test_cells_of_any_engine_say_the_same(table: Codes, options: Options, seed: int) -> None:
    test, n, rng = bound(table, **options), len(table[1]), np.random.default_rng(seed)
    order, sizes = rng.random((5, n)).argsort(axis=1), rng.integers(0, n - 1, 5)
    questions = Questions.each(order[:, 0].copy(), order[:, 1].copy(), order[:, 2:], sizes)
    one, other = test.answers(questions), test.evaluate(test.engine.tables(questions).closed())
    assert one.log_independent == pytest.approx(other.log_independent, rel=1e-9, abs=1e-300)
    assert one.log_dependent == pytest.approx(other.log_dependent, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("prior", ["one", "by pair"])
@pytest.mark.parametrize(("n_rows", "n_given"), [(1, 3), (300, 10), (5000, 6), (5000, 10)])
def test_large_blankets_and_many_rows(n_rows: int, n_given: int, prior: str) -> None:
    codes, cards = random_table(n_rows, 14, 4, 0.02, seed=n_rows + n_given)
    priors = np.random.default_rng(1).uniform(0.05, 0.95, (14, 14))
    priors = (priors + priors.T) / 2 if prior == "by pair" else np.full((14, 14), 0.7)
    test = bound((codes, cards), prior=priors if prior == "by pair" else 0.7)
    blanket = list(range(1, 1 + n_given))
    _, ys, t, _, _ = rows_of(test, [0], [blanket], EVERYONE)
    for y, found in zip(ys.tolist(), t.tolist(), strict=True):
        z = [v for v in blanket if v != y]
        twin = log_posterior(codes, cards, 0, y, z, prior=float(priors[0, y]))
        assert found == pytest.approx(twin.log_dependent - twin.log_independent, rel=1e-9, abs=1e-9)


PAIRS = st.tuples(st.integers(2, 90), st.sampled_from([0, 1, 64, 65, 130]), st.integers(0, 10**6))


def table_of_pairs(n: int, n_rows: int, seed: int) -> Codes:
    """Blocks of equal levels, constants, missing values and many levels side by side."""
    rng = np.random.default_rng(seed)
    cards = rng.choice([2, 2, 2, 3, 5, 1, 40, 120], n, p=[0.2, 0.3, 0.2, 0.1, 0.1, 0.04, 0.03, 0.03]).tolist()
    codes = np.array([rng.integers(size, size=n_rows) for size in cards]).reshape(n, n_rows)
    codes[rng.random(codes.shape) < 0.1 * (rng.random(n) < 0.1)[:, None]] = -1
    return codes, cards


@settings(max_examples=40)
@given(PAIRS, st.sampled_from(["ones", "consistent", "bdeu"]))
def test_all_pairs(shape: Any, prior_counts: str) -> None:
    table = table_of_pairs(*shape)
    n, rng = len(table[1]), np.random.default_rng(0)
    test = bound(table, prior_counts=prior_counts)
    sigma, by_two = np.full((n, n), np.nan), np.full((n, n), np.nan)
    test.core.fill_unconditional(test.engine.table, sigma, 1)
    test.core.fill_unconditional(test.engine.table, by_two, 2)
    assert np.array_equal(sigma, by_two)
    assert np.array_equal(sigma, sigma.T)
    assert not sigma.diagonal().any()
    for x, y in [rng.permutation(n)[:2].tolist() for _ in range(5)]:
        twin = log_posterior(*table, x, y, [], prior_counts=prior_counts)
        assert sigma[x, y] == pytest.approx(twin.log_independent, **CLOSE)


@settings(max_examples=60)
@given(table=TABLES, seed=st.integers(0, 10**6), options=OPTIONS, wide=st.booleans())
def test_the_first_of_many_is_that_of_all_answers(
    table: Codes, seed: int, options: Options, wide: bool
) -> None:
    table = with_many_levels(table, 40, 300) if wide else table
    n, test, rng = len(table[1]), bound(table, **options), np.random.default_rng(seed)
    for _ in range(4):
        x, *others = rng.permutation(n).tolist()
        size = int(rng.integers(len(others) + 1))
        given, ys = np.array(others[:size], np.int64), np.array(others[size:], np.int64)
        for k in range(size + 1):  # a conditioning set that grows
            expected = np.flatnonzero(~test.fixed(x, ys, given[:k]).independent)
            assert test.first_dependent(x, ys, given[:k]) == (expected[0] if len(expected) else None)
        expected = np.flatnonzero(test.round_robin(x, given).independent)
        assert test.first_independent(x, given) == (expected[0] if len(expected) else None)


@pytest.mark.parametrize("n", [30, 300])
def test_the_first_dependent_one_may_come_late(n: int) -> None:
    codes = np.random.default_rng(n).integers(0, 2, (n, 200))
    codes[-1] = codes[0]
    test, others = bound((codes, [2] * n)), np.arange(1, n)
    expected = np.flatnonzero(~test.fixed(0, others, NONE).independent)
    strong = np.setdiff1d(others, others[expected[:-1]])
    assert test.first_dependent(0, strong, NONE) == len(strong) - 1
    assert test.first_dependent(0, strong[:-1], NONE) is None


def test_one_test_may_be_asked_by_many_threads() -> None:
    test = bound(random_table(400, 30, 3, 0.01, seed=5))
    blankets = [[y for y in range(30) if y != x][x % 7 : x % 7 + 4] for x in range(30)]
    expected = rows_of(test, range(30), blankets, EVERYONE)
    found: list[Any] = [None] * 4

    def ask(i: int) -> None:
        for _ in range(5):
            found[i] = rows_of(test, range(30), blankets, EVERYONE, n_threads=1 + i % 2)

    threads = [Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for rows in found for a, b in zip(rows, expected, strict=True))


TWO = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]])


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("posteriors", ([3], [0, 1], [1], [0, 0], [])),
        ("posteriors", ([0], [0, 1], [-1], [0, 0], [])),
        ("posteriors", ([0], [0, 2], [1], [0, 0], [])),
        ("posteriors", ([0], [0, 1], [1], [0, 1], [3])),
        ("posteriors", ([0, 1], [0, 2, 1], [1], [0, 0, 0], [])),
        ("first_independent", (0, 3, [[1]], 0.0)),
        ("first_independent", (0, 1, [[3]], 0.0)),
        ("rows", ([0], [0, 1], [0], 0.0, [0, 0], [])),
        ("rows", ([0], [0, 1], [5], 0.0, [0, 0], [])),
        ("rows", ([0], [0, 0], [], 0.0, [0, 1], [9])),
        ("fill_unconditional", (np.empty((2, 3)), 1)),
        ("first_dependent", (3, [0], [1], 0.0)),
        ("first_dependent", (0, [3], [1], 0.0)),
        ("first_dependent", (0, [1], [-1], 0.0)),
        ("first_dependent", (0, [1], [0], 0.0)),
        ("first_independent_member", (0, [3], 0.0)),
        ("first_independent_member", (-1, [1], 0.0)),
    ],
)
def test_what_leads_out_of_bounds_is_refused(method: str, arguments: Any) -> None:
    test = bound((TWO, [2, 2, 2]))
    arrays = [np.array(a, np.int64) if isinstance(a, list) else a for a in arguments]
    with pytest.raises(ValueError, match=r"variable|blanket|for every|given"):
        getattr(test.core, method)(test.engine.table, *arrays)


@pytest.mark.parametrize(
    ("start", "cells"),
    [([0, 2], [[0], [0], [0], [1]]), ([0, 1], [[0], [0], [2], [1]]), ([0, 1], [[0], [0], [0], [5]])],
)
def test_cells_of_another_table_are_refused(start: Any, cells: Any) -> None:
    test = bound((TWO, [2, 2, 2]))
    with pytest.raises(ValueError, match="cells"):
        test.core.posteriors_of_cells(np.array([0]), np.array([1]), np.array(start), np.array(cells), None)


def test_another_table_and_bad_options_are_refused() -> None:
    test, other = bound((TWO, [2, 2, 2])), bound((TWO[:, :3], [2, 2, 2]))
    with pytest.raises(ValueError, match="another"):
        test.core.fill_unconditional(other.engine.table, np.empty((3, 3)), 1)
    one, levels = np.ones((1, 1)), np.array([2, 2])
    for log_prior, cell in ((np.ones((3, 3)), one), (-one, np.ones((2, 2))), (-one, 0 * one)):
        with pytest.raises(ValueError, match="prior"):
            Bayes(levels, 4, log_prior, cell, one, False, False)


def test_tables_of_very_many_levels_are_split_by_sorting() -> None:
    rng = np.random.default_rng(2)
    cards = [70_000, 2, 3, 5_000, 2]
    codes = np.array([rng.integers(size, size=500) for size in cards])
    codes[0, 1::2], codes[3, 1::2] = codes[0, ::2], codes[3, ::2]
    data = Table(codes, list("abcde"), [range(size) for size in cards])
    test = BayesianTest().bind(MemoryEngine(data))
    for x, ys, z in [
        (1, [2, 4], [0, 3]),
        (0, [1, 3], [2]),
        (3, [0], [4]),
        (1, [0], [3]),
        (0, [4], [3, 1, 2]),
    ]:
        answers = test.fixed(x, ys, z)
        for t, y in enumerate(ys):
            twin = log_posterior(codes, cards, x, y, z)
            assert answers.log_independent[t] == pytest.approx(twin.log_independent, rel=1e-8)
            robin = test.round_robin(x, [y, *z])
            assert robin.log_independent[0] == pytest.approx(twin.log_independent, rel=1e-8)
