"""Results to report about, and the browser that opens them."""

import json
import os

import numpy as np
import pytest

from ibmap.data import Table, load
from ibmap.graph import Graph
from ibmap.learners import ibmap_hc
from ibmap.report import write_report
from ibmap.results.result_file import result_of, result_of_learned, result_text
from tests.chains import noisy_chain
from tests.report.browser import FLAGS, installed, opened

NASTY = (
    "<script>alert(1)</script>",
    '"quotes", commas & <b>bold</b>',
    "</script><img src=x onerror=alert(2)>",
    "emoji 🦠🧬",
    "שלום עולם",
    "long " + "name " * 99,
    "$$\\frac{1}{2}$$",
    "{{ 7 * 7 }} ${1} @x %s \u2028",
    "<!-- <script ",
)


def result_for(learned, data, source=None):
    return result_of(json.loads(result_text(result_of_learned(learned, data, source))))


@pytest.fixture(scope="session")
def chain_data():
    return noisy_chain(8, 300, noise=0.2)


@pytest.fixture(scope="session")
def chain(chain_data):
    """Eight variables in a row, learned."""
    return result_for(ibmap_hc(chain_data), chain_data)


@pytest.fixture(scope="session")
def numbers():
    """Three columns of numbers in a row: the first two rise together, the third falls."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 300))
    data = load({"a": a, "b": a + b, "c": c - a - b}, continuous="all")
    return result_for(ibmap_hc(data, "gaussian").with_effects(data), data)


@pytest.fixture(scope="session")
def nasty():
    """A chain whose names, and levels, mean trouble."""
    plain = noisy_chain(len(NASTY), 300, noise=0.2)
    levels = (("<i>no</i>", "</script>"),) * len(NASTY)
    data = Table(np.asarray(plain.codes), NASTY, levels)
    return result_for(ibmap_hc(data), data, {"path": "a <b>folder</b>/tab&le.csv"})


def started_from(edges_of, n, rows=60):
    """Return a result whose graph is that of the start, scored but hardly searched."""
    rng = np.random.default_rng(0)
    data = Table(
        rng.integers(0, 2, (n, rows)).astype(np.int8), tuple(f"v{i}" for i in range(n)), ((0, 1),) * n
    )
    graph = edges_of(data.names)
    learned = ibmap_hc(data, start=graph, required=graph.edges)
    return result_for(learned, data)


@pytest.fixture(scope="session")
def complete():
    return started_from(Graph.complete, 12)


@pytest.fixture(scope="session")
def large():
    """500 variables and 2000 edges."""

    def ring(names):
        n = len(names)
        return Graph(names, [(names[i], names[(i + step) % n]) for i in range(n) for step in (1, 2, 3, 4)])

    return started_from(ring, 500)


@pytest.fixture(scope="session")
def browser():
    path = installed()
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium (as .ci/run does)")
    os.environ.setdefault("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open the report of a result; whatever the test does then, nothing may be complained of or fetched."""
    shown = []

    def show(result, support=None, safe_csv=False, **options):
        page = tmp_path / "report.html"
        write_report(result, page, support=support, overwrite=True, safe_csv=safe_csv)
        shown.append(opened(browser, tmp_path / "report.html", **options))
        return shown[-1]

    yield show
    for report in shown:
        assert report.complaints == []
        assert [url for url in report.requests if not url.startswith(("data:", "blob:"))] == [
            (tmp_path / "report.html").as_uri()
        ]
        report.page.close()
