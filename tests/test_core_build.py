"""Which build of the native core is loaded, and what is said where none can be: one line, with what to do.

The slow tests compile a copy of the sources, as ``make core`` does.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ibmap
from ibmap import _loader
from ibmap.errors import CoreError, IbmapError

ROOT = Path(__file__).parent.parent
WHEEL = {"v4": ["popcnt", "avx2", "avx512f"], "v3": ["popcnt", "avx2"], "v2": ["popcnt"]}


@pytest.mark.parametrize(
    ("features", "build"),
    [
        (["popcnt", "avx", "avx2", "avx512f"], "v4"),
        (["popcnt", "avx2"], "v3"),
        (["popcnt", "avx512f"], "v2"),  # not all that v4 needs
        (["popcnt"], "v2"),
    ],
)
def test_the_fastest_build_that_runs_is_chosen(features: list[str], build: str) -> None:
    assert _loader.choose(WHEEL, features) == build


def test_a_processor_that_lacks_what_every_build_needs_is_told() -> None:
    with pytest.raises(
        CoreError, match=r"another processor \(this one has no popcnt\): run make core on this"
    ):
        _loader.choose(WHEEL, ["sse3"])
    with pytest.raises(CoreError, match="this one has no a, b, c and 2 more"):
        _loader.choose({"native": list("abcde")}, [])


def test_this_processor_has_what_the_core_in_use_was_built_for() -> None:
    builds, features = _loader.known_builds()
    assert _loader.choose(builds, features) in builds


def test_a_core_that_is_not_built_is_an_import_error_and_one_for_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ibmap._processor", None)
    with pytest.raises(CoreError, match="is not built: run make core, or pip install") as raised:
        _loader.known_builds()
    assert isinstance(raised.value, ImportError)
    assert isinstance(raised.value, IbmapError)


def test_a_build_for_another_python_or_half_a_build_is_told() -> None:
    with pytest.raises(CoreError, match=r"for Python 3\.\d+, or was not built to the end: run make core"):
        _loader.path_of("of_nobody")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a module"])
def test_a_file_that_is_no_module_is_told(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "core.so"
    path.write_bytes(content)
    monkeypatch.setenv("IBMAP_CORE", str(path))
    with pytest.raises(CoreError, match=r"cannot be loaded .*: run make core") as raised:
        _loader.load("ibmap._core_broken")
    assert "\n" not in str(raised.value)
    assert "ibmap._core_broken" not in sys.modules


@pytest.mark.parametrize(
    ("version", "interface"),
    [("0.0.1", _loader.INTERFACE), (ibmap.__version__, _loader.INTERFACE + 1), (None, None)],
)
def test_a_core_of_another_version_is_refused(version: str | None, interface: int | None) -> None:
    module = ModuleType("core")
    if version:
        module.__dict__.update(VERSION=version, INTERFACE=interface)
    with pytest.raises(
        CoreError, match=rf"for ibmap {version} \(interface {interface}\), but this is .*: run make core"
    ):
        _loader.check(module)


# Builds of a copy

COPIED = (
    "CMakeLists.txt",
    "tools",
    "src/ibmap/_core/processor",
    "src/ibmap/_core.py",
    "src/ibmap/_loader.py",
)
COPIED += ("src/ibmap/__init__.py", "src/ibmap/errors.py")
EMPTY = """#include <nanobind/nanobind.h>
NB_MODULE(_core, module) {
    module.attr("INTERFACE") = IBMAP_INTERFACE;
    module.attr("VERSION") = IBMAP_VERSION;
}
"""


def copy_to(folder: Path) -> Path:
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "src/ibmap/_core/bind.cpp").write_text(EMPTY)  # a core with nothing in it compiles fast
    return folder


def make_core(clone: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, clone / "tools/build_core.py"]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)


def import_core(clone: Path) -> str:
    """Return what a process prints that imports the core of a clone: its version, or an error.

    Without site-packages, where the package of the virtual environment would come first.
    """
    env = {**os.environ, "PYTHONPATH": str(clone / "src")}
    code = "import ibmap._core as core; print(core.VERSION, core.__file__)"
    run = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True)
    return (run.stdout or run.stderr).strip().splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clone = copy_to(tmp_path_factory.mktemp("a clone"))  # a space in its path
    made = make_core(clone)
    assert made.returncode == 0, made.stderr
    (line,) = made.stdout.splitlines()  # a dot for each file
    assert line.startswith("Compiling the native core for this processor (once, about half a minute) ...")
    return clone


@pytest.fixture
def clone(built: Path, tmp_path: Path) -> Iterator[Path]:
    """The clone that was built; what a test does to its sources is undone."""
    shutil.copytree(built / "src", tmp_path / "kept")
    yield built
    shutil.rmtree(built / "src")
    shutil.copytree(tmp_path / "kept", built / "src")


@pytest.mark.slow
def test_a_clone_compiles_once_and_then_what_has_changed(clone: Path) -> None:
    assert str(clone) in import_core(clone)
    assert make_core(clone).stdout == ""
    (clone / "src/ibmap/_core/more.cpp").write_text("int of_nobody;\n")
    assert make_core(clone).stdout.startswith("Compiling what has changed")
    for placed in (clone / "src/ibmap").glob("*.so"):
        placed.unlink()
    assert "is not built: run make core" in import_core(clone)
    assert make_core(clone).returncode == 0
    assert str(clone) in import_core(clone)


@pytest.mark.slow
def test_a_core_that_is_older_than_the_package_is_refused_until_make(clone: Path) -> None:
    menu = clone / "src/ibmap/__init__.py"
    menu.write_text(menu.read_text().replace(f'"{ibmap.__version__}"', '"9.9.9"'))
    assert f"for ibmap {ibmap.__version__} (interface" in import_core(clone)
    make_core(clone)
    assert import_core(clone).startswith("9.9.9")
    loader = clone / "src/ibmap/_loader.py"
    loader.write_text(loader.read_text().replace(f"INTERFACE = {_loader.INTERFACE}", "INTERFACE = 99"))
    assert "but this is 9.9.9 (interface 99)" in import_core(clone)
    make_core(clone)
    assert import_core(clone).startswith("9.9.9")


@pytest.mark.slow
def test_half_a_file_is_told(clone: Path) -> None:
    (core,) = (clone / "src/ibmap").glob("_core_native*.so")
    core.write_bytes(core.read_bytes()[:40])
    assert "CoreError: the native core cannot be loaded" in import_core(clone)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 2.5])  # while CMake runs, and while ninja does
def test_the_next_make_mends_a_build_that_was_killed(seconds: float, tmp_path: Path) -> None:
    clone = copy_to(tmp_path)
    command = [sys.executable, clone / "tools/build_core.py"]
    build = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    os.killpg(build.pid, signal.SIGKILL)  # its compilers, too
    build.wait()
    assert "is not built: run make core" in import_core(clone)
    assert make_core(clone).returncode == 0
    assert str(clone) in import_core(clone)


@pytest.mark.slow
def test_a_core_of_another_processor_is_refused(tmp_path: Path) -> None:
    if "avx512fp16" in _loader.known_builds()[1]:
        pytest.skip("this processor has everything")
    clone = copy_to(tmp_path)
    made = make_core(clone, CXXFLAGS="-mavx512fp16")
    if made.returncode:
        pytest.skip("the compiler does not know such a processor")
    assert "was built for another processor (this one has no avx512fp16): run make core" in import_core(clone)


@pytest.mark.slow
def test_a_compiler_that_is_too_old_is_one_line(tmp_path: Path) -> None:
    clone = copy_to(tmp_path)
    compiler = clone / "old-c++"
    compiler.write_text('#!/bin/sh\nexec c++ "$@" -std=c++17\n')
    compiler.chmod(0o755)
    made = make_core(clone, CXX=str(compiler))
    assert made.returncode == 1
    assert len(made.stderr.splitlines()) == 1
    assert f"ibmap: {compiler} (" in made.stderr
    assert "needs g++ 11 or clang++ 14" in made.stderr
    nobody = make_core(clone, CXX="of-nobody-c++")
    assert nobody.stderr == (
        "ibmap: CXX=of-nobody-c++: there is no such compiler; name another one, or none to find one\n"
    )
