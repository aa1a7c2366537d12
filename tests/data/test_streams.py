"""Tables that pass in batches are the tables that are read at once, to the last bit."""

import gzip
import sys
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibmap import IBMAP, EvidenceMAP
from ibmap.data import Table, files, load, reader
from ibmap.data import text as text_module
from ibmap.data.table import PackedData
from ibmap.engines import MemoryEngine
from ibmap.errors import DataError, DataWarning, IbmapError

NONE = st.none()
COLUMNS = {
    "bits": (st.integers(0, 1), pl.UInt8),
    "small": (st.integers(-3, 3), pl.Int16),
    "bytes": (st.integers(0, 3) | NONE, pl.UInt8),
    "signed": (st.integers(-128, 127) | NONE, pl.Int8),
    "far": (st.sampled_from([-(2**62), 0, 7, 2**62]) | NONE, pl.Int64),
    "huge": (st.sampled_from([0, 2**64 - 1]), pl.UInt64),
    "many": (st.integers(0, 60), pl.Int32),
    "floats": (st.sampled_from([0.0, -0.0, 3.0, 1e18, float("nan")]) | NONE, pl.Float64),
    "odd": (st.sampled_from([0.5, 1.0, float("inf")]), pl.Float32),
    "truth": (st.booleans() | NONE, pl.Boolean),
    "text": (st.sampled_from(["", "a", "b", "é", "1", " 1"]) | NONE, pl.String),
    "kinds": (st.sampled_from(["low", "high"]) | NONE, pl.Enum(["high", "mid", "low"])),
    "nothing": (NONE, pl.Null),
    "price": (st.sampled_from([None, 1, 2]), pl.Decimal(10, 2)),
}


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 200))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=2, max_size=4))
    columns = {}
    for j, kind in enumerate(kinds):
        values, dtype = COLUMNS[kind]
        column = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        columns[f"{kind}{j}"] = pl.Series(column, dtype=dtype, strict=False)
    return pl.DataFrame(columns)


@pytest.fixture
def in_batches(monkeypatch):
    """Have every file read in batches of 64 rows."""
    monkeypatch.setattr(reader, "LEAST", 64)
    monkeypatch.setattr(reader, "ROWS_AT_ONCE", 64)


@pytest.fixture(params=["one thread", "two threads"])
def in_threads(request, monkeypatch):
    """Have the columns of every batch shared out, two at a time, to one thread or to two."""
    threads = 1 + (request.param == "two threads")
    monkeypatch.setattr(reader, "CELLS_AT_ONCE", 128)
    monkeypatch.setattr(reader, "WORTH", 0)
    monkeypatch.setattr(pl, "thread_pool_size", lambda: threads)


def tried(source, **how):
    """What comes out: a table, or an error; and what was warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            data = load(source, **how)
        except IbmapError as error:
            return None, str(error), None
    return data, "", [str(one.message) for one in said if one.category is DataWarning]


def same(one: Table, other: Table) -> None:
    assert (one.names, one.levels, one.n_rows) == (other.names, other.levels, other.n_rows)
    assert (one.bin_edges, one.backend, one.warnings) == (other.bin_edges, other.backend, other.warnings)
    assert [list(map(type, labels)) for labels in one.levels] == [
        list(map(type, labels)) for labels in other.levels
    ]
    assert one.digest() == other.digest()
    assert np.array_equal(one.codes, other.codes)
    assert one.has_missing == other.has_missing
    here, there = MemoryEngine(one).bits, MemoryEngine(other).bits
    for field in ("levels", "bits", "wide_codes", "level_sizes"):
        assert np.array_equal(getattr(here, field), getattr(there, field)), field


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(
    tables(),
    st.sampled_from(["error", "drop", "category", "testwise"]),
    st.sampled_from([None, "equal-width", "quantile"]),
)
def test_a_parquet_file_in_batches_is_the_file_at_once(
    tmp_path, in_batches, in_threads, table, missing, discretize
):
    path = tmp_path / "table.parquet"
    table.write_parquet(path)
    how = {"missing": missing, "discretize": discretize}
    streamed, refused, said = tried(path, **how)
    whole, refused_at_once, said_at_once = tried(table, **how)
    assert bool(refused) == bool(refused_at_once), (refused, refused_at_once)
    if whole is not None:
        whole = Table(whole.codes, whole.names, whole.levels, whole.bin_edges, None, whole.warnings)
        same(streamed, whole)
        assert said == said_at_once


@pytest.mark.parametrize("learner", [EvidenceMAP(), IBMAP()])
def test_learners_find_the_same_to_the_last_bit(tmp_path, in_batches, learner):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.8, a, rng.integers(0, 3, 500))
    d = np.where(rng.random(500) < 0.9, b, rng.integers(0, 3, 500))
    frame = pl.DataFrame({"a": a, "b": b, "c": rng.integers(0, 2, 500), "d": d})
    frame.write_parquet(tmp_path / "t.parquet")
    streamed = load(tmp_path / "t.parquet")
    assert isinstance(streamed, PackedData)
    one, other = learner.fit(streamed).learned_, learner.fit(frame).learned_
    assert one.graph == other.graph
    assert (one.score, one.history, one.n_tests) == (other.score, other.history, other.n_tests)
    assert np.array_equal(one.pair_scores, other.pair_scores)


def test_columns_are_chosen_and_what_is_left_out_may_hold_anything(tmp_path, in_batches):
    frame = pl.DataFrame({"when": pl.Series([0, 1], dtype=pl.Date), "a": [0, 1], "b": [1, 0]})
    frame.write_parquet(tmp_path / "t.parquet")
    same(load(tmp_path / "t.parquet", drop=["when"]), load({"a": [0, 1], "b": [1, 0]}))
    with pytest.raises(DataError, match="'when' holds values of type Date"):
        load(tmp_path / "t.parquet")


def test_a_stream_of_frames_of_any_size(in_batches):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.integers(0, 3, 500), "b": rng.choice(["x", "y"], 500)})
    ends = np.sort(rng.integers(0, 500, 6))
    frames = [table[a:b] for a, b in zip([0, *ends], [*ends, 500], strict=True)]
    same(load(iter(frames)), load(table.to_dict()))
    same(load(frame.to_pandas() for frame in frames), load(table.to_dict()))
    reader = pa.RecordBatchReader.from_batches(
        frames[0].to_arrow().schema, [batch for frame in frames for batch in frame.to_arrow().to_batches()]
    )
    same(load(reader), load(table.to_dict()))


def test_a_level_that_appears_late_is_a_level(in_batches):
    frames = [pl.DataFrame({"a": [1] * 70, "b": ["x"] * 70}), pl.DataFrame({"a": [0, 9], "b": ["a", None]})]
    data = load(iter(frames), missing="testwise")
    assert data.levels == ((0, 1, 9), ("a", "x"))
    assert data.codes[:, 68:].tolist() == [[1, 1, 0, 2], [1, 1, 0, -1]]


@pytest.mark.parametrize(
    ("late", "words"),
    [
        (pl.DataFrame({"a": ["one"], "b": [0]}), "'a' holds text in batch 2, and numbers in batch 1"),
        (
            pl.DataFrame({"a": [0.5], "b": [0]}),
            "'a' holds 1 distinct non-integer value in 1 rows of batch 2",
        ),
        (pl.DataFrame({"b": [0]}), "batch 2 has no column 'a', unlike batch 1"),
        ("no frame", "batch 2 is not a frame"),
    ],
)
def test_what_is_wrong_in_a_late_batch_is_said_with_column_and_place(late, words):
    with pytest.raises(DataError, match=words):
        load(iter([pl.DataFrame({"a": [0, 1], "b": [1, 1]}), late]))


# Text


@pytest.fixture
def in_blocks(monkeypatch):
    """Have every text file read in blocks of some lines, with types from the first five rows."""
    monkeypatch.setattr(text_module, "LARGE", 0)
    monkeypatch.setattr(text_module, "BYTES_AT_ONCE", 64)
    monkeypatch.setattr(text_module, "SAMPLE", 5)


CELLS = {
    "whole": ["0", "1", "12", ""],
    "late": ["1"] * 60 + ["2.0", "x"],
    "float": ["0.0", "1.0", "2e0", "NA"],
    "large": ["9007199254740992", "9007199254740993.0", "1"],
    "words": ["yes", "no", "?", "true"],
    "truth": ["true", "false"],
    "quoted": ['"a, b"', '"c""d"', '"two\nlines"', "plain"],
    "blanks": [" 1", "1", "2 ", "x"],
    "odd": ["0.5", "1"],
    "empty": [""],
    "inf": ["1.0", "inf"],
}


@st.composite
def texts(draw):
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=2, max_size=4, unique=True))
    n_rows = draw(st.integers(1, 60))
    columns = [draw(st.lists(st.sampled_from(CELLS[n]), min_size=n_rows, max_size=n_rows)) for n in names]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [",".join(names), *map(",".join, zip(*columns, strict=True))]
    if draw(st.booleans()):
        lines.insert(draw(st.integers(1, len(lines))), draw(st.sampled_from(["", "1", "1,2,3,4,5,6"])))
    start = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return start + (end.join(lines) + end * draw(st.integers(0, 1))).encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(texts(), st.booleans())
def test_text_in_blocks_is_the_text_at_once(tmp_path, in_blocks, text, zipped):
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(text) if zipped else text)
    streamed, refused, said = tried(path, missing="testwise")
    text_module.LARGE = 1 << 30
    whole, refused_at_once, said_at_once = tried(path, missing="testwise")
    text_module.LARGE = 0
    assert bool(refused) == bool(refused_at_once), (refused, refused_at_once)
    if whole is not None:
        same(streamed, whole)
        assert said == said_at_once


def test_text_is_read_in_blocks_and_again_where_a_late_value_is_of_another_type(tmp_path, in_blocks):
    lines = ["a,b", *["1,0"] * 50, "x,1", *["2,0"] * 50]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    data = load(tmp_path / "t.csv")
    assert type(data) is PackedData
    assert data.levels == (("1", "2", "x"), (0, 1))
    assert data.n_rows == 101


def test_a_bad_line_in_a_late_block_is_named_by_its_number(tmp_path, in_blocks):
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *["1,0"] * 50, "1,0,1", *["2,0"] * 50]))
    with pytest.raises(DataError, match=r"line 52 of t.csv has 3 fields where the header has 2"):
        load(tmp_path / "t.csv")


def test_a_gzipped_file_that_is_cut_off_is_named(tmp_path, in_blocks):
    whole = gzip.compress(b"a,b\n" + b"1,0\n0,1\n" * 5000)
    (tmp_path / "t.csv.gz").write_bytes(whole[:-20])
    with pytest.raises(DataError, match=r"t.csv.gz. "):
        load(tmp_path / "t.csv.gz")


# Folders


def parts(folder, *frames):
    for k, frame in enumerate(frames):
        (folder / f"part={k}").mkdir(parents=True)
        frame.write_parquet(folder / f"part={k}" / "rows.parquet")


def test_a_folder_is_one_table_and_its_keys_are_columns(tmp_path, in_batches):
    frame = pl.DataFrame({"a": [0, 1] * 40, "b": ["x", "y"] * 40})
    parts(tmp_path / "t", frame, frame.reverse()[:9].select("b", "a"))
    (tmp_path / "t" / "_SUCCESS").touch()
    whole = pl.concat([frame, frame.reverse()[:9]]).with_columns(part=pl.Series([0] * 80 + [1] * 9))
    same(load(tmp_path / "t"), load(whole.to_dict()))
    same(load(tmp_path / "t", drop=["part"]), load(whole.drop("part").to_dict()))


def test_arrow_files_and_several_kinds_in_one_folder(tmp_path):
    frame = pl.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "y"]})
    frame.write_ipc(tmp_path / "1.arrow")
    same(load(tmp_path / "1.arrow"), load(frame.to_dict()))
    frame.write_parquet(tmp_path / "2.parquet")
    same(load(tmp_path), load(pl.concat([frame, frame]).to_dict()))


def test_files_in_the_streaming_format_of_arrow(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "y"]})
    frame.write_ipc_stream(tmp_path / "t.arrows")
    same(load(tmp_path / "t.arrows"), load(frame.to_dict()))
    assert load(tmp_path / "t.arrows", discretize="quantile").names == ("a", "b")
    (tmp_path / "bad.arrows").write_bytes((tmp_path / "t.arrows").read_bytes()[:40])
    with pytest.raises(DataError, match=r"bad.arrows' is not a readable Arrow file"):
        load(tmp_path / "bad.arrows")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    same(load(tmp_path / "t.arrows"), load(frame.to_dict()))


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (pl.DataFrame({"a": ["one"], "b": [0]}), r"'a' holds text in .*part=1.*, and numbers in .*part=0"),
        (pl.DataFrame({"a": [0]}), r"part=1/rows.parquet' has no column 'b', unlike .*part=0"),
        (pl.DataFrame({"a": [0], "b": [0], "c": [0]}), r"part=0/rows.parquet' has no column 'c'"),
    ],
)
def test_files_that_differ_are_named_with_the_column(tmp_path, second, words):
    parts(tmp_path / "t", pl.DataFrame({"a": [0, 1], "b": [1, 1]}), second)
    with pytest.raises(DataError, match=words):
        load(tmp_path / "t")


def test_a_file_that_vanishes_or_is_damaged_is_named(tmp_path):
    frame = pl.DataFrame({"a": [0, 1], "b": [1, 1]})
    parts(tmp_path / "t", frame, frame)
    stream = files.open_file(tmp_path / "t")
    (tmp_path / "t" / "part=1" / "rows.parquet").unlink()
    with pytest.raises(DataError, match=r"part=1/rows.parquet' any more"):
        load(stream)
    (tmp_path / "t" / "part=1" / "rows.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"part=1/rows.parquet' is not a readable"):
        load(tmp_path / "t")
    (tmp_path / "t" / "part=1" / "rows.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError, match=r"part=1/rows.parquet' in it is neither Parquet nor Arrow"):
        load(tmp_path / "t")


def test_large_text_is_read_in_blocks_unless_it_has_no_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n0,1\n1,0\n")
    found = text_module._in_blocks(path)
    assert found is not None
    assert found.names == ("a", "b")
    for text in ("a,b\n", "a,b", "a\n0\n", "\na,b\n0,1\n", "a,\n0,1\n"):
        path.write_text(text)
        assert text_module._in_blocks(path) is None


@pytest.mark.parametrize("bad", [1, 2, 3, 40, 79])
def test_the_line_that_is_wrong_is_the_same_in_blocks_and_at_once(tmp_path, monkeypatch, bad):
    lines = ["a,b", *(f"{k % 2},{k % 3}" for k in range(80))]
    lines[bad] = "1,2,3"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as at_once:
        load(path)
    assert f"line {bad + 1} of t.csv has 3 fields where the header has 2" in str(at_once.value)
    monkeypatch.setattr(text_module, "LARGE", 0)
    monkeypatch.setattr(text_module, "BYTES_AT_ONCE", 64)
    monkeypatch.setattr(text_module, "SAMPLE", 5)
    with pytest.raises(DataError) as in_blocks:
        load(path)
    assert str(in_blocks.value) == str(at_once.value)
