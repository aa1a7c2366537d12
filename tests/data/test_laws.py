"""Laws of encoding: labels come back, order of columns and names of labels do not matter."""

from typing import Any

import numpy as np
import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ibmap.data import Table, load

LABELS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.booleans(),
    st.text(max_size=3),
    st.integers(0, 9).map(float),
)
TABLES = hnp.arrays(
    st.sampled_from([np.uint8, np.int64, np.int16, np.float64]),
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
    elements=st.integers(0, 120),
)


def decoded(data: Table) -> list[list[Any]]:
    return [
        [labels[code] if code >= 0 else None for code in codes]
        for labels, codes in zip(data.levels, data.codes.tolist(), strict=True)
    ]


@settings(deadline=None)  # the first example may compile a kernel
@given(st.lists(LABELS | st.none(), min_size=1, max_size=9))
@example([0, 2**53 + 1, 0.0])
def test_labels_come_back(values: list[Any]) -> None:
    if all(value is None for value in values):
        values = [*values, 1]
    data = load({"x": values, "y": [0] * len(values)}, missing="testwise")
    assert decoded(data)[0] == values
    kinds = [type(int(v) if isinstance(v, float) else v) for v in values]
    assert [type(v) for v in decoded(data)[0]] == kinds
    assert len(data.levels[0]) == len({(type(v), v) for v in decoded(data)[0] if v is not None})


@settings(deadline=None)  # the first example may compile a kernel
@given(TABLES)
def test_arrays_come_back_and_all_routes_agree(matrix: np.ndarray) -> None:
    data = load(matrix)
    assert decoded(data) == matrix.T.tolist()
    assert all(list(labels) == sorted(set(labels)) for labels in data.levels)
    for other in (matrix.tolist(), pl.DataFrame(matrix, schema=list(data.names)), np.asfortranarray(matrix)):
        again = load(other)
        assert np.array_equal(again.codes, data.codes)
        assert again.levels == data.levels


@settings(deadline=None)  # the first example may compile a kernel
@given(TABLES, st.randoms(use_true_random=False))
def test_permuting_columns_permutes_the_codes(matrix: np.ndarray, random: Any) -> None:
    order = list(range(matrix.shape[1]))
    random.shuffle(order)
    data, permuted = load(matrix), load(matrix[:, order])
    assert np.array_equal(permuted.codes, data.codes[order])
    assert permuted.levels == tuple(data.levels[j] for j in order)


@settings(deadline=None)  # the first example may compile a kernel
@given(TABLES, st.integers(1, 10**6), st.integers(-(10**9), 10**9))
def test_increasing_relabelling_changes_no_code(matrix: np.ndarray, scale: int, shift: int) -> None:
    relabelled = matrix.astype(np.int64) * scale + shift
    assert np.array_equal(load(relabelled).codes, load(matrix).codes)
