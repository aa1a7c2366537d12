"""Packed files that are damaged or crafted: one line, or the table that was packed, never another one."""

import hashlib
import json
import random
import subprocess
import sys

import numpy as np
import pytest

from ibmap.data import Table, load
from ibmap.data.packed_file import _START, ALIGNED, MAGIC, VERSION, check_packed, open_packed, write_packed
from ibmap.data.table import LevelBits, PackedData
from ibmap.engines.bits import packed_data
from ibmap.errors import DataError, IbmapError

DAMAGES = 1000
#: rows, numbers of levels (more than 32 are codes), share of missing values
SHAPES = [
    (3000, (2, 2, 3, 40), 0.0),
    (640, (2,) * 12, 0.0),
    (777, (2, 3, 5, 32, 33, 2), 0.1),
    (100, (50, 300), 0.05),
    (1, (2, 3), 0.0),
]


def table(n_rows, levels, missing):
    rng = np.random.default_rng(n_rows)
    codes = np.array([rng.integers(0, size, n_rows) for size in levels])
    codes[rng.random(codes.shape) < missing] = -1
    names = tuple(f"v{i}" for i in range(len(levels)))
    return Table(codes, names, tuple(tuple(range(size)) for size in levels))


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The bytes of a packed table of every shape, and its codes."""
    path, found = tmp_path_factory.mktemp("packed") / "t.ibmap", []
    for shape in SHAPES:
        data = table(*shape)
        write_packed(packed_data(data), path)
        found.append((path.read_bytes(), data))
    return found


def header_and_rest(raw):
    """Return the header, and the bytes of the arrays behind it."""
    length = _START.unpack(raw[: _START.size])[2]
    end = _START.size + length
    return json.loads(raw[_START.size : end]), raw[end + -end % ALIGNED :]


def with_header(raw, header):
    """Return a file with another header, whose checksum is right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = _START.pack(MAGIC, VERSION, len(text), hashlib.sha256(text).digest()) + text
    return start + bytes(-len(start) % ALIGNED) + header_and_rest(raw)[1]


def refused(path):
    with pytest.raises(DataError) as error:
        load(path)
    told = str(error.value)
    assert "\n" not in told
    assert told.startswith(repr(str(path)))
    assert "pack" in told.removeprefix(repr(str(path)))
    return told


# Random damages


def flip(draw, raw):
    for _ in range(draw.choice([1, 1, 1, 2, 8])):
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)


def overwrite(draw, raw):
    size = min(draw.choice([1, 4, 64, 512, 5000]), len(raw))
    at = draw.randrange(len(raw) - size + 1)
    raw[at : at + size] = draw.choice([bytes(size), b"\xff" * size, draw.randbytes(size)])


def move(draw, raw):
    size = min(draw.choice([8, 64, 512]), len(raw))
    one, other = (draw.randrange(len(raw) - size + 1) for _ in range(2))
    raw[one : one + size] = raw[other : other + size]


def cut(draw, raw):
    del raw[draw.randrange(len(raw)) :]


def extend(draw, raw):
    raw += draw.choice([bytes, draw.randbytes])(draw.choice([1, 8, ALIGNED]))


def in_arrays(change):
    """Change what is behind the header: most of a small file is header and padding."""

    def changed(draw, raw):
        start = len(raw) - len(header_and_rest(bytes(raw))[1])
        rest = raw[start:]
        change(draw, rest)
        raw[start:] = rest

    return changed


KINDS = [flip, overwrite, move, cut, extend, *map(in_arrays, [flip, flip, flip, overwrite, overwrite, move])]


def test_random_damages(packed, tmp_path):
    """What passes is the table, or differs where there is no second copy: only the digest can tell that."""
    path, counted = tmp_path / "t.ibmap", {"refused": 0, "the same": 0, "by the digest": 0}
    for seed in range(DAMAGES):
        draw = random.Random(seed)
        whole, data = draw.choice(packed)
        raw = bytearray(whole)
        draw.choice(KINDS)(draw, raw)
        path.write_bytes(raw)
        try:
            found = load(path)
        except IbmapError:
            refused(path)
            counted["refused"] += 1
            continue
        differ = [i for i in range(data.n_variables) if (found.codes_of(i) != data.codes_of(i)).any()]
        assert (found.names, found.levels, found.n_rows) == (data.names, data.levels, data.n_rows)
        if not differ:
            check_packed(path)
            counted["the same"] += 1
            continue
        assert all(len(data.levels[i]) > 32 or data.codes_of(i).min() < 0 for i in differ), seed
        with pytest.raises(DataError, match="another digest"):
            check_packed(path)
        counted["by the digest"] += 1
    assert counted["refused"] > DAMAGES / 2
    assert min(counted.values()) > 10, counted


# Headers that somebody has made


def shapes(**changed):
    return lambda header: header["shapes"].update(changed)


def put(**changed):
    return lambda header: header.update(changed)


def without(key):
    return lambda header: header.pop(key)


FIELDS = ("names", "levels", "n_rows", "bin_edges", "warnings", "digest", "shapes")
HEADERS = {
    **{f"no {key}": without(key) for key in FIELDS},
    "no shape of columns": lambda header: header["shapes"].pop("columns"),
    "no shape of bits": lambda header: header["shapes"].pop("bits"),
    "rows are a word": put(n_rows="many"),
    "rows are a float": put(n_rows=3000.0),
    "rows are true": put(n_rows=True),
    "rows are negative": put(n_rows=-3000),
    "no rows": put(n_rows=0),
    "fewer rows": put(n_rows=2999),
    "too many rows": put(n_rows=10**30),
    "levels are null": put(levels=None),
    "levels of one are a word": lambda header: header["levels"].__setitem__(0, "ab"),
    "a label is a list": lambda header: header["levels"].__setitem__(0, [[0], [1]]),
    "one level less": lambda header: header["levels"][2].pop(),
    "a wide variable is narrow": lambda header: header["levels"].__setitem__(3, [0, 1]),
    "too few levels": lambda header: header["levels"].pop(),
    "too few names": lambda header: header["names"].pop(),
    "a name twice": put(names=["v0", "v1", "v2", "v0"]),
    "names are numbers": put(names=[0, 1, 2, 3]),
    "names are a word": put(names="abcd"),
    "no variables": put(names=[], levels=[]),
    "warnings are a number": put(warnings=5),
    "warnings are numbers": put(warnings=[5]),
    "ordinal is a number": put(ordinal=7),
    "ordinal of another variable": put(ordinal=["w"]),
    "edges are a list": put(bin_edges=[]),
    "edges are words": put(bin_edges={"v0": ["low", "high"]}),
    "edges are a number": put(bin_edges={"v0": 5}),
    "edges of another variable": put(bin_edges={"w": [0.0, 1.0]}),
    "the digest is a number": put(digest=5),
    "the digest is short": put(digest="abc"),
    "shapes are a list": put(shapes=[]),
    "a shape is a number": shapes(bits=7),
    "a shape is negative": shapes(bits=[-7, 47]),
    "a shape is huge": shapes(bits=[7, 10**30]),
    "columns are huge": shapes(columns=[47, 10**30]),
    "more columns": shapes(columns=[47, 48]),
    "no columns": shapes(columns=[47]),
    "another shape": shapes(bits=[47, 7]),
    "a flat shape": shapes(bits=[7 * 47]),
    "a shape more": shapes(more=[1]),
}  # fmt: skip
TEXTS = [
    b"",
    b"[]",
    b"null",
    b"5",
    b'"word"',
    b"{",
    b"\xff{}",
    b"{}",
    b"[" * 100_000,
    b'{"n_rows": ' + b"9" * 9000 + b"}",
]


@pytest.mark.parametrize("case", HEADERS)
def test_crafted_headers(packed, tmp_path, case):
    header = header_and_rest(packed[0][0])[0]
    HEADERS[case](header)
    (tmp_path / "t.ibmap").write_bytes(with_header(packed[0][0], header))
    refused(tmp_path / "t.ibmap")


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_headers_that_are_none(packed, tmp_path, text):
    (tmp_path / "t.ibmap").write_bytes(with_header(packed[0][0], text))
    refused(tmp_path / "t.ibmap")


def test_headers_that_are_right_are_taken(packed, tmp_path):
    header = header_and_rest(packed[0][0])[0]
    header |= {"bin_edges": {"v0": [0, 0.5, float("inf")]}, "warnings": ["odd"]}
    del header["ordinal"]  # as older files
    (tmp_path / "t.ibmap").write_bytes(with_header(packed[0][0], header))
    found = open_packed(tmp_path / "t.ibmap")
    assert (found.bin_edges, found.warnings, found.ordinal) == ({"v0": (0, 0.5, float("inf"))}, ("odd",), ())


# Rows that somebody has made


def crafted(path, **changed):
    """Write a table of two binary variables and a wide one with some of its arrays changed."""
    data = packed_data(table(100, (2, 2, 40), 0.0)).bits
    names = ("bits", "wide_codes", "level_sizes", "columns")
    parts = {name: getattr(data, name).copy() for name in names}
    for name, change in changed.items():
        change(parts[name])
    bits = LevelBits(data.n_rows, data.levels, *parts.values())
    levels = tuple(tuple(range(size)) for size in data.levels)
    write_packed(PackedData(bits, ("a", "b", "c"), levels, digest="0" * 64), path)


def put_at(place, value):
    return lambda array: array.__setitem__(place, value)


def ones(array):
    array.view(np.uint8)[:] = 255


def beyond_the_end(bits):
    bits[0, -1] |= np.uint64(1) << np.uint64(63)


def second_level_too(bits):
    bits[0] |= bits[1]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bits": ones}, "differ"),
        ({"bits": put_at(..., 0)}, "differ"),
        ({"columns": ones}, "differ"),
        ({"bits": beyond_the_end}, "more or fewer rows"),
        ({"bits": beyond_the_end, "level_sizes": lambda sizes: np.add.at(sizes, 0, 1)}, "differ"),
        ({"bits": second_level_too}, "more or fewer rows"),
        ({"bits": second_level_too, "level_sizes": put_at(0, 100)}, "differ"),
        ({"level_sizes": put_at(0, -1)}, "differ"),
        ({"level_sizes": ones}, "differ"),
        ({"level_sizes": put_at(0, 1 << 62)}, "differ"),
        ({"wide_codes": put_at((0, 5), 40)}, "a code is outside"),
        ({"wide_codes": put_at((0, 5), -2)}, "a code is outside"),
    ],
)
def test_crafted_rows(tmp_path, changed, words):
    crafted(tmp_path / "t.ibmap", **changed)
    assert words in refused(tmp_path / "t.ibmap")


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        ([0b011, 0b010], "two levels"),
        ([0b1001, 0b010], "beyond the last row"),
        ([0b001, 0b010], ""),
    ],
)
def test_rows_whose_copies_and_sizes_agree(tmp_path, bits, words):
    array = np.array([*bits, 0b001, 0b010], np.uint64)[:, None]
    sizes = np.bitwise_count(array).sum(axis=1, dtype=np.int64)
    table = LevelBits(3, np.array([2, 2]), array, np.empty((0, 3), np.int32), sizes)
    write_packed(PackedData(table, ("a", "b"), ((0, 1), (0, 1))), tmp_path / "t.ibmap")
    if words:
        assert words in refused(tmp_path / "t.ibmap")
    else:
        check_packed(tmp_path / "t.ibmap")


def test_tables_without_rows(tmp_path):
    none = (np.zeros((2, 1), np.uint64), np.empty((0, 0), np.int32), np.zeros(2, np.int64))
    write_packed(PackedData(LevelBits(0, np.array([2]), *none), ("a",), ((0, 1),)), tmp_path / "t.ibmap")
    assert "no rows" in refused(tmp_path / "t.ibmap")


def test_rows_that_make_sense_are_found_by_the_digest(tmp_path):
    """Two rows change places in all copies."""
    data = table(100, (2, 3), 0.0)
    codes = data.codes.copy()
    one, other = np.flatnonzero(codes[0] == 0)[0], np.flatnonzero(codes[0] == 1)[0]
    codes[0, [one, other]] = 1, 0
    forged = packed_data(Table(codes, data.names, data.levels)).bits
    path = tmp_path / "t.ibmap"
    write_packed(PackedData(forged, data.names, data.levels, digest=data.digest()), path)
    assert load(path).digest() == data.digest()
    with pytest.raises(DataError, match=r"t\.ibmap' is damaged: its rows have another digest; pack"):
        check_packed(path)


def test_files_that_have_lost_their_beginning(packed, tmp_path):
    for name in ("t.ibmap", "t.IBMAP"):
        (tmp_path / name).write_bytes(b"a,b\n0,1\n1,0\n")
        assert "is not a packed table" in refused(tmp_path / name)


CUT = """
import os, sys
from ibmap.data import load
from ibmap.learners import ibmap_hc
path = sys.argv[1]
expected = ibmap_hc(load(path)).graph
data = load(path)
if sys.argv[2] == "cut":
    os.truncate(path, 60)
else:
    with open(path, "r+b") as file:
        file.write(b"\\xff" * os.path.getsize(path))
sys.exit(0 if ibmap_hc(data).graph == expected else 3)
"""


@pytest.mark.parametrize("how", ["cut", "overwritten"])
def test_files_that_change_while_they_are_open(tmp_path, how):
    write_packed(packed_data(table(*SHAPES[0])), tmp_path / "t.ibmap")
    run = [sys.executable, "-c", CUT, str(tmp_path / "t.ibmap"), how]
    ran = subprocess.run(run, capture_output=True, text=True, check=False, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
