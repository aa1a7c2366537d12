"""The paper's learners on one random network: whole learning time from a table, one thread and two.

A column that came out constant has one level, and GSMN's compiled route wants two: it is shown both ways.
"""

from functools import partial

from common import median, report, verdict, without_constants, world
from ibmap.data import load
from ibmap.learners import find_learner

SLOW = 10.0  #: "in seconds"


def main() -> None:
    rows: list[dict[str, object]] = []
    for n, tau, n_rows in ((500, 4, 1600), (500, 8, 3200)):
        drawn = world(n, n_rows, tau)
        data, whole = load(without_constants(drawn)), load(drawn)
        for name, table in (
            ("ibmap-hc", data),
            ("gsmn", data),
            ("gsmn", whole),
            ("hhc-mn", data),
            ("mi", data),
        ):
            learn = find_learner(name)
            one, two = (median(partial(learn, table, n_jobs=jobs), 3) for jobs in (1, 2))
            rows.append(
                {
                    "learner": name,
                    "n": table.n_variables,
                    "tau": tau,
                    "rows": n_rows,
                    "constant_columns": int((table.cardinalities == 1).sum()),
                    "seconds": round(one, 3),
                    "two_threads": round(two, 3),
                    "tests": learn(table).n_tests,
                    "bar": verdict(one, SLOW, at_least=False),
                }
            )
    report("rivals", rows)


if __name__ == "__main__":
    main()
