"""A Dask cluster learns what memory learns; workers that die cost time, and what cannot work says so."""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import polars as pl
import pytest

from ibmap import IBMAP, load
from ibmap.engines import MemoryEngine, as_engine
from ibmap.engines.dask import DaskEngine, worker
from ibmap.engines.dask import client as clusters
from ibmap.engines.dask import workers as crew
from ibmap.engines.dask.worker import Workplace
from ibmap.errors import DataError, DataWarning, EngineError, IbmapError, RequestError
from ibmap.learners import evidence_map, gsmn, ibmap_hc, mutual_information
from ibmap.results.result_file import result_content
from tests.engines.test_agreement import assert_same

pytestmark = pytest.mark.slow  # starts processes, or a browser

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in threads of this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def frame_of(rows: int, seed: int, missing: float = 0.03, n: int = 7) -> pl.DataFrame:
    """Numbers, text and a column of 50 levels; some variables depend on others."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"v{i}": rng.integers(0, 2 + i % 3, rows) for i in range(n)}
    columns["v1"] = np.where(rng.random(rows) < 0.8, columns["v0"], 1 - columns["v0"])
    columns["v5"] = np.where(rng.random(rows) < 0.7, columns["v1"], columns["v3"])
    columns["town"] = np.array(["Ulm", "Jena", "Köln", "Bonn"])[
        (columns["v0"] + rng.integers(0, 2, rows)) % 4
    ]
    columns["wide"] = rng.integers(0, 50, rows)
    frame = pl.DataFrame(columns)
    gaps = {name: pl.Series(rng.random(rows) < missing) for name in frame.columns}
    return frame.with_columns(
        pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
    )


def write_folder(folder: Path, files: int = 4, rows: int = 230, **how: Any) -> Path:
    """Write files of different lengths; the labels of none are those of all."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        frame_of(rows + 37 * k, k, **how).write_parquet(folder / f"{k}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("table"))


LEARNERS: dict[str, Callable[..., Any]] = {
    "ibmap-hc": lambda data: ibmap_hc(data, patience=3),
    "evidence-map": evidence_map,
    "gsmn": gsmn,
    "mi": mutual_information,
}


@pytest.mark.parametrize("missing", ["testwise", "drop", "category"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_cluster_learns_what_memory_learns(client: Any, folder: Path, missing: str, learner: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data = load(folder, missing=missing)
        engine = DaskEngine(client, folder, missing=missing, piece_rows=192)
    assert not engine.schema.difference(data.schema)
    assert engine.schema.cardinalities.max() > 32
    expected = LEARNERS[learner](data)
    assert expected.graph.n_edges
    if (learner, missing) == ("evidence-map", "testwise"):
        with pytest.raises(RequestError, match="needs all rows in memory"):
            evidence_map(engine)
        return
    assert_same(LEARNERS[learner](engine), expected)


def test_estimators_results_and_options(client: Any, folder: Path) -> None:
    kept = ["v0", "v1", "v3", "v5", "town"]
    engine = DaskEngine(client, folder, missing="drop", only=[*kept, "v2"], drop=["v2"], piece_rows=256)
    data = load(folder, missing="drop", only=[*kept, "v2"], drop=["v2"])
    mine, theirs = IBMAP(missing="drop").fit(data), IBMAP(engine=engine).fit(engine)
    assert_same(theirs.learned_, mine.learned_)
    assert mine.explain("v0", "v1").to_dict()["counts"] == theirs.explain("v0", "v1").to_dict()["counts"]
    assert deepcopy(theirs).engine_ is engine
    one, other = (result_content(mine.learned_, source) for source in (data, engine))
    assert other["data"].pop("digest").startswith("parts:")
    assert one["data"].pop("digest")
    assert {**one, "made_at": 0} == {**other, "made_at": 0}
    assert not as_engine(data, engine).schema.difference(data.schema)
    with pytest.raises(RequestError, match="cannot resample its rows"):
        engine.resampled(np.random.default_rng(0))
    with pytest.raises(EngineError, match="cannot be sent elsewhere"):
        engine.__reduce__()


@pytest.mark.parametrize("missing", ["testwise", "drop", "category"])
def test_what_is_told_about_columns_reaches_the_workers(client: Any, folder: Path, missing: str) -> None:
    how: dict[str, Any] = {"missing": missing, "missing_values": {"v3": [0], "town": ["Ulm"]}}
    how |= {"ordinal": ["town=Köln<Bonn<Jena<Ulm", "v5"], "nominal": ["v4"], "drop": ["wide"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data, engine = load(folder, **how), DaskEngine(client, folder, **how, piece_rows=192)
        assert not engine.schema.difference(data.schema)
        assert (engine.schema.ordinal.sum() == 2) == (missing != "category")
        for told in ("ordinal", "missing_values"):
            other = DaskEngine(client, folder, **{**how, told: None}, piece_rows=192)
            assert other.schema.digest != engine.schema.digest
    assert engine.schema.warnings == data.schema.warnings
    learn = (
        ibmap_hc if missing == "testwise" else evidence_map
    )  # which looks at rows where values are missing
    assert_same(learn(engine), learn(data))


def test_columns_that_are_missing_together_are_named(client: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for k in range(2):
        gap = rng.random(200) < 0.2
        some = {name: np.where(gap, -9, rng.integers(0, 2, 200)) for name in "ab"}
        pl.DataFrame({**some, "c": rng.integers(-1, 2, 200)}).write_parquet(tmp_path / f"{k}.parquet")
    how: dict[str, Any] = {"missing": "category", "missing_values": {"a": [-9], "b": [-9], "c": [-1]}}
    with pytest.warns(DataWarning, match="'a', 'b' are missing in the same rows"):
        engine = DaskEngine(client, tmp_path, **how, piece_rows=128)
    with pytest.warns(DataWarning):
        assert engine.schema.warnings == load(tmp_path, **how).schema.warnings


def test_a_cluster_of_this_machine_listens_to_nobody_else() -> None:
    psutil = pytest.importorskip("psutil")

    def listening() -> set[tuple[str, int]]:
        me = psutil.Process()
        of_all = [one for process in (me, *me.children(recursive=True)) for one in process.net_connections()]
        return {tuple(one.laddr) for one in of_all if one.status == psutil.CONN_LISTEN}

    before = listening()
    client, owned = clusters.local_cluster(1)
    try:
        found = listening() - before
        assert ("127.0.0.1", int(client.scheduler.address.rpartition(":")[2])) in found
        assert {host for host, _ in found} == {"127.0.0.1"}
        with suppress(HTTPError):  # 404; or, after a cluster with a dashboard, that bokeh is missing for one
            assert b"bokeh" in urlopen(client.dashboard_link).read().lower()[:2000]
    finally:
        for thing in owned:
            thing.close()


def test_categories_folders_with_keys_and_one_file(client: Any, tmp_path: Path) -> None:
    for k, year in enumerate([2024, 2023, 2023]):
        (tmp_path / f"year={year}").mkdir(exist_ok=True)
        frame = frame_of(300, k, missing=0.0).with_columns(
            pl.col("town").cast(pl.Enum(["Ulm", "Rom", "Jena", "Köln", "Bonn"]))
        )
        frame.write_parquet(tmp_path / f"year={year}" / f"{k}.parquet")
    engine, data = DaskEngine(client, tmp_path, piece_rows=128), load(tmp_path)
    assert not engine.schema.difference(data.schema)
    assert "Rom" in data.levels[data.index("town")]
    assert_same(ibmap_hc(engine), ibmap_hc(data))
    one = tmp_path / "year=2024" / "0.parquet"
    assert_same(ibmap_hc(DaskEngine(client, one)), ibmap_hc(load(one)))
    assert DaskEngine(client, one).schema.digest == DaskEngine(client, one).schema.digest


def test_an_ascent_is_one_trip_and_few_bytes(client: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (100, 20_000), dtype=np.uint8)
    for v in range(1, 100):
        if v % 5:
            bits[v] = bits[v - 1] ^ (rng.integers(0, 4, 20_000) == 0)
    for k in range(2):
        part = {f"v{i}": bits[i, 10_000 * k : 10_000 * (k + 1)] for i in range(100)}
        pl.DataFrame(part).write_parquet(tmp_path / f"{k}.parquet")
    done: list[tuple[int, int]] = []
    engine = DaskEngine(client, tmp_path, piece_rows=1 << 12, told=lambda *now: done.append(now))
    assert done[-1] == (10, 10)
    seen = [(engine.trips, engine.shipped)]
    learned = ibmap_hc(engine, callback=lambda _: seen.append((engine.trips, engine.shipped)))
    trips, shipped = np.diff(np.array(seen), axis=0).T
    assert trips[0] == 2  # all pairs, and the first ascent
    assert (trips[1:] == 1).all()
    assert shipped[1:].max() < 100_000
    assert_same(learned, ibmap_hc(MemoryEngine(load(tmp_path))))


# Workers that die


@pytest.mark.slow
@pytest.mark.parametrize("learner", [ibmap_hc, evidence_map])
def test_a_worker_that_is_killed_costs_no_result(folder: Path, learner: Any) -> None:
    data = load(folder, missing="drop")
    client, owned = clusters.local_cluster(2)
    try:
        engine = DaskEngine(client, folder, missing="drop", piece_rows=128)
        killed: list[int] = []

        def kill(step: Any) -> None:
            if step.n == 2 and not killed:
                killed.append(sorted(client.run(os.getpid).values())[0])
                os.kill(killed[0], signal.SIGKILL)

        assert_same(learner(engine, callback=kill), learner(data))
        assert killed
        assert engine._workers._losses == 1
    finally:
        for thing in owned:
            thing.close()


class Lost:
    """A cluster whose workers are gone as soon as they are asked."""

    def __init__(self, engine: DaskEngine, times: int) -> None:
        self._workers, self._times = engine._workers, times
        self._answer = engine._workers._answer

    def __call__(self, future: Any, home: str) -> Any:
        if self._times:
            self._times -= 1
            future.result()
            raise crew.LostWorkerError
        return self._answer(future, home)


def test_lost_workers_are_replaced(client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "NOTICE", 0.0)
    data = load(folder, missing="testwise")
    engine = DaskEngine(client, folder, missing="testwise", piece_rows=256)
    monkeypatch.setattr(engine._workers, "_answer", Lost(engine, 3))
    assert_same(ibmap_hc(engine), ibmap_hc(data))
    assert engine._workers._losses == 3
    monkeypatch.setattr(engine._workers, "_answer", Lost(engine, 100))
    with pytest.raises(EngineError, match=r"7 workers were lost, .* more memory"):
        ibmap_hc(engine)


def test_folders_of_workers_that_vanish_cost_no_result(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody tidies up temporary files before every call, and while a piece is written."""
    call, write = Workplace.call, worker.write_packed
    tidied: list[Path] = []

    def tidy(self: Workplace, method: str, arguments: bytes) -> bytes:
        rmtree(self._folder, ignore_errors=True)
        return call(self, method, arguments)

    def tidy_once(data: Any, path: Path) -> None:
        if path.parent not in tidied:
            tidied.append(path.parent)
            rmtree(path.parent, ignore_errors=True)
        write(data, path)

    monkeypatch.setattr(Workplace, "call", tidy)
    monkeypatch.setattr(worker, "write_packed", tidy_once)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        engine, data = DaskEngine(client, folder, missing="testwise"), load(folder, missing="testwise")
    assert_same(ibmap_hc(engine), ibmap_hc(data))
    assert tidied


def test_files_that_vanish_or_change_are_noticed(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "NOTICE", 0.0)
    folder = write_folder(tmp_path / "table", missing=0.0)
    engine = DaskEngine(client, folder, piece_rows=256)
    engine._workers._forget_worker(engine._workers._homes[0])  # its pieces are to be packed again
    changed = pl.read_parquet(folder / "0.parquet")
    changed.with_columns(pl.lit(7).alias("v0")).write_parquet(folder / "0.parquet")
    with pytest.raises(DataError, match="has changed while it was in use: column 'v0' has new values"):
        ibmap_hc(engine)
    changed.with_columns(pl.col("v0").reverse()).write_parquet(folder / "0.parquet")
    with pytest.raises(DataError, match="has changed while it was in use: start again"):
        ibmap_hc(engine)
    (folder / "0.parquet").unlink()
    with pytest.raises(DataError, match=r"there is no file .*0.parquet' any more"):
        ibmap_hc(engine)


# Bad input


def test_columns_that_differ_between_files(client: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "table", files=2, missing=0.0)
    frame = pl.read_parquet(folder / "0.parquet")
    frame.with_columns(pl.col("v0").cast(pl.String)).write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"column 'v0' holds text in .*2.parquet, and numbers in .*0.parquet"):
        DaskEngine(client, folder)
    frame.drop("v0").write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"2.parquet' has no column 'v0', unlike "):
        DaskEngine(client, folder)
    frame.with_columns(pl.col("v0") + 0.5).write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"column 'v0' holds .* non-integer values in .*2.parquet; it looks"):
        DaskEngine(client, folder)
    frame.with_columns(pl.col("v0").cast(pl.Decimal(10, 2))).write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match="type that can only be read at once, such as decimals"):
        DaskEngine(client, folder)


def test_tables_that_cannot_be_shared_out(client: Any, folder: Path, tmp_path: Path) -> None:
    for path, options, words in [
        (tmp_path / "none", {}, "there is no file or folder"),
        (tmp_path, {}, "without Parquet or Arrow files"),
        (folder, {}, r"missing values .* pass missing='drop'"),
        (folder, {"drop": ["nobody"]}, "there is no variable 'nobody'"),
        (folder, {"only": ["v0"]}, "at least two variables"),
        (folder, {"missing": "maybe"}, "missing must be"),
    ]:
        with pytest.raises(IbmapError, match=words):
            DaskEngine(client, path, **options)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="neither a folder nor a Parquet or Arrow file"):
        DaskEngine(client, tmp_path / "table.csv")
    with pytest.raises(RequestError, match="give the engine dask a folder"):
        as_engine(load({"a": [0, 1], "b": [1, 0]}), "dask")


def test_clusters_that_cannot_be_used(folder: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "REACH", "0.3s")
    for address, words in [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at"),
        ("nowhere", "no Dask scheduler"),
    ]:
        with pytest.raises(EngineError, match=words):
            DaskEngine(address, folder)
    with pytest.raises(RequestError, match=r"must be a distributed.Client or an address, not int"):
        DaskEngine(7, folder)
    empty = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0")
    with (
        empty,
        distributed.Client(empty, set_as_default=False) as alone,
        pytest.raises(EngineError, match="the cluster has no workers: start some"),
    ):
        DaskEngine(alone, folder)
    mine = clusters.versions()
    for theirs, words in [
        ({**mine, "ibmap": "0.0.9"}, r"has ibmap 0\.0\.9, and this process .*: install the same"),
        ({**mine, "Python": "2.7"}, r"has Python 2\.7"),
        (
            ModuleNotFoundError("No module named 'ibmap'"),
            r"has no ibmap .*: there, pip install 'ibmap\[dask\]",
        ),
        (RuntimeError("cannot"), "does not understand this ibmap: cannot"),
    ]:
        monkeypatch.setattr(client, "run", lambda *_, answer=theirs, **__: {"tcp://w": answer})
        with pytest.raises(EngineError, match=words):
            DaskEngine(client, folder)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RequestError, match=r"Dask is not installed: pip install 'ibmap\[dask\]'"):
        DaskEngine(None, folder)


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_dies_is_one_line(folder: Path) -> None:
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0")
    with distributed.Client(cluster, set_as_default=False) as client:
        engine = DaskEngine(client, folder, missing="testwise")
        cluster.close()
        with pytest.raises(EngineError, match=r"scheduler at .* is gone: start it again"):
            ibmap_hc(engine)


def test_an_estimator_with_an_engine_takes_its_folder(client: Any, folder: Path) -> None:
    engine = DaskEngine(client, folder, missing="testwise", piece_rows=256)
    net = IBMAP(engine=engine).fit(str(folder))
    assert net.engine_ is engine
    assert_same(net.learned_, ibmap_hc(load(folder, missing="testwise")))
