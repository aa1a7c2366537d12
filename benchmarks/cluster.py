"""Rows in several places: a Dask cluster of two workers, a table larger than their memory, threads.

``python benchmarks/cluster.py`` runs small cases; ``--full`` those of docs/scaling.md (7 GB of disk for a
while, many minutes). The rows go to results/cluster.csv. CPU seconds are those of all processes; ratios are
of one run.
"""

import argparse
import csv
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
import polars as pl

OUT = Path(__file__).parent / "results" / "cluster.csv"
BATCH = 250_000  # rows of a file
ASCENTS = 30
CASE = ("case", "columns", "rows")


def bits_of(n: int, rows: int, seed: int) -> Any:
    """Make chains of five fair coins, each a copy of the one before, wrong in a quarter of the rows."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, rows), dtype=np.uint8)
    for v in range(1, n):
        if v % 5:
            bits[v] = bits[v - 1] ^ (rng.integers(0, 4, rows, dtype=np.uint8) == 0)
    return bits


def write(folder: Path, n: int, rows: int, distinct: int) -> None:
    """Write files of 250,000 rows; after some that differ, the same ones come again."""
    folder.mkdir()
    names = [f"v{j}" for j in range(n)]
    for k, first in enumerate(range(0, rows, BATCH)):
        path = folder / f"{k:05}.parquet"
        size = min(BATCH, rows - first)
        if k >= distinct and size == BATCH:
            os.link(folder / f"{k % distinct:05}.parquet", path)
        else:
            bits = bits_of(n, size, k)
            pl.DataFrame(dict(zip(names, bits, strict=True))).write_parquet(path)


def made(folder: Path, n: int, rows: int, distinct: int = 40) -> Path:
    """Make a table in a process of its own; what that needs does not count."""
    maker = get_context("spawn").Process(target=write, args=(folder / "table", n, rows, distinct))
    maker.start()
    maker.join()
    return folder / "table"


def climbing(engine: Any) -> Any:
    """Return IBMAP-HC that has scored the graph without edges, and two ascents."""
    from ibmap import BayesianTest
    from ibmap.criteria.ib import IBScore
    from ibmap.search.climb import Climb

    climb = Climb().begin(IBScore().bind(engine, BayesianTest()))
    climb.advance(2)
    return climb


def cluster_of(workers: int, stack: ExitStack, **more: Any) -> Any:
    """Start workers of one thread each; return a client."""
    import distributed

    from ibmap.engines.dask.client import ALONE

    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", env=ALONE, **more
    )
    stack.enter_context(cluster)
    return stack.enter_context(distributed.Client(cluster))


def cpu_of(client: Any) -> Callable[[], float]:
    """Return what tells the CPU seconds of this process and of all workers."""
    return lambda: process_time() + sum(client.run(process_time).values())


def trip(engine: Any) -> float:
    """Return how many milliseconds the smallest question takes: how often a variable has its levels."""
    from ibmap.engines import Questions

    began = perf_counter()
    engine.tables(Questions.fixed(0, [], []))
    return 1e3 * (perf_counter() - began)


def measure_dask(n: int, rows: int) -> dict[str, object]:
    """Ascents on two workers, and in memory."""
    from ibmap.data import load
    from ibmap.engines import MemoryEngine
    from ibmap.engines.dask import DaskEngine

    with ExitStack() as stack:
        folder = made(Path(stack.enter_context(tempfile.TemporaryDirectory())), n, rows)
        client = cluster_of(2, stack)
        everyone = cpu_of(client)
        for _ in range(2):  # the first time compiles
            before, began = everyone(), perf_counter()
            engine = DaskEngine(client, folder)
            packing, packing_wall = everyone() - before, perf_counter() - began
        memory = MemoryEngine(load(folder))
        trips_ms = [trip(engine) for _ in range(100)]
        there, here = climbing(engine), climbing(memory)
        before, began, trips, bytes_before = everyone(), perf_counter(), engine.trips, engine.shipped
        flips = there.advance(ASCENTS)
        cpu, wall = everyone() - before, perf_counter() - began
        trips, shipped = engine.trips - trips, engine.shipped - bytes_before
        before = process_time()
        same = [flip[:3] for flip in here.advance(ASCENTS)] == [flip[:3] for flip in flips]
        local = process_time() - before
    return {
        "pack_cpu_s": packing,
        "pack_wall_s": packing_wall,
        "ascent_cpu_ms": 1e3 * cpu / len(flips),
        "ascent_wall_ms": 1e3 * wall / len(flips),
        "memory_cpu_ms": 1e3 * local / len(flips),
        "cpu_ratio": cpu / local,
        "trips_per_ascent": trips / len(flips),
        "kb_per_ascent": shipped / len(flips) / 1e3,
        "trip_ms_least": min(trips_ms),
        "trip_ms_median": float(np.median(trips_ms)),
        "same_steps": same,
    }


class Watch:
    """Looks at the memory of processes, several times a second, and remembers the most."""

    def __init__(self, pids: list[int]) -> None:
        import psutil

        self._all, self.most, self._end = [psutil.Process(pid) for pid in pids], 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._end.wait(0.1):
            self.most = max(self.most, *(each.memory_info().rss for each in self._all))

    def stop(self) -> float:
        self._end.set()
        return self.most / 2**20


def measure_beyond(n: int, rows: int, limit: int) -> dict[str, object]:
    """Learn from a table that is larger than the memory of two workers, who are killed beyond their limit."""
    from ibmap.engines.dask import DaskEngine
    from ibmap.learners import ibmap_hc

    with ExitStack() as stack:
        folder = made(Path(stack.enter_context(tempfile.TemporaryDirectory())), n, rows, 8)
        client = cluster_of(2, stack, memory_limit=limit * 2**20)
        watch = Watch(list(client.run(os.getpid).values()))
        began, everyone = perf_counter(), cpu_of(client)
        before = everyone()
        engine = DaskEngine(client, folder)
        packing, packing_wall = everyone() - before, perf_counter() - began
        learned = ibmap_hc(engine)
        cpu, wall = everyone() - before, perf_counter() - began
        most, lost = watch.stop(), engine._workers._losses
    packed = 3 * n * rows / 8 / 2**20
    return {
        "pack_cpu_s": packing,
        "pack_wall_s": packing_wall,
        "packed_mib": packed,
        "limit_mib": 2 * limit,
        "times_memory": packed / (2 * limit),
        "most_mib_of_a_worker": most,
        "lost_workers": lost,
        "learn_cpu_s": cpu - packing,
        "learn_wall_s": wall - packing_wall,
        "ascents": learned.n_iter,
        "edges": learned.graph.n_edges,
    }


def spin(threads: list[int]) -> float:
    """Return how long threads take that have nothing in common: what the machine gives to two of them now."""
    numbers = [np.arange(1 << 15, dtype=np.uint64) for _ in threads]

    def work(k: int) -> None:
        for _ in range(600):
            np.bitwise_count(numbers[k]).sum()

    others = [threading.Thread(target=work, args=(k,)) for k in threads]
    began = perf_counter()
    for other in others:
        other.start()
    for other in others:
        other.join()
    return perf_counter() - began


def measure_threads(n: int, rows: int) -> dict[str, object]:
    """Ascents in one thread and in two; ``speedup_by_cpu`` is what two could do if nobody else was there."""
    from ibmap.data import load
    from ibmap.engines import MemoryEngine, ThreadEngine, shards

    spent: list[float] = []
    tables = shards.Place.tables

    def timed(place: Any, asked: Any) -> Any:
        began = thread_time()
        found = tables(place, asked)
        spent.append(thread_time() - began)
        return found

    shards.Place.tables = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as name:
        data = load(made(Path(name), n, rows))
    climbs = {1: climbing(MemoryEngine(data)), 2: climbing(ThreadEngine(data, 2))}
    walls: dict[int, list[float]] = {1: [], 2: []}
    cpus: dict[int, list[float]] = {1: [], 2: []}
    paths, gives = [], []
    for _ in range(ASCENTS):
        gives.append(spin([0]) / spin([0, 1]) * 2)
        for k, climb in climbs.items():
            spent.clear()
            began, before = perf_counter(), process_time()
            climb.advance(1)
            walls[k].append(perf_counter() - began)
            cpus[k].append(process_time() - before)
            if k == 2:
                paths.append(cpus[2][-1] - sum(spent) + max(spent))
    one, two, path = np.median(cpus[1]), np.median(cpus[2]), np.median(paths)
    return {
        "memory_cpu_ms": 1e3 * one,
        "ascent_cpu_ms": 1e3 * two,
        "ascent_wall_ms": 1e3 * np.median(walls[2]),
        "memory_wall_ms": 1e3 * np.median(walls[1]),
        "speedup_wall": np.median(np.array(walls[1]) / np.array(walls[2])),
        "speedup_wall_best": min(walls[1]) / min(walls[2]),
        "speedup_by_cpu": one / path,
        "speedup_of_spinning": np.median(gives),
        "same_steps": climbs[1].pairs.tolist() == climbs[2].pairs.tolist(),
    }


SMALL = [("dask", measure_dask, (50, 500_000)), ("threads", measure_threads, (200, 200_000))]
FULL = [
    ("dask", measure_dask, (100, 1_000_000)),
    ("dask", measure_dask, (100, 10_000_000)),
    ("threads", measure_threads, (1000, 1_000_000)),
    ("beyond memory", measure_beyond, (100, 110_000_000, 480)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", help="cases of this name, such as threads")
    parser.add_argument("--rows", type=int, help="and of so many rows")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    found: list[dict[str, object]] = []
    for case, measure, size in FULL if chosen.full else SMALL:
        if chosen.only not in (None, case) or chosen.rows not in (None, size[1]):
            continue
        row = {"case": case, "columns": size[0], "rows": size[1], **measure(*size)}
        found.append({name: f"{v:.4g}" if isinstance(v, float) else v for name, v in row.items()})
        print(*(f"{name}={value}" for name, value in found[-1].items()), flush=True)
    write_rows(chosen.out, found)


def write_rows(path: Path, found: list[dict[str, object]]) -> None:
    """Write what was measured, after the cases that are there and were not measured again."""
    cases = [tuple(str(row[name]) for name in CASE) for row in found]
    if path.exists():
        with path.open(newline="") as file:
            old = [row for row in csv.DictReader(file) if tuple(row[name] for name in CASE) not in cases]
        found = [*old, *found]
    names = list(dict.fromkeys(name for row in found for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
