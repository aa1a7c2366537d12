"""Does the order of the columns change the network? And how many errors does it have on known networks?

Every table is learned as its file has it, and with its columns and levels in random orders, renamed. Errors
are against the moral graph of the network that drew the rows; pairs above .9 that are edges there are
counted, too.

    python benchmarks/orders.py                     # five orders of all networks
    python benchmarks/orders.py --orders 20 alarm child
"""

import argparse
import json
import warnings
from time import process_time

import numpy as np
import polars as pl

from common import report
from ibmap import Graph
from ibmap.data import Table, load
from ibmap.learners import evidence_map
from ibmap.metrics import hamming
from ibmap.results.learned import Learned
from quality_worlds import folder

NETWORKS = (
    "asia",
    "sachs",
    "child",
    "alarm",
    "water",
    "insurance",
    "hailfinder",
    "win95pts",
    "hepar2",
    "andes",
)
SIZES = (500, 2000, 10_000)


def permuted(data: Table, rng: np.random.Generator) -> Table:
    """The same table, columns and levels in another order; a name still tells which column it is."""
    columns = rng.permutation(data.n_variables)
    codes = [rng.permutation(len(data.levels[v]))[data.codes_of(v)] for v in columns.tolist()]
    names = tuple(data.names[v] for v in columns.tolist())
    levels = tuple(tuple(range(len(data.levels[v]))) for v in columns.tolist())
    return Table(np.array(codes), names, levels)


def above(learned: Learned, truth: Graph, bar: float = 0.9) -> tuple[int, int]:
    """Pairs with a posterior above a bar, and how many of them are edges."""
    edges = {frozenset(edge) for edge in truth.edges}
    found = [
        frozenset(edge)
        for edge, p in zip(learned.graph.edges, learned.posteriors or (), strict=True)
        if p > bar
    ]
    return len(found), sum(edge in edges for edge in found)


def measured(name: str, n_rows: int, n_orders: int) -> dict[str, object]:
    """One line of the table."""
    described = json.loads((folder() / f"{name}.truth.json").read_text(encoding="utf-8"))
    rows = pl.read_csv(folder() / f"{name}.csv.gz", infer_schema=False, n_rows=n_rows)
    data = load(rows)
    truth = Graph(data.names, [tuple(edge) for edge in described["edges"]])
    rng, began = np.random.default_rng(0), process_time()
    first = evidence_map(data)
    seconds = process_time() - began
    others = [evidence_map(permuted(data, rng)) for _ in range(n_orders)]
    edges = {frozenset(edge) for edge in first.graph.edges}
    differ = [len(edges ^ {frozenset(edge) for edge in one.graph.edges}) for one in others]
    posteriors = [of_edges(one) == of_edges(first) for one in others]
    n_above, n_true = above(first, truth)
    return {
        "network": name,
        "rows": n_rows,
        "errors": hamming(first.graph, truth),
        "true_edges": truth.n_edges,
        "view": first.arc_score or "undirected",
        "orders": n_orders,
        "same_graph": sum(not d for d in differ),
        "most_edges_that_differ": max(differ, default=0),
        "same_to_the_last_bit": sum(posteriors),
        "above_.9": n_above,
        "of_them_true": n_true,
        "cpu_s": round(seconds, 3),
    }


def of_edges(learned: Learned) -> dict[frozenset[str], float]:
    """The posterior of every edge."""
    edges = map(frozenset, learned.graph.edges)
    return dict(zip(edges, learned.posteriors or (), strict=True))


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="*", default=SIZES)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    report("orders", [measured(name, rows, asked.orders) for name in asked.networks for rows in asked.rows])


if __name__ == "__main__":
    main()
