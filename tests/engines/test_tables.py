"""The three shapes of question give the tables of the slow twin, whatever the table looks like."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibmap.engines import MemoryEngine, Questions, Tables, ask
from ibmap.engines.questions import BATCH_SUBSETS, subset_batches
from ibmap.errors import RequestError
from ibmap.independence import BayesianTest
from tests.engines.partitioned import PartitionedEngine, data_of, fixed, margins, round_robin, slices
from tests.reference.slices import SliceTables, slice_tables
from tests.reference.tables import Codes, categorical_tables, questions, random_table

SHAPES = settings(max_examples=60)


def assert_equals_reference(tables: Tables, t: int, reference: SliceTables) -> None:
    """Same slices, in whatever order; in each the same cells, in order."""
    assert sorted(sorted(s.items()) for s in slices(tables, t)) == sorted(
        sorted(s.items()) for s in reference.values()
    )
    cells = tables.cells[:, tables.start[t] : tables.start[t + 1]]
    assert cells[:3].T.tolist() == sorted(cells[:3].T.tolist())
    assert tables.n_rows[t] == sum(table.total() for table in reference.values())
    assert tables.n_slices[t] == len(reference)


def with_column(table: Codes, column: NDArray[np.int64], levels: int) -> Codes:
    return np.vstack([table[0], column]), [*table[1], levels]


@SHAPES
@given(table=categorical_tables(max_rows=300, max_columns=8, missing=True), data=st.data())
def test_fixed_counts_x_against_every_y_in_the_same_slices(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, _, z = data.draw(questions(len(cards)))
    ys = [y for y in range(len(cards)) if y != x and y not in z]
    tables = fixed(MemoryEngine(data_of(codes, cards)), x, np.array(ys), np.array(z, int))
    assert (set(tables.x.tolist()) <= {x}, tables.y.tolist(), len(tables)) == (True, ys, len(ys))
    for t, y in enumerate(ys):
        assert_equals_reference(tables, t, slice_tables(codes, x, y, z))
        assert tables.log_possible[t] == pytest.approx(np.log([cards[v] for v in z]).sum())


@SHAPES
@given(table=categorical_tables(max_rows=300, max_columns=7, missing=True), data=st.data())
def test_round_robin_counts_each_member_given_the_others(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    members = [y, *z]
    tables = round_robin(MemoryEngine(data_of(codes, cards)), x, members)
    assert tables.y.tolist() == members
    for found in (tables, margins(MemoryEngine(data_of(codes, cards)), x, members)):
        for t, member in enumerate(members):
            others = [w for w in members if w != member]
            assert_equals_reference(found, t, slice_tables(codes, x, member, others))
            assert found.log_possible[t] == pytest.approx(np.log([cards[v] for v in others]).sum())


def each_subset(x: int, y: int, subsets: Codes) -> Questions:
    n, size = subsets.shape
    return Questions.each(np.full(n, x), np.full(n, y), subsets, np.full(n, size))


@SHAPES
@given(table=categorical_tables(max_rows=100, max_columns=7, missing=True), data=st.data())
def test_all_subsets_are_all_there_smallest_first(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, y, pool = data.draw(questions(len(cards)))
    largest = data.draw(st.one_of(st.none(), st.integers(0, len(pool) + 1)))
    expected = [s for size in range(len(pool) + 1) for s in combinations(pool, size)]
    expected = [s for s in expected if largest is None or len(s) <= largest]
    found = []
    for subsets in subset_batches(np.array(pool, np.int64), largest):
        tables = ask(MemoryEngine(data_of(codes, cards)), each_subset(x, y, subsets))
        assert len(subsets) == len(tables)
        for t, subset in enumerate(subsets.tolist()):
            found.append(tuple(subset))
            assert_equals_reference(tables, t, slice_tables(codes, x, y, subset))
    assert found == expected


def test_many_subsets_come_in_several_batches() -> None:
    sizes = [len(subsets) for subsets in subset_batches(np.arange(2, 14))]
    assert sum(sizes) == 2**12
    assert max(sizes) == BATCH_SUBSETS


@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("missing", [0.0, 0.33])
def test_borders_of_words_are_no_borders(n_rows: int, missing: float) -> None:
    codes, cards = random_table(n_rows, 8, 5, missing, seed=n_rows)
    counts = MemoryEngine(data_of(codes, cards))
    for z in ([], [2], [2, 3, 4]):
        tables = fixed(counts, 0, [1, 5, 6, 7], z)
        for t, y in enumerate([1, 5, 6, 7]):
            assert_equals_reference(tables, t, slice_tables(codes, 0, y, z))


@pytest.mark.parametrize("levels", [31, 32, 33, 64, 127, 128, 129, 1000, 3000])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_any_number_of_levels(levels: int, missing: float) -> None:
    rng = np.random.default_rng(levels)
    n_rows = 3500
    table = random_table(n_rows, 4, 3, missing, seed=1)
    for _ in range(2):
        wide = np.append(np.arange(levels), rng.integers(levels, size=n_rows - levels))
        wide = np.where(rng.random(n_rows) < missing, -1, rng.permutation(wide))
        table = with_column(table, wide, levels)
    codes, cards = table
    counts = MemoryEngine(data_of(codes, cards))
    for x, y, z in [(4, 5, []), (0, 4, [1]), (4, 0, [1]), (0, 1, [4]), (5, 4, [0, 1]), (0, 1, [4, 2, 5])]:
        assert_equals_reference(fixed(counts, x, [y], z), 0, slice_tables(codes, x, y, z))
    members = [0, 4, 1, 5]
    tables = round_robin(counts, 2, members)
    for t, y in enumerate(members):
        assert_equals_reference(tables, t, slice_tables(codes, 2, y, [z for z in members if z != y]))


@pytest.mark.parametrize("max_levels", [2, 12])
def test_seventy_conditioning_columns(max_levels: int) -> None:
    codes, cards = random_table(2000, 73, max_levels, 0.0, seed=7)
    counts = MemoryEngine(data_of(codes, cards))
    z = list(range(72, 2, -1))
    tables = fixed(counts, 0, [1, 2], z)
    for t, y in enumerate([1, 2]):
        assert_equals_reference(tables, t, slice_tables(codes, 0, y, z))
    tables = round_robin(counts, 0, z)
    for t in (0, 35, 69):
        assert_equals_reference(tables, t, slice_tables(codes, 0, z[t], z[:t] + z[t + 1 :]))


def test_constant_and_duplicate_columns_are_columns_like_any_other() -> None:
    rng = np.random.default_rng(0)
    column = rng.integers(3, size=90)
    codes = np.array([column, column, np.zeros(90, int), (column + 1) % 3, np.ones(90, int)])
    cards = [3, 3, 1, 3, 2]  # the last has two levels, and only one is ever seen
    counts = MemoryEngine(data_of(codes, cards))
    for x in range(5):
        for y in range(5):
            for z in ([], [v for v in range(5) if v not in (x, y)]):
                if x != y:
                    assert_equals_reference(fixed(counts, x, [y], z), 0, slice_tables(codes, x, y, z))


@pytest.mark.parametrize("n_rows", [0, 3])
def test_no_complete_row_gives_an_empty_table(n_rows: int) -> None:
    codes = np.array([[0, 1, -1], [-1, -1, 1], [0, 0, 0]])[:, :n_rows]
    tables = fixed(MemoryEngine(data_of(codes, [2, 2, 1])), 0, [1, 2], [])
    assert slices(tables, 0) == []
    assert (tables.n_rows[0], tables.n_slices[0]) == (0, 0)
    assert tables.n_rows[1] == min(n_rows, 2)
    assert len(fixed(MemoryEngine(data_of(codes, [2, 2, 1])), 0, [], [1])) == 0


@SHAPES
@given(table=categorical_tables(max_rows=150, max_columns=6, missing=True), data=st.data())
def test_partitioning_the_rows_changes_nothing(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    n_parts = data.draw(st.integers(1, 4))
    whole = MemoryEngine(data_of(codes, cards))
    parts = PartitionedEngine(data_of(codes, cards), n_parts)
    for one, other in [
        (fixed(whole, x, [y], z), fixed(parts, x, [y], z)),
        (round_robin(whole, x, [y, *z]), round_robin(parts, x, [y, *z])),
    ]:
        assert one.log_possible.tolist() == other.log_possible.tolist()
        for t in range(len(one)):
            assert_equals_reference(one, t, dict(enumerate(slices(other, t))))  # type: ignore[arg-type]
    added = [
        cells
        for k in range(n_parts)
        for cells in slices(fixed(MemoryEngine(data_of(codes[:, k::n_parts], cards)), x, [y], []), 0)
    ]
    assert [sum(added, start=Counter())] == (slices(fixed(whole, x, [y], []), 0) or [Counter()])


@SHAPES
@given(table=categorical_tables(max_rows=150, missing=True), data=st.data())
def test_the_order_of_the_rows_changes_nothing(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    order = np.random.default_rng(0).permutation(codes.shape[1])
    one = fixed(MemoryEngine(data_of(codes, cards)), x, [y], z)
    other = fixed(MemoryEngine(data_of(codes[:, order], cards)), x, [y], z)
    assert np.array_equal(one.cells, other.cells)


@pytest.mark.parametrize(
    ("x", "ys", "given"), [(3, [0], []), (0, [3], []), (0, [1], [3]), (0, [-1], []), (-1, [0], [])]
)
def test_columns_that_do_not_exist_are_refused(x: int, ys: list[int], given: list[int]) -> None:
    codes, cards = random_table(20, 3, 2, 0.0, 0)
    counts = MemoryEngine(data_of(codes, cards))
    with pytest.raises(RequestError, match="indices run from 0 to 2"):
        fixed(counts, x, ys, given)
    with pytest.raises(RequestError, match="indices run from 0 to 2"):
        BayesianTest().bind(counts).fixed(x, ys, given)


@SHAPES
@given(seed=st.integers(0, 2**32 - 1))
def test_what_was_asked_before_does_not_matter(seed: int) -> None:
    """An engine goes on from where the last question left the rows: more given variables, or more ys."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1 if seed % 2 else 0, 3, (6, 40)).astype(np.int8)
    data = data_of(codes, [3] * 6)
    engine, members = MemoryEngine(data), rng.permutation(6)
    for _ in range(12):
        x, size = int(members[0]), int(rng.integers(0, 5))
        if rng.random() < 0.3:
            members = rng.permutation(6)
        asked = Questions.fixed(x, rng.permutation(members[1:])[:3], members[1 : 1 + size])
        if rng.random() < 0.1:
            asked = Questions.fixed(x, [x], np.repeat(members[1], 9))  # given again and again
        found, fresh = engine.tables(asked), MemoryEngine(data).tables(asked)
        assert np.array_equal(found.start, fresh.start)
        assert np.array_equal(found.cells, fresh.cells)
        assert np.array_equal(found.answered()[1].keys, fresh.answered()[1].keys)
