"""Whole numbers of few values: errors if the evidence chooses their kinds, beside those if somebody knew.

Networks whose levels are written as 0, 1, 2, ... in random order are known to be codes; answers of
questionnaires (``ordinal.py``) are known to be amounts. ``python benchmarks/kinds.py --data ../shared/data``.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from common import report
from ibmap.criteria.whole_numbers import probability_of_amounts
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.graph import Graph
from ibmap.learners import evidence_map
from ibmap.metrics import hamming
from ordinal import questionnaire

NETWORKS = ["asia", "sachs", "child", "alarm", "water", "insurance", "hailfinder", "win95pts", "hepar2"]
NETWORKS += ["andes"]


def recoded(frame: pl.DataFrame, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the levels of every column as 0, 1, 2, ... in random order."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in frame.columns:
        labels, codes = np.unique(frame[name].to_numpy().astype(str), return_inverse=True)
        found[name] = rng.permutation(len(labels))[codes]
    return found


def compared(what: str, table: dict[str, np.ndarray], truth: Graph, known: list[str]) -> dict[str, object]:
    """Return the errors with the kinds that are known, and with those that the evidence chooses."""
    data, began = load(table), process_time()
    found = probability_of_amounts(MemoryEngine(data), data.names)
    seconds = process_time() - began
    chosen = [name for name, share in found.items() if share > 0.5]
    known_errors, chosen_errors = (
        hamming(evidence_map(load(table, ordinal=some)).graph.permute(truth.names), truth)
        for some in (known, chosen)
    )
    row = {"table": what, "rows": data.n_rows, "undecided": len(found), "amounts": len(chosen)}
    return {**row, "known": known_errors, "chosen": chosen_errors, "seconds": round(seconds, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in given.networks.split(","):
        folder = given.data / "networks"
        frame = pl.read_csv(folder / f"{name}.csv.gz", infer_schema_length=0)
        edges = json.loads((folder / f"{name}.truth.json").read_text())["edges"]
        for n_rows in (500, 2000):
            truth = Graph(frame.columns, [(a, b) for a, b in edges])
            rows.append(compared(name, recoded(frame.head(n_rows)), truth, []))
    for n_rows in (100, 250, 500, 1000, 2500):
        for seed in range(2):
            table = questionnaire(n_rows, seed)
            names = list(table)
            pairs = [(x, y) for i, x in enumerate(names) for y in names[:i] if x[0] == y[0]]
            rows.append(compared("questionnaire", table, Graph(names, pairs), names))
    report("kinds", rows)


if __name__ == "__main__":
    main()
