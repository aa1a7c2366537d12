"""Chains of models: those of the core equal the slow ones bit by bit, are checked, and answer Ctrl-C."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from ibmap.graph import Graph
from ibmap.model.cell_program import cell_program
from ibmap.synthetic import FactorModel, PairwiseModel
from tests.core.interrupting import interrupted
from tests.reference.worlds import slow_binary_chain, slow_cells, slow_chain

SEEDS = st.integers(0, 2**64 - 1)
SCALES = st.sampled_from([0.3, 1.0, 5.0, 400.0])  # with the last, products would overflow


def random_graph(rng, n):
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.5]
    return Graph.from_pairs(np.array(pairs, np.int64).reshape(-1, 2), [f"x{i}" for i in range(n)])


def around(graph):
    """Where the neighbours of each variable start, the neighbours, and the edge of each."""
    found = [
        sorted((j if i == k else k, e) for e, (k, j) in enumerate(graph.pairs.tolist()) if i in (k, j))
        for i in range(graph.n_variables)
    ]
    start = np.cumsum([0, *map(len, found)])
    flat = np.array([pair for some in found for pair in some], np.int64).reshape(-1, 2)
    return start, flat[:, 0].copy(), flat[:, 1]


def binary(model, seed, sweeps, n_rows, **options):
    start, neighbours, edges = around(model.graph)
    rows = np.empty((n_rows, len(model.fields)), np.uint8)
    couplings = model.couplings[edges]
    _core.sample_binary(
        model.fields, start, neighbours, couplings, seed=seed, sweeps=sweeps, rows=rows, **options
    )
    return rows


def tables(model, seed, sweeps, thin, n_rows, **options):
    start, neighbours, edges = around(model.graph)
    owner = np.repeat(np.arange(len(model.fields)), np.diff(start))
    flat = [
        (model.factors[e].T if i < j else model.factors[e]).ravel()  # a row for each level of the neighbour
        for i, j, e in zip(owner.tolist(), neighbours.tolist(), edges.tolist(), strict=True)
    ]
    rows = np.empty((n_rows, len(model.fields)), np.uint8)
    _core.sample_tables(
        model.cardinalities,
        np.concatenate([np.empty(0), *model.fields]),
        start,
        neighbours,
        np.concatenate([np.empty(0), *flat]),
        seed=seed,
        sweeps=sweeps,
        thin=thin,
        rows=rows,
        **options,
    )
    return rows


@st.composite
def binary_models(draw, scales=SCALES):
    rng, scale = np.random.default_rng(draw(st.integers(0, 2**32))), draw(scales)
    graph = random_graph(rng, draw(st.integers(0, 7)))
    return PairwiseModel(graph, rng.normal(size=graph.n_variables), scale * rng.normal(size=graph.n_edges))


@st.composite
def table_models(draw, scales=SCALES):
    rng, scale = np.random.default_rng(draw(st.integers(0, 2**32))), draw(scales)
    graph = random_graph(rng, draw(st.integers(0, 6)))
    levels = rng.integers(1, draw(st.sampled_from([3, 6, 20])), size=graph.n_variables)
    fields = [rng.normal(size=k) for k in levels]
    factors = [scale * rng.normal(size=(levels[i], levels[j])) for i, j in graph.pairs]
    return FactorModel(graph, fields, factors)


@settings(deadline=None, max_examples=60)
@given(model=binary_models(st.sampled_from([0.3, 1.0, 5.0])), seed=SEEDS)
def test_binary_chains_equal_the_slow_ones(model, seed):
    rows = binary(model, seed, 4, 67)
    for row in (0, 1, 63, 64, 66):
        assert rows[row].tolist() == slow_binary_chain(model, seed, row, 4)


@settings(deadline=None, max_examples=60)
@given(model=table_models(), seed=SEEDS)
def test_chains_of_tables_equal_the_slow_ones(model, seed):
    rows = tables(model, seed, 3, 0, 66)
    for row in (0, 1, 63, 64, 65):
        assert rows[row].tolist() == list(slow_chain(model, seed, row, 3))[-1]


@settings(deadline=None, max_examples=60)
@given(model=table_models(), seed=SEEDS, sweeps=st.integers(0, 3), thin=st.integers(1, 3))
def test_one_chain_is_the_slow_one_read_on_its_way(model, seed, sweeps, thin):
    states = list(slow_chain(model, seed, 0, sweeps + 4 * thin))
    assert tables(model, seed, sweeps, thin, 4).tolist() == states[sweeps + thin :: thin]


@settings(deadline=None, max_examples=30)
@given(
    one=binary_models(st.sampled_from([0.3, 5.0])),
    other=table_models(st.sampled_from([0.3, 5.0])),
    seed=SEEDS,
    thin=st.integers(0, 2),
)
def test_products_and_logarithms_agree(one, other, seed, thin):
    products, logs = (binary(one, seed, 5, 64, largest_log=limit) for limit in (700.0, 0.0))
    np.testing.assert_array_equal(products, logs)
    products, logs = (tables(other, seed, 5, thin, 64, largest_log=limit) for limit in (700.0, 0.0))
    np.testing.assert_array_equal(products, logs)


# What makes no sense

START, NONE, TWO = np.zeros(3, np.int64), np.empty(0, np.int64), np.array([2, 2])
ROWS = np.zeros((1, 2), np.uint8)


def call_binary(start=START, neighbours=NONE, couplings=0, rows=ROWS):
    _core.sample_binary(np.zeros(2), start, neighbours, np.zeros(couplings), seed=0, sweeps=1, rows=rows)


def call_tables(start=START, neighbours=NONE, levels=TWO, fields=4, tables=0, rows=ROWS):
    values = np.zeros(fields), start, neighbours, np.zeros(tables)
    _core.sample_tables(levels, *values, seed=0, sweeps=1, thin=0, rows=rows)


@pytest.mark.parametrize("call", [call_binary, call_tables])
@pytest.mark.parametrize(
    ("start", "neighbours", "message"),
    [
        ([0, 0], [], "start must rise"),
        ([0, 0, 1], [], "start must rise"),
        ([1, 0, 0], [], "start must rise"),
        ([0, 2, 1], [1], "start must rise"),
        ([0, 1, 1], [2], "not a variable"),
        ([0, 1, 1], [-1], "not a variable"),
    ],
)
def test_neighbours_are_checked(call, start, neighbours, message):
    with pytest.raises(ValueError, match=message):
        call(np.array(start, np.int64), np.array(neighbours, np.int64))


@pytest.mark.parametrize(
    ("call", "options", "message"),
    [
        (call_binary, {"couplings": 1}, "a coupling for every neighbour"),
        (call_binary, {"rows": ROWS[:, :1].copy()}, "a column for every variable"),
        (call_tables, {"rows": ROWS[:, :1].copy()}, "a column for every variable"),
        (call_tables, {"levels": np.array([0, 4])}, "1 to 256 levels"),
        (call_tables, {"levels": np.array([2, 257])}, "1 to 256 levels"),
        (call_tables, {"fields": 5}, "fields and tables"),
        (call_tables, {"tables": 4}, "fields and tables"),
    ],
)
def test_sizes_are_checked(call, options, message):
    with pytest.raises(ValueError, match=message):
        call(**options)


@pytest.mark.parametrize("call", [call_binary, call_tables])
@pytest.mark.parametrize("rows", [ROWS.astype(np.int64), np.zeros((2, 3), np.uint8).T, [[0, 0]]])
def test_rows_that_could_not_be_filled_are_refused(call, rows):
    with pytest.raises(TypeError):
        call(rows=rows)


# Ctrl-C

COUPLED = PairwiseModel(Graph("ab", [("a", "b")]), [0.0, 0.0], [1.0])
ENDLESS = 2**62


@pytest.mark.parametrize(
    "endless",
    [
        lambda: binary(COUPLED, 0, ENDLESS, 1),
        lambda: tables(FactorModel.from_pairwise(COUPLED), 0, ENDLESS, 0, 1),
        lambda: tables(FactorModel.from_pairwise(COUPLED), 0, 1, ENDLESS, 1),
    ],
    ids=["binary", "tables", "one chain"],
)
def test_an_endless_chain_answers_ctrl_c(endless):
    interrupted(endless)


def mixed_world(rng):
    """Levels and numbers, edges, and an interaction of the first three variables if these have levels."""
    n = int(rng.integers(1, 7))
    sizes = [int(r) for r in rng.choice([0, 2, 3, 5], size=n)]
    graph = random_graph(rng, n)
    scopes = [tuple(pair) for pair in graph.pairs.tolist()]
    if n > 3 and all(sizes[:3]):
        scopes.append((0, 1, 2))
    tables = [rng.normal(size=[max(sizes[v], 1) for v in scope]) for scope in scopes]
    fields = [rng.normal(size=r) if r else np.array([rng.normal(), 1 + rng.random()]) for r in sizes]
    return sizes, fields, scopes, tables


@given(st.integers(0, 2**32), SEEDS, st.integers(0, 3))
@settings(deadline=None, max_examples=30)
def test_missing_cells_are_those_of_the_slow_loop(world, seed, sweeps):
    rng = np.random.default_rng(world)
    sizes, fields, scopes, tables = mixed_world(rng)
    rows = np.stack([rng.integers(r, size=70) if r else rng.normal(size=70) for r in sizes], axis=1).astype(
        float
    )
    absent = rng.random(rows.shape) < 0.5
    expected = [
        slow_cells(sizes, fields, scopes, tables, row, gaps, seed, k, sweeps)
        for k, (row, gaps) in enumerate(zip(rows, absent, strict=True))
    ]
    program = cell_program(sizes, fields, scopes, tables)
    for n_threads in (1, 3):
        filled = rows.copy()
        _core.sample_cells(
            *program, rows=filled, absent=absent, seed=seed, sweeps=sweeps, n_threads=n_threads
        )
        np.testing.assert_allclose(filled, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("levels", [2, -1]),
        ("fields", [0.0]),
        ("precisions", [1.0, 0.0]),
        ("factor_start", [0, 1, 3]),
        ("place", [0, 3]),
        ("scope", [0, 0]),
        ("scope", [1, 2]),
        ("strides", [0, -1]),
        ("tables", [0.0]),
    ],
)
def test_cells_of_broken_models_are_refused(field, value):
    program = cell_program([2, 0], [np.zeros(2), np.array([0.0, 1.0])], [(0, 1)], [np.zeros((2, 1))])
    broken = program._replace(**{field: np.array(value, getattr(program, field).dtype)})
    rows, absent = np.zeros((1, 2)), np.ones((1, 2), bool)
    with pytest.raises(ValueError, match=r"must|reaches|has levels"):
        _core.sample_cells(*broken, rows=rows, absent=absent, seed=0, sweeps=1)


@pytest.mark.parametrize("row", [[2.0, 0.0], [0.5, 0.0], [-1.0, 0.0], [0.0, np.nan], [0.0, np.inf]])
def test_cells_that_are_no_level_or_number_are_refused(row):
    program = cell_program([2, 0], [np.zeros(2), np.array([0.0, 1.0])], [(0, 1)], [np.zeros((2, 1))])
    with pytest.raises(ValueError, match="neither"):
        _core.sample_cells(*program, rows=np.array([row]), absent=np.zeros((1, 2), bool), seed=0, sweeps=1)
