"""The score that is kept up to date equals the score from scratch, whoever counts; lists change nothing."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibmap import BayesianTest, FunctionTest
from ibmap.criteria.ib import BoundIBScore
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.independence import BoundTest
from ibmap.learners import ibmap_hc
from ibmap.results.result_file import read_result, result_of_learned, result_text
from ibmap.search import Climb, climb
from ibmap.search.climb import Climbing
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of, with_wide_columns
from tests.independence.agreement import OPTIONS
from tests.reference.score import pair_scores, total
from tests.reference.tables import Codes, categorical_tables, random_table

Pairs = list[tuple[int, int]]
PAIRS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1]), max_size=6)


def within(pairs: set[tuple[int, int]], n: int) -> Pairs:
    return sorted(pair for pair in pairs if max(pair) < n)


def edges_of(score: Any) -> Pairs:
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(adjacency_of(score)))]


def new(
    engine: Any,
    table: Codes,
    edges: Pairs = (),
    locked: Pairs = (),
    n_jobs: int = 1,
    patience: int = 0,
    **options: Any,
) -> Climbing:
    test = BayesianTest(**options).bind(engine(data_of(*table)))
    return Climb(patience).begin(BoundIBScore(test, len(table[1]), n_jobs), edges, locked)


def adjacency_of(climb: Climbing) -> NDArray[np.bool_]:
    n = climb.score.n
    adjacency = np.zeros((n, n), bool)
    adjacency[tuple(climb.pairs.T)] = True
    return adjacency | adjacency.T


def assert_same_state(score: Climbing, fresh: Climbing) -> None:
    assert score.pair_scores == pytest.approx(fresh.pair_scores, rel=1e-9, abs=1e-300)
    assert score.total == pytest.approx(fresh.total, rel=1e-9)
    assert np.array_equal(score.pairs, fresh.pairs)
    assert score.state.least_credible() == fresh.state.least_credible()


@settings(max_examples=60)
@given(table=categorical_tables(max_columns=7, missing=True), edges=PAIRS, options=OPTIONS)
def test_the_score_from_scratch_agrees_with_the_twin(
    table: Codes, edges: set[tuple[int, int]], options: dict[str, Any]
) -> None:
    codes, cards = table
    n = len(cards)
    for start in ([], within(edges, n)):
        adjacency = np.zeros((n, n), bool)
        for x, y in start:
            adjacency[x, y] = adjacency[y, x] = True
        expected = pair_scores(codes, cards, adjacency, **options)
        for engine in (MemoryEngine, HiddenEngine, PartitionedEngine):
            score = new(engine, table, start, **options)
            assert score.pair_scores == pytest.approx(expected, rel=1e-9, abs=1e-300)
            assert score.total == pytest.approx(total(expected), rel=1e-9)
            assert not score.pair_scores.diagonal().any()
            assert np.array_equal(adjacency_of(score), adjacency)
            assert score.n_tests == n * (n - 1)


@pytest.mark.parametrize("engine", [MemoryEngine, HiddenEngine])
@pytest.mark.parametrize("patience", [0, 3])
@settings(max_examples=30)
@given(
    table=categorical_tables(max_columns=7, max_levels=5, missing=True),
    edges=PAIRS,
    locked=PAIRS,
    options=OPTIONS,
)
def test_score_after_every_ascent_equals_score_from_scratch(
    engine: Any,
    patience: int,
    table: Codes,
    edges: set[tuple[int, int]],
    locked: set[tuple[int, int]],
    options: dict[str, Any],
) -> None:
    n = len(table[1])
    start, fixed = within(edges, n), within(locked, n)
    score = new(engine, table, start, fixed, patience=patience, **options)
    height = score.total
    for _ in range(50):
        ascents = score.advance(1)
        if not ascents:
            break
        (step,) = ascents
        assert step.x < step.y
        assert (step.x, step.y) not in fixed
        assert step.added == adjacency_of(score)[step.x, step.y]
        assert step.score == score.total
        assert step.gain == pytest.approx(score.total - height, rel=1e-6, abs=1e-9)
        assert step.gain > 1e-9
        height = score.total
        assert_same_state(score, new(engine, table, edges_of(score), fixed, **options))
    assert not score.saved()["tried"]  # a search that ended leaves no marks
    assert [pair in start for pair in fixed] == [pair in edges_of(score) for pair in fixed]


@pytest.mark.parametrize("engine", [MemoryEngine, HiddenEngine])
@pytest.mark.parametrize("patience", [0, 3])
@settings(max_examples=30)
@given(table=categorical_tables(max_columns=6, max_levels=3))
def test_a_search_that_ended_stays_where_it_is(engine: Any, patience: int, table: Codes) -> None:
    score = new(engine, table, patience=patience)
    score.advance(999)
    fresh = new(engine, table, edges_of(score))
    assert_same_state(score, fresh)
    assert score.advance(1) == []
    assert_same_state(score, fresh)


@pytest.mark.parametrize("patience", [0, 2])
def test_ascents_one_by_one_are_those_of_one_go(patience: int) -> None:
    table = random_table(300, 12, 3, 0.0, seed=5)
    one_go = new(MemoryEngine, table, patience=patience)
    expected = one_go.advance(1000)
    one_by_one = new(MemoryEngine, table, patience=patience)
    found = []
    while step := one_by_one.advance(1):
        found += step
    assert found == expected
    assert len(expected) >= 4
    assert np.array_equal(one_go.pair_scores, one_by_one.pair_scores)


@pytest.mark.parametrize("engine", [MemoryEngine, HiddenEngine])
@pytest.mark.parametrize("budget", [1, 2, 7])
def test_a_search_goes_on_where_its_budget_ended(engine: Any, budget: int) -> None:
    table, patience = random_table(200, 9, 3, 0.0, seed=6), 6
    one_go, in_parts = (new(engine, table, patience=patience) for _ in range(2))
    expected, found, calls = one_go.advance(1000), [], 0
    while not in_parts.finished:
        before = in_parts.n_tests
        found += in_parts.advance(1000, budget)
        assert in_parts.n_tests - before <= budget * 16  # two rows of eight a proposal
        calls += 1
    assert one_go.finished
    assert found == expected
    assert calls > len(expected) / budget
    assert one_go.n_tests == in_parts.n_tests
    assert np.array_equal(one_go.pairs, in_parts.pairs)


@pytest.mark.parametrize("patience", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_bits_take_the_steps_of_tables(seed: int, patience: int) -> None:
    table = random_table(250, 10, [2, 3, 12, 4, 2][seed], 0.0 if seed < 3 else 0.05, seed)
    compiled, general = (new(engine, table, patience=patience) for engine in (MemoryEngine, HiddenEngine))
    steps, others = compiled.advance(999), general.advance(999)
    assert [step[:3] for step in steps] == [step[:3] for step in others]
    assert [step.score for step in steps] == pytest.approx([step.score for step in others], rel=1e-9)
    assert compiled.n_tests == general.n_tests
    assert_same_state(compiled, general)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(n_jobs: int) -> None:
    for levels in (2, 5):
        table = with_wide_columns(random_table(200, 90, levels, 0.0, seed=levels), 5, 40)
        one, many = (new(MemoryEngine, table, n_jobs=jobs, patience=1) for jobs in (1, n_jobs))
        assert np.array_equal(one.pair_scores, many.pair_scores)
        assert one.advance(20) == many.advance(20)
        assert np.array_equal(one.pair_scores, many.pair_scores)
        assert one.n_tests == many.n_tests


def test_more_variables_than_a_block_or_a_tile() -> None:
    rng = np.random.default_rng(3)
    cards = [2 if v % 5 else 3 for v in range(600)]
    codes = np.array([rng.integers(n, size=70) for n in cards])
    codes[:, :3] = 0
    codes[17, :2] = -1  # one loose variable
    score = new(MemoryEngine, (codes, cards))
    assert np.allclose(score.pair_scores, score.pair_scores.T, rtol=1e-12, atol=0)  # no blankets: symmetric
    row = BayesianTest().bind(HiddenEngine(data_of(codes, cards)))
    for x in (0, 17, 255, 256, 599):
        others = np.delete(np.arange(600), x)
        expected = row.fixed(x, others, np.array([], int)).log_independent
        assert score.pair_scores[x, others] == pytest.approx(expected, rel=1e-9)
    assert score.total == pytest.approx(score.pair_scores.sum(), rel=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_variables(n: int) -> None:
    score = new(MemoryEngine, (np.zeros((n, 5), int), [1] * n))
    assert score.total == pytest.approx(n * (n - 1) * np.log(0.5))
    assert score.advance(5) == []


@pytest.mark.parametrize(("apart", "first"), [(0.0, (0, 1)), (1e-9, (0, 1)), (1e-7, (1, 2))])
def test_rounding_does_not_decide_which_pair_is_proposed(apart: float, first: tuple[int, int]) -> None:
    below = {(0, 1): 0.0, (0, 2): apart, (1, 2): 2 * apart}

    def almost_tied(x: int, y: int, given: tuple[int, ...]) -> float:
        return -2.5 - below[min(x, y), max(x, y)] / 2

    (step,) = Climb().begin(BoundIBScore(FunctionTest(almost_tied).bind(None), 3)).advance(1)
    assert (step.x, step.y) == first  # ties, to nine digits, go to the smallest (i, j)


def test_everything_locked_leaves_nothing_to_propose() -> None:
    table = random_table(100, 5, 3, 0.0, seed=1)
    for engine in (MemoryEngine, HiddenEngine):
        score = new(engine, table, [(0, 1)], list(combinations(range(5), 2)), patience=5)
        assert score.advance(10) == []
        assert edges_of(score) == [(0, 1)]
        assert score.n_tests == 20


def test_scores_above_zero_are_refused() -> None:
    class Liar(BoundTest):
        def fixed(self, x: int, ys: Any, given: Any) -> Any:
            answers = FunctionTest(lambda x, y, given: -1.0).bind(None).fixed(x, ys, given)
            answers.log_independent[:] = 0.5
            return answers

    with pytest.raises(RequestError, match="not the logarithm of a probability"):
        Climb().begin(BoundIBScore(Liar(), 3))


# Very many variables: pairs above a floor in place of a matrix


def groups(n: int, rows: int, levels: int = 2, seed: int = 0) -> Codes:
    """Groups of four noisy copies."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, rows))
    for x in range(n):
        if x % 4:
            same = rng.random(rows) > 0.15 * (1 + x % 4)
            codes[x] = np.where(same, codes[x - x % 4], codes[x])
    return codes, [levels] * n


def of_all_kinds(n: int) -> Codes:
    """Variables of three, of one and of forty levels, and with missing values."""
    codes, cards = groups(n, 200)
    for at, size in ((5, 3), (9, 1), (12, 40)):
        codes[at], cards[at] = np.arange(200) % size, size
    codes[20:30, ::7] = -1
    return codes, cards


def by_lists(listed: float, *arguments: Any, **more: Any) -> Climbing:
    """Return a climb that keeps no matrix, and lists so many pairs at first."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(climb, "MATRIX", 0)
        patched.setattr(climb, "LISTED", listed)
        running = new(*arguments, **more)
        ended(running)
        assert running.pair_scores is None
        return running


def ended(running: Climbing) -> list[Any]:
    running.steps = []
    while not running.finished and len(running.steps) < 150:
        running.steps += running.advance(7, 50)
    return running.steps


def assert_same_steps(one: Any, other: Any) -> None:
    assert [step[:3] for step in one.steps] == [step[:3] for step in other.steps]
    for field in ("gain", "score"):
        here, there = ([getattr(step, field) for step in some.steps] for some in (one, other))
        assert here == pytest.approx(there, rel=1e-9, abs=1e-9)
    assert np.array_equal(one.pairs, other.pairs)
    assert (one.total, one.n_tests) == (pytest.approx(other.total, rel=1e-12), other.n_tests)


@pytest.mark.parametrize("engine", [MemoryEngine, HiddenEngine])
@settings(max_examples=20)
@given(
    table=categorical_tables(max_columns=12, max_levels=12, missing=True),
    patience=st.sampled_from([0, 3, 10**6]),
    listed=st.sampled_from([0.1, 1, 4]),
    edges=PAIRS,
    locked=PAIRS,
    options=OPTIONS,
)
def test_lists_take_the_steps_of_the_matrix(
    engine: Any, table: Codes, patience: int, listed: float, edges: Any, locked: Any, options: Any
) -> None:
    n = len(table[1])
    how = {"edges": within(edges, n), "locked": within(locked, n), "patience": patience, **options}
    other = new(engine, table, **how)
    ended(other)
    assert_same_steps(by_lists(listed, engine, table, **how), other)


@pytest.mark.parametrize(
    ("table", "patience", "listed"),
    [
        (groups(40, 200), 0, 100),
        (groups(70, 100, seed=70), 40, 0.5),
        (groups(131, 300, 3, seed=131), 10, 1),
        (groups(258, 40, seed=258), 20, 2),
        (groups(90, 25, 4, seed=90), 15, 1),
        (of_all_kinds(71), 8, 3),
    ],
)
def test_lists_of_many_variables_take_the_steps_of_the_matrix(
    table: Codes, patience: int, listed: float
) -> None:
    other = new(MemoryEngine, table, patience=patience)
    ended(other)
    one = by_lists(listed, MemoryEngine, table, patience=patience)
    assert_same_steps(one, other)
    edges, of_edges, absent, of_absent = one.listed(20)
    for pairs, sigma in ((edges, of_edges), (absent, of_absent)):
        i, j = pairs.T
        assert sigma[:, 0] == pytest.approx(other.pair_scores[i, j], rel=1e-9, abs=1e-300)
        assert sigma[:, 1] == pytest.approx(other.pair_scores[j, i], rel=1e-9, abs=1e-300)
    assert not {tuple(pair) for pair in absent.tolist()} & {tuple(pair) for pair in edges.tolist()}


def test_lists_that_were_saved_go_on_as_if_nothing_had_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climb, "MATRIX", 0)
    whole, first, second = (new(MemoryEngine, groups(120, 60, seed=5), patience=4) for _ in range(3))
    flips = ended(whole)
    done = first.advance(12) + first.advance(1, 2)
    second.restore([(x, y) for x, y, *_ in done], first.saved())
    assert ended(second) == flips[len(done) :]
    assert np.array_equal(second.pairs, whole.pairs)


def test_results_are_those_of_the_matrix_but_for_what_is_not_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    data = data_of(*groups(60, 300, seed=1))
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
    here, there, n = found.edge_table, whole.edge_table, whole.graph.n_edges
    assert np.array_equal(here.pairs[:n], there.pairs[:n])
    assert here.log_posteriors[:n] == pytest.approx(there.log_posteriors[:n], rel=1e-9)
    assert found.warnings == whole.warnings
    text = result_text(
        result_of_learned(found.with_effects(data), MemoryEngine(data), {"path": tmp_path / "t"})
    )
    (tmp_path / "result.json").write_text(text)
    assert read_result(tmp_path / "result.json").learned.graph == whole.graph
