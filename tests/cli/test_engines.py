"""``--engine``: threads and a cluster learn what memory learns; what cannot work is one line, no file."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ibmap import EvidenceMAP, load
from ibmap.engines.dask import DaskRows
from ibmap.engines.dask import client as clusters
from ibmap.errors import EngineError
from ibmap.learners import evidence_map


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


@pytest.mark.parametrize("engine", ["dask", "threads=2"])
@pytest.mark.parametrize("holes", [0.0, 0.03, 0.15])
@pytest.mark.parametrize("numbers", [True, False])
def test_numbers_and_missing_values_on_every_engine(
    ibmap: Any,
    in_process: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    holes: float,
    numbers: bool,
) -> None:
    """The same to the last bit, as workers make whole rows of evidence, and memory makes the same ones."""
    rng = np.random.default_rng(1)
    age, sex = rng.normal(size=600), rng.choice(["f", "m"], 600)
    table = {"sex": sex, "mood": np.clip(np.round(age + rng.normal(size=600)), -2, 2)}
    table |= {f"item{k}": rng.choice(["yes", "no", "never"], 600) for k in range(8)}
    table["item1"] = np.where(sex == "f", table["item0"], table["item1"])
    if numbers:
        table |= {"age": age, "pay": np.exp(age + (sex == "m") + rng.normal(size=600)), "grade": mood(age)}
    frame = pl.DataFrame(table)
    gaps = {name: pl.Series(rng.random(600) < holes) for name in frame.columns}
    frame = frame.with_columns(
        pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
    )
    (tmp_path / "t").mkdir()
    for k in range(3):
        frame[200 * k : 200 * (k + 1)].write_parquet(tmp_path / "t" / f"{k}.parquet")
    made: list[DaskRows] = []
    close = DaskRows.close
    monkeypatch.setattr(DaskRows, "close", lambda engine: (made.append(engine), close(engine)))
    here, there = (ibmap("learn", tmp_path / "t", "--json", "--engine", one) for one in ("memory", engine))
    assert (here.code, there.code) == (0, 0), there.err
    assert here.err == there.err
    one, other = learned(here.out), learned(there.out)
    assert len(one["edges"]) > 1 + 2 * numbers
    by_rows = engine == "dask" and (numbers or holes > 0)
    if not numbers and not holes:  # counts, whose logarithms are added up in another order
        one["score"] = other["score"] = round(one["score"], 9)
    assert one == other
    assert [engine.shared > 0 for engine in made] == [True] * by_rows


def mood(age: Any) -> Any:
    """Six fractions, which are ordered levels."""
    return np.clip(np.round(age), -2, 2) / 2 + np.random.default_rng(2).choice([0.0, 0.5], len(age))


def test_tables_that_fit_no_memory_are_counted_or_refused(
    ibmap: Any, in_process: None, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000")
    assert ibmap("learn", folder, "--engine", "dask", "--drop", "c, d").code == 0
    ran = ibmap("learn", folder, "--engine", "dask")
    assert ran.refuses("'c, d' holds too many different numbers", "need a table that fits", "IBMAP_MAX_BYTES")
    pl.DataFrame({"x": [1.5, 2.5] * 99, "y": [1, 2] * 99}).write_parquet(tmp_path / "x.parquet")
    ran = ibmap("learn", tmp_path / "x.parquet", "--engine", "dask")
    assert ran.refuses("'x' holds", "would take 3,168 bytes")


def test_workers_that_fail_cost_no_result(in_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 10))
    x[:, 3] += x[:, 2]
    table = load({f"x{k}": column for k, column in enumerate(x.T)}, continuous="auto")
    engine = DaskRows(None, table)
    monkeypatch.setattr(engine._makers.client, "scatter", lambda *_, **__: 1 / 0)
    assert evidence_map(engine).pair_scores == pytest.approx(evidence_map(table).pair_scores, rel=0)
    assert engine.shared == 0
    monkeypatch.undo()
    engine._makers.losses = 0
    with engine:
        assert evidence_map(engine).score == evidence_map(table).score
        assert engine.shared
        net = EvidenceMAP(engine=partial(DaskRows, engine._makers.client)).fit(table)
        assert isinstance(net.engine_, DaskRows)
        assert (net.engine_.shared > 0, net.score_) == (True, evidence_map(table).score)
        with pytest.raises(EngineError, match="cannot be sent elsewhere"):
            engine.__reduce__()


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
        (("--engine", "dask", "--learner", "ibmap-hc", "--numbers", "ranks"), "leave out --numbers"),
        (("--engine", "dask", "--continuous", "none"), "there is no variable 'none'"),
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
