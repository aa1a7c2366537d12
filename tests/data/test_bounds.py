"""What is read at once has a size: that of what comes out of a file, not that of the file."""

import gzip
import os
import threading
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ibmap.data import load, text
from ibmap.data.parquet import PARQUET, stored_file
from ibmap.data.text import text_blocks
from ibmap.errors import DataError


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_text_without_line_ends_is_not_read_for_ever(monkeypatch):
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000000")
    with pytest.raises(DataError, match="has no line end in 1,000,000 bytes"):
        next(text_blocks(Path("/dev/zero")))


def test_every_byte_of_a_line_is_looked_at_once(monkeypatch, tmp_path):
    """Blocks without an end of a line are added up, and not looked at again."""
    looked_at = []

    def end_of_lines(raw, quotes, really=text._end_of_lines):
        looked_at.append(len(raw))
        return really(raw, quotes)

    monkeypatch.setattr(text, "BYTES_AT_ONCE", 1000)
    monkeypatch.setattr(text, "_end_of_lines", end_of_lines)
    content = b"x" * 100_000 + b'\n"' + b"y\n" * 5000 + b'"\nz'
    (tmp_path / "t.csv").write_bytes(content)
    blocks = list(text_blocks(tmp_path / "t.csv"))
    assert b"".join(blocks) == content
    assert [len(block) for block in blocks] == [100_001, 10_003, 1]
    assert sum(looked_at) == len(content)


def test_what_is_unzipped_or_piped_is_read_in_blocks_if_it_is_large(monkeypatch, tmp_path):
    """Its size is known only then: lines without an end are refused, and no text is copied whole."""
    table = "a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(2000))
    usual = load(pl.read_csv(table.encode()))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(table.encode()))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"x" * 100_000))
    monkeypatch.setattr(text, "LARGE", 1000)
    monkeypatch.setattr(text, "BYTES_AT_ONCE", 1000)
    monkeypatch.setattr(text, "text_frame", None)
    assert load(tmp_path / "t.csv.gz").schema.digest == usual.schema.digest
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_text, args=(table,), daemon=True).start()
    assert load(tmp_path / "pipe").schema.digest == usual.schema.digest
    monkeypatch.setenv("IBMAP_MAX_BYTES", "200000")
    monkeypatch.setattr(text, "byte_limit", lambda usual: 50_000)
    with pytest.raises(DataError, match="has no line end in 50,000 bytes"):
        load(tmp_path / "x.csv.gz")


@pytest.mark.parametrize("large", [False, True])
def test_bytes_of_zero_are_no_text(monkeypatch, tmp_path, large):
    """polars leaves them out at the ends of values, which merges levels."""
    if large:
        monkeypatch.setattr(text, "LARGE", 10)
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x\0,1\nx,0\n" * 20)
    with pytest.raises(DataError, match="holds zero bytes"):
        load(tmp_path / "t.csv")


def test_a_workbook_is_as_large_as_what_comes_out_of_it(monkeypatch, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 3_000_000)
    assert (tmp_path / "t.xlsx").stat().st_size < 10_000
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000000")
    with pytest.raises(DataError, match="holds more than 1,000,000 bytes"):
        load(tmp_path / "t.xlsx")


def test_a_parquet_file_is_as_large_as_what_comes_out_of_it(monkeypatch, tmp_path):
    columns = {"a": np.zeros(200_000), "b": np.arange(200_000) % 2, "price": [1] * 200_000}
    pl.DataFrame(columns).cast({"price": pl.Decimal(10, 2)}).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setenv("IBMAP_MAX_BYTES", "3000000")
    assert (tmp_path / "t.parquet").stat().st_size < 500_000
    with pytest.raises(DataError, match="holds more than 3,000,000 bytes"):
        load(tmp_path / "t.parquet")
    assert load(tmp_path / "t.parquet", drop=["price"]).n_rows == 200_000  # in batches


def test_columns_of_a_file_are_as_wide_as_their_values(tmp_path):
    kinds = {"b": pl.Boolean, "u": pl.UInt8, "i": pl.Int64, "f": pl.Float32, "s": pl.String}
    frame = pl.DataFrame({name: [0, 1] for name in kinds}).cast({"b": pl.Boolean, **kinds})
    frame.write_parquet(tmp_path / "t.parquet")
    widths = stored_file(tmp_path / "t.parquet", PARQUET).widths
    assert widths == {"b": 1, "u": 1, "i": 8, "f": 4, "s": 16}  # a view of text is 16 bytes
