"""Records by address: kernels read what Python wrote, however the context came to be."""

import pickle
from typing import Any

import numpy as np
import pytest

from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest
from ibmap.independence.kernel_context import model_of, workspace_of
from ibmap.kernels.bayes_model import records_of, routes_of
from ibmap.kernels.jit import kernel
from ibmap.kernels.records import Ints


def bound(levels: int = 3) -> Any:
    table = np.random.default_rng(0).integers(0, levels, (200, 4))
    table[:levels] = np.arange(levels)[:, None]
    data = load(table)
    return BayesianTest().bind(MemoryEngine(data))


@kernel
def read(context: Ints, out: Ints) -> None:
    packed, sets, model, scratch = records_of(context)
    (routes,) = routes_of(context)
    out[0], out[1], out[2] = packed.n_rows, packed.levels[3], packed.level_bits.shape[1]
    out[3], out[4], out[5] = sets.start.shape[1], model.tables.shape[1], scratch.members.size
    out[6], out[7] = packed.has_missing, routes.split_wide != 0


def values(context: Any) -> list[int]:
    out = np.empty(8, np.int64)
    read(context.numbers, out)
    return out.tolist()


def test_kernels_read_the_records_of_a_context() -> None:
    assert values(bound().context) == [200, 3, 4, 201, 201, 4, 0, 0]


def test_rare_functions_are_there_for_the_tables_that_need_them() -> None:
    assert values(bound(40).context)[6:] == [0, 1]  # many levels: codes instead of bits


def test_a_context_that_was_pickled_has_addresses_of_its_own() -> None:
    context = bound().context
    other = pickle.loads(pickle.dumps(context))
    assert values(other) == values(context)
    assert other.numbers[0] == other.numbers.ctypes.data != context.numbers[0]


def test_arrays_of_another_kind_are_refused() -> None:
    test = bound()
    sets, scratch = workspace_of(test)
    with pytest.raises(TypeError, match="Sets: float64"):
        type(test.context)(
            test.engine.packed, sets._replace(size=np.empty((4, 200))), model_of(test), scratch
        )


def test_arrays_that_are_not_contiguous_are_copied() -> None:
    test = bound()
    sets, scratch = workspace_of(test)
    model = model_of(test)
    turned = model._replace(tables=np.asfortranarray(model.tables))
    assert values(type(test.context)(test.engine.packed, sets, turned, scratch)) == values(test.context)
