"""Tables of counts: those of the slow twin, however they are asked for; bad arrays are refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.engines import MemoryEngine, Questions, Tables
from ibmap.engines.engine import pair_questions
from ibmap.independence.information import information_matrix
from tests.core.interrupting import interrupted
from tests.engines.partitioned import data_of, with_wide_columns
from tests.reference.contingency import mutual_information
from tests.reference.slices import slice_tables
from tests.reference.tables import random_table

NONE = np.empty(0, np.int64)
SHAPES = st.builds(
    random_table,
    st.sampled_from([1, 2, 63, 64, 65, 300, 1500]),
    st.integers(2, 24),
    st.sampled_from([1, 2, 3, 5, 12]),
    st.sampled_from([0.0, 0.02, 0.33]),
    st.integers(0, 2**32 - 1),
)


def by_key(tables: Tables, q: int, t: int) -> dict[Any, Any]:
    """Table t, of question q: counts by key of the slice, then by levels of x and y."""
    answered = list(tables.one_by_one())[q]
    out: dict[Any, Any] = {}
    for k, x, y, count in tables.cells[:, tables.start[t] : tables.start[t + 1]].T.tolist():
        out.setdefault(tuple(answered.keys[k].tolist()), {})[x, y] = count
    return out


@settings(deadline=None, max_examples=60)
@given(table=SHAPES, seed=st.integers(0, 2**32 - 1), wide=st.sampled_from([(), (40,), (40, 400)]))
def test_tables_are_those_of_the_twin(table: Any, seed: int, wide: tuple[int, ...]) -> None:
    """Batches with blankets of up to ten members, all ys or few, with and without given variables."""
    codes, cards = with_wide_columns(table, *wide)
    n, rng = len(cards), np.random.default_rng(seed)
    parts = []
    for _ in range(6):
        x, *rest = rng.permutation(n).tolist()
        size = int(rng.integers(0, min(11, n)))
        ys = np.array(rest[size:])[: None if rng.random() < 0.6 else 1]
        parts.append((x, ys, np.array(rest[: 0 if rng.random() < 0.4 else size], np.int64)))
    asked = Questions.of(parts)
    tables = MemoryEngine(data_of(codes, cards)).tables(asked)
    for t, q in enumerate(asked.of_table.tolist()):
        x, _, z = parts[q]
        expected = slice_tables(codes, x, int(asked.y[t]), z.tolist())
        assert by_key(tables, q, t) == {key: dict(cells) for key, cells in expected.items()}
        cells = tables.cells[:, tables.start[t] : tables.start[t + 1]]
        assert cells[:3].T.tolist() == sorted(cells[:3].T.tolist())
    for q, answered in enumerate(tables.one_by_one()):
        x, _, z = parts[q]
        assert answered.keys.tolist() == sorted(answered.keys.tolist())
        assert tables.slices is not None
        expected_sets: dict[Any, int] = {}
        for row in codes[[*z.tolist(), x]].T.tolist():
            if -1 not in row:
                expected_sets[tuple(row)] = expected_sets.get(tuple(row), 0) + 1
        sets = tables.slices.sets[:, answered.sets].T.tolist()
        assert {(*answered.keys[k].tolist(), level): rows for k, level, rows in sets} == expected_sets


@settings(deadline=None, max_examples=40)
@given(table=SHAPES, wide=st.sampled_from([(), (40, 400)]))
def test_pairs_and_their_information(table: Any, wide: tuple[int, ...]) -> None:
    codes, cards = with_wide_columns(table, *wide)
    engine = MemoryEngine(data_of(codes, cards))
    found = information_matrix(engine, n_threads=2)
    assert np.array_equal(found, found.T)
    for questions in pair_questions(len(cards), at_once=50):
        tables = engine.tables(questions)
        for t, (x, y) in enumerate(zip(tables.x.tolist(), tables.y.tolist(), strict=True)):
            (cells,) = slice_tables(codes, x, y, []).values() or [{}]
            assert by_key(tables, int(questions.of_table[t]), t).get((), {}) == dict(cells)
            assert found[x, y] == pytest.approx(mutual_information(codes, cards, x, y, []), abs=1e-12)


def test_columns_of_a_file_are_counted_as_own_ones() -> None:
    codes, cards = with_wide_columns(random_table(700, 300, 4, 0.0, seed=1), 40)
    codes[5, :9] = -1
    bits = MemoryEngine(data_of(codes, cards)).bits
    arrays = 700, np.array(bits.levels), bits.bits, bits.level_sizes, bits.wide_codes
    asked = Questions.rows([0, 1, 300], [np.array([2, 5]), NONE, np.array([3])], 301)
    found = [_core.Table(*arrays, columns).count(*asked.arrays) for columns in (None, bits.columns)]
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def test_bad_tables_are_refused() -> None:
    codes, cards = with_wide_columns(random_table(50, 5, 3, 0.0, seed=0), 40)
    bits = MemoryEngine(data_of(codes, cards)).bits
    good: dict[str, Any] = {
        "n_rows": 50,
        "levels": np.array(bits.levels),
        "level_bits": bits.bits,
        "level_sizes": bits.level_sizes,
        "wide_codes": bits.wide_codes,
        "columns": bits.columns,
    }
    _core.Table(**good)
    for name, bad in [
        ("n_rows", 500),
        ("n_rows", -1),
        ("levels", np.array(bits.levels) + 1),
        ("levels", np.array([-1] * 6)),
        ("level_sizes", bits.level_sizes[1:].copy()),
        ("level_sizes", bits.level_sizes + 51),
        ("wide_codes", bits.wide_codes + 40),
        ("wide_codes", bits.wide_codes - 2),
        ("wide_codes", bits.wide_codes[:, :-1].copy()),
        ("columns", bits.columns[:, :1].copy()),
        ("columns", np.tile(bits.columns, 2)),
        ("columns", np.tile(bits.columns, (2, 1))),
    ]:
        with pytest.raises(ValueError, match=r"\w"):
            _core.Table(**{**good, name: bad})


def test_bad_questions_are_refused() -> None:
    engine = MemoryEngine(data_of(*random_table(50, 5, 3, 0.0, seed=0)))
    good = Questions.rows([0, 1], [np.array([2]), NONE], 5).arrays
    for k, bad in [
        (0, np.array([0, 5])),
        (0, np.array([0, -1])),
        (0, np.array([0])),
        (1, good[1] + 1),
        (1, good[1][::-1].copy()),
        (2, good[2] + 1),
        (3, np.array([0, 2, 1])),
        (3, NONE),
        (4, np.array([5])),
    ]:
        with pytest.raises(ValueError, match=r"\w"):
            engine.table.count(*good[:k], bad, *good[k + 1 :])
    with pytest.raises(ValueError, match="not a variable"):
        engine.table.information(np.array([5]), np.array([0, 1]), np.array([0]))
    rows = good[3], good[4], np.array([0, 1, 1])
    assert engine.table.keys(*rows, np.array([49])).shape == (1,)
    for row in (-1, 50):
        with pytest.raises(ValueError, match="rows are not lists"):
            engine.table.keys(*rows, np.array([row]))


def test_bad_parts_and_slices_are_refused() -> None:
    engine = MemoryEngine(data_of(*random_table(80, 5, 3, 0.0, seed=3)))
    asked = Questions.rows([0, 1], [np.array([2, 3]), NONE], 5)
    tables, levels = engine.tables(asked), engine.schema.cardinalities
    slices = tables.slices
    assert slices is not None
    part: Any = (slices.start, slices.keys, slices.set_start, slices.sets, tables.start, tables.cells)
    _core.merge(levels, *asked.arrays, [part, part])
    margins: Any = (asked.given_start, asked.given, *part[:4])
    _core.margins(*margins)
    with pytest.raises(ValueError, match="at least one part"):
        _core.merge(levels, *asked.arrays, [])
    with pytest.raises(ValueError, match="levels out of range"):
        _core.merge(levels - 9, *asked.arrays, [part])
    for k, array in enumerate(part):
        for bad in (array + 1, array[..., :-1].copy(), array - 1, array + 2**31):
            with pytest.raises(ValueError, match="do not fit"):
                _core.merge(levels, *asked.arrays, [part, (*part[:k], bad, *part[k + 1 :])])
    for k in (0, 2, 4, 5):
        for bad in (margins[k] + 1, margins[k][..., :-1].copy(), margins[k] - 1):
            with pytest.raises(ValueError, match="do not fit"):
                _core.margins(*margins[:k], bad, *margins[k + 1 :])
    with pytest.raises(ValueError, match="do not fit"):
        _core.margins(*margins[:3], margins[3][:-1].copy(), *margins[4:])


def test_bad_cells_are_refused() -> None:
    start, cells, n = np.array([0, 2]), np.array([[0, 0], [0, 1], [0, 1], [3, 4]]), np.array([2, 2])
    one, other = np.array([0]), np.array([1])
    assert _core.contingency_statistics(start, cells, 2)[:, 0].tolist() == pytest.approx(
        [7.0, 9.561, 1.0], rel=1e-3
    )
    assert _core.score_statistics(one, other, start, cells, n, n - 1)[1].tolist() == [1.0]
    for bad in (cells + 2, -cells, cells[:3], cells[:, :1].copy(), cells * np.array([[1], [1], [1], [0]])):
        with pytest.raises(ValueError, match="cell"):
            _core.contingency_statistics(start, np.ascontiguousarray(bad), 2)
        with pytest.raises(ValueError, match="cell"):
            _core.score_statistics(one, other, start, np.ascontiguousarray(bad), n, n - 1)
    for begins in (np.array([1, 2]), np.array([0, 3]), np.array([0, 2, 1]), NONE):
        with pytest.raises(ValueError, match="do not fit"):
            _core.number_slices(begins, cells)
    with pytest.raises(ValueError, match="not a variable"):
        _core.score_statistics(one, other + 1, start, cells, n, n - 1)
    with pytest.raises(ValueError, match="do not fit"):
        _core.score_statistics(one, other, start, cells, n, n)


def test_counting_answers_control_c() -> None:
    engine = MemoryEngine(data_of(*random_table(2000, 40, 3, 0.0, seed=0)))
    xs = np.tile(np.arange(40), 20_000)
    none = np.zeros(len(xs) + 1, np.int64)
    interrupted(lambda: engine.table.count(xs, none, NONE, np.arange(len(xs) + 1), (xs + 1) % 40))
