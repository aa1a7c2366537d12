"""What ``learn --out`` takes beside the fit: 2000 binary variables, 1000 rows; pairs are looked at once."""

import tempfile
from pathlib import Path
from time import perf_counter

from common import report, verdict, world
from ibmap.cli.learn import result_files
from ibmap.cli.output import write_together
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.learners import ibmap_hc
from ibmap.results.result_file import result_of_learned

BAR = 1.5


def once(folder: Path, n: int, n_rows: int) -> dict[str, float]:
    """Seconds of every step of ``learn --out`` after the table is read."""
    engine = MemoryEngine(load(world(n, n_rows)))
    times, began = {}, perf_counter()

    def lap(name: str) -> None:
        nonlocal began
        times[name] = perf_counter() - began
        began = perf_counter()

    learned = ibmap_hc(engine, patience=20)
    lap("fit")
    len(learned.edge_table)
    lap("edge table")
    result = result_of_learned(learned, engine)
    lap("counts and content")
    files = result_files(result)
    lap("texts and page")
    write_together(folder, files)
    lap("files")
    len(learned.edges_frame)
    lap("edges_ again")
    return times


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        once(Path(folder), 200, 200)  # imports what is needed
        runs = [once(Path(folder), 2000, 1000) for _ in range(3)]
    best = {name: min(run[name] for run in runs) for name in runs[0]}
    total = sum(best.values()) - best["edges_ again"]
    least = best["fit"] + best["texts and page"] + best["files"]
    rows: list[dict[str, object]] = [
        {"what": name, "seconds": round(seconds, 4), "bar": ""} for name, seconds in best.items()
    ]
    rows.append({"what": "in all", "seconds": round(total, 4), "bar": ""})
    bar = verdict(total / least, BAR, at_least=False)
    rows.append({"what": "against fit and writing", "seconds": round(total / least, 2), "bar": bar})
    report("output", rows)


if __name__ == "__main__":
    main()
