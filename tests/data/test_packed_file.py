"""Packed tables in files: opened as they were written, and refused where anything is wrong with them."""

import errno
import os
import pickle

import numpy as np
import polars as pl
import pytest

from ibmap import _files
from ibmap.data import load
from ibmap.data.packed_file import MAGIC, open_packed, release_pages, write_packed
from ibmap.data.table import PackedData
from ibmap.engines import MemoryEngine
from ibmap.engines.bits import packed_data
from ibmap.errors import DataError, DataWarning, RequestError
from tests.data.test_streams import same


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    table = {
        "a": rng.integers(0, 3, 200).tolist(),
        "b": [None, "x", "y", "z"] * 50,
        "c": rng.random(200) < 0.5,
        "wide": (np.arange(200) % 40).tolist(),
        "size": rng.random(200),
    }
    return load(table, missing="testwise", bins={"size": [0.0, 0.3, 0.6, 1.0]})


@pytest.fixture
def path(tmp_path, data):
    write_packed(packed_data(data), tmp_path / "t.ibmap")
    return tmp_path / "t.ibmap"


def test_there_and_back(path, data):
    opened = open_packed(path)
    same(opened, data)
    same(load(path), data)
    assert load(str(path)).names == data.names
    same(pickle.loads(pickle.dumps(opened)), data)
    there = pickle.loads(pickle.dumps(open_packed(path, mapped=True)))
    assert there.path == path
    same(there, data)
    same(pickle.loads(pickle.dumps(packed_data(data))), data)


def test_nothing_is_copied_and_nobody_can_write_to_the_file(path):
    before = path.read_bytes()
    engine = MemoryEngine(load(path))
    for array in (engine.bits.bits, engine.bits.turned, engine.bits.wide_codes):
        assert not array.flags.owndata
    engine.bits.bits[0, 0] ^= np.uint64(1)
    assert path.read_bytes() == before


def test_what_is_too_much_to_be_read_is_mapped(path, data, monkeypatch):
    assert load(path).path is None
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000")
    assert load(path).path == path
    same(load(path), data)


def test_variables_and_rows_can_be_chosen(path, data):
    same(load(path, only=["wide", "b"]), data.variables([1, 3]))
    same(load(path).rows(np.array([3, 1, 1])), data.rows(np.array([3, 1, 1])))
    assert load(path, drop=["b"]).has_missing is False


def test_what_was_done_when_it_was_packed_cannot_be_done_again(path):
    for how in ({"discretize": "quantile"}, {"missing": "drop"}, {"missing": "category"}):
        with pytest.raises(RequestError, match="pack"):
            load(path, **how)
    assert load(path, missing="category", drop=["b"]) is not None


def test_warnings_come_back(tmp_path):
    with pytest.warns(DataWarning, match="too many levels"):
        data = load({"id": list(range(100)), "b": [0, 1] * 50})
    write_packed(packed_data(data), tmp_path / "t.ibmap")
    with pytest.warns(DataWarning, match="too many levels"):
        assert load(tmp_path / "t.ibmap").warnings == data.warnings


def damaged(path, change):
    raw = bytearray(path.read_bytes())
    change(raw)
    path.write_bytes(bytes(raw))
    with pytest.raises(DataError) as refused:
        load(path)
    return str(refused.value)


def test_damaged_files_are_refused(path):
    whole = path.read_bytes()

    def put(place, value):
        def change(raw):
            raw[place : place + len(value)] = value

        return change

    assert "another version of ibmap (format 7" in damaged(path, put(8, bytes([7])))
    path.write_bytes(whole)
    assert "damaged" in damaged(path, put(100, b"?"))
    for size in (9, 60, 300, 5000, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"packed table|cut off"):
            open_packed(path)
    path.write_bytes(whole)
    wide = open_packed(path).bits.wide_codes
    at = whole.index(wide[0, :40].tobytes())
    assert "damaged" in damaged(path, put(at, np.int32(40).tobytes()))
    path.write_bytes(b"something else")
    with pytest.raises(DataError, match="not a packed table"):
        open_packed(path)


def test_files_that_only_begin_like_one(tmp_path):
    (tmp_path / "t").write_bytes(MAGIC)
    with pytest.raises(DataError, match="not a packed table"):
        load(tmp_path / "t")
    with pytest.raises(DataError, match="cannot read"):
        open_packed(tmp_path / "none")


def test_a_full_disk_leaves_nothing(tmp_path, data, monkeypatch):
    def full(file, raw):
        if len(raw) > 800:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.write(file, raw)

    monkeypatch.setattr(_files, "write_all", full)
    with pytest.raises(RequestError, match=r"cannot write '.*t.ibmap': No space left"):
        write_packed(packed_data(data), tmp_path / "t.ibmap")
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_replaced(path, data):
    with pytest.raises(RequestError, match="exists"):
        write_packed(packed_data(data), path, overwrite=False)
    assert isinstance(load(path), PackedData)


def test_no_row_changes_when_pages_are_released(tmp_path):
    """Of a mapped file they come back when they are read; a table in memory has nowhere to come back from."""
    codes = np.random.default_rng(0).integers(2, size=(40, 1 << 17), dtype=np.uint8)
    frame = {f"v{k}": row for k, row in enumerate(codes)}
    held = load(iter([pl.DataFrame(frame)]))
    write_packed(held, tmp_path / "t.ibmap")
    mapped = open_packed(tmp_path / "t.ibmap", mapped=True)
    for data in (held, mapped):
        release_pages(data)
        assert np.array_equal(data.codes, codes)
