import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibmap import _core
from tests.reference import packing

INTEGERS = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64)
numbers = st.one_of(
    st.lists(st.integers(0, 3), min_size=1, max_size=150),
    st.lists(st.integers(-20, 60), min_size=1, max_size=150),
    st.lists(st.integers(-(10**5), 10**5), min_size=1, max_size=150),
    st.lists(st.integers(0, 254), min_size=100, max_size=300),
)


@given(numbers, st.sampled_from((*INTEGERS, np.float32, np.float64)), st.data())
def test_a_column_is_encoded_as_by_hand(values, dtype, data):
    cells = np.array(values).astype(dtype)
    mask = data.draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    absent = np.zeros(len(cells), bool) if mask is None else np.array(mask)
    if np.dtype(dtype).kind == "f" and data.draw(st.booleans()):
        cells[::7] = np.nan
        absent = absent | np.isnan(cells)
    found = _core.encode_column(cells, None if mask is None else np.array(mask))
    levels, codes = packing.encode([None if out else int(v) for v, out in zip(cells, absent, strict=True)])
    if found is None:
        assert max(levels) - min(levels) >= 1 << 17 or max(levels) >= 1 << 62
        return
    assert found[0].tolist() == levels
    assert found[2] == len(cells) - absent.sum()
    if found[1].ndim == 1:
        assert len(levels) > 32
        assert found[1].tolist() == codes
    else:
        assert found[1].tolist() == packing.pack_bytes(
            codes, range(len(levels)), max(1, -(-len(cells) // 64))
        )


def test_a_column_that_cannot_be_encoded_is_left_alone():
    assert _core.encode_column(np.array([0.5, 1.0])) is None
    assert _core.encode_column(np.array([np.inf, 1.0])) is None
    assert _core.encode_column(np.array([-np.inf, np.nan])) is None
    assert _core.encode_column(np.array([0, 2**63], np.uint64)) is None
    assert _core.encode_column(np.array([-(2**63), 2**63 - 1])) is None
    assert _core.encode_column(np.array([1e300, 1e300])) is None


def test_a_column_without_a_value_has_no_levels():
    levels, bits, known = _core.encode_column(np.array([np.nan, np.nan]))
    assert (levels.tolist(), bits.shape, known) == ([], (0, 1), 0)
    levels, bits, known = _core.encode_column(np.empty(0, np.int64))
    assert (levels.tolist(), bits.shape, known) == ([], (0, 1), 0)


@given(
    st.integers(1, 70),
    st.integers(1, 40),
    st.sampled_from([(0, 2), (-16, 48), (-17, 49), (-300, 300), (0, 40_000)]),
    st.sampled_from((bool, *INTEGERS, np.float32, np.float64)),
    st.sampled_from(["C", "F", "step"]),
    st.integers(0, 2**32 - 1),
)
def test_a_matrix_is_encoded_as_by_hand(n_rows, n_columns, bounds, dtype, layout, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(*bounds, (n_rows, n_columns)).astype(dtype)
    if layout == "F":
        matrix = np.asfortranarray(matrix)
    elif layout == "step":
        matrix = np.repeat(np.repeat(matrix, 2, axis=0), 3, axis=1)[::2, ::3]
    found = _core.encode_matrix(matrix)
    if found is None:
        spans = [int(c.max()) - int(c.min()) for c in matrix.T.astype(object)]
        assert max(spans) >= 1 << 17 or sum(spans) > 1 << 20 or matrix.max() >= 1 << 62
        return
    codes, start, values = found
    assert codes.shape == (n_columns, n_rows)
    for j in range(n_columns):
        levels, by_hand = packing.encode([int(value) for value in matrix[:, j]])
        assert values[start[j] : start[j + 1]].tolist() == levels
        assert codes[j].tolist() == by_hand


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.5, 1.0]],
        [[np.nan, 1.0], [1.0, 2.0]],
        [[np.inf, 1.0]],
        [[0, 1], [10**9, 1]],
        [[1e300, 1.0]],
        np.empty((0, 2)),
        np.empty((2, 0)),
    ],
)
def test_a_matrix_that_cannot_be_encoded_is_left_alone(matrix):
    assert _core.encode_matrix(np.array(matrix)) is None


@given(
    st.lists(st.integers(-1, 40), min_size=1, max_size=150),
    st.integers(0, 32),
    st.sampled_from((np.int8, np.int16, np.int32, np.int64)),
)
def test_codes_are_packed_as_by_hand_and_unpacked_again(codes, n_levels, dtype):
    bits = _core.pack_codes(np.array([codes, codes[::-1]], dtype), np.array([n_levels, 2]))
    n_words = -(-len(codes) // 64)
    by_hand = packing.pack_bytes(codes, range(n_levels), n_words)
    assert bits.tolist() == by_hand + packing.pack_bytes(codes[::-1], range(2), n_words)
    unpacked = _core.unpack_bits(bits[:n_levels], len(codes))
    assert unpacked.tolist() == packing.unpack_bits(by_hand, len(codes))
    assert unpacked.tolist() == [code if code < n_levels else -1 for code in codes]


@given(st.data(), st.integers(0, 200), st.integers(1, 150))
def test_bits_are_placed_as_by_hand(data, start, n_rows):
    n_words, total = -(-n_rows // 64), -(-(start + n_rows) // 64)
    number = data.draw(st.integers(0, (1 << n_rows) - 1))
    before = data.draw(st.integers(0, (1 << start) - 1))
    bits = [number >> 64 * w & (1 << 64) - 1 for w in range(n_words)]
    there = [before >> 64 * w & (1 << 64) - 1 for w in range(total)]
    source, out = np.array([[0] * n_words, bits], np.uint64), np.array([[0] * total, there], np.uint64)
    _core.place_bits(source, np.array([1]), np.array([1]), start, out)
    assert out.tolist() == [[0] * total, packing.place(bits, start, there)]


def test_what_does_not_fit_is_refused():
    bits, one = np.ones((2, 3), np.uint64), np.array([0])
    refused = [
        lambda: _core.encode_column(np.arange(3), np.zeros(2, bool)),
        lambda: _core.encode_column(np.array([1j])),
        lambda: _core.pack_codes(np.zeros((2, 3), np.int8), np.array([2])),
        lambda: _core.pack_codes(np.zeros((1, 3), np.int8), np.array([255])),
        lambda: _core.pack_codes(np.zeros((1, 3), np.int8), np.array([-1])),
        lambda: _core.pack_codes(np.zeros((1, 3)), np.array([2])),
        lambda: _core.pack_codes(np.zeros((3, 2), np.int8).T, np.array([2, 2])),
        lambda: _core.unpack_bits(bits, 193),
        lambda: _core.unpack_bits(bits, -1),
        lambda: _core.unpack_bits(np.ones((127, 1), np.uint64), 3),
        lambda: _core.place_bits(bits, one, one, -1, bits),
        lambda: _core.place_bits(bits, one, one, 64, bits.copy()),
        lambda: _core.place_bits(bits, one + 2, one, 0, bits.copy()),
        lambda: _core.place_bits(bits, one, one - 1, 0, bits.copy()),
        lambda: _core.place_bits(bits, one, np.array([0, 1]), 0, bits.copy()),
        lambda: _core.place_bits(bits << np.uint64(63), one, one, 1, bits.copy()),
    ]
    for call in refused:
        with pytest.raises(ValueError, match=r"^[a-z]"):
            call()
