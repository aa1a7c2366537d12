"""Large tables: CPU seconds and peak memory of ``ibmap learn``, each case in a process of its own.

``python benchmarks/large_tables.py`` runs small cases in two minutes; ``--full`` large ones (4 GB of disk for
a while, many minutes). Tables are made in a temporary folder, and the rows go to results/large_tables.csv.
"""

import argparse
import csv
import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

OUT = Path(__file__).parent / "results" / "large_tables.csv"
CASE = ("columns", "rows", "from", "learner")
BATCH = 250_000  # rows that are made at a time

#: columns, rows, how they are stored, learner, what else ``ibmap learn`` is told
SMALL = [
    (100, 200_000, "u8", "evidence-map", ()),
    (100, 200_000, "i64", "evidence-map", ()),
    (100, 400_000, "csv", "evidence-map", ()),
    (100, 200_000, "packed", "evidence-map", ()),
    (12_000, 200, "u8", "ibmap-hc", ("--out", "OUT")),
]
FULL = [
    (100, 10_000_000, "u8", "evidence-map", ()),
    (100, 10_000_000, "i64", "evidence-map", ()),
    (100, 10_000_000, "csv", "evidence-map", ()),
    (100, 10_000_000, "packed", "evidence-map", ()),
    (1000, 1_000_000, "u8", "evidence-map", ()),
    (20_000, 1000, "u8", "ibmap-hc", ("--out", "OUT")),
    (100_000, 1000, "u8", "ibmap-hc", ()),
    (20_000, 1000, "u8", "evidence-map", ("--out", "OUT")),
    (100_000, 1000, "u8", "evidence-map", ("--out", "OUT", "--jobs", "2")),
]


def rows_of(n: int, rows: int, seed: int) -> Any:
    """Make fair coins in pairs: the second is a copy of the first, wrong in a quarter of the rows."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, rows), dtype=np.uint8)
    wrong = rng.integers(0, 4, (n // 2, rows), dtype=np.uint8) == 0
    bits[1::2] = bits[: n // 2 * 2 : 2] ^ wrong
    return bits


def write(folder: Path, n: int, rows: int, kind: str) -> None:
    """Write a table, as a folder of Parquet files or as one CSV."""
    parts, path = range(0, rows, BATCH), folder / "table"
    names = [f"v{j}" for j in range(n)]
    path.mkdir()
    for k, first in enumerate(parts):
        bits = rows_of(n, min(BATCH, rows - first), k)
        frame = pl.DataFrame(
            bits.astype(np.int64 if kind == "i64" else np.uint8).T, schema=names, orient="row"
        )
        if kind == "csv":
            with (folder / "table.csv").open("ab") as file:
                frame.write_csv(file, include_header=not k)
        else:
            frame.write_parquet(path / f"{k:05}.parquet")


def run(*arguments: object) -> tuple[float, float, float]:
    """Run ``ibmap``; return its CPU seconds, its peak memory in GiB, and its seconds by the clock."""
    began = perf_counter()
    said = [sys.executable, "-m", "ibmap", *map(str, arguments)]
    child = os.posix_spawn(
        said[0], said, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(said)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, perf_counter() - began


def measure(n: int, rows: int, kind: str, learner: str, more: tuple[str, ...]) -> dict[str, object]:
    """Make a table, learn from it, and forget it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maker = get_context("spawn").Process(target=write, args=(folder, n, rows, kind))
        maker.start()  # what it needs would count as memory of processes that are started from here
        maker.join()
        path = folder / ("table.csv" if kind == "csv" else "table")
        row: dict[str, object] = {"columns": n, "rows": rows, "from": kind, "learner": learner}
        packing = run("pack", path, folder / "table.ibmap")
        path = folder / "table.ibmap" if kind == "packed" else path
        told = [folder / "out" if one == "OUT" else one for one in more]
        learning = run("learn", path, "--learner", learner, "--top", 0, *told)
    row |= {"pack_cpu_s": round(packing[0], 1), "pack_peak_gib": round(packing[1], 3)}
    row |= {"learn_cpu_s": round(learning[0], 1), "learn_peak_gib": round(learning[1], 3)}
    return row | {"learn_s": round(learning[2], 1)}


def write_rows(path: Path, found: list[dict[str, object]]) -> None:
    """Write what was measured, after the cases that are there and were not measured again."""
    cases = [tuple(str(row[name]) for name in CASE) for row in found]
    if path.exists():
        with path.open(newline="") as file:
            old = [row for row in csv.DictReader(file) if tuple(row[name] for name in CASE) not in cases]
        found = [*old, *found]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[-1]))
        writer.writeheader()
        writer.writerows(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", help="cases that begin like this: 100,10000000,u8,evidence-map")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    cases = FULL if chosen.full else SMALL
    if chosen.only:
        cases = [case for case in cases if (",".join(map(str, case[:4])) + ",").startswith(chosen.only + ",")]
    found = []
    for case in cases:
        found.append(measure(*case))
        print(*(f"{name}={value}" for name, value in found[-1].items()), flush=True)
    write_rows(chosen.out, found)


if __name__ == "__main__":
    main()
