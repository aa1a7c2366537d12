"""How close to the truth? Every method on every world: ``make quality`` (hours; it goes on when stopped).

What is done is kept in ``benchmarks/results`` (``quality_results.py``), and ``docs/quality.md`` is written at
the end. Seeds 1000 to 1002 were used to choose settings; the page reports those from 100 on.
"""

import argparse
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ibmap import Graph
from ibmap.data import Table
from quality_methods import Found, Method, methods
from quality_results import BINS, Key, Measured, Results
from quality_worlds import worlds

SEEDS = (100, 101, 102)
LIMIT = 180  #: seconds that a peer may take
PROCESSES = get_context("fork")


def task(key: Key, wanted: list[str]) -> tuple[Key, int, list[Measured]]:
    """Make a table, and run methods on it; in a process of its own. Returns the true number of edges, too."""
    name, rows, seed = key
    warnings.simplefilter("ignore")
    world = next(world for world in worlds() if world.name == name)
    data, truth = world.make(rows, seed)
    out = []
    for method in methods():
        if method.name not in wanted:
            continue
        began = perf_counter()
        found = within_limit(method, data) if method.peer else method.run(data)
        out.append(compared(method.name, truth, found, perf_counter() - began))
    return key, truth.n_edges, out


def within_limit(method: Method, data: Table) -> Found | None:
    """Run a method in a process of its own, which is stopped after some minutes: nothing was found then."""
    receiver, sender = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=lambda: sender.send(method.run(data)))
    child.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(LIMIT) else None
    finally:
        child.kill()
        child.join()


def compared(method: str, truth: Graph, found: Found | None, seconds: float) -> Measured:
    """Compare with the truth."""
    if found is None:
        return Measured(method, None, None, seconds, None)
    n = truth.n_variables
    mine, true = np.zeros((n, n), bool), truth.adjacency
    mine[found.pairs[:, 0], found.pairs[:, 1]] = True
    upper = np.triu_indices(n, 1)
    mine, true = mine[upper], true[upper]
    tenths = None if found.posterior is None else tenths_of(found.posterior, true)
    return Measured(method, int((mine & ~true).sum()), int((~mine & true).sum()), seconds, tenths)


def tenths_of(posterior: NDArray[np.float64], true: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pairs, the sum of their posteriors, and edges, by tenths of the posterior."""
    bins = np.minimum((posterior * BINS).astype(int), BINS - 1)
    weights = (np.ones(len(bins)), posterior, true.astype(float))
    return np.array([np.bincount(bins, weight, BINS) for weight in weights])


def tasks(
    results: Results, seeds: tuple[int, ...], only: str, most: int, chosen: list[str] | None
) -> Iterator[tuple[Key, list[str]]]:
    """What is left to do."""
    for world in worlds():
        if only not in world.name or world.n > most:
            continue
        for rows in world.sizes:
            for seed in seeds:
                key = (world.name, rows, seed)
                wanted = [
                    method.name
                    for method in methods()
                    if method.is_here
                    and world.n <= method.most_variables
                    and (chosen is None or method.name in chosen)
                    and not results.has(key, method.name)
                ]
                if wanted:
                    yield key, wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose name holds this")
    parser.add_argument("--most", type=int, default=500, help="variables")
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--methods", nargs="*", help="only these")
    parser.add_argument("--again", action="store_true", help="forget what was measured of --methods")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    results = Results()
    if given.again:
        results.forget(given.methods or [])
    if not given.page:
        left = list(tasks(results, tuple(given.seeds), given.only, given.most, given.methods))
        with ProcessPoolExecutor(given.jobs) as pool:
            for k, future in enumerate(as_completed([pool.submit(task, *one) for one in left]), start=1):
                results.add(*future.result())
                print(f"{k} of {len(left)}", end="\r", flush=True)
        print()
    from quality_page import write
    from quality_real import measure

    if not given.page and given.methods is None:
        measure(given.only)
    write(results)


if __name__ == "__main__":
    main()
