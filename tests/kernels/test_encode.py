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
