"""How time grows with variables and rows, and what the large problems take (each in its own process)."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import median, report, verdict, world
from ibmap import IBMAP
from ibmap.criteria.ib import BoundIBScore
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest
from ibmap.search import Climb

LARGE = """
import json, re, sys, time
sys.path.insert(0, {here!r})
from common import world
from ibmap import IBMAP
data = world({n}, {rows}, seed=1)
IBMAP(n_jobs=2).fit(data[:, :50])
began = time.perf_counter()
net = IBMAP(n_jobs=2).fit(data)
seconds = time.perf_counter() - began
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])  # of this process alone
print(json.dumps([seconds, peak / 2**20, net.n_iter_, data.shape[1]]))
"""


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log seconds against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth_in_n() -> dict[str, object]:
    sizes, seconds = [250, 500, 1000, 2000, 4000, 8000], []
    for n in sizes:
        rng = np.random.default_rng(n)
        test = BayesianTest().bind(MemoryEngine(load(rng.integers(0, 2, (1000, n), dtype=np.uint8))))
        seconds.append(median(lambda test=test, n=n: Climb().begin(BoundIBScore(test, n)), 5))
    slope = exponent(sizes, seconds)
    return _growth("initial score in n, 250 to 8000 (D = 1000)", slope, 2.1, seconds)


def growth_in_rows() -> dict[str, object]:
    sizes, seconds = [10**3, 10**4, 10**5, 10**6], []
    data = world(100, 10**6, seed=3)
    for rows in sizes:
        part = np.ascontiguousarray(data[:rows])
        seconds.append(median(lambda part=part: IBMAP().fit(part), 3))
    slope = exponent(sizes, seconds)
    return _growth("whole fit in D, 10^3 to 10^6 (n = 100)", slope, 1.1, seconds)


def _growth(what: str, slope: float, bar: float, seconds: list[float]) -> dict[str, object]:
    shown = " ".join(f"{s:.3g}" for s in seconds)
    return {
        "what": what,
        "exponent": round(slope, 2),
        "seconds": shown,
        "bar": verdict(slope, bar, at_least=False),
    }


def large(n: int, rows: int, most_seconds: float, most_gib: float) -> dict[str, object]:
    for size in (100, n):  # the first process compiles, which takes memory of its own
        code = LARGE.format(here=str(Path(__file__).parent), n=size, rows=rows)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, gib, ascents, kept = json.loads(done.stdout)
    return {
        "n": kept,
        "rows": rows,
        "seconds": round(seconds, 2),
        "peak_GiB": round(gib, 2),
        "ascents": ascents,
        "time": verdict(seconds, most_seconds, at_least=False),
        "memory": verdict(gib, most_gib, at_least=False),
    }


def main() -> None:
    report("growth", [growth_in_n(), growth_in_rows()])
    report("large", [large(5000, 1000, 10.0, 1.0), large(20000, 1000, 120.0, 8.0)])


if __name__ == "__main__":
    main()
