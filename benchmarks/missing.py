"""Errors where values are missing: complete rows only, each question in its own rows, and imputation.

``python benchmarks/missing.py`` (some two minutes) writes results/missing.csv: 20 variables, 4 neighbours on
average, 500 rows, a Markov network and a directed one for each seed. MCAR: any cell; MAR: cells of every
other column where the one before it is large.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import ibmap
from ibmap.errors import DataError
from ibmap.graph import Graph
from ibmap.metrics import hamming
from mixed_worlds import MixedWorld, mixed_dag, mixed_mrf, with_holes

OUT = Path(__file__).parent / "results" / "missing.csv"
METHODS = ("drop", "question", "impute", "auto")


def learned(table: Any, method: str, world: MixedWorld) -> Graph:
    """Return the network; where too few rows are complete, columns or all of them have no edges."""
    try:
        found = ibmap.EvidenceMAP(missing=method).fit(table).graph_
    except DataError:
        return Graph(world.truth.names)
    return Graph(world.truth.names, found.edges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: dict[tuple[str, str], list[float]] = {}
    for seed in range(given.seeds):
        for make in (mixed_mrf, mixed_dag):
            world = make(20, 4, 500, seed)
            tables = {"complete": world.frame()}
            for share in (0.05, 0.2):
                tables[f"MCAR {share:.0%}"] = with_holes(world, share, seed, True)
                tables[f"MAR {share:.0%}"] = with_holes(world, share, seed, False)
            for cell, table in tables.items():
                for method in METHODS if cell != "complete" else ("auto",):
                    began = time.process_time()
                    found = learned(table, method, world)
                    seconds = time.process_time() - began
                    false = len(set(found.edges) - set(world.truth.edges))
                    wrong = hamming(found, world.truth)
                    row = rows.setdefault((cell, method), [0, 0, 0, 0, 0.0])
                    for k, value in enumerate((1, wrong, false, wrong - false, seconds)):
                        row[k] += value
    with given.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["cell", "missing", "tables", "errors", "false", "missed", "cpu_seconds"])
        for (cell, method), (n, errors, false, missed, seconds) in rows.items():
            line = [cell, method, *map(int, (n, errors, false, missed)), round(seconds / n, 2)]
            writer.writerow(line)
            print(*line, sep="  ")


if __name__ == "__main__":
    main()
