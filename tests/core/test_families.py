"""Scores of families: rows of the slow twin, from bits and from cells; what does not fit is refused."""

from math import lgamma, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.engines import MemoryEngine, Questions, ask
from ibmap.engines.model import Model
from ibmap.engines.rows import Lists, as_lists
from tests.core.interrupting import interrupted
from tests.engines.partitioned import HiddenEngine, data_of, with_wide_columns
from tests.reference import directed as twin
from tests.reference.saturated import complete
from tests.reference.tables import Codes, categorical_tables, random_table

SIZES: list[twin.Size] = [None, "qnml", 1.0, 10.0]  #: BIC, qNML, or the equivalent sample size of BDeu


def model_of(size: twin.Size, odds: float = 0.0) -> Model:
    name = size if isinstance(size, str) else "bic" if size is None else "bdeu"
    count = size if isinstance(size, float) else 1.0
    return Model(name, prior_count=count, log_odds=np.full((1, 1), odds))


def families(seed: int, n: int, most: int = 10) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    others = [np.delete(np.arange(n), x) for x in range(n)]
    return [rng.permutation(some)[: rng.integers(min(most, n - 1) + 1)] for some in others]


def agree(table: Codes, seed: int, size: twin.Size, odds: float = 0.0) -> None:
    codes, cards = table
    n, parents, model = len(cards), families(seed, len(cards)), model_of(size, odds)
    data = data_of(codes, cards)
    for engine in (MemoryEngine(data), HiddenEngine(data)):
        rows = engine.rows(model, range(n), parents)
        found = rows.matrix(n)
        for x, mine in enumerate(parents):
            rest = [y for y in range(n) if y != x]
            expected = [twin.evidence(codes, cards, x, y, mine.tolist(), size) + odds for y in rest]
            assert found[x, rest] == pytest.approx(expected, rel=1e-9, abs=1e-8)
            known = complete(codes, [x, *mine])
            value = twin.family(codes, cards, known, x, mine.tolist(), size) + odds * len(mine)
            assert rows.value[x] == pytest.approx(value, rel=1e-9, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    table=categorical_tables(max_rows=120, max_columns=8, missing=True),
    seed=st.integers(0, 10**6),
    size=st.sampled_from(SIZES),
    odds=st.sampled_from([0.0, -2.5]),
)
def test_rows_agree_with_the_twin(table: Codes, seed: int, size: twin.Size, odds: float) -> None:
    """Up to 12 levels, constants, missing values, one row."""
    agree(table, seed, size, odds)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("levels", [(33,), (101, 300), (2000,)])
def test_columns_of_very_many_levels(size: twin.Size, levels: tuple[int, ...]) -> None:
    agree(with_wide_columns(random_table(90, 4, 3, 0.05, seed=2), *levels), 4, size)


@pytest.mark.parametrize("size", SIZES)
def test_many_parents(size: twin.Size) -> None:
    """Ten parents of up to four levels: keys of rows, and slices of one row."""
    agree(random_table(150, 14, 4, 0.0, seed=6), 3, size)


@pytest.mark.parametrize("size", [None, 2.0])
def test_more_rows_than_are_looked_up(size: float | None) -> None:
    """Beyond 2^20 rows of a cell, functions of counts are computed one by one."""
    rng, n_rows = np.random.default_rng(0), 2**21 + 5
    codes = np.array([rng.random(n_rows) < 0.01, rng.random(n_rows) < 0.5, rng.random(n_rows) < 0.9]).astype(
        int
    )
    codes[2] ^= codes[0]
    codes = np.vstack([codes, np.where(rng.random(n_rows) < 0.01, -1, codes[2])])
    row = MemoryEngine(data_of(codes, [2, 2, 2, 2])).rows(model_of(size), [0], [[1]]).matrix(4)[0]

    def score(x: int, parents: list[int], known: np.ndarray) -> float:
        total, q = 0.0, 2 ** len(parents)
        key = sum((codes[p, known] << i for i, p in enumerate(parents)), np.zeros(known.sum(), int))
        for counts in np.bincount(2 * key + codes[x, known], minlength=2 * q).reshape(q, 2).tolist():
            n = sum(counts)
            if size is None:
                total += sum(c * log(c / n) for c in counts)
            else:
                a = size / q
                total += lgamma(a) - lgamma(a + n) + sum(lgamma(a / 2 + c) - lgamma(a / 2) for c in counts)
        return total - (log(known.sum()) / 2 * q if size is None else 0.0)

    every = np.ones(n_rows, bool)
    assert row[1] == pytest.approx(score(0, [1], every) - score(0, [], every), abs=1e-5)
    for y in (2, 3):
        known = codes[y] >= 0
        assert row[y] == pytest.approx(score(0, [1, y], known) - score(0, [1], known), rel=1e-7)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 20), floor=st.floats(-8, 3))
def test_what_is_listed_is_a_part_of_whole_rows(seed: int, n: int, floor: float) -> None:
    engine, model = MemoryEngine(data_of(*random_table(100, n, 3, 0.02, seed))), model_of(1.0, -1.0)
    parents, also = families(seed, n, 3), families(seed + 1, n, 2)
    whole = engine.rows(model, range(n), parents)
    t = whole.matrix(n)
    some = engine.rows(model, range(n), parents, floor=floor, also=also)
    few = engine.rows(model, range(n), parents, floor=np.inf)
    assert np.array_equal(some.value, whole.value)
    assert np.array_equal(few.value, whole.value)
    assert not whole.rest.any()
    for x in range(n):
        listed = np.isin(np.arange(n), [*parents[x], *also[x]]) | (t[x] > floor)
        listed[x] = False
        rest = ~listed & (np.arange(n) != x)
        part = slice(some.start[x], some.start[x + 1])
        assert some.y[part].tolist() == np.flatnonzero(listed).tolist()
        assert np.array_equal(some.t[part], t[x, listed])
        assert some.rest[x] == pytest.approx(np.exp(np.minimum(t[x, rest], 0.0)).sum())
        assert few.y[few.start[x] : few.start[x + 1]].tolist() == sorted(parents[x].tolist())


@pytest.mark.parametrize(
    ("xs", "given_"),
    [([5], [[]]), ([-1], [[]]), ([0], [[0]]), ([0], [[5]]), ([0, 1], [[]]), ([0], [[1], [2]])],
)
def test_questions_that_make_no_sense_are_refused(xs: list[int], given_: list[list[int]]) -> None:
    engine = MemoryEngine(data_of(*random_table(20, 5, 2, 0.0, seed=0)))
    with pytest.raises(ValueError, match=r"not a variable|not lists|its own parent"):
        engine.rows(model_of(1.0), xs, given_)


def test_scores_and_tables_that_do_not_fit_are_refused() -> None:
    codes, cards = random_table(20, 3, 2, 0.0, seed=0)
    engine, levels, none = MemoryEngine(data_of(codes, cards)), np.array(cards), as_lists([[]])
    for score, size, match in (
        ("k2", 1.0, "no such score"),
        ("bdeu", 0.0, "positive"),
        ("bdeu", np.inf, "positive"),
    ):
        with pytest.raises(ValueError, match=match):
            _core.Families(levels, 20, score, size)
    with pytest.raises(ValueError, match="out of range"):
        _core.Families(-levels, 20, "bic", 1.0)
    for wrong in (_core.Families(levels, 21, "bic", 1.0), _core.Families(levels[:2], 20, "bic", 1.0)):
        with pytest.raises(ValueError, match="another one"):
            wrong.rows(engine.table, np.array([0]), *none, np.zeros((1, 1)), -np.inf, *none, False, 1)
    right = _core.Families(levels, 20, "bic", 1.0)
    with pytest.raises(ValueError, match="a matrix, or one number"):
        right.rows(engine.table, np.array([0]), *none, np.zeros((2, 2)), -np.inf, *none, False, 1)


def left_out(engine: Any, arcs: np.ndarray, size: float, levels: np.ndarray, blankets: Lists) -> Any:
    asked = Questions.of([(x, np.empty(0, int), some) for x, some in enumerate(blankets.one_by_one())])
    slices = ask(engine, asked).answered()[1]
    questions = asked.x, asked.given, asked.given_start
    sets = slices.start, slices.keys, slices.set_start, slices.sets
    return _core.directed_left_out(levels, *questions, *sets, arcs, size)


def test_judgements_of_what_does_not_fit_are_refused() -> None:
    codes, cards = random_table(20, 3, 2, 0.0, seed=0)
    engine, levels, arcs = MemoryEngine(data_of(codes, cards)), np.array(cards), np.zeros((3, 3), bool)
    blankets = as_lists([[1], [0], []])
    assert np.isfinite(left_out(engine, arcs, 1.0, levels, blankets)).all()
    for wrong_arcs, size, wrong_levels in (
        (arcs[:2], 1.0, levels),
        (arcs, 0.0, levels),
        (arcs, 1.0, levels - 1),
    ):
        with pytest.raises(ValueError, match=r"arcs for every|positive|do not fit"):
            left_out(engine, wrong_arcs, size, wrong_levels, blankets)


def test_ctrl_c_is_answered() -> None:
    engine = MemoryEngine(data_of(*random_table(3000, 60, 4, 0.0, seed=1)))
    xs = np.arange(10**6) % 60
    interrupted(
        lambda: engine.rows(
            model_of(1.0), xs, Lists(np.zeros(10**6 + 1, np.int64), np.empty(0, np.int64)), floor=99.0
        )
    )
