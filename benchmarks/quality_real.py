"""Real tables, part of ``make quality``: how well every graph predicts rows that it has not seen.

The three tables of ``density`` come with their test rows; the 19 tables of the paper are cut in four, three
quarters to learn from, once for every seed. Whatever learner a graph comes from, the same models are fitted:
of every variable given its neighbours a logistic regression, and a table of counts. Their log likelihood on
the test rows, per row and variable, is the held-out pseudo-likelihood. ``accuracy`` is the paper's: agreement
with independence tests on the test rows.
"""

import argparse
import csv
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score

from ibmap import Graph, datasets
from ibmap.data import Table
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information
from ibmap.metrics import accuracy

NEVER_ENDS = ("hhc-mn",)  # on tables with many strongly dependent columns: minutes for every variable
FILE = Path(__file__).parent / "results" / "real.csv"
COLUMNS = (
    "table",
    "n",
    "train",
    "test",
    "seed",
    "method",
    "edges",
    "logistic",
    "counts",
    "accuracy",
    "seconds",
)
SEEDS = (100, 101, 102)
DENSITY = ("nltcs", "plants", "dna")
SMOOTH = 0.5  #: prior count of every level in a table of counts

Split = tuple[Table, Table]


def folder() -> Path:
    """Where the data are."""
    return Path(os.environ.get("IBMAP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def density(name: str, seed: int) -> Split:
    """Training and test rows, as they come."""
    parts = []
    for part in ("train", "test"):
        file = folder() / "density" / name / f"{name}.{part}.data"
        codes = pl.read_csv(file, has_header=False).to_numpy().T.astype(np.int8)
        names = tuple(f"x{i}" for i in range(len(codes)))
        parts.append(Table(np.ascontiguousarray(codes), names, ((0, 1),) * len(codes)))
    return parts[0], parts[1]


def halves(name: str, seed: int) -> Split:
    """Three quarters of the rows, and the rest."""
    return datasets.split(datasets.load(name, folder(), discretize="equal-width"), 0.75, seed)


def tables() -> dict[str, Callable[[str, int], Split]]:
    """All tables, the small ones first."""
    return {**dict.fromkeys(datasets.names(), halves), **dict.fromkeys(DENSITY, density)}


def chow_liu(data: Table) -> Graph:
    """The tree of most mutual information."""
    graph: nx.Graph = nx.Graph()
    graph.add_nodes_from(data.names)
    for i, a in enumerate(data.names):
        for j in range(i):
            graph.add_edge(a, data.names[j], weight=mutual_info_score(data.codes[i], data.codes[j]))
    return Graph(data.names, list(nx.maximum_spanning_tree(graph).edges))


def methods() -> dict[str, Callable[[Table], Graph]]:
    """All that learn a graph from a table."""
    return {
        "empty graph": lambda data: Graph(data.names),
        "Chow-Liu tree": chow_liu,
        "evidence-map": lambda data: evidence_map(data).graph,
        "pairwise": lambda data: evidence_map(data, score="pairwise").graph,
        "saturated": lambda data: evidence_map(data, score="saturated").graph,
        "ibmap-hc": lambda data: ibmap_hc(data).graph,
        "ibmap-hc, patience 20": lambda data: ibmap_hc(data, patience=20).graph,
        "gsmn": lambda data: gsmn(data).graph,
        "hhc-mn": lambda data: hhc_mn(data).graph,
        "mi": lambda data: mutual_information(data).graph,
        "dag-hc BIC": lambda data: dag_hc(data).graph,
        "dag-hc BDeu, shaken": lambda data: (
            dag_hc(data, score="bdeu", expected_neighbours=4.0, shakes=1).graph
        ),
    }


class Referee:
    """The same models for every graph; a blanket that two graphs share is fitted once."""

    def __init__(self, train: Table, test: Table) -> None:
        self._train, self._test = train, test
        self._known: dict[tuple[int, ...], tuple[float, float]] = {}

    def judge(self, graph: Graph) -> tuple[float, float]:
        """Return log likelihoods per test row and variable, by logistic regressions and by counts."""
        each = [self._of(x, tuple(graph.neighbours(x).tolist())) for x in range(graph.n_variables)]
        return float(np.mean([one for one, _ in each])), float(np.mean([other for _, other in each]))

    def _of(self, x: int, blanket: tuple[int, ...]) -> tuple[float, float]:
        if (x, *blanket) not in self._known:
            self._known[x, *blanket] = self._logistic(x, list(blanket)), self._counts(x, list(blanket))
        return self._known[x, *blanket]

    def _logistic(self, x: int, blanket: list[int]) -> float:
        """With main effects of the neighbours; one in as many rows as there are could be anything."""
        rows, size = np.unique(self._train.codes[[x, *blanket]].T, axis=0, return_counts=True)
        r, n = len(self._train.levels[x]), self._train.n_rows
        actual, share = self._test.codes[x], np.zeros((self._test.n_rows, r))
        classes = np.unique(rows[:, 0])
        if len(classes) == 1 or not blanket:
            share[:] = np.bincount(self._train.codes[x], minlength=r) / n
        else:
            model = LogisticRegression(C=1.0, max_iter=500)
            model.fit(self._coded(rows[:, 1:], blanket), rows[:, 0], sample_weight=size)
            share[:, classes] = model.predict_proba(self._coded(self._test.codes[blanket].T, blanket))
        mixed = (n * share + 1 / r) / (n + 1)
        return float(np.log(mixed[np.arange(len(actual)), actual]).mean())

    def _coded(self, rows: NDArray[np.integer], blanket: list[int]) -> NDArray[np.float64]:
        columns = [rows[:, [j]] == np.arange(len(self._train.levels[y])) for j, y in enumerate(blanket)]
        return np.concatenate(columns, axis=1).astype(float)

    def _counts(self, x: int, blanket: list[int]) -> float:
        """With a table for every configuration of the neighbours."""
        both = np.concatenate([self._train.codes[[x, *blanket]], self._test.codes[[x, *blanket]]], axis=1)
        slices = np.unique(both[1:].T, axis=0, return_inverse=True)[1].reshape(-1)
        n, r = self._train.n_rows, len(self._train.levels[x])
        counts = np.full((int(slices.max()) + 1, r), SMOOTH)
        np.add.at(counts, (slices[:n], both[0, :n]), 1)
        chance = counts[slices[n:], both[0, n:]] / counts[slices[n:]].sum(axis=1)
        return float(np.log(chance).mean())


def rows_of(table: str, seed: int, wanted: list[str]) -> Iterator[dict[str, object]]:
    """Learn, and ask the test rows."""
    train, test = tables()[table](table, seed)
    referee = Referee(train, test)
    for name in wanted:
        began = perf_counter()
        graph = methods()[name](train)
        seconds = perf_counter() - began
        logistic, counts = referee.judge(graph)
        right = float(accuracy(graph, test, random_state=seed))
        values = (table, train.n_variables, train.n_rows, test.n_rows, seed, name, graph.n_edges)
        found = [round(value, 5) for value in (logistic, counts, right, seconds)]
        yield dict(zip(COLUMNS, (*values, *found), strict=True))


def measure(only: str = "", seeds: tuple[int, ...] = SEEDS) -> None:
    """Do what is not done yet."""
    done = set()
    if FILE.exists():
        with FILE.open(newline="", encoding="utf-8") as file:
            done = {(row["table"], row["seed"], row["method"]) for row in csv.DictReader(file)}
    new = not FILE.exists()
    with FILE.open("a", newline="", encoding="utf-8") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for table in tables():
            for seed in seeds[:1] if table in DENSITY else seeds:
                left_out = NEVER_ENDS if table in DENSITY and table != "nltcs" else ()
                wanted = [
                    name
                    for name in methods()
                    if name not in left_out and (table, str(seed), name) not in done
                ]
                if wanted and only in table:
                    for row in rows_of(table, seed, wanted):
                        writer.writerow(row)
                        file.flush()
                        print(table, seed, row["method"], row["logistic"], row["counts"], row["accuracy"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tables whose name holds this")
    measure(parser.parse_args().only)
