"""Compiled code on disk is a help: whatever its files hold, the right code runs, after one line."""

import importlib.util
import os
import pickle
import subprocess
import sys

import numba
import pytest

from ibmap.kernels import cache

TOY = """
from numba import types
from ibmap.kernels.jit import ByAddress, kernel

@kernel
def double(x):
    return 2 * x

@kernel
def triple(x):
    return 3 * x

def fill(address):
    pass

by_address = ByAddress(types.void(types.intp), fill)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch, caplog):
    """Load a fresh copy of two kernels, as a new process would."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "toy.py").write_text(TOY)

    def load():
        monkeypatch.setattr(cache, "_said", set())
        caplog.clear()
        spec = importlib.util.spec_from_file_location("toy", tmp_path / "toy.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "toy", module)
        spec.loader.exec_module(module)
        return module

    return load


def use(module):
    assert (module.double(2.0), module.triple(2.0)) == (4.0, 6.0)
    assert module.by_address.address
    return sum(sum(one.stats.cache_hits.values()) for one in (module.double, module.triple))


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "ibmap"]


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a byte less": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "flipped": lambda path: path.write_bytes(
        (raw := path.read_bytes())[:-99] + bytes([raw[-99] ^ 1]) + raw[-98:]
    ),
    "text": lambda path: path.write_text("a,b\n0,1\n"),
    "another pickle": lambda path: path.write_bytes(pickle.dumps(["what", "is", "this"])),
    "a pickle of nothing": lambda path: path.write_bytes(pickle.dumps(None)),
    "a missing module": lambda path: path.write_bytes(b"cnowhere\nnothing\n."),
}
#: taken for code of another version of Numba, or for no code; that is nothing to talk about
STALE = {
    ("nbi", "flipped"),
    ("nbi", "another pickle"),
    ("nbi", "a pickle of nothing"),
    ("nbc", "a pickle of nothing"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_are_compiled_again(toy, tmp_path, caplog, suffix, damage):
    assert use(toy()) == 0
    assert lines(caplog) == []
    found = sorted((tmp_path / "__pycache__").glob(f"*.{suffix}"))
    assert len(found) == 3
    for path in found:
        DAMAGE[damage](path)
    use(toy())
    said = lines(caplog)
    assert len(said) == ((suffix, damage) not in STALE)
    assert all("cannot be used" in line and "it is compiled again" in line for line in said)
    assert use(toy()) == 2
    assert lines(caplog) == []


def test_code_of_another_function_is_not_run(toy, tmp_path, caplog):
    use(toy())
    files = {
        name: next((tmp_path / "__pycache__").glob(f"toy.{name}-*.nbc")) for name in ("double", "triple")
    }
    files["double"].write_bytes(files["triple"].read_bytes())
    assert use(toy()) == 1
    assert len(lines(caplog)) == 1


def test_code_that_cannot_be_kept(toy, caplog, monkeypatch):
    monkeypatch.setattr(cache._Files, "_open_for_write", full)
    assert use(toy()) == 0
    assert len(lines(caplog)) == 1
    assert "cannot be written" in lines(caplog)[0]
    assert "No space left" in lines(caplog)[0]


def full(_, path):
    raise OSError(28, "No space left on device", path)


def test_no_folder_to_write_to(toy, caplog, monkeypatch):
    monkeypatch.setattr(cache.CompileResultCacheImpl, "_locator_classes", [])
    assert use(toy()) == 0
    assert len(lines(caplog)) == 1
    assert "NUMBA_CACHE_DIR" in lines(caplog)[0]


def test_no_home_makes_no_folder_of_that_name(toy, tmp_path, caplog, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        os.path, "expanduser", lambda path: path
    )  # as of a user whom the system does not know
    places = cache.CompileResultCacheImpl._locator_classes
    only_the_users = [one for one in places if one.__name__.endswith(cache.USERS)]
    assert len(only_the_users) == 1
    monkeypatch.setattr(cache.CompileResultCacheImpl, "_locator_classes", only_the_users)
    assert use(toy()) == 0
    assert len(lines(caplog)) == 1
    assert not (tmp_path / "~").exists()


def run(code, **environment):
    command = [sys.executable, "-c", code]
    known = {name: value for name, value in os.environ.items() if name != "HOME"}
    return subprocess.run(command, env={**known, **environment}, capture_output=True, text=True, check=False)


def test_a_full_disk_is_one_line_on_stderr(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)); "
    ran = run(
        limited + f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import toy; print(toy.double(2.0))",
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert (ran.returncode, ran.stdout) == (0, "4.0\n")
    assert ran.stderr.count("\n") == 1
    assert "File too large" in ran.stderr
    assert "next run compiles again" in ran.stderr


def test_without_the_compiler_there_is_a_clear_refusal(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "0,0\n1,1\n" * 20)
    code = f"import sys; sys.argv = ['ibmap', 'learn', {str(table)!r}]; from ibmap.cli import main; main()"
    ran = run(code, NUMBA_DISABLE_JIT="1")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
    assert "NUMBA_DISABLE_JIT" in ran.stderr
    ran = run("import ibmap", NUMBA_DISABLE_JIT="1")
    assert (ran.returncode, ran.stderr) == (0, "")
