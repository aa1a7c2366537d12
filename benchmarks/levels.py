"""CPU time of tables with columns of many levels: whole fits, beside R's bnlearn where it was measured.

Networks are those of ``shared/data/networks``, with the times of bnlearn's ``hc`` in ``bnlearn.csv`` there
(measured on another machine). Hubs are a column of many levels with children of two to eight; of seven levels
in ten a child knows nothing, and three children in ten have a second parent.

    python benchmarks/levels.py
"""

import json
import warnings
from collections.abc import Iterator
from time import process_time

import numpy as np
import polars as pl

from common import report
from ibmap import Graph
from ibmap.data import Table, load
from ibmap.learners import evidence_map
from ibmap.metrics import hamming
from quality_worlds import folder

NETWORKS = ("hailfinder", "win95pts")
SIZES = (500, 2000, 10_000)
HUBS = ((20, 55, 2000), (40, 75, 2000), (60, 108, 500), (60, 108, 2000))  #: levels, children, rows


def hub(n_levels: int, n_children: int, n_rows: int, seed: int = 0) -> tuple[Table, Graph]:
    """A column of many levels, which is a parent of all others."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(n_levels, n_rows, p=rng.dirichlet(np.full(n_levels, 0.7)))]
    names = ("hub", *(f"c{k}" for k in range(n_children)))
    edges = [("hub", name) for name in names[1:]]
    sizes = rng.choice([2, 3, 4, 5, 8], n_children, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    for k, r in enumerate(sizes.tolist()):
        other = np.zeros(n_rows, int)
        if k > 8 and rng.random() < 0.3:
            which = int(rng.integers(1, len(columns)))
            other, edges = columns[which], [*edges, (names[which], names[k + 1])]
        shares = rng.dirichlet(np.full(r, 0.4), (n_levels, other.max() + 1))
        shares[rng.random(n_levels) < 0.7] = rng.dirichlet(np.full(r, 0.6), other.max() + 1)
        beyond = rng.random(n_rows)[:, None] > shares[columns[0], other].cumsum(axis=1)[:, :-1]
        columns.append(beyond.sum(axis=1))
    return load(dict(zip(names, columns, strict=True))), Graph(names, edges)


def tables() -> Iterator[tuple[str, Table, Graph, float | None]]:
    """Every table with its truth, and the CPU time of bnlearn."""
    times = pl.read_csv(folder() / "bnlearn.csv")
    for name in NETWORKS:
        described = json.loads((folder() / f"{name}.truth.json").read_text(encoding="utf-8"))
        for n_rows in SIZES:
            data = load(pl.read_csv(folder() / f"{name}.csv.gz", infer_schema=False, n_rows=n_rows))
            truth = Graph(data.names, [tuple(edge) for edge in described["edges"]])
            theirs = times.filter((pl.col("network") == name) & (pl.col("rows") == n_rows))["cpu_s"]
            yield name, data, truth, theirs[0]
    for levels, children, n_rows in HUBS:
        yield f"hub of {levels} levels", *hub(levels, children, n_rows), None


def measured(name: str, data: Table, truth: Graph, theirs: float | None) -> dict[str, object]:
    """One line of the table."""
    began = process_time()
    learned = evidence_map(data)
    seconds = process_time() - began
    return {
        "table": name,
        "columns": data.n_variables,
        "rows": data.n_rows,
        "errors": hamming(learned.graph, truth),
        "true_edges": truth.n_edges,
        "view": learned.arc_score or "undirected",
        "cpu_s": round(seconds, 3),
        "bnlearn_cpu_s": theirs,
        "ratio": None if theirs is None else round(seconds / theirs, 2),
    }


def main() -> None:
    """Measure, print, keep."""
    warnings.simplefilter("ignore")
    report("levels", [measured(*table) for table in tables()])


if __name__ == "__main__":
    main()
