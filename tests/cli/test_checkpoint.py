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
