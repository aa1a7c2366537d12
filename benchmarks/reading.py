"""A Parquet file read and packed, here and in another checkout: ``python benchmarks/reading.py OTHER``.

The bar of issue 12 is about the commit before it, ``git worktree add OTHER 5a29476^``. Each checkout
reads in a process of its own, in turns, and the least processor time of each counts.
"""

import json
import os
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

from common import report, verdict
from large_tables import BATCH, rows_of

HERE = Path(__file__).parents[1]
TURNS, BAR = 3, 3
COLUMNS, ROWS = 100, 2_000_000
WORK = """
import json, sys
from pathlib import Path
from time import perf_counter, process_time
from ibmap.data import load
from ibmap.engines import MemoryEngine

found = []
for turn in range(4):
    began, spent = perf_counter(), process_time()
    MemoryEngine(load(Path(sys.argv[1])))
    found.append((process_time() - spent, perf_counter() - began))
print(json.dumps(min(found[1:])))  # the first one compiles
"""


def write(path: Path, dtype: str) -> None:
    """Write coins in pairs as one file."""
    names = [f"v{j}" for j in range(COLUMNS)]
    rows = [rows_of(COLUMNS, BATCH, k).astype(dtype).T for k in range(ROWS // BATCH)]
    pl.DataFrame(np.concatenate(rows), schema=names, orient="row").write_parquet(path)


def measured(checkout: Path, path: Path) -> tuple[float, float]:
    """Return CPU seconds, and seconds by the clock."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    said = subprocess.run(
        [sys.executable, "-c", WORK, str(path)], env=environment, check=True, capture_output=True, text=True
    )
    cpu, clock = json.loads(said.stdout)
    return cpu, clock


def main() -> None:
    other = Path(sys.argv[1]).resolve()
    found: list[dict[str, object]] = []
    for dtype in ("uint8", "int64"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            maker = get_context("spawn").Process(target=write, args=(path, dtype))
            maker.start()
            maker.join()
            turns = [(measured(other, path), measured(HERE, path)) for _ in range(TURNS)]
        before, now = (min(turn[k] for turn in turns) for k in (0, 1))
        ratio = before[0] / now[0]
        row = {"from": dtype, "columns": COLUMNS, "rows": ROWS, "before_cpu_s": round(before[0], 3)}
        row |= {"now_cpu_s": round(now[0], 3), "before_s": round(before[1], 3), "now_s": round(now[1], 3)}
        found.append(row | {"times_less": round(ratio, 2), "bar": verdict(ratio, BAR, at_least=True)})
    report("reading", found)


if __name__ == "__main__":
    main()
