"""Errors of what scikit-learn has for numbers and categories, beside evidence-map, on the same tables.

``python benchmarks/mixed_peers.py`` (some minutes) writes results/mixed_peers.csv: worlds of mixed.py with 20
variables. Both peers take normal scores of numbers and indicators of levels, each standardised.

- *GraphicalLassoCV* (its defaults), the first level of each column left out: two columns are joined if an
  entry of the precision matrix between their blocks is not zero.
- *Nodewise L1*: of each number a LassoCV, of each level of a column (one, if there are two) a
  LogisticRegressionCV with an L1 penalty, five folds each, on all other columns. A neighbour has an effect
  that is not zero. "and" joins two columns if each is a neighbour of the other, "or" if one of them is.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.covariance import GraphicalLassoCV
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.preprocessing import scale

from ibmap.data.numbers import normal_scores
from ibmap.graph import Graph
from ibmap.metrics import hamming
from mixed import ours
from mixed_worlds import Array, MixedWorld, mixed_dag, mixed_mrf

OUT = Path(__file__).parent / "results" / "mixed_peers.csv"
SIZES = (100, 400, 1600)


def blocks_of(world: MixedWorld, first: int = 0) -> list[Array]:
    """Return the columns of each variable, (rows, columns), standardised; levels from ``first`` on."""
    blocks = []
    for values in world.columns.values():
        if values.dtype.kind == "f":
            block = normal_scores(values)[:, None]
        else:
            block = (values[:, None] == np.unique(values)[first:]).astype(float)
        blocks.append(scale(block))
    return blocks


def named(world: MixedWorld, joined: Array) -> Graph:
    names = list(world.columns)
    return Graph.from_pairs(np.argwhere(np.triu(joined, 1)), names)


def graphical_lasso(world: MixedWorld) -> dict[str, Graph]:
    blocks = blocks_of(world, first=1)
    sizes = [block.shape[1] for block in blocks]
    precision = GraphicalLassoCV().fit(np.column_stack(blocks)).precision_
    start = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    some = np.add.reduceat(np.add.reduceat(precision != 0, start, axis=0), start, axis=1)
    return {"GraphicalLassoCV": named(world, some > 0)}


def nodewise(world: MixedWorld) -> dict[str, Graph]:
    blocks, n = blocks_of(world), len(world.columns)
    finds = np.zeros((n, n), bool)
    for x, values in enumerate(world.columns.values()):
        others = [y for y in range(n) if y != x]
        design = np.column_stack([blocks[y] for y in others])
        owner = np.repeat(others, [blocks[y].shape[1] for y in others])
        if values.dtype.kind == "f":
            effects = LassoCV(cv=5).fit(design, blocks[x][:, 0]).coef_[None]
        else:
            levels = np.unique(values)
            levels = levels[:1] if len(levels) == 2 else levels
            effects = np.zeros((len(levels), len(owner)))
            for k, level in enumerate(levels):
                mine = values == level
                if min(mine.sum(), (~mine).sum()) < 5:  # not in every fold
                    continue
                model = LogisticRegressionCV(
                    cv=5,
                    solver="liblinear",
                    l1_ratios=[1.0],
                    scoring="neg_log_loss",
                    use_legacy_attributes=False,
                )
                effects[k] = model.fit(design, mine).coef_[0]
        finds[x, owner[(effects != 0).any(axis=0)]] = True
    return {
        "nodewise L1, and": named(world, finds & finds.T),
        "nodewise L1, or": named(world, finds | finds.T),
    }


def evidence_map(world: MixedWorld) -> dict[str, Graph]:
    return {"evidence-map": ours(world.frame()).graph.permute(world.truth.names)}


def worlds(seeds: int) -> Iterator[tuple[str, int, MixedWorld]]:
    for seed in range(seeds):
        for kind, make in (("mrf", mixed_mrf), ("dag", mixed_dag)):
            for n_rows in SIZES:
                for tau in (2, 4):
                    yield kind, n_rows, make(20, tau, n_rows, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cells: dict[tuple[str, str, int], Array] = {}
    for kind, n_rows, world in worlds(given.seeds):
        for learn in (evidence_map, graphical_lasso, nodewise):
            began = time.process_time()
            found = learn(world)
            seconds = time.process_time() - began
            for method, graph in found.items():
                wrong, false = hamming(graph, world.truth), len(set(graph.edges) - set(world.truth.edges))
                row = np.array([1, wrong, false, wrong - false, seconds])
                cells[method, kind, n_rows] = cells.get((method, kind, n_rows), 0) + row
                print(method, kind, n_rows, *row, sep="  ", flush=True)
    rows = [[*cell, *map(int, row[:4]), round(row[4] / row[0], 3)] for cell, row in sorted(cells.items())]
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        header = ["method", "world", "rows", "tables", "errors", "false", "missed", "cpu_seconds"]
        writer.writerows([header, *rows])


if __name__ == "__main__":
    main()
