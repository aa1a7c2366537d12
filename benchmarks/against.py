"""This checkout against another one, side by side: ``python benchmarks/against.py OTHER_CHECKOUT``.

Each piece of work runs in a process of either checkout, by its own environment (``make test`` makes it), in
turns; the least processor time of each counts, as other work on the machine can only add to it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from common import report, verdict

HERE = Path(__file__).parents[1]
TURNS = 3
BAR = 1.1
BARS = {  # of what should be faster: time now over time before
    "EvidenceMAP, n = 99, D = 1600": 1 / 3,
    "EvidenceMAP, n = 490, D = 1600": 1 / 2.5,
    "EvidenceMAP, n = 2000, D = 1600": 1 / 2,
    "insurance": 1 / 5,
    "hepar2": 1 / 5,
    "hailfinder": 1 / 5,
    "win95pts, with effects": 1 / 3,
    "andes, with effects": 1 / 3,
    "whole fit, n = 490, D = 1600": 1.4,
    "GSMN, n = 490, D = 1600": 2.0,
    "HHC-MN, n = 490, D = 1600": 2.0,
}
WORK = """
import json, os, sys, warnings
from pathlib import Path
from time import process_time
warnings.simplefilter("ignore")
in_place = [one for one in sys.meta_path if "ScikitBuild" in type(one).__name__]
sys.meta_path[:] = [one for one in sys.meta_path if one not in in_place]  # they would find this checkout only
import numpy as np
import ibmap
assert Path(ibmap.__file__).is_relative_to(os.environ["PYTHONPATH"]), ibmap.__file__
from ibmap import GSMN, HHCMN, IBMAP, BayesianTest, EvidenceMAP, MutualInformation, load
from ibmap.engines import MemoryEngine
from ibmap.eda import Stop, maximize
from ibmap.synthetic import simulate_random

def world(n, rows):
    data = simulate_random(n, 4, rows, random_state=0, sweeps=100).data
    return np.ascontiguousarray(data[:, data.std(axis=0) > 0])

def chain(levels):
    rng = np.random.default_rng(0)
    data = rng.integers(0, levels, (2000, 200), dtype=np.uint8)
    for j in range(1, 200):
        copied = rng.random(2000) < 0.4
        data[copied, j] = data[copied, j - 1]
    return data

small, large, larger = world(100, 1600), world(500, 1600), world(2000, 1600)
wide = np.random.default_rng(1).integers(0, 2, (3200, 2000))
long = np.random.default_rng(2).integers(0, 2, (100_000, 100))
two, four = chain(2), chain(4)

def network(name):
    folder = os.environ.get("IBMAP_DATA", "../shared/data")
    return load(Path(folder, "networks", f"{name}.csv.gz"))

def with_effects(data):
    return EvidenceMAP().fit(data).learned_.with_effects(MemoryEngine(data))

networks = {name: network(name) for name in ("insurance", "hepar2", "hailfinder", "win95pts", "andes")}
work = {
    "EvidenceMAP, n = 99, D = 1600": (lambda: EvidenceMAP().fit(small), 20),
    "EvidenceMAP, n = 490, D = 1600": (lambda: EvidenceMAP().fit(large), 7),
    "EvidenceMAP, n = 2000, D = 1600": (lambda: EvidenceMAP().fit(larger), 1),
    "insurance": (lambda: EvidenceMAP().fit(networks["insurance"]), 2),
    "hepar2": (lambda: EvidenceMAP().fit(networks["hepar2"]), 1),
    "hailfinder": (lambda: EvidenceMAP().fit(networks["hailfinder"]), 1),
    "win95pts, with effects": (lambda: with_effects(networks["win95pts"]), 2),
    "andes, with effects": (lambda: with_effects(networks["andes"]), 1),
    "whole fit, n = 99, D = 1600": (lambda: IBMAP().fit(small), 60),
    "whole fit, n = 490, D = 1600": (lambda: IBMAP().fit(large), 30),
    "whole fit, n = 2000, D = 3200": (lambda: IBMAP().fit(wide), 8),
    "whole fit, n = 100, D = 100,000": (lambda: IBMAP().fit(long), 5),
    "2 levels, n = 200, D = 2000": (lambda: IBMAP().fit(two), 20),
    "4 levels, n = 200, D = 2000": (lambda: IBMAP().fit(four), 10),
    "GSMN, n = 490, D = 1600": (lambda: GSMN().fit(large), 2),
    "HHC-MN, n = 490, D = 1600": (lambda: HHCMN().fit(large), 4),
    "MI, n = 490, D = 1600": (lambda: MutualInformation().fit(large), 8),
    "MOA, one run, n = 60, population 200": (
        lambda: maximize(lambda rows: rows.sum(axis=1), 60, 200, stop=Stop(target=60), random_state=0), 5),
}
found = {}
for name, (run, repeat) in work.items():
    run()
    times = []
    for _ in range(repeat):
        began = process_time()
        run()
        times.append(process_time() - began)
    found[name] = min(times)
print(json.dumps(found))
"""


def measured(checkout: Path) -> dict[str, float]:
    environment, own = {**os.environ, "PYTHONPATH": str(checkout / "src")}, checkout / ".venv/bin/python"
    run = subprocess.run(
        [str(own if own.exists() else sys.executable), "-c", WORK],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> None:
    other = Path(sys.argv[1]).resolve()
    runs = [(measured(other), measured(HERE)) for _ in range(TURNS)]
    rows: list[dict[str, object]] = []
    for name in runs[0][0]:
        before, now = (min(run[k][name] for run in runs) for k in (0, 1))
        rows.append(
            {
                "what": name,
                "before_ms": round(1e3 * before, 2),
                "now_ms": round(1e3 * now, 2),
                "ratio": round(now / before, 3),
                "bar": verdict(now / before, round(BARS.get(name, BAR), 3), at_least=False),
            }
        )
    report("against", rows)


if __name__ == "__main__":
    main()
