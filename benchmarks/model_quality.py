"""Models: are parameters recovered, missing cells filled, unseen rows predicted? Beside scikit-learn.

``python benchmarks/model_quality.py [recovery] [imputation] [density]`` writes one table each to ``results``.
"""

import itertools
import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression

from common import report
from ibmap.data import Table, load
from ibmap.errors import DataWarning
from ibmap.graph import Graph
from ibmap.learners import dag_hc, evidence_map, gsmn, hhc_mn, ibmap_hc, mutual_information
from ibmap.model import METHODS, MarkovNetwork
from ibmap.synthetic import simulate_random
from quality_real import chow_liu, density, folder

NETWORKS = ("asia", "sachs", "child", "alarm", "water")
ROWS = 2000  #: of each table with gaps
SHARE = 0.1  #: of its cells that are deleted
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
LEARNERS: dict[str, Callable[[Table], Graph]] = {
    "empty graph": lambda data: Graph(data.names),
    "Chow-Liu tree": chow_liu,
    "evidence-map": lambda data: evidence_map(data).graph,
    "ibmap-hc": lambda data: ibmap_hc(data).graph,
    "gsmn": lambda data: gsmn(data).graph,
    "hhc-mn, max_condition 2": lambda data: hhc_mn(data, max_condition=2).graph,
    "mi": lambda data: mutual_information(data).graph,
    "dag-hc": lambda data: dag_hc(data).graph,
}
Codes = NDArray[np.int64]


def recovery() -> None:
    """Mean absolute error of the log tables of edges, against the number of rows; 10 variables, 10 edges."""
    rows: list[dict[str, object]] = []
    for levels in (2, 3):
        for method in METHODS[1:]:
            found: dict[str, object] = {"levels": levels, "method": method}
            for n_rows in (100, 1000, 10_000, 100_000):
                errors = []
                for seed in range(3):
                    world = simulate_random(
                        10, 2, n_rows, levels=levels, potentials="symmetric", random_state=seed
                    )
                    network = MarkovNetwork.fit(world.graph, world.to_table(), method=method)
                    errors += [
                        np.abs(a - b).mean() for a, b in zip(network.factors, truths(world), strict=True)
                    ]
                found[f"D={n_rows}"] = round(float(np.mean(errors)), 4)
            rows.append(found)
    report("model-recovery", rows)


def truths(world: object) -> list[NDArray[np.float64]]:
    """The true tables, centred."""
    model = world.model  # type: ignore[attr-defined]
    if hasattr(model, "couplings"):
        return [np.array([[c, -c], [-c, c]]) / 4 for c in model.couplings]
    return [t - t.mean(0) - t.mean(1, keepdims=True) + t.mean() for t in model.factors]


def adult() -> Table:
    """Adult with its numbers cut into five."""
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
    names += ["relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"]
    names += ["native-country", "income"]
    file = folder() / "large" / "adult" / "adult.data"
    frame = pl.read_csv(file, has_header=False, new_columns=names, infer_schema=False)
    frame = frame.with_columns(pl.all().str.strip_chars()).with_columns(pl.col(NUMBERS).cast(pl.Int64))
    bins = dict.fromkeys(NUMBERS, 5)
    return load(frame[:: len(frame) // ROWS][:ROWS], discretize="quantile", bins=bins)


def network_table(name: str) -> Table:
    data = load(folder() / "networks" / f"{name}.csv.gz")
    return Table(data.codes[:, :ROWS], data.names, data.levels)


def imputation() -> None:
    """The share of deleted cells that each method fills with the value that was there."""
    rows: list[dict[str, object]] = []
    for name in (*NETWORKS, "adult"):
        data = adult() if name == "adult" else network_table(name)
        gone = np.random.default_rng(1).random(data.codes.shape) < SHARE
        codes = np.where(gone, -1, data.codes).astype(np.int64)
        table = Table(codes, data.names, data.levels)
        found: dict[str, object] = {"table": name, "cells": int(gone.sum())}
        for method, fill in FILLERS.items():
            began = perf_counter()
            right = float((fill(table) == data.codes)[gone].mean())
            found[method], found[f"{method} s"] = round(right, 4), round(perf_counter() - began, 1)
        rows.append(found)
        print(found, flush=True)
    report("model-imputation", rows)


def by_model(data: Table) -> Codes:
    """Our way: a graph from the table with gaps, its parameters, and exact answers."""
    return MarkovNetwork.fit(evidence_map(data).graph, data).impute(data).codes.astype(np.int64)


def most_frequent(data: Table) -> Codes:
    return SimpleImputer(missing_values=-1, strategy="most_frequent").fit_transform(data.codes.T).T


def nearest(data: Table) -> Codes:
    """Five nearest neighbours by indicators of levels; the level with the largest mean."""
    indicators = [np.where(row[:, None] < 0, np.nan, np.eye(r)[row]) for row, r in _columns(data)]
    filled = KNNImputer(n_neighbors=5).fit_transform(np.concatenate(indicators, axis=1))
    ends = np.cumsum([0, *data.cardinalities.tolist()])
    best = [filled[:, a:b].argmax(axis=1) for a, b in itertools.pairwise(ends)]
    return np.where(data.codes < 0, np.stack(best), data.codes)


def nodewise(data: Table) -> Codes:
    """A logistic regression of every variable on all others; an unknown value is a row of zeros."""
    indicators = [np.where(row[:, None] < 0, 0.0, np.eye(r)[row]) for row, r in _columns(data)]
    filled = data.codes.astype(np.int64)
    for v, row in enumerate(data.codes):
        gone = row < 0
        others = np.concatenate([one for u, one in enumerate(indicators) if u != v], axis=1)
        if len(np.unique(row[~gone])) < 2:
            filled[v, gone] = row[~gone][0]
            continue
        fitted = LogisticRegression(max_iter=200).fit(others[~gone], row[~gone])
        filled[v, gone] = fitted.predict(others[gone])
    return filled


def _columns(data: Table) -> list[tuple[NDArray[np.integer], int]]:
    return list(zip(data.codes, data.cardinalities.tolist(), strict=True))


FILLERS: dict[str, Callable[[Table], Codes]] = {
    "ours": by_model,
    "most frequent": most_frequent,
    "5 nearest": nearest,
    "logistic on all": nodewise,
}


def held_out() -> None:
    """Log pseudo-likelihood of test rows, per variable; where tractable, the log likelihood of a row."""
    rows: list[dict[str, object]] = []
    for name in ("nltcs", "plants", "dna"):
        train, test = density(name, 0)
        for learner, learn in LEARNERS.items():
            began = perf_counter()
            graph = learn(train)
            seconds = perf_counter() - began
            network = MarkovNetwork.fit(graph, train)
            pseudo = network.log_pseudo_likelihood(test).mean() / train.n_variables
            exact = round(float(network.log_likelihood(test).mean()), 3) if network.is_tractable else ""
            how = network.fitted_by.method if network.fitted_by else ""
            sizes = {"edges": graph.n_edges, "pseudo-likelihood": round(float(pseudo), 4)}
            times = {"learn s": round(seconds, 1), "fit s": round(perf_counter() - began - seconds, 1)}
            rows.append(
                {"table": name, "learner": learner, **sizes, "likelihood": exact, "fit": how, **times}
            )
            print(rows[-1], flush=True)
    report("model-density", rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore", DataWarning)
    parts = {"recovery": recovery, "imputation": imputation, "density": held_out}
    for part in sys.argv[1:] or parts:
        parts[part]()
