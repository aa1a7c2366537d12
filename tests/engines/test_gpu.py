"""Rows on a GPU are those of the compiled code; NumPy stands in for the GPU where there is none."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibmap
from ibmap.criteria import AdaptiveScore, PairwiseScore, SaturatedScore
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine, gpu, gpu_rows
from ibmap.engines.gpu import GpuEngine, cupy_with_a_device
from ibmap.errors import DataWarning, EngineError, RequestError
from ibmap.independence import BayesianTest
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.search import climb
from ibmap.search import state as search_state
from tests.rows import whole

KINDS = [AdaptiveScore, PairwiseScore, SaturatedScore]


def library(name):
    """Return the name of a library, to be skipped with the reason if it cannot be used here."""
    try:
        cupy_with_a_device()
    except RequestError as error:
        return pytest.param(name, marks=pytest.mark.skip(reason=str(error)))
    return name


LIBRARIES = ["numpy", library("cupy")]


def table(n, rows, seed, constant=True):
    """Noisy copies, exclusive ors, and a constant."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, rows))
    for x in range(2, n):
        if rng.random() < 0.7:
            a, b = rng.integers(0, x, 2)
            both = codes[a] ^ codes[b] if rng.random() < 0.2 else codes[a]
            codes[x] = np.where(rng.random(rows) < 0.25, codes[x], both)
    levels = [(0, 1)] * n
    if constant and n > 3:
        codes[n // 2], levels[n // 2] = 0, (0,)
    return Table(codes, tuple(f"x{j}" for j in range(n)), tuple(levels))


def some_blankets(n, rng, most):
    sizes = rng.integers(0, min(most, n - 1) + 1, n)
    return [
        np.sort(rng.choice(np.delete(np.arange(n), x), size, replace=False)) for x, size in enumerate(sizes)
    ]


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 20), st.integers(1, 150), st.integers(0, 8), st.sampled_from(KINDS), st.integers(0, 999)
)
def test_rows_are_those_in_memory(n, rows, most, kind, seed):
    data, rng = table(n, rows, seed), np.random.default_rng(seed)
    blankets = some_blankets(n, rng, most)
    one, other = (kind().bind(engine, None) for engine in (GpuEngine(data, "numpy"), MemoryEngine(data)))
    for exact in (False, True):
        found, expected = (whole(score, range(n), blankets, exact=exact) for score in (one, other))
        assert found.evidence == pytest.approx(expected.evidence, rel=1e-7, abs=1e-7)
        assert found.values == pytest.approx(expected.values, rel=1e-12)
    values = (score.rows(range(n), blankets, floor=np.inf).value for score in (one, other))
    assert next(values) == pytest.approx(next(values))


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 15), st.integers(1, 100), st.floats(-8, 0), st.integers(0, 999))
def test_what_is_listed_is_what_memory_lists(n, rows, floor, seed):
    data, rng = table(n, rows, seed), np.random.default_rng(seed)
    blankets, also = some_blankets(n, rng, 3), some_blankets(n, rng, 2)
    one, other = (
        AdaptiveScore().bind(engine, None).rows(range(n), blankets, floor=floor, also=also)
        for engine in (GpuEngine(data, "numpy"), MemoryEngine(data))
    )
    for x in range(n):
        mine, theirs = (
            dict(zip(found.y[part].tolist(), found.t[part].tolist(), strict=True))
            for found in (one, other)
            for part in [slice(found.start[x], found.start[x + 1])]
        )
        for y in mine.keys() ^ theirs.keys():  # rounding may decide at the floor itself
            assert mine.get(y, theirs.get(y)) == pytest.approx(floor, abs=1e-9)
        both = mine.keys() & theirs.keys()
        assert [mine[y] for y in both] == pytest.approx([theirs[y] for y in both], rel=1e-7, abs=1e-7)
        if mine.keys() == theirs.keys():
            assert one.rest[x] == pytest.approx(other.rest[x], rel=1e-7)
    assert one.value == pytest.approx(other.value, rel=1e-7)


@pytest.mark.parametrize("arrays", LIBRARIES)
@pytest.mark.parametrize("whole", [10_000, 10])
def test_the_same_network(arrays, whole, monkeypatch):
    monkeypatch.setattr(search_state, "WHOLE", whole)
    monkeypatch.setattr(gpu_rows, "MODELS", 7)
    data = table(60, 400, 3)
    one = evidence_map(data, engine=lambda data: GpuEngine(data, arrays))
    other = evidence_map(data)
    assert one.graph == other.graph
    assert one.n_tests == other.n_tests
    assert one.score == pytest.approx(other.score, rel=1e-9)
    pairs = dict(one.edge_table.of_pair)
    for pair, logs in other.edge_table.of_pair.items():
        assert pairs[pair] == pytest.approx(logs, rel=1e-4, abs=1e-6)


def test_the_paper_search_and_the_estimator_take_it():
    data = table(20, 300, 1, constant=False)
    assert ibmap_hc(data, engine=lambda data: GpuEngine(data, "numpy")).graph == ibmap_hc(data).graph
    rows = data.codes.T
    learner = ibmap.EvidenceMAP(engine=lambda data: GpuEngine(data, "numpy")).fit(rows)
    assert learner.graph_ == ibmap.EvidenceMAP().fit(rows).graph_


@pytest.mark.parametrize("arrays", LIBRARIES)
@pytest.mark.parametrize("options", [{}, {"prior_counts": "bdeu"}, {"prior": 0.9, "combine": "global"}])
@pytest.mark.parametrize("matrix", [10_000, 10])
def test_the_same_climb(arrays, options, matrix, monkeypatch):
    monkeypatch.setattr(climb, "MATRIX", matrix)
    data = table(70, 300, 2, constant=False)
    test = BayesianTest(**options)
    one = ibmap_hc(data, test=test, patience=5, engine=lambda data: GpuEngine(data, arrays))
    other = ibmap_hc(data, test=test, patience=5)
    assert one.graph == other.graph
    assert [(step.x, step.y) for step in one.history] == [(step.x, step.y) for step in other.history]
    assert one.score == pytest.approx(other.score, rel=1e-12)


def test_few_rows_at_a_time_change_nothing(monkeypatch):
    monkeypatch.setattr(gpu, "IN_TESTS", 1 << 14)
    monkeypatch.setattr(gpu, "OF_MEMORY", np.inf)
    data = table(30, 200, 5)
    blankets = some_blankets(30, np.random.default_rng(0), 4)
    one, other = (
        AdaptiveScore().bind(engine, None) for engine in (GpuEngine(data, "numpy"), MemoryEngine(data))
    )
    found, expected = (whole(score, range(30), blankets).evidence for score in (one, other))
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_tables_that_a_gpu_does_not_take_are_counted_in_memory():
    data = load({"a": [0, 1, 2, 0], "b": [0, 1, 0, 1]})
    with pytest.warns(
        DataWarning, match="counted in memory, not on the GPU: it has variables of more than two"
    ):
        engine = GpuEngine(data, "numpy")
    assert engine.columns is None
    assert AdaptiveScore().bind(engine, None).rows([0], [np.array([1])]).value.shape == (1,)


def test_a_table_too_large_for_the_gpu_is_refused(monkeypatch):
    monkeypatch.setattr(gpu, "IN_TESTS", 10)
    with pytest.raises(
        EngineError, match=r"takes 2.3 KiB on the GPU, which has 10 bytes free: use the engine in memory"
    ):
        GpuEngine(table(20, 30, 0), "numpy")


def test_without_cupy_or_a_gpu_it_says_so():
    try:
        cupy_with_a_device()
    except RequestError as error:
        assert "needs CuPy, which is not installed" in str(error) or "GPU" in str(error)  # noqa: PT017


def test_replicates_and_copies_stay_on_the_gpu():
    engine = GpuEngine(table(5, 50, 0), "numpy")
    drawn = engine.resampled(np.random.default_rng(0))
    assert isinstance(drawn, GpuEngine)
    assert drawn.columns.shape == (5, 50)
    assert np.array_equal(engine.columns, engine.data.codes == 1)
    assert np.array_equal(pickle.loads(pickle.dumps(engine)).columns, engine.columns)
