"""The report: how long it takes to write one, and to open it in a real browser until everything is drawn."""

import sys
import tempfile
from pathlib import Path

import numpy as np

from common import report, times, verdict
from ibmap.data import Table
from ibmap.learners import ibmap_hc
from ibmap.report import report_text
from ibmap.results.result_file import Result, result_of_learned
from ibmap.synthetic import simulate_random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from report.browser import FLAGS, installed, opened

SIZES = ((30, 4), (100, 4), (500, 8))  #: variables, neighbours of each


def learned(n: int, tau: int) -> Result:
    """A result with the edges of the truth, from which the search starts."""
    world = simulate_random(n, tau, 1000, potentials="symmetric", random_state=0)
    data = Table(world.data.T.astype(np.int8), world.graph.names, ((0, 1),) * n)
    return result_of_learned(ibmap_hc(data, start=world.graph), data)


def main() -> None:
    from playwright.sync_api import sync_playwright

    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed(), args=FLAGS)
        for n, tau in SIZES:
            result, path = learned(n, tau), Path(folder) / f"{n}.html"
            writing = np.median(times(lambda result=result: report_text(result)))
            path.write_text(report_text(result))
            opening = np.median(times(lambda path=path: opened(browser, path).page.close()))
            rows.append(
                {
                    "variables": n,
                    "edges": result.learned.graph.n_edges,
                    "megabytes": round(path.stat().st_size / 1e6, 2),
                    "seconds to write": round(float(writing), 3),
                    "seconds to open": round(float(opening), 2),
                    "bar": verdict(float(opening), 2, at_least=False),
                }
            )
        browser.close()
    report("pages", rows)


if __name__ == "__main__":
    main()
