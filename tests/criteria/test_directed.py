"""BIC, BDeu and qNML of families: rows and totals of the slow twin, on every engine, by either route."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.criteria.directed import DirectedScore, directed_score
from ibmap.errors import RequestError
from tests.engines.partitioned import ENGINES, HiddenEngine, MemoryEngine, data_of, with_wide_columns
from tests.reference import directed as twin
from tests.reference.tables import Codes, categorical_tables, random_table

SIZES: list[twin.Size] = [None, "qnml", 1.0, 10.0]  #: BIC, qNML, or the equivalent sample size of BDeu


def bound(engine: Any, size: twin.Size) -> DirectedScore:
    if isinstance(size, float):
        return directed_score("bdeu", engine, size)
    return directed_score(size or "bic", engine)


def random_parents(n: int, seed: int) -> list[np.ndarray]:
    """Of every variable some of those before it."""
    lower = np.tril(np.random.default_rng(seed).random((n, n)) < 0.5, -1)
    return [np.flatnonzero(row) for row in lower]


def assert_agrees(table: Codes, engine: Any, seed: int, size: twin.Size) -> None:
    codes, cards = table
    n, parents = len(cards), random_parents(len(cards), seed)
    score = bound(engine(data_of(codes, cards)), size)
    for x, mine in enumerate(parents):
        for given_parents in (mine, np.array([], int)):
            row = score.row(x, given_parents)
            expected = [
                0.0 if y == x else twin.evidence(codes, cards, x, y, given_parents, size) for y in range(n)
            ]
            assert row == pytest.approx(expected, rel=1e-9, abs=1e-8)
    assert score.total(parents) == pytest.approx(twin.total(codes, cards, parents, size), rel=1e-9, abs=1e-8)
    others = random_parents(n, seed + 1)
    ahead = twin.lead(codes, cards, parents, others, size)
    assert score.lead(range(n), parents, others) == pytest.approx(ahead, rel=1e-9, abs=1e-7)
    assert score.adds_up == (not (codes < 0).any())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", SIZES)
@settings(max_examples=15)
@given(table=categorical_tables(max_rows=200, max_columns=6, missing=True), seed=st.integers(0, 99))
def test_rows_and_totals_are_those_of_the_twin(engine: Any, size: twin.Size, table: Codes, seed: int) -> None:
    assert_agrees(table, engine, seed, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("n", "levels"), [(70, 2), (40, 5)])
def test_many_columns_and_parents(size: twin.Size, n: int, levels: int) -> None:
    """Several blocks of columns, and as many sets as have to be counted in turns."""
    data = data_of(*random_table(700, n, levels, 0.0, seed=n))
    here, there = (bound(engine(data), size) for engine in (MemoryEngine, HiddenEngine))
    for x, parents in ((0, [1, 2, 3]), (n - 1, [0, 5, 7, 9, 11]), (3, list(range(20, 32)))):
        mine = np.array(parents)
        assert here.row(x, mine) == pytest.approx(there.row(x, mine), rel=1e-9, abs=1e-8)


@settings(max_examples=25)
@given(
    table=categorical_tables(max_rows=200, max_columns=6),
    seed=st.integers(0, 99),
    size=st.sampled_from(SIZES),
)
def test_evidence_is_what_an_arc_gains(table: Codes, seed: int, size: twin.Size) -> None:
    codes, cards = table
    parents = random_parents(len(cards), seed)
    score = bound(MemoryEngine(data_of(codes, cards)), size)
    before = score.total(parents)
    for x in range(len(cards)):
        row = score.row(x, parents[x])
        for y in range(len(cards)):
            if y == x:
                continue
            flipped = [*parents]
            inside = y in parents[x]
            flipped[x] = np.setdiff1d(parents[x], y) if inside else np.union1d(parents[x], y)
            gain = score.total(flipped) - before
            assert gain == pytest.approx(-row[y] if inside else row[y], rel=1e-7, abs=1e-7)


@settings(max_examples=40)
@given(
    table=categorical_tables(max_rows=200, max_columns=6),
    seed=st.integers(0, 99),
    size=st.sampled_from(SIZES),
)
def test_reversing_a_covered_arc_changes_nothing(table: Codes, seed: int, size: twin.Size) -> None:
    """Both directed graphs say the same of the rows."""
    codes, cards = table
    rng, parents = np.random.default_rng(seed), random_parents(len(cards), seed)
    score = bound(MemoryEngine(data_of(codes, cards)), size)
    for _ in range(5):
        covered = [
            (x, y)
            for x, mine in enumerate(parents)
            for y in mine
            if set(mine) - {y} == set(parents[y].tolist())
        ]
        if not covered:
            return
        before = score.total(parents)
        x, y = covered[rng.integers(len(covered))]
        parents[x], parents[y] = np.setdiff1d(parents[x], y), np.union1d(parents[y], x)
        assert score.total(parents) == pytest.approx(before, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("size", SIZES)
def test_so_many_parents_that_their_configurations_overflow(size: twin.Size) -> None:
    codes, cards = with_wide_columns(random_table(30, 2, 3, 0.0, seed=0), *range(900, 1000))
    for engine in (MemoryEngine, HiddenEngine):
        row = bound(engine(data_of(codes, cards)), size).row(0, np.arange(2, 102))
        assert np.isfinite(row).all()


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("bic", 2.0, "belongs to the score 'bdeu'"),
        ("qnml", 2.0, "belongs to the score 'bdeu': 'qnml' has none"),
        ("bdeu", 0.0, "must be a positive number"),
        ("bdeu", "much", "must be a positive number"),
        ("mpl", 1.0, "score must be 'bic', 'bdeu' or 'qnml', not 'mpl'"),
    ],
)
def test_requests_that_make_no_sense_are_refused(name: str, size: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        directed_score(name, MemoryEngine(data_of(np.zeros((2, 3), int), [2, 2])), size)
