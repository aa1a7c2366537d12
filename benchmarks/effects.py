"""Effects of edges beside the fit that finds them, and how they grow with the number of columns.

Seconds are those of the processor: other work on the machine counts little.
"""

from collections.abc import Iterator
from time import process_time

from common import report, times, verdict, world
from ibmap.data import Table, load
from ibmap.engines import as_engine
from ibmap.learners import evidence_map
from ibmap.model.effects import edge_effects
from ibmap.synthetic import simulate_random
from quality_real import folder

BAR = 0.2  # of the fit
SIZES = (1000, 2000, 4000, 8000)


def tables() -> Iterator[tuple[str, Table]]:
    """The paper's random networks, and two real ones."""
    for n in (100, 500):
        yield f"n={n}, D=1600", load(world(n, 1600))
    for name in ("win95pts", "insurance"):
        yield name, load(folder() / "networks" / f"{name}.csv.gz")


def beside_the_fit() -> list[dict[str, object]]:
    """Effects over the fit, both at their best."""
    rows: list[dict[str, object]] = []
    for name, data in tables():
        engine = as_engine(data)
        learned = evidence_map(engine)
        fit = 1000 * times(lambda data=data: evidence_map(as_engine(data)), 3, process_time)[0]
        own = (
            1000
            * times(lambda learned=learned, engine=engine: learned.with_effects(engine), 7, process_time)[0]
        )
        shown = f"{own:.1f} ms, fit {fit:.0f} ms, {learned.graph.n_edges} edges"
        bar = verdict(own / fit, BAR, at_least=False)
        rows.append(
            {"what": f"effects over fit, {name}", "value": round(own / fit, 3), "of": shown, "bar": bar}
        )
    return rows


def growth() -> list[dict[str, object]]:
    """Effects of the true graph of a random network, two edges for every variable, per column."""
    rows: list[dict[str, object]] = []
    for n in SIZES:
        truth = simulate_random(n, 4, 400, random_state=0, sweeps=20)
        engine = as_engine(truth.to_table())
        own = (
            1e6
            * times(lambda engine=engine, truth=truth: edge_effects(engine, truth.graph), 3, process_time)[0]
        )
        rows.append(
            {
                "what": f"effects, n={n}: µs for a column",
                "value": round(own / n, 1),
                "of": f"{own / 1000:.0f} ms",
                "bar": "",
            }
        )
    return rows


if __name__ == "__main__":
    report("effects", [*beside_the_fit(), *growth()])
