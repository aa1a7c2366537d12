"""The first ``ibmap learn`` of a small CSV without compiled code on disk: seconds in all, and of each kernel.

A kernel's own seconds leave out those of the functions that it calls, which are compiled while it is. All
seconds are those of the processor: others may be working on the machine.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from common import report, verdict, world

MOST = 15.0  #: seconds that the first learn may take
SHOWN = 0.05  #: seconds of a kernel that has a row of its own


def learn(path: str, out: str) -> None:
    """Learn in this process, and write down what was compiled: own and inclusive seconds."""
    from numba.core import event

    from ibmap.cli import main

    began: list[tuple[float, list[float]]] = []
    compiled: list[tuple[str, float, float]] = []

    class Stopwatch(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            began.append((process_time(), []))

        def on_end(self, event: Any) -> None:
            start, inner = began.pop()
            seconds = process_time() - start
            if began:
                began[-1][1].append(seconds)
            compiled.append((event.data["dispatcher"].__name__, seconds - sum(inner), seconds))

    event.register("numba:compile", Stopwatch())
    atexit.register(lambda: Path(out).write_text(json.dumps(compiled)))
    sys.argv = ["ibmap", "learn", path]
    main()


def first_learn(path: Path, cache: str) -> tuple[float, list[tuple[str, float, float]]]:
    """Seconds of one process, and what it compiled."""
    out, before = path.with_suffix(".json"), os.times()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    began = perf_counter()
    subprocess.run(
        [sys.executable, __file__, "--learn", str(path), str(out)],
        check=True,
        capture_output=True,
        env=environment,
    )
    wall, after = perf_counter() - began, os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return min(wall, busy), json.loads(out.read_text())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        data = world(20, 500)
        names = ",".join(f"x{i}" for i in range(data.shape[1]))
        np.savetxt(path, data, fmt="%d", delimiter=",", header=names, comments="")
        first, compiled = first_learn(path, folder)
        second, again = first_learn(path, folder)
    own = sum(row[1] for row in compiled)
    rows: list[dict[str, object]] = [
        {"what": "first learn, in all", "own s": round(first, 1), "with callees s": ""},
        {"what": f"compiling, {len(compiled)} functions", "own s": round(own, 1), "with callees s": ""},
        {"what": f"second learn, {len(again)} functions", "own s": round(second, 1), "with callees s": ""},
    ]
    rows[0]["bar"] = verdict(first, MOST, at_least=False)
    for name, seconds, inclusive in sorted(compiled, key=lambda row: -row[1]):
        if seconds >= SHOWN:
            rows.append({"what": name, "own s": round(seconds, 2), "with callees s": round(inclusive, 2)})
    report("compile", [{"bar": "", **row} for row in rows])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--learn"]:
        learn(*sys.argv[2:])
    else:
        main()
