"""Errors on worlds of numbers and categories: columns as they are, beside numbers cut at quartiles.

``python benchmarks/mixed.py`` (some minutes) writes results/mixed.csv; ``--only mrf,strong`` runs some.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ibmap
from ibmap.metrics import hamming
from mixed_worlds import (
    MARGINALS,
    SHAPES,
    MixedWorld,
    cut,
    mixed_dag,
    mixed_mrf,
    strong_tree,
    with_holes,
    with_marginals,
)

OUT = Path(__file__).parent / "results" / "mixed.csv"
Case = tuple[str, MixedWorld, Any]  #: what it is, the world, and the table if it is another


def ours(table: Any) -> Any:
    return ibmap.EvidenceMAP().fit(table).learned_


def cases(kinds: list[str], seeds: int) -> Iterator[tuple[str, str, MixedWorld, Any]]:
    """Yield the kind, the cell, the world and its table."""
    for seed in range(seeds):
        for kind, make in (("mrf", mixed_mrf), ("dag", mixed_dag)):
            if kind in kinds:
                for n_rows in (100, 400, 1600):
                    for n in (20, 50):
                        for tau in (2, 4):
                            world = make(n, tau, n_rows, seed)
                            yield kind, f"D={n_rows}", world, world.frame()
                            yield f"{kind} quartiles", f"D={n_rows}", world, cut(world)
            if "numbers" in kinds:
                for n_rows in (100, 400):
                    world = make(20, 4, n_rows, seed, share=1.0)
                    yield f"numbers {kind}", f"D={n_rows}", world, world.frame()
            if "levels" in kinds:
                for n_rows in (100, 400):
                    world = make(20, 4, n_rows, seed, share=0.0)
                    yield f"levels {kind}", f"D={n_rows}", world, world.frame()
            if "marginals" in kinds:
                for name in MARGINALS:
                    world = with_marginals(make(20, 4, 800, seed), name, seed)
                    yield "marginals", name, world, world.frame()
        if "shapes" in kinds:
            for name, shape in SHAPES.items():
                world = mixed_dag(20, 2, 800, seed, shape=shape)
                yield "shapes", name, world, world.frame()
        if "strong" in kinds:
            for n_rows in (100, 400):
                for what, size in (("numbers", 0.9), ("numbers", 0.99), ("levels", 0.2), ("levels", 0.04)):
                    world = strong_tree(12, n_rows, seed, what, size)
                    yield f"strong {what} {size}", f"D={n_rows}", world, world.frame()
        if "missing" in kinds:
            for make in (mixed_mrf, mixed_dag):
                world = make(20, 4, 500, seed)
                yield "missing", "complete", world, world.frame()
                for share in (0.05, 0.2):
                    for at_random in (True, False):
                        table = with_holes(world, share, seed, at_random)
                        cell = f"{'MCAR' if at_random else 'MAR'} {share:.0%}"
                        yield "missing", cell, world, table


def expected_error(pairs: list[tuple[float, bool]]) -> tuple[int, float]:
    """Return how many pairs are above 0.01, and by how much their posteriors are wrong: ten bins."""
    p, true = np.array([one for one, _ in pairs]), np.array([two for _, two in pairs])
    known = p >= 0.01
    p, true = p[known], true[known]
    which = np.minimum((p * 10).astype(int), 9)
    gaps = [(which == b).sum() * abs(p[which == b].mean() - true[which == b].mean()) for b in set(which)]
    return len(p), round(float(sum(gaps)) / max(len(p), 1), 3)


KINDS = ["mrf", "dag", "numbers", "levels", "marginals", "shapes", "strong", "missing"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cells: dict[tuple[str, str], list[float]] = {}
    bins: dict[str, list[tuple[float, bool]]] = {}
    for kind, cell, world, table in cases(given.only.split(","), given.seeds):
        began = time.process_time()
        learned = ours(table)
        seconds = time.process_time() - began
        found = learned.graph.permute(world.truth.names)
        wrong = hamming(found, world.truth)
        false = len(set(found.edges) - set(world.truth.edges))
        row = cells.setdefault((kind, cell), [0, 0, 0, 0, 0.0])
        for k, value in enumerate((1, wrong, false, wrong - false, seconds)):
            row[k] += value
        frame = learned.edge_table
        for (i, j), log_xy, log_yx in zip(frame.pairs.tolist(), *frame.log_posteriors.T, strict=True):
            p = float(np.exp((log_xy + log_yx) / 2))
            pair = learned.graph.names[i], learned.graph.names[j]
            bins.setdefault(kind if "quartiles" in kind else kind.split()[0], []).append(
                (p, world.truth.has_edge(*pair))
            )
    rows = [
        [kind, cell, int(n), int(errors), int(false), int(missed), round(seconds / n, 3)]
        for (kind, cell), (n, errors, false, missed, seconds) in cells.items()
    ]
    for row in rows:
        print(*row, sep="  ")
    shares = [[kind, *expected_error(pairs)] for kind, pairs in bins.items()]
    for kind, known, error in shares:
        print(f"ECE of {kind}, pairs above 0.01: {error} of {known}")
    with given.out.with_name(f"{given.out.stem}_calibration.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["worlds", "pairs", "ece"], *shares])
    with given.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["world", "cell", "tables", "errors", "false", "missed", "cpu_seconds"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
