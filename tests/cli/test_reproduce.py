"""``ibmap reproduce``: what people see."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ibmap.paper import page, registry
from ibmap.paper.store import path_of, read
from tests.toys import EXPERIMENT, STUDY


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(registry._HOME, "toy", "tests.toys:EXPERIMENT")
    return EXPERIMENT


def test_list(ibmap):
    ran = ibmap("reproduce", "--list")
    assert ran.code == 0
    for name in registry.experiment_names():
        assert name in ran.out
    entries = json.loads(ibmap("reproduce", "--list", "--json").out)
    assert [entry["name"] for entry in entries] == list(registry.experiment_names())


def test_a_run_ends_with_table_figure_and_claims(ibmap, toy, tmp_path):
    ran = ibmap("reproduce", "toy", "--out", tmp_path)
    assert ran.code == 0
    assert ran.err == ""
    assert "| 2 | 4.0 ± 1.0 | 3.0 ± 1.0 |" in ran.out
    assert "✔ holds: “fast is better”" in ran.out
    assert "✘ does not hold: “slow is better” (indeed)" in ran.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.csv", "toy.jsonl", "toy.md", "toy.png"]


def test_json(ibmap, toy, tmp_path):
    ran = ibmap("reproduce", "toy", "--quick", "--repetitions", 2, "--out", tmp_path, "--json")
    shown = json.loads(ran.out)
    assert shown["rows"] == 4
    assert [claim["status"] for claim in shown["claims"]] == ["not enough runs"] * 2
    assert (ran.code, ran.err) == (0, "")


def test_without_matplotlib_one_line_says_how_to_get_the_figure(ibmap, toy, tmp_path, monkeypatch):
    monkeypatch.setattr("ibmap.paper.figures.find_spec", lambda name: None)
    ran = ibmap("reproduce", "toy", "--quick", "--out", tmp_path)
    assert ran.code == 0
    assert ran.err == "ibmap: the figure needs matplotlib: pip install matplotlib\n"
    assert not (tmp_path / "toy.png").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random-haming"], "there is no experiment 'random-haming'; did you mean 'random-hamming'?"),
        (["nonsense"], "there is no experiment 'nonsense'; there are random-hamming,"),
        ([], "which experiment? ibmap reproduce --list names them"),
        (["toy", "--set", "seed"], "--set takes NAME=VALUE, not 'seed'"),
        (["toy", "--set", "sead=1"], "toy has no setting 'sead'; there are seed, pause, mishap"),
        (["toy", "--set", "seed=x"], "setting 'seed' takes a whole number, not 'x'"),
        (["toy", "--set", "mishap=2 slow"], "a mishap"),
        (["toy", "--page", "page.md"], "--page shows everything in --out: leave 'toy' out"),
        (["--page", "page.md"], "there are no rows in"),
    ],
)
def test_mistakes_are_one_line(ibmap, toy, tmp_path, arguments, words):
    ran = ibmap("reproduce", *arguments, "--out", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"ibmap: error: {words}")
    assert ran.err.count("\n") == 1


def test_other_settings_need_another_folder(ibmap, toy, tmp_path):
    assert ibmap("reproduce", "toy", "--quick", "--out", tmp_path).code == 0
    ran = ibmap("reproduce", "toy", "--quick", "--out", tmp_path, "--set", "seed=3")
    assert ran.code == 2
    assert "seed is 0 there and 3 here" in ran.err
    assert "--out" in ran.err


def test_a_damaged_file_is_named_and_kept(ibmap, toy, tmp_path):
    ibmap("reproduce", "toy", "--quick", "--out", tmp_path)
    path = path_of(tmp_path, STUDY)
    path.write_bytes(path.read_bytes().replace(b'"repetition":0', b'"repetition":', 1))
    before = path.read_bytes()
    ran = ibmap("reproduce", "toy", "--quick", "--out", tmp_path)
    assert ran.code == 1
    assert f"{str(path)!r} is damaged in line 2" in ran.err
    assert path.read_bytes() == before


def test_a_missing_data_directory_is_one_line(ibmap, tmp_path):
    ran = ibmap("reproduce", "table-real", "--out", tmp_path / "out", "--data-dir", tmp_path / "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert "nowhere" in ran.err
    assert ran.err.count("\n") == 1


def test_a_full_disk_is_one_line(ibmap, toy, tmp_path, monkeypatch):
    ibmap("reproduce", "toy", "--quick", "--out", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        ran = ibmap("reproduce", "toy", "--out", tmp_path)
    assert ran.code == 1
    assert "No space left on device; the 2 rows in it are kept" in ran.err
    assert ran.err.count("\n") == 1
    assert len(read(path_of(tmp_path, STUDY)).rows) == 2


def test_the_page(ibmap, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "experiment_names", lambda: ("toy",))
    ibmap("reproduce", "toy", "--out", tmp_path / "rows")
    target = tmp_path / "docs" / "reproduction.md"
    ran = ibmap("reproduce", "--page", target, "--out", tmp_path / "rows")
    assert ran.code == 0, ran.err
    assert "# The paper's experiments, reproduced" in target.read_text()
    assert (target.parent / "reproduction" / "toy.csv").exists()
    again = json.loads(ibmap("reproduce", "--page", target, "--out", tmp_path / "rows", "--json").out)
    assert str(target) in again["files"]


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from ibmap.paper import registry
registry._HOME["toy"] = "tests.toys:EXPERIMENT"
from ibmap.cli import main
if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_keeps_its_rows(tmp_path, jobs):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(path=sys.path))
    path = path_of(tmp_path, STUDY)
    command = [sys.executable, str(script), "reproduce", "toy", "--out", str(tmp_path), "--jobs", str(jobs)]
    with subprocess.Popen(
        [*command, "--set", "pause=0.1"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (path.exists() and path.read_bytes().count(b"\n") > 3) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody in the group
        err = process.stderr.read()
        assert process.wait(timeout=60) == 130, err
    assert err == "ibmap: interrupted\n"
    assert len(read(path).rows) >= 3


def test_readings_take_no_settings(ibmap, tmp_path):
    for given in (["random-hamming"], ["--preset", "paper"], ["--set", "seed=1"], ["--repetitions", 2]):
        ran = ibmap("reproduce", "--readings", *given, "--out", tmp_path)
        assert ran.refuses("--readings scores all settings")


@pytest.mark.slow
def test_readings_write_a_ranking(ibmap, tmp_path, monkeypatch):
    from ibmap.paper import readings
    from tests.paper.test_readings import made_up

    monkeypatch.setattr(readings, "run_readings", lambda out, **how: made_up())
    ran = ibmap("reproduce", "--readings", "--out", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "| rank | prior_counts |" in ran.out
    assert (tmp_path / "readings.csv").read_text().startswith("rank,prior_counts")
    assert (tmp_path / "readings.md").exists()
    assert len(json.loads(ibmap("reproduce", "--readings", "--out", tmp_path, "--json").out)) == 8
