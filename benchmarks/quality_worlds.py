"""The worlds of ``quality.py``: rows, the true graph, and which numbers of rows are looked at."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from ibmap import Graph
from ibmap.data import Table, load
from ibmap.synthetic import PairwiseModel, sample, simulate_ising, simulate_random

SIZES = (25, 100, 400, 1600, 6400)
NETWORK_SIZES = (500, 2000, 10_000)
TAUS, NS = (1, 2, 4, 8), (20, 75, 100, 200, 500)

Made = tuple[Table, Graph]


class World(NamedTuple):
    """A kind of table: ``make(rows, seed)`` gives the table and the truth."""

    name: str
    kind: str  #: what is shown together
    n: int
    sizes: tuple[int, ...]
    make: Callable[[int, int], Made]


def worlds() -> Iterator[World]:
    """All worlds, the quickest first."""
    for potentials in ("random", "symmetric"):
        for n in NS:
            for tau in TAUS:
                make = partial(random_world, n, tau, potentials, 2)
                yield World(f"{potentials} n={n} tau={tau}", f"{potentials} n={n}", n, SIZES, make)
    for couplings in ("ferromagnetic", "plus-minus"):
        yield World(f"ising {couplings}", "ising", 100, SIZES, partial(_ising, couplings))
    for shape in ("scale-free", "hubs"):
        yield World(shape, shape, 100, SIZES, partial(_shaped, shape))
    for levels in (3, 4):
        make = partial(random_world, 50, 3, "symmetric", levels)
        yield World(f"{levels} levels", f"{levels} levels", 50, SIZES, make)
    yield World("three-way", "three-way", 30, SIZES, _three_way)
    yield World("copies", "copies", 30, SIZES, _copies)
    for name in ("asia", "sachs", "child", "alarm", "water"):
        if (folder() / f"{name}.csv.gz").exists():
            yield World(name, "networks", 0, NETWORK_SIZES, partial(_network, name))


def folder() -> Path:
    """Where the networks are."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("IBMAP_DATA", beside)) / "networks"


def random_world(n: int, tau: int, potentials: str, levels: int, rows: int, seed: int) -> Made:
    """A network of random edges, so many for each variable."""
    world = simulate_random(n, tau, rows, potentials=potentials, levels=levels, random_state=seed)
    return world.to_table(), world.graph


def _ising(couplings: str, rows: int, seed: int) -> Made:
    world = simulate_ising(100, rows, couplings=couplings, strength=0.4, random_state=seed)
    return world.to_table(), world.graph


def _shaped(shape: str, rows: int, seed: int) -> Made:
    """100 fair coins with log odds of 1 along the edges of a graph of this shape."""
    names = tuple(f"x{i}" for i in range(100))
    if shape == "scale-free":
        pairs = nx.barabasi_albert_graph(100, 2, seed=seed).edges
    else:
        pairs = [(i - i % 10, i) for i in range(100) if i % 10]
    graph = Graph(names, [(names[i], names[j]) for i, j in pairs])
    degrees = graph.adjacency.sum(axis=1)
    model = PairwiseModel(graph, -degrees / 2, np.ones(graph.n_edges))
    return _table(sample(model, rows, random_state=seed), names), graph


def _three_way(rows: int, seed: int) -> Made:
    """Ten times two coins, and a third variable that nine times in ten is their exclusive or."""
    rng = np.random.default_rng(seed)
    names = tuple(f"{letter}{i}" for i in range(10) for letter in "abc")
    data = rng.integers(0, 2, (rows, 30))
    for i in range(0, 30, 3):
        data[:, i + 2] = data[:, i] ^ data[:, i + 1] ^ (rng.random(rows) < 0.1)
    edges = [(names[i + a], names[i + b]) for i in range(0, 30, 3) for a, b in ((0, 1), (0, 2), (1, 2))]
    return _table(data, names), Graph(names, edges)


def _copies(rows: int, seed: int) -> Made:
    """Ten chains a, b, c: b is a but for one row in five, and c is b but for one in a hundred."""
    rng = np.random.default_rng(seed)
    names = tuple(f"{letter}{i}" for i in range(10) for letter in "abc")
    data = rng.integers(0, 2, (rows, 30))
    for i in range(0, 30, 3):
        data[:, i + 1] = data[:, i] ^ (rng.random(rows) < 0.2)
        data[:, i + 2] = data[:, i + 1] ^ (rng.random(rows) < 0.01)
    edges = [(names[i + a], names[i + a + 1]) for i in range(0, 30, 3) for a in (0, 1)]
    return _table(data, names), Graph(names, edges)


def _network(name: str, rows: int, seed: int) -> Made:
    """Rows of a well-known Bayesian network, others for every seed; the truth is its moral graph."""
    with gzip.open(folder() / f"{name}.csv.gz") as file:
        frame = pl.read_csv(file.read(), infer_schema_length=0)
    truth = json.loads((folder() / f"{name}.truth.json").read_text())
    order = np.random.default_rng(seed).permutation(len(frame))[:rows]
    return load(frame[order.tolist()]), Graph(frame.columns, [tuple(edge) for edge in truth["edges"]])


def _table(data: NDArray[np.integer], names: tuple[str, ...]) -> Table:
    return Table(np.ascontiguousarray(data.T, dtype=np.int8), names, ((0, 1),) * len(names))
