"""Two groups compared: how long a permutation test takes, and how often chance looks like a difference."""

from time import perf_counter

import numpy as np

from common import report, verdict
from ibmap import compare
from ibmap.synthetic import simulate_random

PERMUTATIONS = 500


def seconds(what: str, first: object, second: object) -> dict[str, object]:
    """The permutation test of the issue: 30 variables, 2000 rows in all, on two threads."""
    compare(first, second, n_permutations=2)
    began = perf_counter()
    found = compare(first, second, n_permutations=PERMUTATIONS, random_state=0, n_jobs=2)
    taken = perf_counter() - began
    shown = (
        f"largest p = {found.largest.p_value:.3g}, {found.different.sum()} of {len(found.pairs)} edges differ"
    )
    bar = verdict(taken, 60.0, at_least=False)
    return {
        "what": f"seconds, {PERMUTATIONS} permutations, {what}",
        "value": round(taken, 1),
        "of": shown,
        "bar": bar,
    }


def false_alarms(runs: int = 60, permutations: int = 39) -> dict[str, object]:
    """Groups that are halves of one sample: p below 0.05 should be as rare as that."""
    found = []
    for seed in range(runs):
        rows = simulate_random(10, 2, 600, random_state=seed).data
        found.append(
            compare(rows[:300], rows[300:], n_permutations=permutations, random_state=seed).largest.p_value
        )
    share = float((np.array(found) <= 0.05).mean())
    return {
        "what": "share of alike groups with p <= 0.05",
        "value": round(share, 3),
        "of": f"{runs} pairs",
        "bar": "0.05",
    }


def main() -> None:
    one, other = (simulate_random(30, 2, 2000, random_state=seed).data for seed in (0, 1))
    rows = [
        seconds("groups alike", one[:1000], one[1000:]),
        seconds("other networks", one[:1000], other[:1000]),
    ]
    report("groups", [*rows, false_alarms()])


if __name__ == "__main__":
    main()
