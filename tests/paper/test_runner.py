"""The runner: every cell once, whatever happens in between."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibmap.errors import RequestError
from ibmap.paper import workers
from ibmap.paper.experiment import Setup, seed_of
from ibmap.paper.results import Row
from ibmap.paper.runner import batches, reproduce
from ibmap.paper.store import path_of, read
from tests.toys import GRID, STUDY

pytestmark = pytest.mark.slow  # starts processes, or a browser

WHOLE = [Row(cell, r, {}).key for r in range(3) for cell in STUDY.cells()]


def as_set(rows):
    return sorted((row.key, sorted(row.measures.items())) for row in rows)


def test_every_cell_is_run_so_often(tmp_path):
    seen = []
    rows = reproduce(STUDY, tmp_path, advance=lambda done, total: seen.append((done, total)))
    assert sorted(row.key for row in rows) == sorted(WHOLE)
    assert seen == [(done, len(WHOLE)) for done in range(len(WHOLE) + 1)]
    assert read(path_of(tmp_path, STUDY)).rows == rows


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    alone = reproduce(STUDY, tmp_path / "1", n_jobs=1)
    together = reproduce(STUDY, tmp_path / "2", n_jobs=2)
    assert as_set(alone) == as_set(together)


def test_a_second_run_has_nothing_to_do(tmp_path):
    first = reproduce(STUDY, tmp_path, data_dir=tmp_path)
    assert reproduce(STUDY, tmp_path, data_dir=tmp_path) == first
    assert len((tmp_path / "runs.txt").read_text().splitlines()) == len(WHOLE)


def test_a_quick_run_is_a_part_of_the_full_one(tmp_path):
    quick = reproduce(STUDY, tmp_path, quick=True)
    assert sorted({row.cell["n"] for row in quick}) == [2]
    assert len(reproduce(STUDY, tmp_path, repetitions=2)) == 2 * len(STUDY.cells())


def test_learners_of_one_world_stay_together_and_large_ones_go_first():
    tasks = [(cell, repetition) for repetition in (0, 1) for cell in STUDY.cells()]
    found = [[(c["n"], c["learner"], r) for c, r in batch] for batch in batches(STUDY, tasks)]
    assert found[0] == [(5, "slow", 0), (5, "fast", 0)]
    assert [batch[0][0] for batch in found] == [5, 3, 2, 5, 3, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mishap_keeps_the_rows_before_it(tmp_path, jobs):
    with pytest.raises(RequestError, match="a mishap"):
        reproduce(STUDY, tmp_path, n_jobs=jobs, settings={"mishap": "2 fast"})
    kept = read(path_of(tmp_path, STUDY)).rows
    assert {"n": 2, "learner": "fast"} not in [row.cell for row in kept]
    assert any(row.cell["n"] > 2 for row in kept)


def test_a_bug_in_a_process_is_shown_with_its_traceback(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)toys\.py.*OSError: a bug"):
        reproduce(STUDY, tmp_path, n_jobs=2, settings={"mishap": "bug 2 fast"})


def test_a_process_that_is_killed_is_one_line(tmp_path):
    with pytest.raises(RequestError, match=r"a process was killed \(code 9\).*fewer --jobs"):
        reproduce(STUDY, tmp_path, n_jobs=2, settings={"mishap": "kill 2 fast"})


def test_unknown_settings_are_refused(tmp_path):
    with pytest.raises(RequestError, match="no setting 'sead'; there are seed, pause"):
        reproduce(STUDY, tmp_path, settings={"sead": 1})
    assert not path_of(tmp_path, STUDY).exists()


def test_other_settings_are_not_mixed(tmp_path):
    reproduce(STUDY, tmp_path, quick=True)
    with pytest.raises(RequestError, match="seed is 0 there and 1 here"):
        reproduce(STUDY, tmp_path, settings={"seed": 1})


def test_closing_the_rows_early_ends_the_processes(tmp_path):
    rows = workers.run(STUDY, Setup(STUDY.settings), batches(STUDY, [(c, 0) for c in STUDY.cells()]), 2)
    next(rows)
    rows.close()  # would hang if a process did not end


def test_seeds_differ_by_what_is_drawn_and_by_nothing_else():
    seeds = {seed_of(base, {"n": n}, r) for base in (0, 1) for n in GRID["n"] for r in range(10)}
    assert len(seeds) == 2 * len(GRID["n"]) * 10
    assert seed_of(0, {"n": 100, "tau": 4}, 0) == 6085264891709499634  # of [0,{"n":100,"tau":4},0]


SCRIPT = """
import sys
from pathlib import Path
from tests.toys import STUDY
from ibmap.paper.runner import reproduce
if __name__ == "__main__":
    out = Path(sys.argv[1])
    reproduce(STUDY, out, n_jobs=int(sys.argv[2]), data_dir=out, settings={"pause": 0.05})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_minus_nine_loses_and_repeats_nothing(tmp_path, jobs):
    script = tmp_path / "script.py"
    script.write_text(f"import sys\nsys.path[:0] = {sys.path!r}\n{SCRIPT}")
    path = path_of(tmp_path, STUDY)
    finished: list[bytes] = []
    for _ in range(3):
        n_runs = len(runs(tmp_path))
        with subprocess.Popen([sys.executable, str(script), str(tmp_path), str(jobs)]) as process:
            wait_for(path, len(finished) + 3)
            process.send_signal(signal.SIGKILL)
            process.wait()
        lines = path.read_bytes().split(b"\n")[:-1]
        assert lines[: len(finished)] == finished, "a finished row is never touched again"
        assert len(lines) > len(finished)
        assert not stored(finished) & set(runs(tmp_path)[n_runs:]), "what was stored is never run again"
        finished = lines
    n_runs = len(runs(tmp_path))
    subprocess.run([sys.executable, str(script), str(tmp_path), str(jobs)], check=True)
    lines = path.read_bytes().split(b"\n")[:-1]
    assert lines[: len(finished)] == finished
    assert not stored(finished) & set(runs(tmp_path)[n_runs:])
    assert sorted(row.key for row in read(path).rows) == sorted(WHOLE)
    assert len(lines) == 1 + len(WHOLE)


def runs(folder: Path) -> list[str]:
    """Return what was run, in its order; what was under way when its process was killed comes twice."""
    path = folder / "runs.txt"
    return path.read_text().splitlines() if path.exists() else []


def stored(lines: list[bytes]) -> set[str]:
    rows = [json.loads(line) for line in lines[1:]]
    return {f"{row['cell']['n']} {row['cell']['learner']} {row['repetition']}" for row in rows}


def wait_for(path: Path, n_lines: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= n_lines:
            return
        time.sleep(0.005)
    raise AssertionError("no rows after a minute")
