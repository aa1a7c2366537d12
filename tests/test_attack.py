"""A standing attack: real processes, signals, kills, twins, full disks and closed folders at random moments.

Bounded and seeded; ``IBMAP_ATTACK=200`` attacks as often as that. What is promised is in docs/reliability.md.
The verbs that write are disturbed while they write, and what they leave is compared with undisturbed runs.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import polars
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]
ATTACKS = int(os.environ.get("IBMAP_ATTACK", "12"))
CLIMB = ("--learner", "ibmap-hc")
#: what differs between two runs that do the same
DIFFERS = ("seconds", "made_at", "made_with")
#: run without the right of root to write anywhere, as everybody else does
AS_OTHERS = """
import ctypes, os, sys
for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH; prctl 24 is PR_CAPBSET_DROP
    ctypes.CDLL(None).prctl(24, right, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
#: two containers on one disk: the processes have the same number
IN_A_CONTAINER = "import os, sys; os.getpid = lambda: 1; from ibmap.cli import main; main()"


def ibmap(*arguments, start=("-m", "ibmap.cli"), **more):
    command = [sys.executable, *start, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def ended(*arguments, **more):
    with ibmap(*arguments, **more) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def done(*arguments, **more):
    code, out, err = ended(*arguments, **more)
    assert (code, err) == (0, ""), err
    return out


class Verb(NamedTuple):
    """How a verb writes an old and a new output; both are folders, of files or of one file."""

    old: list[object]
    new: list[object]


def writers(world):
    """Return the verbs that write, by name; the last argument is where."""
    table = [world / "w" / "data.csv"]
    one, two = world / "one", world / "two"
    drawn = ["simulate", "random", "--variables", 30, "--rows", 3000, "--tau", 2]
    bootstrap = ["bootstrap", *table, "--replicates", 5]
    return {
        "learn": Verb(["learn", *table, "--learner", "gsmn", "--out"], ["learn", *table, "--out"]),
        "bootstrap": Verb([*bootstrap, "--seed", 1, "--out"], [*bootstrap, "--out"]),
        "simulate": Verb([*drawn, "--seed", 1, "--out"], [*drawn, "--out"]),
        "report": Verb(["report", one, "--out"], ["report", two, "--out"]),
        "plot": Verb(["plot", one], ["plot", two]),
        "convert": Verb(["convert", one], ["convert", two]),
    }


FILES = {"report": "page.html", "plot": "net.png", "convert": "net.graphml"}  #: of verbs that write one file


def target(name, folder):
    return folder / FILES[name] if name in FILES else folder


def content(folder):
    """Return what a folder holds, without what differs from run to run."""
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    for name in [name for name in found if name.endswith(".json")]:
        found[name] = {key: value for key, value in json.loads(found[name]).items() if key not in DIFFERS}
    if "result.json" in found:  # its page tells the seconds, too
        found["report.html"] = found["report.html"][:1000]
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A table, two results of it, and what every verb writes in peace: old and new."""
    base = tmp_path_factory.mktemp("world")
    done(
        "simulate", "random", "--variables", 60, "--rows", 1000, "--tau", 3, "--seed", 6, "--out", base / "w"
    )
    for name, more in (("one", []), ("two", ["--learner", "gsmn"])):
        done("learn", base / "w" / "data.csv", "--out", base / name, *more)
    for name, verb in writers(base).items():
        for age, arguments in (("old", verb.old), ("new", verb.new)):
            folder = base / age / name
            folder.mkdir(parents=True)
            done(*arguments, target(name, folder))
        assert content(base / "old" / name) != content(base / "new" / name)
    return base


def interrupted(world, out):
    """Return what is interrupted: long runs of verbs, so that the signal finds them at work."""
    data, result = world / "w" / "data.csv", world / "one"
    many = ["simulate", "random", "--variables", 200, "--rows", 10**5, "--tau", 4]
    return {
        "learn": ["learn", data, *CLIMB, "--patience", 10**6, "--out", out / "new"],
        "bootstrap": ["bootstrap", data, "--jobs", 2, "--replicates", 10**5, "--out", out / "new"],
        "simulate": [*many, "--out", out / "new"],
        "demo": ["demo", "--out", out / "new"],
        "report": ["report", result, "--out", out / "page.html"],
        "plot": ["plot", result, out / "net.png"],
        "convert": ["convert", result, out / "net.graphml"],
        "optimize": ["optimize", "onemax", "--bits", 400, "--population", 4000],
        "evaluate": ["evaluate", result, "--data", data, "--queries", 10**5],
    }


def in_peace(world, name, folder):
    """Return the names of the files that a verb writes if no signal comes."""
    if name == "demo":
        done("demo", "--out", folder / "peace")
    done_in = {"learn": world / "one", "demo": folder / "peace"}.get(name, world / "new" / name)
    return {path.name for path in done_in.iterdir()} if done_in.is_dir() else set()


@pytest.mark.parametrize("seed", range(ATTACKS))
def test_signals_at_random_moments(world, tmp_path, seed):
    draw = random.Random(seed)
    name, arguments = draw.choice(list(interrupted(world, tmp_path).items()))
    number = draw.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM])
    with ibmap(*arguments) as process:
        time.sleep(draw.uniform(0.3, 4))
        process.send_signal(number)
        sent = time.monotonic()
        _, err = process.communicate(timeout=30)
        took = time.monotonic() - sent
    if process.returncode == 0:  # it was faster
        return
    assert (process.returncode, err.count("\n")) == (128 + number, 1), (name, err)
    assert took < 2, name
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    if left and not all(str(tmp_path / "new" / one) in err for one in left):  # the network so far is told
        assert left == in_peace(world, name, tmp_path), name  # all was there before the signal came
    assert left or list(tmp_path.iterdir()) == [], name


@pytest.mark.parametrize("seed", range(max(2, ATTACKS // 3)))
def test_signals_leave_nothing_of_a_cluster(world, tmp_path, seed):
    """One line, although processes that are ended share semaphores, and no file of theirs."""
    draw = random.Random(4000 + seed)
    number = draw.choice([signal.SIGINT, signal.SIGTERM])
    table = world / "w" / "data.parquet"
    if not table.exists():
        polars.read_csv(world / "w" / "data.csv").write_parquet(table)
    run = ["learn", table, *CLIMB, "--patience", 10**6, "--engine", "dask"]
    with ibmap(*run, env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        time.sleep(draw.uniform(0.5, 6))
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n")) in ((128 + number, 1), (0, 0)), err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(ATTACKS))
def test_kills_at_random_moments_leave_the_old_output_or_the_new_one(world, tmp_path, seed):
    draw = random.Random(1000 + seed)
    name = list(writers(world))[seed % len(writers(world))]
    out = tmp_path / "out"
    shutil.copytree(world / "old" / name, out)
    again = [*writers(world)[name].new, target(name, out), "--force"]
    there = len(list(out.iterdir())) + (0 if name in FILES else draw.randint(1, 3))  # one claims the folder
    with ibmap(*again) as process:
        if draw.random() < 0.8:  # most kills while files are written
            while len(os.listdir(out)) <= there and process.poll() is None:
                pass
            time.sleep(draw.choice([0, 0.001, draw.uniform(0, 0.01)]))
        else:
            time.sleep(draw.uniform(0, 2))
        process.kill()
    if name not in FILES:  # who reads finishes what was begun
        done("convert", out, tmp_path / "net.json")
    found = {name: told for name, told in content(out).items() if not name.startswith(".ibmap-")}
    assert found in (content(world / "old" / name), content(world / "new" / name))
    done(*again)
    assert content(out) == content(world / "new" / name)  # and nothing is left behind


@pytest.mark.parametrize("seed", range(max(1, ATTACKS // 6)))
@pytest.mark.parametrize("start", [("-m", "ibmap.cli"), ("-c", IN_A_CONTAINER)], ids=["twins", "containers"])
def test_of_twins_one_writes(world, tmp_path, seed, start):
    draw = random.Random(2000 + seed)
    command = [*writers(world)["learn"].new, tmp_path / "out"]
    twins = []
    for _ in range(3):
        twins.append(ibmap(*command, start=start))
        time.sleep(draw.choice([0, 0.05, 0.3]))
    errors = [twin.communicate(timeout=120)[1] for twin in twins]
    assert sorted(twin.returncode for twin in twins) == [0, 2, 2], errors
    assert all(err == "" or "another run" in err or "exists" in err for err in errors)
    assert content(tmp_path / "out") == content(world / "new" / "learn")


def test_twins_that_write_different_files_all_finish(world, tmp_path):
    data, out = world / "w" / "data.csv", tmp_path / "out"
    runs = [
        ibmap(*writers(world)[name].new, out, start=("-c", IN_A_CONTAINER)) for name in ("learn", "bootstrap")
    ]
    for number in range(2):
        kept = [
            "learn",
            data,
            *CLIMB,
            "--checkpoint",
            tmp_path / f"saved{number}",
            "--patience",
            2000 + number,
        ]
        runs.append(ibmap(*kept, "--json", start=("-c", IN_A_CONTAINER)))
    told = [run.communicate(timeout=240) for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, told
    assert content(out) == content(world / "new" / "learn") | content(world / "new" / "bootstrap")
    for number, (text, _) in enumerate(told[2:]):
        alone = json.loads(done("learn", data, *CLIMB, "--patience", 2000 + number, "--json"))
        assert {**json.loads(text), "seconds": 0} == {**alone, "seconds": 0}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["learn", "bootstrap", "simulate", "report", "plot", "convert"])
def test_a_full_disk_leaves_what_was_there(world, tmp_path, name):
    out = tmp_path / "out"
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)); "
    start = ("-c", limit + "from ibmap.cli import main; main()")
    new = tmp_path / "new" if name not in FILES else tmp_path / FILES[name]
    code, _, err = ended(*writers(world)[name].new, new, start=start)
    assert (code, err.count("\n")) == (1, 1), err
    assert f"cannot write to '{new}'" in err or f"cannot write '{new}'" in err
    assert "File too large" in err
    assert list(tmp_path.iterdir()) == []
    shutil.copytree(world / "old" / name, out)
    code, _, err = ended(*writers(world)[name].new, target(name, out), "--force", start=start)
    assert (code, err.count("\n")) == (1, 1), err
    assert content(out) == content(world / "old" / name)


@pytest.mark.parametrize("name", ["learn", "bootstrap", "simulate", "report", "plot", "convert"])
def test_a_folder_without_permission_stays_as_it_is(world, tmp_path, name):
    out = tmp_path / "out"
    shutil.copytree(world / "old" / name, out)
    for folder in (out, out / "deeper"):
        out.chmod(0o500)
        where = target(name, folder)
        code, _, err = ended(
            *writers(world)[name].new, where, "--force", start=("-c", AS_OTHERS, "-m", "ibmap.cli")
        )
        out.chmod(0o700)
        assert (code, err.count("\n")) == (1, 1), err
        assert "cannot write" in err or "no folder" in err, err
        assert str(folder) in err
        assert content(out) == content(world / "old" / name)


def test_a_table_without_permission_is_named(world, tmp_path):
    path = tmp_path / "table.csv"
    shutil.copy(world / "w" / "data.csv", path)
    path.chmod(0)
    code, _, err = ended("learn", path, start=("-c", AS_OTHERS, "-m", "ibmap.cli"))
    assert code == 2
    assert err.endswith(f"{str(path)!r} is not readable.\n")
