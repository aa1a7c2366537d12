"""Numbers that people rely on, where they used to mislead: what is said now, where the truth is known.

A climb that stalls, and whether it warns; edges that no test could tell; what ranks the true graph first on
unseen rows; independent columns of many levels; columns that are missing in the same rows.
"""

import warnings

import numpy as np
import pandas as pd

from common import report
from ibmap import IBMAP, BayesianTest, EvidenceMAP, Graph, accuracy, log_score
from ibmap.data import Table
from ibmap.errors import DataWarning, SearchWarning
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.metrics import hamming
from quality_worlds import World, worlds

SAMPLES, ROWS = 5, 5000

Row = dict[str, object]


def row(what: str, how: str, value: object, said: object = "") -> Row:
    """One line of the table."""
    return {"what": what, "how": how, "value": value, "said": said}


def stalled(world: World) -> list[Row]:
    """Errors of the climb, and in how many samples it warns."""
    out = []
    for name, make in (
        ("ibmap-hc", IBMAP),
        ("ibmap-hc, patience 5", lambda: IBMAP(patience=5)),
        ("evidence-map", EvidenceMAP),
    ):
        errors, warned = [], 0
        for seed in range(SAMPLES):
            data, truth = world.make(ROWS, seed)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", SearchWarning)
                errors.append(hamming(make().fit(data).graph_, truth))
            warned += bool(said)
        shown = f"warned in {warned} of {SAMPLES} samples"
        out.append(row(f"errors, {world.name}, {ROWS:,} rows", name, " ".join(map(str, errors)), shown))
    return out


def unseen(world: World) -> list[Row]:
    """The log score and the paper's accuracy on rows that were not learned from."""
    data, truth = world.make(2 * ROWS, 7)
    first, rest = (
        Table(np.ascontiguousarray(data.codes[:, part]), data.names, data.levels)
        for part in (slice(ROWS), slice(ROWS, None))
    )
    graphs = {
        "empty graph": Graph(data.names),
        "ibmap-hc": ibmap_hc(first).graph,
        "ibmap-hc, patience 20": ibmap_hc(first, patience=20).graph,
        "evidence-map": evidence_map(first).graph,
        "truth": truth,
    }
    return [
        row(
            f"log score on unseen rows, {world.name}",
            name,
            f"{log_score(graph, rest):.4f}",
            f"accuracy {accuracy(graph, rest, queries=20, random_state=0):.3f}",
        )
        for name, graph in graphs.items()
    ]


def many_levels(levels: int = 20, rows: int = 200, runs: int = 100) -> list[Row]:
    """How often two independent columns are adjacent."""
    learners = {
        "ibmap-hc": ibmap_hc,
        "ibmap-hc, bdeu": lambda data: ibmap_hc(data, BayesianTest(prior_counts="bdeu")),
        "evidence-map": evidence_map,
    }
    out = []
    for name, learn in learners.items():
        found = 0
        for seed in range(runs):
            codes = np.random.default_rng(seed).integers(0, levels, (2, rows)).astype(np.int8)
            found += learn(Table(codes, ("a", "b"), (tuple(range(levels)),) * 2)).graph.n_edges
        what = f"edges between two independent columns of {levels} levels, {rows} rows"
        out.append(row(what, name, f"{found} of {runs}"))
    return out


def untested() -> list[Row]:
    """Twelve items of five levels, two factors: with patience, blankets grow until no test can tell."""
    rng = np.random.default_rng(0)
    factors, loads = rng.normal(size=(500, 2)), np.repeat(np.eye(2), 6, axis=0)
    items = np.clip(np.round(1.2 * factors @ loads.T + rng.normal(size=(500, 12)) + 3), 1, 5).astype(int)
    learners = {
        "ibmap-hc": IBMAP(),
        "ibmap-hc, patience 20": IBMAP(patience=20),
        "ibmap-hc, patience 20, drop_untested": IBMAP(patience=20, drop_untested=True),
        "evidence-map": EvidenceMAP(),
    }
    out = []
    for name, learner in learners.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchWarning)
            learned = learner.fit(items).learned_
        across = sum((int(x[1:]) < 6) != (int(y[1:]) < 6) for x, y in learned.graph.edges)
        shown = f"{len(learned.untested)} of them untested, {across} between the factors"
        out.append(row("edges among 12 items of two factors, 500 rows", name, learned.graph.n_edges, shown))
    return out


def missing() -> list[Row]:
    """Independent columns that are missing in the same rows."""
    rng, out = np.random.default_rng(0), []
    frame = pd.DataFrame(rng.integers(0, 3, (400, 4)).astype(float), columns=list("abcd"))
    frame.loc[:100, ["a", "b", "c"]] = np.nan
    for how in ("category", "testwise"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", DataWarning)
            net = EvidenceMAP(missing=how).fit(frame)
        words = "; ".join(str(one.message) for one in said)
        out.append(row("edges between independent columns, missing together", how, net.graph_.n_edges, words))
    return out


def main() -> None:
    networks = {world.name: world for world in worlds() if world.kind == "networks"}
    rows = stalled(networks["alarm"]) if "alarm" in networks else []
    for name in ("sachs", "child", "alarm"):
        rows += unseen(networks[name]) if name in networks else []
    report("honest", rows + untested() + many_levels() + missing())


if __name__ == "__main__":
    main()
