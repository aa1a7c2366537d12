"""The people of ``ibmap demo``: errors of learners on tables of the demo's story, whose network is known.

``evidence-map`` takes the columns as they are; the others take numbers cut into three quantiles. ``dag-hc``
with BIC searches as the ``hc`` of bnlearn does.
"""

import warnings

from common import report
from ibmap.cli.demo import RIVALS, learn_people
from ibmap.metrics import compare_edges
from ibmap.synthetic import simulate_people

SEEDS = range(20)
ROWS = (300, 1000, 3000)


def main() -> None:
    warnings.simplefilter("ignore")
    rows: list[dict[str, object]] = []
    for n_rows in ROWS:
        tables = [simulate_people(n_rows, random_state=seed) for seed in SEEDS]
        for name in RIVALS:
            found = [compare_edges(learn_people(people, name).graph, people.graph) for people in tables]
            invented, missed = (sum(len(edges[k]) for edges in found) / len(SEEDS) for k in (1, 2))
            rows.append(
                {
                    "rows": n_rows,
                    "learner": name,
                    "tables": len(SEEDS),
                    "errors": round(invented + missed, 2),
                    "missed": round(missed, 2),
                    "invented": round(invented, 2),
                }
            )
    report("people", rows)


if __name__ == "__main__":
    main()
