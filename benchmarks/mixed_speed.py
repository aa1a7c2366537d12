"""Seconds and bytes of tables of numbers and categories: rows of evidence, whole fits, many rows.

``python benchmarks/mixed_speed.py`` (two CPU minutes) writes results/mixed_speed.csv. Seconds are those of
the processor. Rows of evidence are compared with those of the prototype in NumPy, where ``../shared/proto``
is there.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

from common import report, times, verdict
from ibmap import load
from ibmap.engines import Model, as_engine
from ibmap.learners import evidence_map
from mixed_worlds import MixedWorld, mixed_dag, mixed_mrf

PROTOTYPE = Path(__file__).parents[2] / "shared" / "proto" / "mixed"
SCALES = tuple(4.0**k for k in range(6))
XS = range(40)  #: of whom rows are made


def engine_of(world: MixedWorld) -> Any:
    return as_engine(load(world.frame(), continuous="auto", missing="auto"))


def blankets_of(size: int, n: int) -> list[list[int]]:
    return [sorted((x + k) % n for k in range(1, size + 1)) for x in XS]


def prototype(world: MixedWorld, **options: Any) -> Any:
    """Return the score of the prototype, which inherits from a library that is no more."""

    class Prior:
        def __init__(self, n: int, *_: Any) -> None:
            self.n = n

        def _with_prior(self, xs: Any, blankets: Any, rows: Any) -> Any:
            return rows

    there = {"scores": {}, "scores.families": {"PriorScore": Prior}}
    there |= {"scores.local_score": {"Rows": lambda *parts: parts}}
    for name, things in there.items():
        module = ModuleType(f"ibmap.{name}")
        vars(module).update(things)
        sys.modules[f"ibmap.{name}"] = module
    sys.path.insert(0, str(PROTOTYPE))
    import mixed

    columns = [
        ("number", values, 0) if values.dtype.kind == "f" else ("nominal", values, int(values.max()) + 1)
        for values in world.columns.values()
    ]
    return mixed.MixedScore(mixed.Table(columns, basis=2), **options)


def rows_of_evidence() -> list[dict[str, Any]]:
    world = mixed_dag(200, 2, 1600, 0)
    engine, n, out = engine_of(world), len(world.columns), []
    recipes = {"as ours": {"node_scales": SCALES}, "one scale": {}}
    scores = {name: prototype(world, **how) for name, how in recipes.items()} if PROTOTYPE.is_dir() else {}
    for size in (0, 4):
        blankets = blankets_of(size, n)
        ours = times(lambda b=blankets: engine.rows(Model("mixed"), XS, b), 3, process_time)[1] / len(XS)
        what = f"a row of evidence, n = 200, D = 1600, {size} in the blanket"
        out.append({"what": what, "value": round(1e3 * ours, 3), "unit": "ms", "bar": ""})
        for name, score in scores.items():
            theirs = times(lambda b=blankets, s=score: s.rows(XS, b), 1, process_time)[0] / len(XS)
            bar = verdict(theirs / ours, 5, at_least=True) if name == "as ours" else ""
            value = round(theirs / ours, 1)
            out.append({"what": f"{what}: prototype, {name}", "value": value, "unit": "times", "bar": bar})
    return out


def whole_fits() -> list[dict[str, Any]]:
    out = []
    for n, rows, most in ((50, 1600, 1), (500, 1600, 20), (50, 100_000, 20)):
        for kind, make in (("mrf", mixed_mrf), ("dag", mixed_dag)):
            table = load(make(n, 2, rows, 0).frame(), continuous="auto", missing="auto")
            seconds = times(lambda d=table: evidence_map(as_engine(d)), 1, process_time)[0]
            bar = verdict(seconds, most, at_least=False)
            what = f"a whole fit, n = {n}, D = {rows} ({kind})"
            out.append({"what": what, "value": round(seconds, 2), "unit": "s", "bar": bar})
    return out


def memory() -> None:
    """Print how much more memory a fit takes than there was with the table, in tables as float32."""
    table = load(mixed_dag(50, 2, 100_000, 0).frame(), continuous="auto", missing="auto")
    evidence_map(as_engine(table.rows(np.arange(200))))  # loads what is loaded late
    Path("/proc/self/clear_refs").write_text("5")
    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    evidence_map(as_engine(table))
    status = Path("/proc/self/status").read_text()
    most = 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
    print((most - before) / (4 * table.n_rows * table.n_variables))


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["memory"]:
        return memory()
    rows = rows_of_evidence() + whole_fits()
    ran = subprocess.run([sys.executable, __file__, "memory"], capture_output=True, text=True, check=True)
    share = float(ran.stdout)
    bar = verdict(share, 3, at_least=False)
    what = "memory of a fit beside the table, n = 50, D = 100000 (dag)"
    rows.append({"what": what, "value": round(share, 1), "unit": "tables as float32", "bar": bar})
    return report("mixed_speed", rows)


if __name__ == "__main__":
    main()
