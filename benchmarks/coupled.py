"""Strongly coupled coins: errors of evidence-map beside those of no edges at all.

With six neighbours and more, log odds of 1 order a network of fair coins: any handful of variables tells the
majority of a row, so that every variable is a proxy for every other. Seeds were not used to choose settings.

    python benchmarks/coupled.py
"""

import warnings
from time import process_time

import numpy as np

from common import report, verdict
from ibmap.learners import evidence_map
from ibmap.metrics import hamming
from quality_worlds import SIZES, random_world

NS, TAUS, SEEDS = (20, 75, 100, 200), (6, 8, 12), (9401, 9402, 9403)
ORDERED = 2050.0  #: errors of the six cells of 75 and 100 variables of eight neighbours, together


def cell(n: int, tau: int, rows: int) -> dict[str, object]:
    """Learn tables of one kind."""
    errors, edges, seconds = [], [], []
    for seed in SEEDS:
        data, truth = random_world(n, tau, "symmetric", 2, rows, seed)
        began = process_time()
        learned = evidence_map(data)
        seconds.append(process_time() - began)
        errors.append(hamming(learned.graph, truth))
        edges.append(truth.n_edges)
    found, none = float(np.mean(errors)), float(np.mean(edges))
    return {
        "variables": n,
        "neighbours": tau,
        "rows": rows,
        "errors": round(found, 1),
        "no_edges": none,
        "worse_percent": round(100 * (found / none - 1), 1),
        "bar": verdict(found / none, 1.01, at_least=False),
        "cpu_s": round(float(np.median(seconds)), 2),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    rows = [cell(n, tau, size) for n in NS for tau in TAUS for size in SIZES if size <= 1600]
    report("coupled", rows)
    ordered = [
        float(str(row["errors"]))
        for row in rows
        if row["variables"] in (75, 100) and row["neighbours"] == 8 and row["rows"] != SIZES[0]
    ]
    print(f"\nsix ordered cells: {sum(ordered):.0f}, {verdict(sum(ordered), ORDERED, at_least=False)}")


if __name__ == "__main__":
    main()
