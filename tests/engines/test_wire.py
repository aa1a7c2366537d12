"""Questions and tables that travel arrive as they were."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap.engines import MemoryEngine, Questions
from ibmap.engines.dask import wire
from ibmap.engines.dask.wire import pack_questions, pack_tables, unpack_questions, unpack_tables
from tests.engines.partitioned import data_of, with_wide_columns
from tests.reference.tables import random_table

BLANKETS = [np.array([1, 2]), np.array([5]), np.empty(0, np.int64)]


@pytest.mark.parametrize("places", [0, 10**9])
@given(st.integers(0, 999), st.sampled_from([2, 4]), st.sampled_from([0.0, 0.1]))
def test_tables_arrive_as_they_were(places: int, seed: int, levels: int, missing: float) -> None:
    data = data_of(*with_wide_columns(random_table(90, 5, levels, missing, seed=seed), 40))
    asked = Questions.rows([0, 3, 1], BLANKETS, 6)
    tables = MemoryEngine(data).tables(asked)
    assert unpack_questions(pack_questions(asked)).same(asked)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(wire, "FEW", places)
        patched.setattr(wire, "EMPTY", 0)
        message = pickle.loads(pickle.dumps(pack_tables(tables)))
        other = unpack_tables(message, asked, data.schema.cardinalities)
    assert other.of_rows == tables.of_rows
    assert other.slices is not None
    assert tables.slices is not None
    for name in ("x", "y", "start", "cells"):
        assert getattr(other, name).tolist() == getattr(tables, name).tolist()
    for name in ("start", "keys", "set_start", "sets"):
        assert getattr(other.slices, name).tolist() == getattr(tables.slices, name).tolist()
    assert other.margins().cells.tolist() == tables.margins().cells.tolist()


def test_many_rows_take_no_more_bytes_than_few() -> None:
    def size(rows: int) -> int:
        engine = MemoryEngine(data_of(*random_table(rows, 40, 2, 0.0, seed=1)))
        asked = Questions.rows([0, 1], [np.array([2, 3]), np.array([4])], 40)
        return len(pickle.dumps(pack_tables(engine.tables(asked)))) + len(pickle.dumps(pack_questions(asked)))

    assert size(200_000) < 6000
    assert size(200_000) < 4 * size(2000)
