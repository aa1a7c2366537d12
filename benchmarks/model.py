"""Models: how long fits, questions and missing cells take, beside scikit-learn and pyAgrum."""

import warnings
from time import perf_counter

import numpy as np
from sklearn.linear_model import LogisticRegression

from common import alternate, median, report, verdict
from ibmap.data import Table, load
from ibmap.engines import as_engine
from ibmap.graph import Graph
from ibmap.model import MarkovNetwork, to_pyagrum
from ibmap.model.effects import edge_effects
from ibmap.synthetic import simulate_random
from quality_real import folder

QUERIES = 40


def fits() -> list[dict[str, object]]:
    """Pseudo-likelihood, n=500, 1000 edges, D=1600, beside a logistic regression for every variable."""
    world = simulate_random(500, 4, 1600, random_state=1, sweeps=100)
    data = world.to_table()
    neighbours = [world.graph.neighbours(v) for v in range(500)]

    def ours() -> None:
        MarkovNetwork.fit(world.graph, data, method="pseudo-likelihood")

    def theirs() -> None:
        for v, around in enumerate(neighbours):
            if len(around) and 0 < world.data[:, v].sum() < len(world.data):
                LogisticRegression(C=1.0).fit(world.data[:, around], world.data[:, v])

    mine, sklearn = alternate([ours, theirs], 3)
    shown = f"{mine:.3f} s, scikit-learn {sklearn:.2f} s"
    what = f"pseudo-likelihood fit, n=500, {world.graph.n_edges} edges, D=1600"
    return [
        {
            "what": f"{what}: seconds",
            "value": round(mine, 3),
            "of": shown,
            "bar": verdict(mine, 2, at_least=False),
        },
        {
            "what": "the same: nodewise logistic regressions over ours",
            "value": round(sklearn / mine, 1),
            "of": shown,
            "bar": verdict(sklearn / mine, 10, at_least=True),
        },
    ]


def coverage() -> list[dict[str, object]]:
    """How often intervals of 95 % hold the true log odds ratio: 10 variables, 15 edges, 1000 rows."""
    rows: list[dict[str, object]] = []
    for truth in (1.0, 3.0):
        inside: list[bool] = []
        for seed in range(40):
            how = {"potentials": "symmetric", "log_odds": truth, "random_state": seed}
            world = simulate_random(10, 3, 1000, **how)
            found = edge_effects(as_engine(world.to_table()), world.graph)
            inside += (np.abs(found.log_odds_ratio - truth) < 1.96 * found.log_odds_ratio_se).tolist()
        what = f"share of intervals that hold a log odds ratio of {truth:g}"
        rows.append(
            {"what": what, "value": round(float(np.mean(inside)), 4), "of": f"{len(inside)} edges", "bar": ""}
        )
    return rows


def alarm() -> tuple[MarkovNetwork, Table]:
    """A model of the alarm network, from 10,000 rows and its moral graph."""
    data = load(folder() / "networks" / "alarm.csv.gz")
    truth = Graph.from_json((folder() / "networks" / "alarm.truth.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MarkovNetwork.fit(truth, data), data


def queries(network: MarkovNetwork) -> list[dict[str, object]]:
    """Posteriors of one variable given two others, drawn at random; the evidence differs each time."""
    import pyagrum as gum  # not at the top: where warnings are errors, as in tests, importing it ends Python

    rng = np.random.default_rng(0)
    asked = []
    for _ in range(QUERIES):
        x, y, z = rng.choice(len(network.names), 3, replace=False).tolist()
        asked.append((network.names[x], {network.names[v]: network.levels[v][0] for v in (y, z)}))
    peer = gum.ShaferShenoyMRFInference(to_pyagrum(network))
    worst = 0.0

    def ours() -> None:
        for x, given in asked:
            network.query(x, given)

    def theirs() -> None:
        nonlocal worst
        for x, given in asked:
            peer.eraseAllTargets()
            peer.addTarget(x)
            peer.setEvidence({name: str(level) for name, level in given.items()})
            peer.makeInference()
            found = peer.posterior(x).toarray()
            worst = max(worst, float(np.abs(found - list(network.query(x, given).values())).max()))

    def alone() -> None:
        for x, given in asked:
            peer.eraseAllTargets()
            peer.addTarget(x)
            peer.setEvidence({name: str(level) for name, level in given.items()})
            peer.makeInference()
            peer.posterior(x)

    theirs()
    mine, other = (seconds / QUERIES * 1000 for seconds in alternate([ours, alone], 5))
    shown = f"{mine:.2f} ms, pyAgrum {other:.2f} ms; answers differ by {worst:.0e} at most"
    return [
        {
            "what": "exact query, alarm: ms",
            "value": round(mine, 2),
            "of": shown,
            "bar": verdict(mine, 10, at_least=False),
        },
        {
            "what": "the same: ours over pyAgrum",
            "value": round(mine / other, 2),
            "of": shown,
            "bar": verdict(mine / other, 2, at_least=False),
        },
    ]


def imputation(network: MarkovNetwork) -> list[dict[str, object]]:
    """About 10⁵ cells: 10 % of 27,000 rows of the alarm model."""
    data = network.sample(27_000, random_state=0)
    codes = data.codes.copy()
    codes[np.random.default_rng(0).random(codes.shape) < 0.1] = -1
    table = Table(codes, data.names, data.levels)
    n_cells = int((codes < 0).sum())
    network.impute(Table(codes[:, :100], data.names, data.levels))
    began = perf_counter()
    filled = network.impute(table)
    seconds = perf_counter() - began
    right = (filled.codes == data.codes)[codes < 0].mean()
    rows = [
        {
            "what": f"imputation of {n_cells:,} cells: seconds",
            "value": round(seconds, 2),
            "of": f"{right:.3f} right",
            "bar": verdict(seconds, 10, at_least=False),
        }
    ]
    drawn = median(lambda: network.sample(100_000, random_state=0), 3)
    rows.append(
        {"what": "100,000 exact rows of alarm: seconds", "value": round(drawn, 3), "of": "", "bar": ""}
    )
    return rows


def main() -> None:
    network, _ = alarm()
    report("model", [*fits(), *queries(network), *imputation(network), *coverage()])


if __name__ == "__main__":
    main()
