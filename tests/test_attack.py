"""A standing attack: real processes, signals and kills at random moments over the verbs that write.

Bounded and seeded; ``IBMAP_ATTACK=200`` attacks as often as that. What is promised is in docs/reliability.md.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]
ATTACKS = int(os.environ.get("IBMAP_ATTACK", "30"))
KEPT = ("variables", "edges", "score", "n_tests", "n_iter", "learner", "test", "history")


def ibmap(*arguments, **more):
    command = [sys.executable, "-m", "ibmap.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def done(*arguments):
    with ibmap(*arguments) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A table, what is learned from it in peace, and another result of the same table."""
    base = tmp_path_factory.mktemp("world")
    done("simulate", "random", "--variables", 60, "--rows", 1000, "--tau", 3, "--out", base / "w")
    for name, more in (("one", []), ("two", ["--learner", "gsmn"])):
        done("learn", base / "w" / "data.csv", "--out", base / name, *more)
    return base


def verbs(world, out):
    data, result = world / "w" / "data.csv", world / "one"
    return {
        "learn": ["learn", data, "--patience", 10**6, "--out", out / "new"],
        "bootstrap": ["bootstrap", data, "--jobs", 2, "--replicates", 10**5, "--out", out / "new"],
        "simulate": [
            "simulate",
            "random",
            "--variables",
            200,
            "--rows",
            10**5,
            "--tau",
            4,
            "--out",
            out / "new",
        ],
        "demo": ["demo", "--out", out / "new"],
        "report": ["report", result, "--out", out / "page.html"],
        "plot": ["plot", result, out / "net.png"],
        "convert": ["convert", result, out / "net.graphml"],
        "optimize": ["optimize", "onemax", "--bits", 400, "--population", 4000],
        "evaluate": ["evaluate", result, "--data", data, "--queries", 10**5],
    }


@pytest.mark.parametrize("seed", range(ATTACKS))
def test_signals_at_random_moments(world, tmp_path, seed):
    draw = random.Random(seed)
    name, arguments = draw.choice(list(verbs(world, tmp_path).items()))
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
    assert list(tmp_path.iterdir()) == [], name


@pytest.mark.parametrize("seed", range(ATTACKS))
def test_kills_at_random_moments_leave_the_old_result_or_the_new_one(world, tmp_path, seed):
    draw = random.Random(1000 + seed)
    data, out = world / "w" / "data.csv", tmp_path / "out"
    done("learn", data, "--out", out, "--learner", "gsmn")
    with ibmap("learn", data, "--out", out, "--force") as process:
        deadline = time.monotonic() + 30  # most kills while files are written
        while draw.random() < 0.9 and time.monotonic() < deadline and process.poll() is None:
            if len(list(out.iterdir())) > 5:
                break
            time.sleep(0.0005)
        time.sleep(draw.uniform(0, 0.02))
        process.kill()
    done("convert", out, tmp_path / "net.json")
    found = json.loads((out / "result.json").read_text())
    whole = [json.loads((world / name / "result.json").read_text()) for name in ("one", "two")]
    assert [found[key] for key in KEPT] in [[one[key] for key in KEPT] for one in whole]
    graph = json.loads((out / "graph.json").read_text())
    assert graph["edges"] == found["edges"]
    done("learn", data, "--out", out, "--force")
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("seed", range(max(1, ATTACKS // 10)))
def test_of_twins_one_writes(world, tmp_path, seed):
    command = ["learn", world / "w" / "data.csv", "--out", tmp_path / "out"]
    twins = [ibmap(*command) for _ in range(3)]
    errors = [twin.communicate(timeout=120)[1] for twin in twins]
    assert sorted(twin.returncode for twin in twins) == [0, 1, 1], errors
    assert all(err == "" or "another run" in err or "exists" in err for err in errors)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_a_full_disk_leaves_nothing(world, tmp_path):
    limit = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", sys.executable, "-m", "ibmap.cli"]
    command = [*limit, "learn", world / "w" / "data.csv", "--out", tmp_path / "out"]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr
    assert f"cannot write to '{tmp_path / 'out'}': File too large" in ran.stderr
    assert list(tmp_path.iterdir()) == []
