"""The climb without a matrix takes the steps of the one with it, however short its lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import CategoricalData
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest
from ibmap.kernels.wide_lists import column_of_lists, mark_list
from ibmap.learners import ibmap_hc
from ibmap.results.result_file import read_result, result_of_learned, result_text
from ibmap.scores.ib import ib_score
from ibmap.search import Climb, climb, wide
from ibmap.search.climb import Climbing
from ibmap.search.wide import WideClimbing
from ibmap.search.wide_lists import unconditional
from tests.reference import wide as reference


def table(n, rows, levels=2, seed=0, noise=0.15):
    """Groups of four noisy copies."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, rows))
    for x in range(n):
        if x % 4:
            same = rng.random(rows) > noise * (1 + x % 4)
            codes[x] = np.where(same, codes[x - x % 4], codes[x])
    names = tuple(f"x{j}" for j in range(n))
    return CategoricalData(codes, names, (tuple(range(levels)),) * n)


def scored(data, n_threads=1, **options):
    engine = MemoryEngine(data)
    return ib_score(BayesianTest(**options).bind(engine), data.n_variables, n_threads)


def short_lists(monkeypatch, listed, per_row, per_owner):
    monkeypatch.setattr(wide, "AT_LEAST", listed)
    monkeypatch.setattr(wide, "LISTED", 0)
    monkeypatch.setattr(wide, "PER_ROW", per_row)
    monkeypatch.setattr(wide, "PER_OWNER", per_owner)


def ended(running, limit=10_000):
    found = []
    while not running.finished and len(found) < limit:
        found += running.advance(7, 50)
    return found


def both_ways(sigma, pairs):
    i, j = pairs.T
    return np.stack([sigma[i, j], sigma[j, i]], axis=1)


def agree(one, other):
    assert np.array_equal(one.pairs, other.pairs)
    assert one.total == pytest.approx(other.total, rel=1e-12)
    assert one.n_tests == other.n_tests


def same_flips(one, other):
    """Sums of rows are added up in another order."""
    assert [flip[:3] for flip in one] == [flip[:3] for flip in other]
    assert [flip.gain for flip in one] == pytest.approx([flip.gain for flip in other], rel=1e-8, abs=1e-9)
    assert [flip.score for flip in one] == pytest.approx([flip.score for flip in other], rel=1e-12)


@pytest.mark.parametrize(
    ("n", "rows", "levels", "patience", "lists"),
    [
        (40, 200, 2, 0, (100_000, 256, 16)),
        (70, 100, 2, 40, (30, 4, 1)),
        (131, 60, 2, 5, (200, 16, 2)),
        (131, 300, 3, 10, (50, 8, 1)),
        (258, 40, 2, 20, (1, 1, 1)),
        (300, 500, 2, 3, (400, 64, 4)),
        (90, 25, 4, 15, (60, 5, 2)),
    ],
)
def test_the_same_steps(monkeypatch, n, rows, levels, patience, lists):
    short_lists(monkeypatch, *lists)
    score = scored(table(n, rows, levels, seed=n))
    one, other = WideClimbing(score, patience), Climbing(score, patience)
    assert one._row_sum == pytest.approx(other.state.row_sum, rel=1e-12)
    same_flips(ended(one), ended(other))
    agree(one, other)
    assert one._row_sum == pytest.approx(other.state.row_sum, rel=1e-12)
    edges, of_edges, absent, of_absent = one.listed(20)
    sigma = other.pair_scores
    assert np.array_equal(of_edges, both_ways(sigma, edges))
    assert of_absent == pytest.approx(both_ways(sigma, absent), rel=1e-9, abs=1e-300)
    assert not {tuple(pair) for pair in absent.tolist()} & {tuple(pair) for pair in edges.tolist()}


@settings(deadline=None, max_examples=25)
@given(
    st.integers(33, 90),
    st.integers(2, 120),
    st.integers(2, 3),
    st.integers(0, 30),
    st.tuples(st.integers(1, 500), st.integers(1, 40), st.integers(1, 8)),
    st.sampled_from([{}, {"combine": "global"}, {"slices": "all"}, {"prior": 0.9}, {"prior_counts": "bdeu"}]),
    st.integers(0, 10),
)
def test_the_same_steps_on_random_tables(n, rows, levels, patience, lists, options, seed):
    with pytest.MonkeyPatch.context() as monkeypatch:
        short_lists(monkeypatch, *lists)
        score = scored(table(n, rows, levels, seed), **options)
        rng = np.random.default_rng(seed)
        locked = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(seed)]
        one, other = WideClimbing(score, patience, (), locked), Climbing(score, patience, (), locked)
        same_flips(ended(one, 150), ended(other, 150))
        agree(one, other)


def test_threads_change_nothing(monkeypatch):
    short_lists(monkeypatch, 500, 32, 4)
    data = table(700, 80, seed=3)
    one, many = (WideClimbing(scored(data, threads), 3) for threads in (1, 2))
    assert np.array_equal(one._row_sum, many._row_sum)
    assert ended(one, 200) == ended(many, 200)


def test_a_search_that_was_saved_goes_on_as_if_nothing_had_happened():
    score = scored(table(120, 60, seed=5))
    whole, first, second = (WideClimbing(score, 4) for _ in range(3))
    flips = ended(whole)
    done = first.advance(12) + first.advance(1, 2)
    second.restore([(x, y) for x, y, *_ in done], first.saved())
    assert ended(second) == flips[len(done) :]
    agree(second, whole)


def test_a_start_and_locked_pairs():
    score = scored(table(100, 80, seed=2))
    start, locked = [(0, 1), (1, 50), (7, 99)], [(0, 1), (4, 5), (8, 9)]
    one, other = WideClimbing(score, 5, start, locked), Climbing(score, 5, start, locked)
    assert one.total == pytest.approx(other.total, rel=1e-12)
    mine, theirs = ended(one), ended(other)
    assert [flip[:3] for flip in mine] == [flip[:3] for flip in theirs]
    assert [flip.gain for flip in mine] == pytest.approx([flip.gain for flip in theirs], rel=1e-9)
    joined = {tuple(pair) for pair in one.pairs.tolist()}
    assert (0, 1) in joined
    assert not joined & {(4, 5), (8, 9)}


@pytest.mark.parametrize(("n", "n_listed"), [(33, 10), (64, 5000), (130, 100), (261, 1000)])
def test_sums_and_lists_of_the_graph_without_edges(n, n_listed):
    score = scored(table(n, 30, seed=n))
    sigma = np.empty((n, n))
    score.fill_empty(sigma)
    found = unconditional(score, n_listed)
    assert found.row_sum == pytest.approx([reference.total(row) for row in sigma.tolist()], rel=1e-12)
    floor = found.floor - 1e-12 * abs(found.floor) if found.floor < np.inf else np.inf
    expected = [(x, y) for x, y, _ in reference.below(sigma.tolist(), floor)]
    listed = [tuple(pair) for pair in found.pairs.tolist()]
    assert set(expected) <= set(listed)
    assert found.values == pytest.approx([sigma[pair] for pair in listed], rel=1e-12)
    assert found.values.tolist() == sorted(found.values)
    assert len(listed) <= n_listed
    assert found.floor == np.inf or np.isclose(sigma, found.floor, rtol=1e-12).any()


@given(
    st.dictionaries(
        st.integers(0, 9), st.dictionaries(st.integers(0, 9), st.floats(-9, 0), max_size=3), max_size=6
    ),
    st.integers(0, 9),
)
def test_columns_of_lists(lists, v):
    floors = {i: -float(i) for i in lists}
    keys, values = np.full((len(lists), 3), 10, np.int32), np.zeros((len(lists), 3))
    for t, mine in enumerate(lists.values()):
        order = sorted(mine)
        keys[t, : len(order)], values[t, : len(order)] = order, [mine[k] for k in order]
    out, exact = np.zeros(10), np.zeros(10, bool)
    owners = np.array(list(lists), np.int64)
    marks = np.zeros((4, 1), np.uint64)
    for t in range(len(lists)):
        mark_list(marks, t, np.array([0, 1, 2, 3], np.int32), True)
        mark_list(marks, t, np.array([0, 1, 2, 3], np.int32), False)
        mark_list(marks, t, keys[t], True)
    column_of_lists(v, marks, owners, keys, values, np.array(list(floors.values()), float), out, exact)
    expected = reference.column_of_lists(v, lists, floors)
    assert {i: (out[i], bool(exact[i])) for i in lists} == expected


def test_the_choice_is_made_by_size(monkeypatch):
    monkeypatch.setattr(climb, "MATRIX", 50)
    assert isinstance(Climb().begin(scored(table(60, 20))), WideClimbing)
    assert isinstance(Climb().begin(scored(table(50, 20))), Climbing)
    assert isinstance(Climb().begin(scored(mixed(60))), WideClimbing)


def mixed(n):
    """A table with variables of three, of one and of forty levels, and with missing values."""
    data = table(n, 200)
    codes, levels = data.codes.copy(), list(data.levels)
    for at, size in ((5, 3), (9, 1), (12, 40)):
        codes[at], levels[at] = np.arange(200) % size, tuple(range(size))
    codes[20:30, ::7] = -1
    return CategoricalData(codes, data.names, tuple(levels))


def test_variables_of_all_kinds():
    score = scored(mixed(71))
    one, other = WideClimbing(score, 8), Climbing(score, 8)
    same_flips(ended(one), ended(other))
    agree(one, other)


def test_results_are_those_of_the_matrix_but_for_what_is_not_listed(monkeypatch, tmp_path):
    data = table(60, 300, seed=1)
    whole = ibmap_hc(data)
    monkeypatch.setattr(climb, "MATRIX", 50)
    found = ibmap_hc(data)
    assert found.graph == whole.graph
    steps = [[(step.x, step.y, step.added) for step in one.history] for one in (found, whole)]
    assert steps[0] == steps[1]
    assert found.score == pytest.approx(whole.score, rel=1e-12)
    assert found.pair_scores is None
    assert "60 variables no matrix" in found.listed_in_words
    assert whole.listed_in_words == ""
    table_here, table_there = found.edge_table, whole.edge_table
    n = table_here.n_edges
    assert np.array_equal(table_here.pairs[:n], table_there.pairs[:n])
    assert np.array_equal(table_here.log_posteriors[:n], table_there.log_posteriors[:n])
    assert found.warnings == whole.warnings
    text = result_text(
        result_of_learned(found.with_effects(data), MemoryEngine(data), {"path": tmp_path / "t"})
    )
    (tmp_path / "result.json").write_text(text)
    assert read_result(tmp_path / "result.json").learned.graph == whole.graph
