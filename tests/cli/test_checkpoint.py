"""kill -9: a real process; the next run goes on where the first was saved."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

KEPT = ["variables", "edges", "score", "n_tests", "n_iter", "learner", "test"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_run_goes_on_and_ends_alike(ibmap, tmp_path):
    rng = np.random.default_rng(0)
    flips = rng.random((600, 1000)) < 0.1
    frame = pl.DataFrame(np.logical_xor.accumulate(flips, axis=0).T.astype(np.int8))
    frame.write_parquet(tmp_path / "large.parquet")
    saved = tmp_path / "saved"
    options = ["learn", str(tmp_path / "large.parquet"), "--checkpoint", str(saved), "--json"]
    command = [sys.executable, "-m", "ibmap.cli", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not saved.exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    steps = json.loads(saved.read_text())["steps"]
    ran = ibmap(*options, "--out", tmp_path / "again")
    assert (ran.code, ran.err) == (0, "")
    assert not saved.exists()
    ibmap("learn", tmp_path / "large.parquet", "--out", tmp_path / "whole")
    one, two = (json.loads((tmp_path / name / "result.json").read_text()) for name in ("again", "whole"))
    assert 0 < len(steps) < len(two["history"])
    assert one["history"] == two["history"]
    assert [one[key] for key in KEPT] == [two[key] for key in KEPT]


MOMENTS = [
    "ibmap.learners.evidence_map.best_view",
    "ibmap.results.learned.Learned.with_effects",
    "ibmap.results.result_file.result_of_learned",
    "ibmap.cli.learn.result_files",
    "ibmap.cli.learn.write_together",
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_ends_after_its_search_goes_on_and_ends_alike(ibmap, tmp_path, monkeypatch, moment):
    """In the directed view, effects, the making of files, their writing: the file holds a finished search."""
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(2, size=400) for _ in range(3))
    noise = rng.random((2, 400)) < 0.05
    columns = {"a": a, "b": b, "c": c, "d": (a & b) ^ noise[0], "e": (b ^ c) ^ noise[1]}
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    whole = ibmap("learn", tmp_path / "t.csv", "--out", tmp_path / "whole")
    assert (whole.code, whole.err) == (0, "")
    again = ["learn", tmp_path / "t.csv", "--out", tmp_path / "again", "--checkpoint", tmp_path / "saved"]

    def ended(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        module, name = moment.rsplit(".", 1)
        owner = sys.modules.get(module) or sys.modules["ibmap.results.learned"].Learned
        patched.setattr(owner, name, ended)
        assert ibmap(*again).code == 130
    assert json.loads((tmp_path / "saved").read_text())["finished"]
    ran = ibmap(*again)
    assert (ran.code, ran.err) == (0, "")
    one, two = (json.loads((tmp_path / name / "result.json").read_text()) for name in ("again", "whole"))
    for clock in ("seconds", "made_at"):
        del one[clock], two[clock]
    assert one == two
    assert two["view_scores"] is not None


def test_other_learners_have_no_checkpoints(refused, survey, tmp_path):
    assert "gsmn has no option --checkpoint" in refused(
        survey, "--learner", "gsmn", "--checkpoint", tmp_path / "saved"
    )
    (tmp_path / "mine").write_text("my thesis")
    assert "is not a checkpoint" in refused(survey, "--checkpoint", tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "my thesis"


def test_a_checkpoint_is_gone_when_the_result_is_there(ibmap, survey, tmp_path):
    assert ibmap("learn", survey, "--checkpoint", tmp_path / "saved").code == 0
    assert not (tmp_path / "saved").exists()
