"""What is printed: JSON for any stream, nothing that acts on a terminal, one line if there is no room."""

import json
import os
import subprocess
import sys

import pytest

BAD = "\x1b\x9b\x7f\u202e\u2066"
NAME = f"caf\u00e9 {BAD}"


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / f"odd{BAD}.csv"
    path.write_text(f"{NAME},b,c\n" + "0,0,1\n1,1,0\n0,0,0\n" * 10 + "1,0,0\n")
    return path


@pytest.fixture
def result(ibmap, odd, tmp_path):
    folder = tmp_path / f"result{BAD}"
    assert ibmap("learn", odd, "--out", folder).code == 0
    return folder


def process(*arguments, encoding="utf-8", **more):
    command = [sys.executable, "-m", "ibmap.cli", *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    environment.pop("PYTHONUNBUFFERED", None)  # what is left in a buffer must not come back at the end
    return subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False, **more)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_whole_whatever_the_stream_can_show(odd, encoding):
    ran = process("learn", odd, "--json", encoding=encoding, stdout=subprocess.PIPE)
    assert (ran.returncode, ran.stderr) == (0, b"")
    text = ran.stdout.decode("utf-8" if encoding == "utf-8" else "ascii")
    assert json.loads(text)["variables"] == [NAME, "b", "c"]
    assert ("\u00e9" in text) == (encoding == "utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_network_in_a_pipe_is_that_in_a_file(ibmap, result, tmp_path, encoding):
    assert ibmap("convert", result, tmp_path / "net.dot").code == 0
    ran = process("convert", result, "-", "--to", "dot", encoding=encoding, stdout=subprocess.PIPE)
    assert (ran.returncode, ran.stdout) == (0, (tmp_path / "net.dot").read_bytes())


def test_no_name_and_no_path_does_anything_to_a_terminal(ibmap, odd, result, tmp_path):
    plain = tmp_path / "plain.json"
    plain.write_text('{"variables": ["a", "b"], "edges": [["a", "b"]]}')
    for arguments in (
        ["learn", odd, "--out", tmp_path / f"more{BAD}"],
        ["explain", result, NAME, "b"],
        ["test", odd, NAME, "b"],
        ["report", result, "--force"],
        ["plot", plain, tmp_path / f"net{BAD}.png"],
        ["convert", result, tmp_path / f"net{BAD}.json"],
        ["bootstrap", odd, "--replicates", 3],
        ["evaluate", result, "--truth", result],
        ["simulate", "random", "--variables", 4, "--rows", 5, "--tau", 1, "--out", tmp_path / f"w{BAD}"],
    ):
        again = ["--force"] if arguments[0] not in ("explain", "test", "bootstrap", "evaluate") else []
        for more in ([], ["--json", *again]):
            ran = ibmap(*arguments, *more)
            assert (ran.code, ran.err) == (0, "")
            assert ran.out
            assert not set(BAD) & set(ran.out), arguments
            if more:
                json.loads(ran.out)


def test_a_network_on_a_terminal_is_spelled_out(ibmap, result, monkeypatch):
    plain = ibmap("convert", result, "-", "--to", "dot").out
    assert set(BAD) < set(plain)
    monkeypatch.setattr("ibmap.cli.screen.is_terminal", lambda: True)
    shown = ibmap("convert", result, "-", "--to", "dot").out
    assert not set(BAD) & set(shown)
    assert "\\x1b" in shown


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_line(result, odd):
    for arguments in (
        ["--version"],
        ["--help"],
        ["learn", "--help"],
        ["learn", odd],
        ["learn", odd, "--json"],
        ["explain", result, NAME, "b"],
        ["convert", result, "-", "--to", "dot"],
        ["reproduce", "--list"],
    ):
        with open("/dev/full", "wb") as full:
            ran = process(*arguments, stdout=full)
        wanted = b"ibmap: error: cannot write to stdout: No space left on device\n"
        assert (ran.returncode, ran.stderr) == (1, wanted), arguments
