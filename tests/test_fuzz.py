"""A bounded, seeded fuzzer over tables, options, networks and result files.

No traceback, no hang, no silent change.

A case is a number, from which everything is drawn: ``IBMAP_ATTACK=200`` draws so many times as many.
"""

import csv
import io
import json
import math
import os
import random
import signal
import sys
from contextlib import contextmanager

import pytest

from ibmap import exchange, load
from ibmap.cli import main
from ibmap.errors import IbmapError
from tests.conftest import signals_as_before

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm"),
    pytest.mark.filterwarnings("ignore"),  # of names that no font has
]
MORE = max(1, int(os.environ.get("IBMAP_ATTACK", "12")) // 12)
TABLES, OPTIONS, FILES, NETWORKS = 400 * MORE, 200 * MORE, 30 * MORE, 150 * MORE
SECONDS, COMPILING = 60, 600  #: more is a hang; at first kernels are compiled
TABLE = b'a,"b ""q""",c\n' + b'0,x,1.5\n1,"y,z",2.5\n0,x,\n1,"y\nz",2.5\n' * 8
VALUES = (
    "", "0", "1", "2", "-1", "0.5", "nan", "inf", "-inf", "1e999", "1e-999", str(10**20), "x", "a,b", "a",
    "b=3", "\x1b[31m", "=1+1", "caf\u00e9", "\udcff", ".", "/dev/null", "nowhere", "ones", "quantile", "drop",
    "true", "a" * 5000,
)  # fmt: skip
ODD = (
    None, True, False, 0, 1, -1, 2, 10**30, -(10**30), 1e308, math.inf, -math.inf, math.nan, 0.5, "", "a",
    "x", "\x1b[31m", "\x00", [], {}, [[]], [None], {"a": None}, ["a", "b"], [["a", "b"]], [["a", "a"]],
    "9" * 400,
)  # fmt: skip


class Hang(BaseException):
    """It took too long; nobody catches this by accident."""


@contextmanager
def in_time(seconds):
    """Fail where something takes too long."""

    def late(number, frame):
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ibmap(monkeypatch, capsys):
    """Run ``ibmap`` in this process: it ends in time, with a code and, if that is an error, with one line."""

    def run(*arguments, seconds=SECONDS):
        monkeypatch.setattr(sys, "argv", ["ibmap", *map(str, arguments)])
        with signals_as_before(), in_time(seconds), pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        code = left.value.code or 0
        assert code in (0, 1, 2), (arguments, err)
        lines = err.splitlines()
        errors = [line for line in lines if line.startswith("ibmap: error: ")]
        is_usage = code == 2 and not errors  # typer's words, of several lines
        assert len(errors) == (code > 0 and not is_usage), (arguments, err)
        assert not is_usage or "Usage: " in err, (arguments, err)
        if not is_usage:
            assert all(line.startswith("ibmap: ") for line in lines), (arguments, err)
        if errors:
            assert out == "", arguments
        assert not set("\x1b\x9b") & set(out + err), arguments
        return code, out

    return run


def mangled(draw, raw):
    """Return bytes with some of them changed, lost, doubled or moved."""
    for _ in range(draw.choice([1, 1, 2, 5])):
        i, j = sorted(draw.randrange(len(raw) + 1) for _ in range(2))
        piece = bytes(
            draw.choice(b"\",\n\r\t;|\x00\xff\xef\xbb 0a='\\") for _ in range(draw.choice([1, 1, 2, 9]))
        )
        raw = draw.choice(
            [raw[:i] + piece + raw[i:], raw[:i] + piece + raw[i + len(piece) :], raw[:i], raw[:i] + raw[j:],
             raw[:j] + raw[i:], raw.replace(b"\n", draw.choice([b"\r\n", b"\r", b"\r\r\n", b"\n\n"]))]
        )  # fmt: skip
    return raw


def rows_by_another_reader(raw):
    """Return the rows of a table as Python's own reader sees them; None if it sees no plain table."""
    try:
        text = raw.decode("utf-8-sig").replace("\r\r\n", "\n").replace("\r\n", "\n")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error):
        return None
    return rows if rows and "\r" not in text else None


def test_tables(ibmap, tmp_path):
    path, read = tmp_path / "table.csv", 0
    path.write_bytes(TABLE)
    how = ["--missing", "category", "--discretize", "quantile", "--json"]
    assert ibmap("learn", path, *how, seconds=COMPILING)[0] == 0
    for seed in range(TABLES):
        raw = mangled(random.Random(seed), TABLE)
        path.write_bytes(raw)
        code, _ = ibmap("learn", path, *how)
        assert path.read_bytes() == raw
        if code:
            continue
        data = load(path, missing="category", discretize="quantile")
        rows = rows_by_another_reader(raw)
        if rows is not None and tuple(name.strip() for name in rows[0]) == data.names:
            read += 1
            assert data.n_rows == len([row for row in rows[1:] if any(cell.strip() for cell in row)]), seed
    assert read > TABLES / 10


def test_options(ibmap, tmp_path, monkeypatch):
    from typer.main import get_command

    from ibmap.cli.app import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(TABLE)
    known = ["--missing", "category", "--discretize", "quantile"]
    assert ibmap("learn", "t.csv", *known, "--out", "known", seconds=COMPILING)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    whole = {
        "learn": ["t.csv", *known], "bootstrap": ["t.csv", *known, "--replicates", "2"],
        "test": ["t.csv", "a", "c", *known], "explain": ["known", "a", "c"],
        "report": ["known"], "convert": ["known", "-", "--to", "json"],
        "evaluate": ["known", "--truth", "known"], "plot": ["known", "net.svg"],
        "optimize": ["onemax", "--bits", "6", "--population", "9", "--generations", "2"],
    }  # fmt: skip
    whole["random"] = ["--variables", "4", "--rows", "5", "--tau", "1", "--out", "drawn"]
    commands = get_command(app).commands
    verbs = {**commands, **commands["simulate"].commands}
    for seed in range(OPTIONS):
        draw = random.Random(10**6 + seed)
        name = draw.choice(list(whole))
        arguments = list(whole[name])
        for _ in range(draw.choice([1, 1, 2])):
            option = draw.choice([one for one in verbs[name].params if one.opts[0].startswith("--")])
            arguments += [option.opts[0]] if option.is_flag else [option.opts[0], draw.choice(VALUES)]
        if draw.random() < 0.1:
            arguments[draw.randrange(len(arguments))] = draw.choice(VALUES)
        if "--force" not in arguments and "--help" not in arguments:
            ibmap(*(["simulate"] if name == "random" else []), name, *arguments)
        for path, raw in before.items():
            assert path.read_bytes() == raw, (seed, name, arguments)


def places(value, at=()):
    """Yield the way to every part of a JSON value."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*at, key))


def with_odd_parts(draw, found):
    """Return a JSON value of which a part or two are odd, or gone."""
    found = json.loads(json.dumps(found))
    for _ in range(draw.choice([1, 1, 2])):
        *way, last = draw.choice([at for at in places(found) if at])
        part = found
        for key in way:
            part = part[key]
        if draw.random() < 0.2:
            del part[last]
        else:
            part[last] = draw.choice(ODD)
    return found


@pytest.mark.parametrize("learner", ["ibmap-hc", "evidence-map", "dag-hc"])  # rivals, arcs
def test_result_files(ibmap, tmp_path, learner):
    table, known = tmp_path / "t.csv", tmp_path / "known"
    table.write_bytes(TABLE)
    how = ["--missing", "category", "--discretize", "quantile", "--learner", learner]
    assert ibmap("learn", table, *how, "--out", known, seconds=COMPILING)[0] == 0
    assert ibmap("explain", known, "a", "c", seconds=COMPILING)[0] == 0
    whole = (known / "result.json").read_bytes()
    shown = 0
    for seed in range(FILES):
        draw = random.Random(f"{learner} {seed}")
        if draw.random() < 0.3:
            raw = mangled(draw, whole)
        else:
            raw = json.dumps(with_odd_parts(draw, json.loads(whole))).encode()
        (known / "result.json").write_bytes(raw)
        names = sorted(path.name for path in known.iterdir())
        for verb in (
            ["explain", known, "a", "c"],
            ["report", known, "--out", tmp_path / "page.html", "--force"],
            ["plot", known, tmp_path / "net.svg", "--force"],
            ["plot", known, tmp_path / "score.svg", "--scores", "--force"],
            ["evaluate", known, "--truth", known],
        ):
            shown += ibmap(*verb)[0] == 0
        code, out = ibmap("convert", known, "-", "--to", "json")
        if code == 0:  # what is handed on is what stands there
            found, told = json.loads(raw), json.loads(out)
            assert told["variables"] == found["variables"], seed
            order = {name: k for k, name in enumerate(told["variables"])}
            edges = {tuple(sorted(edge[:2], key=order.get)) for edge in found["edges"]}
            assert {tuple(edge) for edge in told["edges"]} == edges, seed
        assert (known / "result.json").read_bytes() == raw
        assert sorted(path.name for path in known.iterdir()) == names
    assert shown > FILES


@pytest.mark.parametrize("form", exchange.FORMATS)
def test_networks(form):
    network = exchange.loads('{"variables": ["a", "b", "c d"], "edges": [["a", "b"], ["b", "c d"]]}', "json")
    raw = exchange.dumps(network, form).encode()
    read = 0
    for seed in range(NETWORKS):
        text = mangled(random.Random(3 * 10**6 + seed), raw).decode("utf-8", "replace")
        with in_time(SECONDS):
            try:
                found = exchange.loads(text, form)
            except IbmapError:
                continue
        read += 1
        assert exchange.loads(exchange.dumps(found, "json"), "json") == found
    assert read > NETWORKS / 50
