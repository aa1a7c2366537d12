"""EvidenceMAP: beside pybnesian's PC (C++), how it grows, and large tables.

Seconds are those of the processor where both work in one thread. Large tables have a process of their own,
for their memory.
"""

import json
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pybnesian

from common import report, times, verdict, without_constants, world
from dag import random_dag
from growth import exponent
from ibmap.data import load
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.metrics import hamming
from ibmap.synthetic import simulate_random

LARGE = """
import json, re, sys, time
sys.path.insert(0, {here!r})
from evidence import wide
print(json.dumps(wide({n}, {rows})))
"""


def seconds_of(work: object, repeat: int = 3) -> float:
    """The median of a few warm runs."""
    return float(np.median(times(work, repeat, process_time)))  # type: ignore[arg-type]


def beside_pc(n: int) -> dict[str, object]:
    """1600 rows of a random network."""
    data = without_constants(world(n, 1600))
    frame = pd.DataFrame(data.astype(str), columns=[f"x{i}" for i in range(data.shape[1])]).astype("category")
    table = load(data)
    theirs = seconds_of(lambda: pybnesian.PC().estimate(pybnesian.ChiSquare(frame), alpha=0.01))
    ours = seconds_of(lambda: evidence_map(table))
    shown = f"{theirs:.3f} s, {ours:.3f} s"
    bar = verdict(theirs / ours, 5.0, at_least=True)
    return {"what": f"PC over ours, n={n}, D=1600", "value": round(theirs / ours, 2), "of": shown, "bar": bar}


def growth(what: str, sizes: list[int], tables: list[object], bar: float) -> dict[str, object]:
    """The exponent of seconds."""
    seconds = [seconds_of(lambda table=table: evidence_map(table), 3) for table in tables]  # type: ignore[misc]
    slope, shown = exponent(sizes, seconds), " ".join(f"{s:.3g}" for s in seconds)
    return {"what": what, "value": round(slope, 2), "of": shown, "bar": verdict(slope, bar, at_least=False)}


def directed(n: int = 223, rows: int = 10_000) -> list[dict[str, object]]:
    """Binary variables of a random Bayesian network, with two threads."""
    from time import perf_counter

    frame, truth = random_dag(n, rows, 2, 1.5)
    table = load(frame)
    evidence_map(load(frame.iloc[:200, :20]))
    began = perf_counter()
    found = evidence_map(table, n_jobs=2)
    seconds = perf_counter() - began
    errors = f"{hamming(truth, found.graph)} errors of {truth.n_edges} edges"
    bar = verdict(seconds, 10.0, at_least=False)
    what = f"seconds, {table.n_variables} binary variables, D={rows}"
    return [{"what": what, "value": round(seconds, 2), "of": errors, "bar": bar}]


def wide(n: int, rows: int) -> list[dict[str, object]]:
    """A wide table with few rows: what the paper's learner finds, and ours."""
    import re

    made = simulate_random(n, 2, rows, random_state=1)
    table, truth = made.to_table(), made.graph
    out: list[dict[str, object]] = []
    for name, learn in (("ibmap-hc", ibmap_hc), ("evidence-map", evidence_map)):
        began = process_time()
        found = learn(table)
        seconds = process_time() - began
        peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])  # type: ignore[index]
        shown = f"{found.graph.n_edges} edges, {seconds:.1f} s, {peak / 2**20:.2f} GiB"
        out.append({"what": f"errors, n={n}, D={rows}, {name}", "value": hamming(truth, found.graph)})
        out[-1] |= {"of": shown, "bar": f"{truth.n_edges} edges are true"}
    return out


def main() -> None:
    rows: list[dict[str, object]] = [beside_pc(n) for n in (100, 500)]
    sizes = [125, 250, 500, 1000]
    tables = [load(world(n, 1000, seed=2)) for n in sizes]
    rows.append(growth("growth in n, 125 to 1000 (D = 1000)", sizes, tables, 2.1))
    sizes, data = [1000, 4000, 16_000, 64_000], world(100, 64_000, seed=3)
    tables = [load(np.ascontiguousarray(data[:size])) for size in sizes]
    rows.append(growth("growth in D, 1000 to 64,000 (n = 100)", sizes, tables, 1.1))
    rows += directed()
    code = LARGE.format(here=str(Path(__file__).parent), n=5000, rows=1000)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows += json.loads(done.stdout.splitlines()[-1])
    report("evidence", rows)


if __name__ == "__main__":
    main()
