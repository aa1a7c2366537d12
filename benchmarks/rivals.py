"""The paper's learners on one random network: whole learning time from a table, one thread and two."""

from functools import partial

from common import median, report, verdict, world
from ibmap.data import load
from ibmap.learners import find_learner

SLOW = 10.0  #: "in seconds"


def main() -> None:
    rows: list[dict[str, object]] = []
    for n, tau, n_rows in ((500, 4, 1600), (500, 8, 3200)):
        data = load(world(n, n_rows, tau))
        for name in ("ibmap-hc", "gsmn", "hhc-mn", "mi"):
            learn = find_learner(name)
            one, two = (median(partial(learn, data, n_jobs=jobs), 3) for jobs in (1, 2))
            rows.append(
                {
                    "learner": name,
                    "n": n,
                    "tau": tau,
                    "rows": n_rows,
                    "seconds": round(one, 3),
                    "two_threads": round(two, 3),
                    "tests": learn(data).n_tests,
                    "bar": verdict(one, SLOW, at_least=False),
                }
            )
    report("rivals", rows)


if __name__ == "__main__":
    main()
