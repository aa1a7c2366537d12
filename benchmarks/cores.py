"""One core and two, stage by stage: ``python benchmarks/cores.py`` while nothing else runs.

Each stage runs in turns, in a thread on one core and in two threads on two; ``spinning`` is what the machine
gives to two threads that have nothing in common. ``used`` is CPU time by clock time on two cores.
"""

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

from common import report, world
from ibmap.data import load
from ibmap.data.files import open_file
from ibmap.engines import MemoryEngine
from ibmap.engines.partitioned import ThreadEngine
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc
from ibmap.learners.bootstrap import bootstrap
from large_tables import rows_of

BUSY = bytes(30_000_000)  #: hashing it keeps a core busy, without the interpreter's lock
Stage = Callable[[int], object]  #: does its work in so many threads


def spinning(threads: int) -> None:
    """The same work in one thread or in two."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: sha256(BUSY).digest(), range(8)))


def stages(folder: Path) -> dict[str, Stage]:
    """All stages, by name."""
    for k in range(4):
        table = pl.DataFrame(rows_of(100, 250_000, k).T, schema=[f"v{j}" for j in range(100)], orient="row")
        table.write_parquet(folder / f"{k}.parquet")
    wide, small = load(world(1500, 1000)), load(world(300, 2000))
    many, long = load(rows_of(8000, 1000, 0).T), load(rows_of(400, 200_000, 0).T)
    parents = load(world(100, 5000))
    return {
        "spinning": spinning,
        "read and pack, 100 × 1,000,000": lambda _: load(open_file(folder)),
        "ibmap-hc, all pairs, n = 8000": lambda jobs: ibmap_hc(many, n_jobs=jobs),
        "ibmap-hc, ascents, 400 × 200,000": lambda jobs: ibmap_hc(
            long,
            patience=20,
            engine=lambda data: ThreadEngine(data, jobs) if jobs > 1 else MemoryEngine(data),
        ),
        "evidence-map, n = 1500, D = 1000": lambda jobs: evidence_map(wide, n_jobs=jobs),
        "evidence-map, n = 8000, D = 1000": lambda jobs: evidence_map(many, n_jobs=jobs),
        "dag-hc, n = 100, D = 5000": lambda jobs: dag_hc(parents, n_jobs=jobs),
        "gsmn, n = 300, D = 2000": lambda jobs: gsmn(small, n_jobs=jobs),
        "hhc-mn, n = 300, D = 2000": lambda jobs: hhc_mn(small, n_jobs=jobs),
        "bootstrap of evidence-map, 16 replicates": lambda jobs: bootstrap(
            parents, evidence_map, n_replicates=16, random_state=0, n_jobs=jobs
        ),
    }


def measured(name: str, stage: Stage, repeat: int = 3) -> dict[str, object]:
    """Medians of one core, and of two."""
    cores, clock = sorted(os.sched_getaffinity(0)), {1: [], 2: []}
    used = []
    for turn in range(repeat + 1):
        for threads in (1, 2):
            os.sched_setaffinity(0, cores[:threads])
            began, spent = perf_counter(), process_time()
            stage(threads)
            seconds = perf_counter() - began
            if turn:  # the first one compiles
                clock[threads].append(seconds)
                used += [(process_time() - spent) / seconds] if threads == 2 else []
    os.sched_setaffinity(0, cores)
    one, two = (float(np.median(clock[threads])) for threads in (1, 2))
    row = {"stage": name, "one_s": round(one, 3), "two_s": round(two, 3)}
    return row | {"ratio": round(one / two, 2), "used": round(float(np.median(used)), 2)}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        report("cores", [measured(*stage) for stage in stages(Path(name)).items()])


if __name__ == "__main__":
    main()
