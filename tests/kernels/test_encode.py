import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibmap.kernels import encode
from tests.reference import packing

columns = st.lists(st.integers(0, 255), min_size=1, max_size=150)


@given(columns, st.lists(st.integers(0, 254), unique=True, max_size=5))
def test_bytes_are_packed_as_by_hand_and_unpacked_again(values, wanted):
    n_words = -(-len(values) // 64)
    padded = np.full(64 * n_words, 255, np.uint8)
    padded[: len(values)] = values
    out = np.zeros((len(wanted), n_words), np.uint64)
    encode.pack_bytes(padded, np.array(wanted, np.uint8), out)
    by_hand = packing.pack_bytes(values, wanted, n_words)
    assert out.tolist() == by_hand
    codes = np.empty(len(values), np.int8)
    encode.unpack_bits(out, codes)
    assert codes.tolist() == packing.unpack_bits(by_hand, len(values))
    place = {value: k for k, value in enumerate(wanted)}
    assert codes.tolist() == [place.get(value, -1) for value in values]


@given(columns)
def test_the_bytes_that_occur_are_seen(values):
    seen = np.zeros(256, bool)
    encode.seen_bytes(np.array(values, np.uint8), seen)
    assert seen.tolist() == packing.seen(values)


@given(st.lists(st.integers(-20, 50), min_size=1, max_size=150), st.sampled_from([np.uint8, np.int64]))
def test_small_values_are_packed_as_by_hand(values, dtype):
    values = [value % 47 for value in values] if dtype == np.uint8 else values
    cells = np.array(values, dtype)
    cells.setflags(write=False)
    word = int(encode.values_as_word(cells))
    bits = [value + encode.BASE for value in values]
    if min(bits) < 0 or max(bits) > 63:
        assert word == 0
        return
    assert word == sum(1 << bit for bit in set(bits))
    n_words = -(-len(values) // 64)
    out = np.ones((len(set(bits)), n_words), np.uint64)
    encode.pack_small(cells, np.array(sorted(set(bits)), np.uint8), np.zeros(64, np.uint8), out)
    assert out.tolist() == packing.pack_bytes(bits, sorted(set(bits)), n_words)


@given(st.data(), st.integers(0, 200), st.integers(1, 150))
def test_bits_are_placed_as_by_hand(data, start, n_rows):
    n_words, total = -(-n_rows // 64), -(-(start + n_rows) // 64)
    number = data.draw(st.integers(0, (1 << n_rows) - 1))
    before = data.draw(st.integers(0, (1 << start) - 1))
    bits = [number >> 64 * w & (1 << 64) - 1 for w in range(n_words)]
    there = [before >> 64 * w & (1 << 64) - 1 for w in range(total)]
    source, out = np.array([[0] * n_words, bits], np.uint64), np.array([[0] * total, there], np.uint64)
    encode.place_bits(source, np.array([1]), np.array([1]), start, out)
    assert out.tolist() == [[0] * total, packing.place(bits, start, there)]
