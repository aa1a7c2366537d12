"""What all benchmarks share: worlds, medians, and rows of results."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ibmap.synthetic import simulate_random

RESULTS = Path(__file__).parent / "results"


def world(n: int, rows: int, tau: int = 4, seed: int = 0) -> NDArray[np.uint8]:
    """The paper's random network (random potentials)."""
    return simulate_random(n, tau, rows, random_state=seed, sweeps=100).data


def without_constants(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Take out columns that came out constant, one in fifty: pybnesian stops with an error there."""
    return np.ascontiguousarray(data[:, data.std(axis=0) > 0])


def times(
    work: Callable[[], object], repeat: int = 5, clock: Callable[[], float] = perf_counter
) -> NDArray[np.float64]:
    """Seconds of several calls, sorted; one call before them warms up.

    With ``clock=process_time`` they are those of the processor: other work on the machine counts little.
    """
    work()
    seconds = []
    for _ in range(repeat):
        began = clock()
        work()
        seconds.append(clock() - began)
    return np.sort(seconds)


def median(work: Callable[[], object], repeat: int = 5) -> float:
    """Median seconds of several warm calls."""
    return float(np.median(times(work, repeat)))


def alternate(works: list[Callable[[], object]], repeat: int = 5) -> list[float]:
    """Median seconds of several pieces of work, measured in turns so that noise hits all of them alike."""
    for work in works:
        work()
    seconds = np.empty((repeat, len(works)))
    for r in range(repeat):
        for k, work in enumerate(works):
            began = perf_counter()
            work()
            seconds[r, k] = perf_counter() - began
    return [float(value) for value in np.median(seconds, axis=0)]


def report(name: str, rows: list[dict[str, object]]) -> None:
    """Print rows of results and keep them as a small CSV."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with open(f"{path}.tmp", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    os.replace(f"{path}.tmp", path)
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in rows[0]}
    print(f"\n== {name}")
    print("  ".join(key.ljust(widths[key]) for key in rows[0]))
    for row in rows:
        print("  ".join(str(row[key]).ljust(widths[key]) for key in row))


def verdict(value: float, bar: float, *, at_least: bool) -> str:
    """Tell whether a bar is met."""
    met = value >= bar if at_least else value <= bar
    return f"{'met' if met else 'MISSED'} ({'>=' if at_least else '<='} {bar:g})"
