"""Try a wheel where it must work: in a fresh virtual environment, without a compiler, each of its builds.

The lines of the README run there, too.

``python tools/try_wheel.py WHEEL [FOLDER]``; ``make wheel`` ends with it.
"""

import os
import random
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

TELL = "import ibmap._core as core; print(core.__file__)"


def main(wheel: Path, folder: Path) -> None:
    """Look into the wheel, install it, and learn with every build that runs on this processor."""
    names = zipfile.ZipFile(wheel).namelist()
    wrong = [name for name in names if name.endswith((".cpp", ".hpp")) or "_core_native" in name]
    builds = [name for name in names if Path(name).name.startswith("_core_")]
    if wrong or not builds or not any(Path(name).stem == "_processor" for name in names):
        sys.exit(f"{wheel}: does not have what it should have: {wrong or names}")

    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder.absolute() / "bin/python"
    path = str(python.parent)  # and nothing else: no compiler
    kept = ("PIP_", "HOME", "LANG", "SSL_", "REQUESTS_", "HTTP", "http", "NO_PROXY", "no_proxy")
    env = {name: value for name, value in os.environ.items() if name.startswith(kept)} | {"PATH": path}
    run([python, "-m", "pip", "install", "-qq", "--only-binary=:all:", wheel], env)

    # a cause, its effect, and noise
    rng = random.Random(0)
    rows = [
        (cause := rng.random() < 0.5, cause ^ (rng.random() < 0.1), rng.random() < 0.5) for _ in range(500)
    ]
    table = folder.absolute() / "table.csv"
    table.write_text("\n".join(["cause,effect,noise", *(",".join(map(str, map(int, row))) for row in rows)]))

    inside = {"env": env, "cwd": folder}  # not the clone: its sources must not be what is imported
    chosen = Path(run([python, "-c", TELL], **inside).strip())
    features = set(run([python, "-c", "import ibmap._processor as p; print(*p.FEATURES)"], **inside).split())
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, chose {chosen.name} of {len(builds)}")
    if not chosen.is_relative_to(folder.absolute()):
        sys.exit(f"{chosen} is not the core of the wheel")
    for name in sorted(builds):
        core = chosen.with_name(Path(name).name)
        build = core.name.removeprefix("_core_").partition(".")[0]
        needs = run(
            [python, "-c", f"import ibmap._processor as p; print(*p.BUILDS[{build!r}])"], **inside
        ).split()
        if not set(needs) <= features:
            print(f"  {core.name}: not for this processor")
            continue
        with_this = {"env": env | {"IBMAP_CORE": str(core)}, "cwd": folder}
        if run([python, "-c", TELL], **with_this).strip() != str(core):
            sys.exit(f"{core.name} was not loaded")
        learned = run([python.with_name("ibmap"), "learn", table, "--json"], **with_this)
        if '"cause"' not in learned:
            sys.exit(f"{core.name}: ibmap learn said {learned}")
        print(f"  {core.name}: learns")

    run([python.with_name("ibmap"), "demo", "--out", "demo"], **inside)
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    run([python, "-c", readme.partition("```python\n")[2].partition("```")[0]], **inside)
    for line in readme.partition("```console\n")[2].partition("```")[0].splitlines():
        if line.startswith("$ ibmap"):
            run([python.with_name("ibmap"), *shlex.split(line)[2:]], **inside)
    print("  the lines of the README run")


def run(command: list[object], env: dict[str, str], cwd: Path | None = None) -> str:
    """Run a command, and return what it prints."""
    done = subprocess.run(
        [str(part) for part in command], env=env, cwd=cwd, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(str(part) for part in command)}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "build/tried"))
