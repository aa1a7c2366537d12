"""How close to the truth? Every method on every world: ``make quality`` (hours; it goes on when stopped).

Rows are added to ``benchmarks/results/quality.csv`` as they are done, and ``docs/quality.md`` is written at
the end. Seeds 1000 to 1002 were used to choose settings; the page reports those from 100 on.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter

import numpy as np

from ibmap import Graph
from quality_methods import Found, Method, methods
from quality_worlds import World, worlds

FILE = Path(__file__).parent / "results" / "quality.csv"
SEEDS = (100, 101, 102)
BINS = 10
COLUMNS = (
    *("world", "kind", "n", "edges", "rows", "seed", "method", "hamming", "false", "missing", "f", "seconds"),
    *(f"pairs_{k}" for k in range(BINS)),
    *(f"sum_{k}" for k in range(BINS)),
    *(f"edges_{k}" for k in range(BINS)),
)

Key = tuple[str, str, str, str]


def done() -> set[Key]:
    """What the file holds already: world, rows, seed, method."""
    if not FILE.exists():
        return set()
    with FILE.open(newline="", encoding="utf-8") as file:
        return {(row["world"], row["rows"], row["seed"], row["method"]) for row in csv.DictReader(file)}


def measured(world: World, rows: int, seed: int, wanted: list[str]) -> Iterator[dict[str, object]]:
    """Make a table, and run methods on it."""
    data, truth = world.make(rows, seed)
    for method in methods():
        if method.name not in wanted:
            continue
        began = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method.run(data)
        yield row_of(world, truth, rows, seed, method, found, perf_counter() - began)


def row_of(
    world: World, truth: Graph, rows: int, seed: int, method: Method, found: Found, seconds: float
) -> dict[str, object]:
    """Compare with the truth."""
    n = truth.n_variables
    mine, true = np.zeros((n, n), bool), truth.adjacency
    mine[found.pairs[:, 0], found.pairs[:, 1]] = True
    upper = np.triu_indices(n, 1)
    mine, true = mine[upper], true[upper]
    false, missing, both = int((mine & ~true).sum()), int((~mine & true).sum()), int((mine & true).sum())
    row: dict[str, object] = dict.fromkeys(COLUMNS, "")
    row |= {
        "world": world.name,
        "kind": world.kind,
        "n": n,
        "edges": truth.n_edges,
        "rows": rows,
        "seed": seed,
        "method": method.name,
        "hamming": false + missing,
        "false": false,
        "missing": missing,
        "f": round(2 * both / max(2 * both + false + missing, 1), 4),
        "seconds": round(seconds, 4),
    }
    if found.posterior is not None:
        bins = np.minimum((found.posterior * BINS).astype(int), BINS - 1)
        for k in range(BINS):
            row[f"pairs_{k}"], row[f"edges_{k}"] = int((bins == k).sum()), int(true[bins == k].sum())
            row[f"sum_{k}"] = round(float(found.posterior[bins == k].sum()), 4)
    return row


def task(name: str, rows: int, seed: int, wanted: list[str]) -> list[dict[str, object]]:
    """Do all methods on one table; in a process of its own."""
    world = next(world for world in worlds() if world.name == name)
    return list(measured(world, rows, seed, wanted))


def tasks(
    seeds: tuple[int, ...], only: str, most: int, chosen: list[str] | None
) -> Iterator[tuple[str, int, int, list[str]]]:
    """What is left to do."""
    finished = done()
    for world in worlds():
        if only not in world.name or world.n > most:
            continue
        for rows in world.sizes:
            for seed in seeds:
                wanted = [
                    method.name
                    for method in methods()
                    if world.n <= method.most_variables
                    and (chosen is None or method.name in chosen)
                    and (world.name, str(rows), str(seed), method.name) not in finished
                ]
                if wanted:
                    yield world.name, rows, seed, wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose name holds this")
    parser.add_argument("--most", type=int, default=500, help="variables")
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--methods", nargs="*", help="only these")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    if not given.page:
        new = not FILE.exists()
        with FILE.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(given.jobs) as pool:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            left = list(tasks(tuple(given.seeds), given.only, given.most, given.methods))
            for k, future in enumerate(as_completed([pool.submit(task, *one) for one in left]), start=1):
                writer.writerows(future.result())
                file.flush()
                print(f"{k} of {len(left)}", end="\r", flush=True)
        print()
    from quality_page import write
    from quality_real import measure

    if not given.page and given.methods is None:
        measure(given.only)
    write(FILE)


if __name__ == "__main__":
    main()
