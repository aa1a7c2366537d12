"""``--engine``: threads and a cluster learn what memory learns; what cannot work is one line, no file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ibmap.engines.dask import client as clusters


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "table").mkdir()
    for k in range(3):
        a = rng.integers(0, 2, 400)
        b, c = np.where(rng.random(400) < 0.9, a, 1 - a), rng.integers(0, 40, 400)
        pl.DataFrame({"a": a, "b": b, "c, d": c}).write_parquet(tmp_path / "table" / f"{k}.parquet")
    return tmp_path / "table"


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in threads of this process: to start others takes seconds."""
    distributed = pytest.importorskip("distributed")

    def local_cluster() -> Any:
        cluster = distributed.LocalCluster(n_workers=2, processes=False, dashboard_address="127.0.0.1:0")
        client = distributed.Client(cluster, set_as_default=False)
        return client, [client, cluster]

    monkeypatch.setattr(clusters, "local_cluster", local_cluster)


def learned(said: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said)
    return {key: value for key, value in found.items() if key not in ("seconds", "made_at")}


@pytest.mark.parametrize("learner", ["ibmap-hc", "evidence-map"])
@pytest.mark.parametrize("engine", ["dask", "threads", "threads=2"])
def test_every_engine_prints_the_same(
    ibmap: Any, in_process: None, folder: Path, engine: str, learner: str
) -> None:
    options = ("--json", "--learner", learner, "--only", "a,b,c, d", "--nominal", "c, d")
    here = ibmap("learn", folder, *options)
    there = ibmap("learn", folder, *options, "--engine", engine)
    assert there.code == 0, there.err
    one, other = learned(here.out), learned(there.out)
    assert one["edges"]
    assert one["edges"] == other["edges"]
    assert one["score"] == pytest.approx(other["score"], rel=1e-9)


def test_a_result_of_a_cluster_is_written_and_explained(
    ibmap: Any, in_process: None, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    given = ("--engine", "dask", "--nominal", "c, d")
    assert ibmap("learn", folder, *given, "--out", out).code == 0
    assert json.loads((out / "result.json").read_text())["data"]["digest"].startswith("parts:")
    told = ibmap("explain", out, "a", "b")
    assert told.code == 0
    assert "a and b are directly associated" in told.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--engine", "dask=tcp://127.0.0.1:1"), "no Dask scheduler answers at 'tcp://127.0.0.1:1'"),
        (("--engine", "dask", "--discretize", "quantile"), "leave out --discretize"),
        (("--engine", "dask", "--continuous", "all"), "leave out --continuous"),
        (("--engine", "spark"), "unknown engine 'spark'; there are memory, threads, gpu, dask"),
        (("--engine", "threads=0"), "unknown engine 'threads=0'"),
        (("--engine", "dask", "--drop", "nobody"), "nobody"),
    ],
)
def test_what_cannot_work_is_one_line_and_writes_nothing(
    ibmap: Any,
    in_process: None,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setattr(clusters, "REACH", "0.3s")
    found = ibmap("learn", folder, "--out", tmp_path / "out", *options)
    assert found.code in (1, 2)
    assert words in found.err
    assert len(found.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_shared_out(ibmap: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,0\n")
    found = ibmap("learn", tmp_path / "t.csv", "--engine", "dask")
    assert found.code == 1
    assert "neither a folder nor a Parquet or Arrow file" in found.err
    assert "use the engine 'memory'" in found.err
