"""DAG-HC beside pybnesian's hill climb (C++), both with BIC, on the same rows in one run.

Two kinds of tables: random directed networks, and samples of the networks of the field, if
``IBMAP_NETWORKS`` names a folder with ``NAME.csv.gz`` and ``NAME.truth.json``. The truth is the moral graph;
``wrong`` is the Hamming distance to it: of their climb, and of ours: plain, with tabu, with a shake.
"""

import gzip
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pybnesian
from numpy.typing import NDArray

from common import alternate, report, verdict
from ibmap import Graph
from ibmap.data import Table, load
from ibmap.learners import dag_hc
from ibmap.metrics import hamming
from ibmap.search.dag import moral
from routes import HiddenEngine

BAR, SLOW = 3.0, 10.0  #: times faster than the peer; seconds at 223 variables
NETWORKS = ("asia", "sachs", "child", "alarm", "water")
RIVALS: dict[str, dict[str, Any]] = {
    "bic": {"tabu": 0},
    "bic_tabu": {},
    "bic_shaken": {"shakes": 1},
    "bdeu": {"score": "bdeu", "tabu": 0},
    "bdeu_tabu": {"score": "bdeu"},
    "bdeu_shaken": {"score": "bdeu", "shakes": 1},
}


def random_dag(n: int, rows: int, levels: int, arcs: float, seed: int = 0) -> tuple[pd.DataFrame, Graph]:
    """Rows of a random directed network with up to 4 parents each, and its moral graph.

    A variable has 2 to ``levels`` levels; ``arcs`` parents in the mean, before 4 cuts them off.
    """
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, levels + 1, n)
    data, parents = np.zeros((n, rows), np.int64), np.zeros((n, n), bool)
    order = rng.permutation(n)
    for k, v in enumerate(order):
        mine = rng.choice(order[:k], min(k, 4, int(rng.poisson(arcs))), replace=False)
        parents[v, mine] = True
        key = np.zeros(rows, np.int64)
        for p in mine:
            key = key * cards[p] + data[p]
        shares = rng.dirichlet(np.full(cards[v], 0.5), int(np.prod(cards[mine])))
        data[v] = (rng.random(rows)[:, None] > shares.cumsum(axis=1)[key, :-1]).sum(axis=1)
    names = [f"x{i}" for i in range(n)]
    kept = [i for i in range(n) if data[i].min() < data[i].max()]  # pybnesian stops at constants
    truth = Graph.from_adjacency(moral(parents)[np.ix_(kept, kept)], [names[i] for i in kept])
    return pd.DataFrame({names[i]: data[i].astype(str) for i in kept}), truth


def network(folder: Path, name: str, rows: int) -> tuple[pd.DataFrame, Graph]:
    """The first rows of a sample, without columns that are constant there, and the moral graph."""
    with gzip.open(folder / f"{name}.csv.gz", "rt") as file:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False, nrows=rows)
    found = json.loads((folder / f"{name}.truth.json").read_text())
    return frame, Graph(list(frame.columns), found["edges"])


def theirs(frame: pd.DataFrame) -> Any:
    """Pybnesian's greedy hill climb, from the empty graph."""
    kind = pybnesian.DiscreteBNType()
    return pybnesian.hc(frame, bn_type=kind, score="bic", operators=["arcs"])


def moralised(arcs: list[tuple[str, str]], names: tuple[str, ...]) -> Graph:
    """The moral graph of arcs (parent, child)."""
    index = {name: i for i, name in enumerate(names)}
    matrix: NDArray[np.bool_] = np.zeros((len(names), len(names)), bool)
    for parent, child in arcs:
        matrix[index[child], index[parent]] = True
    return Graph.from_adjacency(moral(matrix), names)


def row(name: str, frame: pd.DataFrame, truth: Graph, repeat: int) -> dict[str, object]:
    """One table: seconds of theirs and ours, and the Hamming distances.

    Ours are plain hill climbing, with tabu, with a shake, and plain by the general route (any engine).
    """
    table: Table = load(frame)
    varying = frame.loc[:, frame.nunique() > 1].astype("category")
    ours = (RIVALS[kind] for kind in ("bic", "bic_tabu", "bic_shaken"))
    works = [partial(theirs, varying), *(partial(dag_hc, table, **options) for options in ours)]
    works.append(partial(dag_hc, HiddenEngine(table), tabu=0))
    seconds = alternate(works, repeat)
    wrong = {kind: hamming(dag_hc(table, **options).graph, truth) for kind, options in RIVALS.items()}
    peer = hamming(moralised(theirs(varying).arcs(), truth.names), truth)
    return {
        "table": name,
        "n": len(truth.names),
        "rows": len(frame),
        "true_edges": truth.n_edges,
        "pybnesian_s": round(seconds[0], 3),
        "ibmap_s": round(seconds[1], 3),
        "tabu_s": round(seconds[2], 3),
        "shaken_s": round(seconds[3], 3),
        "general_s": round(seconds[4], 3),
        "ratio": round(seconds[0] / seconds[1], 1),
        "wrong_pybnesian": peer,
        **{f"wrong_{kind}": count for kind, count in wrong.items()},
    }


def main() -> None:
    rows: list[dict[str, object]] = []
    for n, levels in ((100, 2), (100, 4), (223, 2), (223, 4)):
        for n_rows in (1000, 10_000):
            frame, truth = random_dag(n, n_rows, levels, 1.6)
            found = row(f"random, {levels} levels", frame, truth, 3)
            met = verdict(float(str(found["ratio"])), BAR, at_least=True)
            rows.append({**found, "bar": met})
    rows[-1]["bar"] = f"{rows[-1]['bar']}; {verdict(float(str(rows[-1]['shaken_s'])), SLOW, at_least=False)}"
    folder = os.environ.get("IBMAP_NETWORKS")
    for name in NETWORKS if folder else ():
        for n_rows in (500, 2000, 10_000):
            frame, truth = network(Path(str(folder)), name, n_rows)
            rows.append({**row(name, frame, truth, 3), "bar": ""})
    report("dag", rows)


if __name__ == "__main__":
    main()
