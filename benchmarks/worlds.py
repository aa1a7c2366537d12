"""The Gibbs sampler in updates per second on a core, and the accuracy at the sizes of the largest tables.

Seconds are those of the processor: other work on the machine does not count.
"""

from collections.abc import Callable
from time import process_time

import numpy as np

from common import report, times, verdict
from ibmap import Graph, Table, accuracy
from ibmap.synthetic import FactorModel, random_network, sample

N, DEGREE, SWEEPS, ROWS = 100, 4, 200, 640
BAR = 20  # million updates per second


def seconds_of(work: Callable[[], object], repeat: int = 9) -> float:
    """Median seconds of the processor."""
    return float(np.median(times(work, repeat, process_time)))


def main() -> None:
    models = {"binary": random_network(N, DEGREE, random_state=0)}
    models["2 levels as tables"] = FactorModel.from_pairwise(models["binary"])
    for levels in (3, 4, 10):
        models[f"{levels} levels"] = random_network(N, DEGREE, levels=levels, random_state=0)
    rows: list[dict[str, object]] = []
    for name, model in models.items():
        for how, thin, sweeps in (
            ("a chain per row", None, ROWS * SWEEPS),
            ("one chain", 20, SWEEPS + 20 * ROWS),
        ):
            seconds = seconds_of(
                lambda model=model, thin=thin: sample(model, ROWS, thin=thin, random_state=0)
            )
            speed = N * sweeps / seconds / 1e6
            what = f"sampler, {name}, {how}: million updates / s"
            rows.append({"what": what, "value": round(speed, 1), "bar": verdict(speed, BAR, at_least=True)})
    for n, n_rows, levels in ((38, 69, 4), (35, 89, 4), (9, 3240, 4)):
        codes = np.random.default_rng(0).integers(0, levels, (n, n_rows))
        table = Table(codes, [f"x{i}" for i in range(n)], [tuple(range(levels))] * n)
        seconds = seconds_of(lambda table=table: accuracy(Graph(table.names), table, random_state=0), 3)
        what = f"accuracy, n = {n}, {n_rows} rows, {50 * n * (n - 1):,} queries: seconds"
        rows.append({"what": what, "value": round(seconds, 2), "bar": verdict(seconds, 10, at_least=False)})
    report("worlds", rows)


if __name__ == "__main__":
    main()
