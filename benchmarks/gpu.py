"""The recommended learner on a GPU and on two cores: from a packed table to the graph.

``python benchmarks/gpu.py OUT.csv --variables 1000 5000`` needs CuPy and a GPU. Up to ``--most-on-cpu``
variables two cores learn the same tables. Kernels are compiled before the clock starts, and each time is the
median of ``--repeat`` runs.
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from ibmap.data import Table
from ibmap.engines import MemoryEngine
from ibmap.engines.bits import packed_data
from ibmap.engines.gpu import GpuEngine
from ibmap.learners import evidence_map
from ibmap.results.learned import Learned

NOISE = (0.0, 0.3, 0.45, 0.6)  # how often a copy is redrawn
ROWS = 1000


def groups_of_four(n: int, rows: int = ROWS, seed: int = 0) -> Table:
    """A fair coin and three noisy copies of it, again and again."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, rows), dtype=np.int8)
    for x in range(n):
        if x % 4:
            kept = rng.random(rows) > NOISE[x % 4]
            codes[x] = np.where(kept, codes[x - x % 4], codes[x])
    return packed_data(Table(codes, tuple(f"x{j}" for j in range(n)), ((0, 1),) * n))


def learn(data: Table, engine: Callable[[Table], MemoryEngine], repeat: int = 1) -> tuple[Learned, float]:
    """Learn, and tell how long it took."""
    seconds = []
    for _ in range(repeat):
        began = perf_counter()
        learned = evidence_map(data, engine=engine, n_jobs=2)
        seconds.append(perf_counter() - began)
    print(*(f"{one:.2f} s" for one in seconds), flush=True)
    return learned, float(np.median(seconds))


def errors(learned: Learned) -> int:
    """Edges that are missing, or too many."""
    n = learned.graph.n_variables
    true = {(x - x % 4, x) for x in range(n) if x % 4}
    return len(true ^ {(int(x), int(y)) for x, y in learned.graph.pairs})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--variables", type=int, nargs="+", default=[1000, 5000, 20_000, 100_000])
    parser.add_argument("--most-on-cpu", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--arrays", default="cupy", help="numpy runs the same code without a GPU")
    arguments = parser.parse_args()

    def on_gpu(data: Table) -> GpuEngine:
        return GpuEngine(data, arguments.arrays)

    learn(groups_of_four(1000), on_gpu)  # CuPy compiles its kernels
    found = []
    for n in arguments.variables:
        data = groups_of_four(n)
        learned, gpu_s = learn(data, on_gpu, arguments.repeat)
        row = {"variables": n, "rows": ROWS, "edges": learned.graph.n_edges, "errors": errors(learned)}
        row |= {"gpu_s": round(gpu_s, 2), "two_cores_s": "", "speed_up": "", "same_graph": ""}
        if n <= arguments.most_on_cpu:
            other, cpu_s = learn(data, MemoryEngine, arguments.repeat)
            row |= {"two_cores_s": round(cpu_s, 2), "speed_up": round(cpu_s / gpu_s, 1)}
            row["same_graph"] = other.graph == learned.graph
        print(row, flush=True)
        found.append(row)
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
