"""Compile the native core with what is in the virtual environment: ``make core``, ``debug``, ``sanitize``.

``python tools/build_core.py [native | debug | sanitized] [folder]`` configures if anything that the build
rests on has changed (compiler, Python, nanobind, processor, folder), and lets ninja compile what has changed.
A build that was interrupted goes on. The compiler is that of the environment variable CXX, or of the last
time, or the first of c++, g++ and clang++ that there is, or zig, which then comes from PyPI.

``python tools/build_core.py wheel [folder]`` builds the source distribution and, of that, the wheel.
"""

import contextlib
import fcntl
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import nanobind

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(sys.prefix)
COMPILERS = ("c++", "g++", "clang++")
RECORD = "made_with.json"  #: in the folder of a build: all that it rests on


class BuildError(Exception):
    """The core cannot be built: one line that says why, and what to do."""


def main() -> int:
    """Build what the command line asks for."""
    build = sys.argv[1] if len(sys.argv) > 1 else "native"
    usual = {"native": "build/core", "wheel": "dist"}.get(build, f"build/{build}")
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / usual
    try:
        if build == "wheel":
            build_wheel(folder)
            return 0
        with locked(folder):
            for stale in (ROOT / "src/ibmap").glob(
                "_core.*.so"
            ):  # of before there was a loader; Python prefers it
                stale.unlink()
            configure(build, folder)
            compile_changes(build, folder)
    except BuildError as error:
        print(f"ibmap: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time build in a folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def configure(build: str, folder: Path) -> None:
    """Run CMake, from scratch, unless it has run to its end for the same build."""
    record = folder / RECORD
    with contextlib.suppress(OSError, ValueError):
        last = json.loads(record.read_text())
        if "CXX" not in os.environ and shutil.which(shlex.split(last["compiler"])[0]):
            os.environ["CXX"] = last["compiler"]
        if last == foundations(build):
            return
    shutil.rmtree(folder, ignore_errors=True)
    options = compiler_options()
    run = subprocess.run(
        [
            *(VENV / "bin/cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-Wno-dev"),
            f"-DCMAKE_MAKE_PROGRAM={VENV / 'bin/ninja'}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DIBMAP_BUILDS={build}",
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if run.returncode:
        raise failed(run.stdout)
    record.write_text(json.dumps(foundations(build)))


def failed(output: str) -> BuildError:
    """Return the one line that CMakeLists.txt has for what is wrong, or else all that was said."""
    lines = (line.strip() for line in output.splitlines())
    reason = next((line for line in lines if line.startswith("ibmap: ")), f"CMake failed\n{output}")
    return BuildError(reason.removeprefix("ibmap: "))


def foundations(build: str) -> dict[str, str]:
    """Return all that a build rests on, apart from the sources."""
    return {
        "build": build,
        "root": str(ROOT),
        "compiler": os.environ.get("CXX", ""),
        "flags": os.environ.get("CXXFLAGS", ""),
        "python": f"{sys.executable} {sysconfig.get_config_var('EXT_SUFFIX')} {sys.base_prefix}",
        "nanobind": f"{nanobind.cmake_dir()} {nanobind.__version__}",
        "processor": processor(),
    }


def processor() -> str:
    """Return the model and the features of the processor, which ``native`` stands for."""
    wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    except OSError:
        lines = []
    found = [" ".join(line.split()) for line in lines if line.startswith(wanted)]
    return "; ".join([platform.machine(), *found]) if found else platform.machine() + platform.processor()


def compiler_options() -> list[str]:
    """Choose a compiler, put it into the environment, and return what CMake must know about it."""
    chosen = os.environ.get("CXX")
    if chosen:
        if not shutil.which(shlex.split(chosen)[0]):
            raise BuildError(
                f"CXX={chosen}: there is no such compiler; name another one, or none to find one"
            )
    else:
        chosen = next(filter(None, map(shutil.which, COMPILERS)), None) or zig()
        os.environ["CXX"] = chosen
    if chosen != str(zig_script("c++")):
        return []
    return [
        "-DIBMAP_ZIG=ON",
        "-DCMAKE_CXX_FLAGS=-mcpu=baseline -O3 -s",  # zig compiles its library for each set of these
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
        f"-DCMAKE_AR={zig_script('ar')}",
        f"-DCMAKE_RANLIB={zig_script('ranlib')}",
    ]


def zig() -> str:
    """Install zig into the virtual environment, and return a script that is its C++ compiler."""
    if find_spec("ziglang") is None:
        said = "No C++ compiler found: taking zig from PyPI (100 MB; its own library takes a minute) ..."
        print(said, flush=True)
        install = [sys.executable, "-m", "pip", "install", "-qq", "ziglang"]
        if subprocess.run(install, cwd=ROOT).returncode:
            raise BuildError(
                "there is no C++ compiler, and zig cannot be installed: apt install g++, or the like"
            )
    cache = shlex.quote(str(VENV / "zig/cache"))
    for tool in ("c++", "ar", "ranlib"):
        script = zig_script(tool)
        script.parent.mkdir(exist_ok=True)
        script.write_text(
            f"#!/bin/sh\nZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache} "
            f'exec {shlex.quote(sys.executable)} -m ziglang {tool} "$@"\n'
        )
        script.chmod(0o755)
    return str(zig_script("c++"))


def zig_script(tool: str) -> Path:
    """Return the script that stands for a tool of zig."""
    return VENV / "zig" / tool


def compile_changes(build: str, folder: Path) -> None:
    """Run ninja; what it does is one line, what compilers say is shown."""
    target = "for this processor" if build == "native" else f"({build})"
    once = f"Compiling the native core {target} (once, about half a minute) ..."
    again = f"Compiling what has changed in the native core {target} ..."
    message = again if any(folder.glob("*core*.so")) else once
    ninja = subprocess.Popen(
        [VENV / "bin/ninja", "-C", folder],
        env={**os.environ, "NINJA_STATUS": "step: "},
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in ninja.stdout or ():
        if line.startswith("step: Building"):
            print(message or ".", end="", flush=True)
            message = ""
        if not line.startswith(("step: ", "-- ", "ninja: ")):
            print(line, end="", flush=True)
    if not message:
        print(flush=True)
    if ninja.wait():
        raise BuildError("the native core does not compile; the messages of the compiler are above")


def build_wheel(folder: Path) -> None:
    """Build the source distribution and the wheel of it: a wheel proves that the sources are all there."""
    os.environ["CMAKE_ARGS"] = shlex.join(
        [*shlex.split(os.environ.get("CMAKE_ARGS", "")), *compiler_options()]
    )
    run = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if run.returncode:
        raise failed(run.stdout)


if __name__ == "__main__":
    sys.exit(main())
