"""What the paper's preset costs users: errors of its learners with our defaults, and with its choices.

``python benchmarks/defaults.py`` adds up the Hamming distances over worlds of every kind, three seeds, and
writes ``results/defaults.csv``; a few minutes. ``docs/reproduction.md`` shows what came out.
"""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from ibmap import BayesianTest, hamming
from ibmap.data import CategoricalData
from ibmap.learners import gsmn, hhc_mn, ibmap_hc
from ibmap.presets import paper
from quality_worlds import worlds

SEEDS = (100, 101, 102)
SIZES = (100, 400, 500, 1600, 2000)
LARGEST = 75  #: variables of a random network; with n = 100 HHC-MN takes long where everything depends
RESULTS = Path(__file__).parent / "results" / "defaults.csv"


def methods() -> dict[str, Callable[[CategoricalData], Any]]:
    """Return every learner with the test's prior counts and, for HHC-MN, the rule of joining."""
    tests = {"ones": BayesianTest(), "0.25": paper().test()}
    found: dict[str, Callable[[CategoricalData], Any]] = {}
    for counts, test in tests.items():
        found[f"ibmap-hc {counts}"] = lambda data, test=test: ibmap_hc(data, test)
        found[f"gsmn {counts}"] = lambda data, test=test: gsmn(data, test)
        for rule in ("and", "or"):
            found[f"hhc-mn {rule} {counts}"] = lambda data, test=test, rule=rule: hhc_mn(
                data, test, symmetry=rule, max_condition=3
            )
    return found


def main() -> None:
    """Measure, write and print."""
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    learners = methods()
    for world in worlds():
        if world.n > LARGEST or "tau=8" in world.name:
            continue
        for rows in (size for size in world.sizes if size in SIZES):
            for name in learners:
                distances = []
                for seed in SEEDS:
                    data, truth = world.make(rows, seed)
                    distances.append(hamming(learners[name](data).graph, truth))
                errors[world.kind][name].append(fmean(distances))
    kinds = [*errors, "all"]
    for name in learners:
        errors["all"][name] = [total for kind in kinds[:-1] for total in errors[kind][name]]
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["worlds", *learners])
        for kind in kinds:
            writer.writerow([kind, *(f"{sum(errors[kind][name]):.0f}" for name in learners)])
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
