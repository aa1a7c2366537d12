"""Rows in several places: sums of tables are those of dictionaries, and pairs those of single rows."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap import Table, load
from ibmap.data.packed_file import open_packed, write_packed
from ibmap.engines import MemoryEngine, Questions, Tables, ThreadEngine, add_tables, ask, partitioned
from ibmap.engines.bits import packed_data
from ibmap.engines.partitioned import ThreadPlaces, cut_rows, level_sizes
from ibmap.errors import EngineError, RequestError
from ibmap.learners import evidence_map, ibmap_hc
from tests.engines.partitioned import PartitionedEngine, data_of, with_wide_columns
from tests.engines.test_agreement import assert_same
from tests.reference.merging import added, pair_table
from tests.reference.tables import random_table


def cells_by_key(tables: Tables, t: int) -> dict[Any, int]:
    """Table t, its slices by the levels of the given variables."""
    asked, slices = tables.answered()
    q = int(asked.of_table[t])
    size = int(asked.given_start[q + 1] - asked.given_start[q])
    ends = np.cumsum([0, *(np.diff(slices.start) * np.diff(asked.given_start)).tolist()])
    keys = slices.keys[ends[q] : ends[q + 1]].reshape(-1, size) if size else None
    cells = tables.cells[:, tables.start[t] : tables.start[t + 1]].T.tolist()
    return {((() if keys is None else tuple(keys[k].tolist())), x, y): count for k, x, y, count in cells}


def test_parts_of_a_table_keep_its_orders() -> None:
    data = load({"a": [0, 1, 2] * 30, "b": [1, 0, 1] * 30}, ordinal=["a"])
    parts = [data.rows(np.arange(50)), data.rows(np.arange(50, 90))]
    assert not ThreadEngine(parts, 2).schema.difference(data.schema)
    with pytest.raises(EngineError, match="must have the same variables, kinds and levels"):
        ThreadEngine([parts[0], load(parts[1], nominal=["a"])], 2)


@given(
    st.integers(0, 999),
    st.integers(1, 4),
    st.sampled_from([2, 4, 12]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([40, 3000]),
)
def test_tables_are_added_as_dictionaries_are(
    seed: int, n_parts: int, levels: int, missing: float, many: int
) -> None:
    """Tables with few empty cells, and with many: 3000 levels against 3000."""
    codes, cards = with_wide_columns(random_table(120, 5, levels, missing, seed=seed), many, many)
    engine = PartitionedEngine(data_of(codes, cards), n_parts, seed)
    blankets = [np.array([1, 2]), np.array([5]), np.array([4, 0, 2]), np.empty(0, np.int64)]
    asked = Questions.rows([0, 3, 5, 1], blankets, 7)
    found = [part.tables(asked) for part in engine._parts]
    whole = add_tables(found)
    for t in range(len(whole)):
        cells = cells_by_key(whole, t)
        assert cells == added([cells_by_key(part, t) for part in found])
        assert list(cells) == sorted(cells)
    alone = MemoryEngine(data_of(codes, cards)).tables(asked)
    assert all(cells_by_key(whole, t) == cells_by_key(alone, t) for t in range(len(whole)))
    sets, expected = (
        sorted(map(tuple, each.sets[1:].T.tolist())) for each in (whole.slices, alone.slices) if each
    )
    assert sets == expected


@pytest.mark.parametrize("at_once", [1, 1 << 16])
@given(st.integers(0, 999), st.integers(1, 3), st.sampled_from([0.0, 0.02]))
def test_pairs_are_counted_as_rows_are(at_once: int, seed: int, n_jobs: int, missing: float) -> None:
    codes, cards = with_wide_columns(random_table(200, 7, 4, 0.0, seed=seed), 40)
    codes[3, : int(missing * 200)] = -1  # complete in all places but the first
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partitioned, "PAIRS_OF_A_TRIP", at_once)
        batches = list(ThreadEngine(data_of(codes, cards), n_jobs).pairs())
    seen = {}
    for tables in batches:
        for t in range(len(tables)):
            cells = tables.cells[1:, tables.start[t] : tables.start[t + 1]]
            seen[int(tables.x[t]), int(tables.y[t])] = list(map(tuple, cells.T.tolist()))
    assert sum(map(len, batches)) == len(seen)
    assert seen == {
        (x, y): pair_table(codes[x].tolist(), codes[y].tolist()) for x in range(8) for y in range(x + 1, 8)
    }


DATA = data_of(*with_wide_columns(random_table(700, 8, 3, 0.02, seed=1), 40))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("learner", [ibmap_hc, evidence_map])
def test_any_number_of_threads_learns_the_same(n_jobs: int, learner: Any) -> None:
    expected = learner(DATA)
    assert expected.graph.n_edges
    assert_same(learner(ThreadEngine(DATA, n_jobs)), expected)


def test_parts_may_be_mapped_from_files(tmp_path: Path) -> None:
    parts = cut_rows(packed_data(DATA), 4)
    for k, part in enumerate(parts):
        write_packed(part, tmp_path / f"{k}.ibmap")
    engine = ThreadEngine([open_packed(tmp_path / f"{k}.ibmap", mapped=True) for k in range(len(parts))], 2)
    assert engine.schema.n_rows == 700
    assert engine.schema.digest.startswith("parts:")
    assert engine.schema.digest != ThreadEngine(parts[:3]).schema.digest
    assert_same(ibmap_hc(engine), ibmap_hc(DATA))
    with pytest.raises(RequestError, match="cannot resample its rows"):
        engine.resampled(np.random.default_rng(0))
    for others, words in (([], "at least one part"), ([DATA, DATA.variables([0, 1])], "the same variables")):
        with pytest.raises(EngineError, match=words):
            ThreadEngine(others)


def test_pages_and_buffers_that_were_let_go_come_back(tmp_path: Path) -> None:
    parts = cut_rows(packed_data(DATA), 4)
    for k, part in enumerate(parts):
        write_packed(part, tmp_path / f"{k}.ibmap")
    engines = [MemoryEngine(open_packed(tmp_path / f"{k}.ibmap", mapped=True)) for k in range(len(parts))]
    places, asked = (
        ThreadPlaces(engines, 2, releases_pages=True),
        Questions.rows([0, 1], [np.array([2, 8])] * 2, 9),
    )
    expected = add_tables([MemoryEngine(part).tables(asked) for part in parts])
    for _ in range(2):
        found = add_tables(places.ask("tables", asked))
        assert found.cells.tolist() == expected.cells.tolist()
        assert found.answered()[1].keys.tolist() == expected.answered()[1].keys.tolist()


def test_parts_have_all_rows_and_all_levels() -> None:
    whole, parts = packed_data(DATA), cut_rows(packed_data(DATA), 3)
    assert [part.n_rows for part in parts] == [256, 256, 188]
    for v in range(DATA.n_variables):
        codes = np.concatenate([part.codes_of(v) for part in parts])
        assert codes.tolist() == DATA.codes_of(v).tolist()
        assert (
            sum(level_sizes(part.bits, v) for part in parts).tolist() == level_sizes(whole.bits, v).tolist()
        )


def test_an_engine_of_threads_travels() -> None:
    engine = pickle.loads(pickle.dumps(ThreadEngine(DATA, 2)))
    asked = Questions.fixed(0, [1], [2])
    assert ask(engine, asked).cells.tolist() == ask(ThreadEngine(DATA, 1), asked).cells.tolist()


def test_one_row_and_a_constant_column() -> None:
    tiny = Table(np.array([[0], [0]]), ("a", "b"), ((0,), (0, 1)))
    assert_same(ibmap_hc(ThreadEngine(tiny, 3)), ibmap_hc(tiny))
