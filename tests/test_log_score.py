"""How well a graph predicts unseen rows: against the definition, and what depends on it."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from ibmap import IBMAP, BayesianTest, ChiSquareTest, EvidenceMAP, Graph, accuracy, log_score
from ibmap.data import load
from ibmap.errors import DataWarning, IbmapError, RequestError
from ibmap.learners import ibmap_hc
from ibmap.synthetic import simulate_random

NETWORKS = Path(os.environ.get("IBMAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "networks"


def test_by_the_book():
    """Tables with prior counts, each row left out in turn; one neighbour, where main effects say the same."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 200)
    b = np.where(rng.random(200) < 0.3, rng.integers(0, 3, 200), a)
    table = load({"a": a, "b": b})
    logs = []
    for x, y in ((a, b), (b, a)):
        for row in range(200):
            others = np.arange(200) != row
            same = others & (y == y[row])
            logs.append(np.log(((x[same] == x[row]).sum() + 0.5) / (same.sum() + 1.5)))
    found = log_score(Graph("ab", [("a", "b")]), table)
    assert found >= np.mean(logs) - 1e-12  # the better of two models
    assert found == pytest.approx(np.mean(logs), abs=0.02)


def test_the_truth_is_best_and_edges_in_excess_cost():
    world = simulate_random(12, 2, 4000, potentials="symmetric", random_state=3)
    rows, truth = world.to_table(), world.graph
    scores = [log_score(graph, rows) for graph in (Graph(truth.names), Graph.complete(truth.names), truth)]
    assert scores[0] < scores[1] < scores[2] < 0


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="no data folder: set IBMAP_DATA")
@pytest.mark.parametrize("name", ["sachs", "alarm"])
def test_accuracy_likes_empty_graphs_and_the_log_score_does_not(name):
    frame = pl.read_csv(gzip.decompress((NETWORKS / f"{name}.csv.gz").read_bytes()), infer_schema_length=0)
    truth = Graph(
        frame.columns, map(tuple, json.loads((NETWORKS / f"{name}.truth.json").read_text())["edges"])
    )
    train, test = load(frame[:3000]), load(frame[3000:6000])
    graphs = Graph(frame.columns), ibmap_hc(train).graph, ibmap_hc(train, patience=20).graph, truth
    empty, default, patient, true = (log_score(graph, test) for graph in graphs)
    assert empty < default - 0.1
    assert default <= patient + 1e-3
    assert abs(patient - true) < 0.01
    if name == "alarm":
        empty, true = (accuracy(graph, test, queries=20, random_state=0) for graph in (graphs[0], truth))
        assert empty > true


def test_estimators_have_a_score_that_scikit_learn_can_use():
    world = simulate_random(8, 2, 600, potentials="symmetric", random_state=1)
    rows = world.data
    net = EvidenceMAP().fit(rows[:400])
    assert net.score(rows[400:]) == log_score(net.graph_, rows[400:])
    assert len(cross_val_score(EvidenceMAP(), rows, cv=3)) == 3
    grid = {"test__prior_counts": ["ones", "bdeu"], "patience": [0, 2]}
    found = GridSearchCV(IBMAP(BayesianTest()), grid, cv=2).fit(rows)
    assert found.best_score_ < 0
    assert found.best_params_.keys() == grid.keys()


def test_tests_have_parameters():
    matrix = np.full((3, 3), 0.4)
    test = BayesianTest(prior=matrix, prior_counts="bdeu")
    assert test.get_params()["prior"] is matrix
    copy = clone(test)
    assert copy.prior_counts == "bdeu"
    assert copy.set_params(ties="dependent").ties == "dependent"
    assert ChiSquareTest(alpha=0.2).get_params() == {"alpha": 0.2, "dof": "adjusted"}
    with pytest.raises(RequestError, match="no option 'beta'; there are alpha, dof"):
        ChiSquareTest().set_params(beta=1)


def test_bad_requests():
    with pytest.raises(IbmapError):
        log_score(Graph("ab"), {"a": [0, 1], "c": [0, 1]})
    with pytest.warns(DataWarning, match="too many levels"), pytest.raises(RequestError, match="no value"):
        log_score(Graph("ab"), {"a": list(range(200)), "b": list(range(200))})


def test_numbers_are_predicted_by_regressions_that_have_not_seen_the_row() -> None:
    rng = np.random.default_rng(0)
    x, y, noise = rng.normal(size=(3, 12))
    data = load({"x": 5 + 2 * x, "y": x + 0.5 * y, "z": noise}, continuous="all")
    graph, values = Graph("xyz", [("x", "y")]), data.values
    logs = []
    for i, given in ((0, [1]), (1, [0]), (2, [])):
        scale = values[i].std()
        for row in range(12):
            kept = np.delete(np.arange(12), row)
            design = np.column_stack([np.ones(12), values[given].T])
            beta, *_ = np.linalg.lstsq(design[kept], values[i, kept], rcond=None)
            free = 11 - design.shape[1]
            variance = ((values[i, kept] - design[kept] @ beta) ** 2).sum() / free
            inverse = np.linalg.inv(design[kept].T @ design[kept])
            wide = np.sqrt(variance * (1 + design[row] @ inverse @ design[row]))
            logs.append(
                student.logpdf((values[i, row] - design[row] @ beta) / wide, free) - np.log(wide / scale)
            )
    assert log_score(graph, data) == pytest.approx(np.mean(logs), abs=1e-9)


def test_the_log_score_of_numbers_is_unitless_and_has_answers_for_odd_tables() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    table = {"a": a, "b": a + b, "copy": 1000 * a, "one": np.full(300, 7.0)}
    full = Graph(list(table), [("a", "b"), ("a", "copy"), ("a", "one")])
    same = {**table, "b": -3 * table["b"] + 8}
    found = log_score(full, load(table, continuous="all"))
    assert found == pytest.approx(log_score(full, load(same, continuous="all")))
    assert np.isfinite(found)
    assert found > log_score(Graph(list(table)), load(table, continuous="all")) + 1
    few = load({"a": a[:3], "b": b[:3]}, continuous="all")
    with pytest.raises(RequestError, match="3 rows are too few to predict 'a' from 1 neighbours"):
        log_score(Graph("ab", [("a", "b")]), few)
    with pytest.raises(RequestError, match="all columns are constant"):
        log_score(Graph("ab"), load({"a": [1.0, 1.0, 1.0], "b": [2.0, 2.0, 2.0]}, continuous="all"))


def test_a_table_with_numbers_needs_two_rows_in_each_of_five_parts():
    table = {"sex": ["f", "m"] * 5, "height": [1.5, 1.8, 1.6, 1.7, 1.65, 1.9, 1.55, 1.72, 1.61, 1.83]}
    graph = Graph(("sex", "height"))
    assert log_score(graph, load(table, continuous=["height"])) < 0
    fewer = {name: values[:9] for name, values in table.items()}
    with pytest.raises(RequestError, match="9 rows are too few"):
        log_score(graph, load(fewer, continuous=["height"]))
