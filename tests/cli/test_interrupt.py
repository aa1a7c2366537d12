"""Ctrl-C: a real process, a real signal, sent when the progress line shows that learning has begun."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.slow  # starts processes, or a browser

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)


@pytest.fixture
def large(tmp_path):
    """A chain of variables that keeps the search busy for a while."""
    rng = np.random.default_rng(0)
    flips = rng.random((2000, 1000)) < 0.3
    frame = pl.DataFrame(np.logical_xor.accumulate(flips, axis=0).T.astype(np.int8))
    frame.write_parquet(tmp_path / "large.parquet")
    return tmp_path / "large.parquet"


def until(terminal: int, word: bytes) -> bytes:
    """Read until a word appears or the other side hangs up."""
    seen = b""
    while word not in seen:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # Linux says so when the last writer has gone
            break
        if not more:
            break
        seen += more
    return seen


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_run_leaves_no_file(large, tmp_path, jobs):
    out = tmp_path / "out"
    out.mkdir()
    (out / "graph.json").write_text("older")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ibmap.cli", "learn", str(large), "--jobs", str(jobs)]
    command += ["--out", str(out), "--force"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen = until(ours, b"learning")
        process.send_signal(signal.SIGINT)
        seen += until(ours, b"never")
        assert process.stdout.read() == ""
        assert process.wait(timeout=60) == 130, seen
    os.close(ours)
    assert b"ibmap: interrupted; with --checkpoint FILE a search is saved" in seen
    assert b"Traceback" not in seen
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("graph.json", "older")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_bootstrap_does_not_wait_for_its_replicates(large, tmp_path, jobs):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ibmap.cli", "bootstrap", str(large), "--jobs", str(jobs)]
    command += ["--learner", "ibmap-hc", "--replicates", "100000", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen = until(ours, b"/100000")  # the whole table is learned, and a replicate or two
        process.send_signal(signal.SIGINT)
        seen += until(ours, b"never")
        assert process.stdout.read() == ""
        assert process.wait(timeout=60) == 130, seen
    os.close(ours)
    assert b"replicates" in seen
    assert b"ibmap: interrupted" in seen
    assert b"Traceback" not in seen
    assert not (tmp_path / "out").exists()


def test_interrupted_run_removes_the_folder_that_it_made(survey, tmp_path, ibmap, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ibmap.learners.evidence_map", interrupted)
    ran = ibmap("learn", survey, "--out", tmp_path / "a" / "b")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.startswith("ibmap: interrupted; with --checkpoint FILE")
    assert not (tmp_path / "a").exists()


def test_failure_between_the_files_leaves_none(survey, tmp_path, ibmap, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ran = ibmap("learn", survey, "--out", tmp_path / "out")
    assert ran.refuses("cannot write to", tmp_path / "out", "No space left on device")
    assert not (tmp_path / "out").exists()


STUBBORN = """
import sys, time
from ibmap import learners
from ibmap.cli import main

def learn(*_, **__):
    print("begun", file=sys.stderr, flush=True)
    {}

sys.modules["ibmap.learners.evidence_map"].evidence_map = learners.evidence_map = learn
main()
"""
LOST = """
    while True:
        try:
            time.sleep(0.01)
        except KeyboardInterrupt:
            pass
"""
TURNED = """
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("release unlocked lock")
"""
LATE = """
    import threading
    threading.Thread(target=time.sleep, args=[60]).start()
    time.sleep(60)
"""
DEAF = """
    import ctypes
    ctypes.CDLL(None).sleep(60), ctypes.CDLL(None).sleep(60)  # as LLVM: no step of Python in between
"""
UNAWAITED = """
    async def asked():
        pass
    from ibmap.cli.endings import at_end
    at_end(lambda: asked())  # as what talks to workers: Python warns of what nobody waits for any more
    time.sleep(60)
"""


@pytest.mark.parametrize(
    "what", [LOST, TURNED, LATE, DEAF, UNAWAITED], ids=["lost", "turned", "late", "deaf", "unawaited"]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_within_a_second_whatever_becomes_of_it(survey, tmp_path, what, number):
    out = tmp_path / "a" / "b"
    command = [sys.executable, "-c", STUBBORN.format(what), "learn", str(survey), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == "begun\n"
        assert out.is_dir()
        sent = time.monotonic()
        process.send_signal(number)
        err = process.stderr.read()
        assert process.wait(timeout=30) == 128 + number
        assert time.monotonic() - sent < 2  # a second, and a busy machine
    assert err.startswith("ibmap: interrupted" if number == signal.SIGINT else "ibmap: terminated")
    assert err.count("\n") == 1
    assert not (tmp_path / "a").exists()


def stopping(after: int):
    """A progress line that is interrupted after some steps."""
    from contextlib import contextmanager

    @contextmanager
    def progress(*_):
        steps = []

        def note(step):
            steps.append(step)
            if len(steps) == after:
                raise KeyboardInterrupt

        yield note

    return progress


@pytest.fixture
def linked(tmp_path):
    """A table with several edges."""
    rng = np.random.default_rng(1)
    flips = rng.random((6, 400)) < 0.2
    columns = np.logical_xor.accumulate(flips, axis=0).astype(np.int8)
    pl.DataFrame({f"v{i}": column for i, column in enumerate(columns)}).write_csv(tmp_path / "linked.csv")
    return tmp_path / "linked.csv"


def test_an_interrupted_search_keeps_its_best_graph_and_says_how_to_go_on(
    linked, tmp_path, ibmap, monkeypatch
):
    out, more = tmp_path / "a" / "out", ["--learner", "ibmap-hc", "--patience", "5"]
    with monkeypatch.context() as patched:
        patched.setattr("ibmap.cli.screen.progress", stopping(2))
        ran = ibmap("learn", linked, *more, "--out", out)
        assert (ran.code, ran.out) == (130, "")
        assert f"2 edges after 2 ascents, is in {out / 'interrupted.json'}: --start" in ran.err
        assert [path.name for path in out.iterdir()] == ["interrupted.json"]
        alone = ibmap("learn", linked, *more)
        assert "with --out DIR the network so far is kept" in alone.err
    assert ibmap("learn", linked, *more, "--start", out / "interrupted.json", "--out", out).code == 0
    assert not (out / "interrupted.json").exists()


def test_python_gets_the_graph_with_the_interrupt(linked):
    from ibmap.data import load
    from ibmap.errors import SearchInterrupted
    from ibmap.learners import evidence_map

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(SearchInterrupted) as found:
        evidence_map(load(linked), callback=stop)
    assert (found.value.graph.n_edges, found.value.n_steps) == (1, 1)
    assert isinstance(found.value, KeyboardInterrupt)


@pytest.mark.parametrize("json", [False, True])
def test_an_interrupted_optimisation_shows_its_best(ibmap, monkeypatch, json):
    monkeypatch.setattr("ibmap.cli.optimize.progress", stopping(2))
    ran = ibmap("optimize", "onemax", "--bits", "30", "--population", "60", *(["--json"] if json else []))
    assert ran.code == 130
    assert ('"stopped_by": "interrupt"' if json else "best so far") in ran.out
    assert "after 1 generation; in Python" in ran.err
