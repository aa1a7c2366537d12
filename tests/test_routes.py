"""The same table by every way in, on every engine, from every moment of a search, with workers that die.

The answer is the same; or, where files are damaged, one sentence. Bounded and seeded, as the rest of the
standing attack: ``IBMAP_ATTACK=200`` draws so many times as many. A case is one table by one way, one
resumption, one damaged file.
"""

import gzip
import io
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ibmap import Checkpoint, MarkovNetwork, load
from ibmap.data import Table
from ibmap.data.packed_file import open_packed, write_packed
from ibmap.engines import as_engine
from ibmap.engines.bits import packed_data
from ibmap.engines.memory import MemoryEngine
from ibmap.errors import IbmapError
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information
from ibmap.model.model_file import _digest, read_model, write_model
from ibmap.results.result_file import result_content
from tests.engines.partitioned import ENGINES as ALL_ENGINES
from tests.engines.test_agreement import assert_same
from tests.test_fuzz import ODD, mangled, with_odd_parts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
    pytest.mark.filterwarnings("ignore"),
]
MORE = max(1, int(os.environ.get("IBMAP_ATTACK", "12")) // 12)
TABLES, RESUMED, DAMAGED, MODELS, ENGINES = 40 * MORE, 40 * MORE, 300 * MORE, 150 * MORE, 30 * MORE


def random_frame(seed: int) -> pl.DataFrame:
    """A small table of whole numbers, words and truths, some of which are missing."""
    rng = np.random.default_rng(seed)
    rows, gaps = int(rng.integers(20, 300)), 0.1 * (seed % 2)
    base = rng.integers(0, 2, rows)
    kinds: dict[str, Callable[[Any], Any]] = {
        "number": lambda codes: codes.astype(np.int64) * int(rng.integers(1, 9)) - 3,
        "word": lambda codes: np.array(["no", "yes", "may be", "ü", "01"])[codes],
        "truth": lambda codes: codes.astype(bool),
    }
    columns: dict[str, list[Any]] = {}
    for k in range(int(rng.integers(2, 7))):
        kind = str(rng.choice(list(kinds)))
        levels = 2 if kind == "truth" else int(rng.integers(2, 5))
        codes = np.where(rng.random(rows) < 0.7, base, rng.integers(0, levels, rows))
        absent = rng.random(rows) < gaps
        values = kinds[kind](codes).tolist()
        columns[f"{kind} {k}"] = [None if gap else value for value, gap in zip(values, absent, strict=True)]
    return pl.DataFrame(columns)


def with_numbers(seed: int) -> pl.DataFrame:
    """The same with columns of numbers."""
    frame, rng = random_frame(seed), np.random.default_rng(10**7 + seed)
    base = frame.to_series(0).rank("dense").fill_null(0).to_numpy()
    for k in range(int(rng.integers(1, 4))):
        values = rng.normal(size=len(frame)) + base * rng.integers(0, 2)
        absent = rng.random(len(frame)) < 0.1 * (seed % 2)
        kept = [None if gap else round(float(v), 3) for v, gap in zip(values, absent, strict=True)]
        frame = frame.with_columns(pl.Series(f"decimal {k}", kept, dtype=pl.Float64))
    return frame


def ways(frame: pl.DataFrame, folder: Path, draw: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield the table by every way in."""
    rows = len(frame)
    cuts = sorted(draw.sample(range(1, rows), min(rows - 1, draw.randint(1, 4))))
    parts = [frame[a:b] for a, b in zip([0, *cuts], [*cuts, rows], strict=True)]
    yield "polars", frame
    yield "dict", frame.to_dict(as_series=False)
    yield "pandas", pd.DataFrame({name: pd.array(frame[name].to_list()) for name in frame.columns})
    yield "arrow", frame.to_arrow()
    yield "batches", iter(parts)
    yield "arrow batches", pa.Table.from_batches([part.to_arrow().to_batches()[0] for part in parts])
    text = frame.with_columns(pl.selectors.boolean().cast(pl.String)).write_csv()
    (folder / "t.csv").write_text(text)
    yield "csv", folder / "t.csv"
    with gzip.open(folder / "t.csv.gz", "wb") as file:
        file.write(text.encode())
    yield "csv.gz", folder / "t.csv.gz"
    (folder / "t.tsv").write_text(
        pl.read_csv(io.StringIO(text), infer_schema=False).write_csv(separator="\t")
    )
    yield "tsv", folder / "t.tsv"
    frame.write_parquet(folder / "t.parquet")
    yield "parquet", folder / "t.parquet"
    frame.write_ipc(folder / "t.arrow")
    yield "arrow file", folder / "t.arrow"
    (folder / "parts").mkdir()
    for k, part in enumerate(parts):
        part.write_parquet(folder / "parts" / f"{k}.parquet")
    yield "folder", folder / "parts"


def as_text(level: Any) -> str:
    """Text files know no truths: these are words there."""
    return str(level).lower() if isinstance(level, bool) else str(level)


@pytest.mark.parametrize("first", range(0, TABLES, 10))
def test_a_table_is_the_same_by_every_way_in(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 10):
        frame, folder = random_frame(seed), tmp_path / str(seed)
        folder.mkdir()
        for missing in ("testwise", "category") if seed % 2 else ("error",):
            found: dict[str, Table] = {}
            for name, source in ways(frame, folder, random.Random(seed)):
                found[name] = load(source, missing=missing)
            rmtree(folder)
            folder.mkdir()
            whole = found["polars"]
            write_packed(packed_data(whole), folder / "t.ibmap")
            found["packed"] = load(
                folder / "t.ibmap", missing="testwise" if missing == "testwise" else "error"
            )
            graph = gsmn(whole).graph
            for name, data in found.items():
                texts = [tuple(map(as_text, labels)) for labels in data.levels]
                assert texts == [tuple(map(as_text, labels)) for labels in whole.levels], (seed, name)
                assert np.array_equal(data.codes, whole.codes), (seed, name)
                assert data.digest() == whole.digest(), (seed, name)
                assert gsmn(data).graph == graph, (seed, name)


@pytest.mark.parametrize("first", range(0, TABLES // 2, 10))
def test_a_table_with_numbers_is_the_same_by_every_way_in(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 10):
        frame, folder = with_numbers(seed), tmp_path / str(seed)
        folder.mkdir()
        found = {
            name: load(source, continuous="auto", missing="auto")
            for name, source in ways(frame, folder, random.Random(seed))
        }
        whole = found["polars"]
        learned = evidence_map(whole)
        for name, data in found.items():
            assert data.names == whole.names, (seed, name)
            assert data.schema.kinds == whole.schema.kinds, (seed, name)
            assert np.array_equal(data.values, whole.values, equal_nan=True), (seed, name)
            assert np.array_equal(data.codes, whole.codes), (seed, name)
            assert data.digest() == whole.digest(), (seed, name)
            if name in ("csv", "folder", "batches"):
                assert_same(evidence_map(data), learned)


LEARNERS: dict[str, Callable[..., Any]] = {
    "evidence-map": evidence_map,
    "evidence-map, directed": lambda data, **more: evidence_map(data, view="directed", **more),
    "evidence-map, few": lambda data, **more: evidence_map(data, expected_neighbours=0.5, **more),
    "evidence-map, rounds": lambda data, **more: evidence_map(data, search="rounds", **more),
    "evidence-map, pairwise": lambda data, **more: evidence_map(data, score="pairwise", **more),
    "ibmap-hc": ibmap_hc,
    "ibmap-hc, patient": lambda data, **more: ibmap_hc(data, patience=3, **more),
    "ibmap-hc, saturated": lambda data, **more: ibmap_hc(data, score="saturated", search="steepest", **more),
    "gsmn": gsmn,
    "gsmn, chi-square": lambda data: gsmn(data, "chi-square", symmetry="and"),
    "hhc-mn": hhc_mn,
    "mi": mutual_information,
    "dag-hc": dag_hc,
    "dag-hc, bdeu": lambda data: dag_hc(data, score="bdeu", expected_neighbours=2.0, shakes=1),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_engine_learns_the_same(name: str) -> None:
    for seed in range(10**5, 10**5 + ENGINES):
        missing = (
            "category" if name.startswith("evidence") else "testwise"
        )  # it looks at rows where values are missing
        data = load(random_frame(seed), missing=missing)
        expected = LEARNERS[name](data)
        engine = ALL_ENGINES[seed % len(ALL_ENGINES)]
        assert_same(LEARNERS[name](engine(data)), expected)
        assert_same(LEARNERS[name](as_engine(data, f"threads={2 + seed % 3}")), expected)


class KilledError(BaseException):
    """Nobody catches this by accident."""


@pytest.mark.parametrize("name", [name for name in LEARNERS if name.startswith(("evidence", "ibmap"))])
def test_a_learner_that_is_killed_at_any_moment_ends_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """At a random call of the engine, some times over: in the search, after it, and in the view of arcs."""
    learn, rows, tables = LEARNERS[name], MemoryEngine.rows, MemoryEngine.tables
    left = [0]

    def dying(real: Any) -> Any:
        def called(self: Any, *args: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise KilledError
            return real(self, *args, **options)

        return called

    for seed in range(RESUMED // 4):
        draw, file = random.Random(f"{name} {seed}"), tmp_path / f"{seed}.json"
        missing = "category" if "pairwise" in name else "testwise"  # a score that counts
        data = load(random_frame(2 * 10**5 + seed), missing=missing)
        whole, kills = learn(data), 0
        with monkeypatch.context() as patched:
            patched.setattr(MemoryEngine, "rows", dying(rows))
            patched.setattr(MemoryEngine, "tables", dying(tables))
            patched.setattr("ibmap.learners.score_based.BATCH", 1)
            for _ in range(draw.randint(1, 5)):
                left[0] = draw.randint(1, 12)
                with suppress(KilledError):
                    learn(data, checkpoint=Checkpoint(file, every=0))
                    kills -= 1
                kills += 1
            left[0] = 0
        again = learn(data, checkpoint=file)
        assert_same(again, whole)
        assert again.arcs == whole.arcs
        assert again.rivals == whole.rivals
        one, other = (
            json.dumps({**result_content(x, as_engine(data)), "seconds": 0}) for x in (again, whole)
        )
        assert one == other, seed


def test_packed_files_that_are_damaged_are_refused_or_read(tmp_path: Path) -> None:
    path, read = tmp_path / "t.ibmap", 0
    wholes = []
    for seed in range(3):
        write_packed(packed_data(load(random_frame(seed), missing="testwise")), path, overwrite=True)
        wholes.append(path.read_bytes())
    for seed in range(DAMAGED):
        draw = random.Random(4 * 10**6 + seed)
        path.write_bytes(mangled(draw, draw.choice(wholes)))
        try:
            data = open_packed(path)
        except IbmapError:
            continue
        read += 1
        gsmn(data)  # nothing breaks
        evidence_map(data)
    assert read < DAMAGED


@pytest.mark.parametrize("numbers", [False, True])
def test_models_that_are_damaged_are_refused_or_answer(tmp_path: Path, numbers: bool) -> None:
    if numbers:
        data = load(with_numbers(1), continuous="auto", missing="auto")
        network = MarkovNetwork.fit(evidence_map(data), data)
    else:
        data = load(random_frame(1), missing="testwise")
        network = MarkovNetwork.fit(gsmn(data).graph, data)
    path, answered = tmp_path / "model.json", 0
    write_model(network, path)
    whole = path.read_bytes()
    for seed in range(MODELS):
        draw = random.Random(5 * 10**6 + seed)
        if draw.random() < 0.3:
            raw = mangled(draw, whole)
        else:
            content = with_odd_parts(draw, json.loads(whole))
            if (
                isinstance(content, dict) and "digest" in content
            ):  # the good one of what stands there, or none
                about = {k: v for k, v in content.items() if k not in ("format", "version", "digest")}
                content["digest"] = draw.choice([content["digest"], _digest(about), *ODD[:2]])
            raw = json.dumps(content).encode()
        path.write_bytes(raw)
        with suppress(IbmapError):
            found = read_model(path)
            shares = found.query(found.names[0])
            assert numbers or sum(shares.values()) == pytest.approx(1.0)
            found.sample(3, random_state=0)
            found.log_likelihood(data)
            answered += 1
    assert answered < MODELS


@pytest.mark.parametrize("seed", range(2 * MORE))
def test_workers_that_are_killed_at_random_moments_cost_no_result(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("distributed")
    from ibmap.engines.dask import DaskEngine, client

    draw = random.Random(6 * 10**6 + seed)
    for k in range(3):
        random_frame(10).sample(100, with_replacement=True, seed=k).write_parquet(tmp_path / f"{k}.parquet")
    data = load(tmp_path)
    reached, owned = client.local_cluster(2)
    moments = {draw.randint(1, 3), draw.randint(2, 4)}
    try:
        engine = DaskEngine(reached, tmp_path, piece_rows=64)

        def kill(step: Any) -> None:
            if step.n in moments:
                moments.remove(step.n)
                os.kill(draw.choice(sorted(reached.run(os.getpid).values())), signal.SIGKILL)

        assert_same(evidence_map(engine, callback=kill), evidence_map(data))
    finally:
        for thing in owned:
            thing.close()
