"""The report in a real browser: it opens without a sound, and every control does what it says."""

import math

import numpy as np
import pytest

from chains import noisy_chain
from ibmap._words import probability
from ibmap.data import CategoricalData
from ibmap.learners import gsmn, ibmap_hc
from ibmap.learners.bootstrap import bootstrap
from ibmap.report import write_report
from ibmap.support import as_support
from report.browser import opened
from report.conftest import NASTY, result_for

DARK, LIGHT = "rgb(20, 24, 31)", "rgb(255, 255, 255)"


@pytest.fixture
def show(browser, tmp_path):
    """Open the report of a result; whatever the test does then, nothing may be complained of or fetched."""
    shown = []

    def show(result, support=None, **options):
        write_report(result, tmp_path / "report.html", support=support, overwrite=True)
        shown.append(opened(browser, tmp_path / "report.html", **options))
        return shown[-1]

    yield show
    for report in shown:
        assert report.complaints == []
        assert [url for url in report.requests if not url.startswith(("data:", "blob:"))] == [
            (tmp_path / "report.html").as_uri()
        ]
        report.page.close()


def test_it_opens_with_header_network_table_and_charts(show, chain):
    report = show(chain)
    assert report.page.title() == "7 edges among 8 variables - ibmap"
    header = report.page.inner_text("header")
    for words in ("300 rows, 8 variables", "ibmap-hc", "prior counts ones", "ascents", "seed", "numpy"):
        assert words in header
    assert report.drawn() == 7
    assert report.js("ibmapReport.models.steps.data.n.length") == len(chain.learned.history) + 1
    n_misses = len(chain.content["near_misses"])
    assert report.js("ibmapReport.models.bars.data.top.slice(-24).reduce((a, b) => a + b)") >= n_misses
    assert report.column(1) == ["edge"] * 7 + ["near miss"] * n_misses


def test_posteriors_are_told_as_on_the_command_line(show, chain):
    logs = [0.0, -1e-300, -3e-48, -2e-7, -9.4e-4, -2e-3, -0.1, math.log(0.5), -3, -8, -30, -599, -601, -1e5]
    report = show(chain)
    assert report.js("(logs) => logs.map(probability)", logs) == [probability(log) for log in logs]
    within = logs[2:-1]
    places = report.js("(logs) => logs.map((log) => posteriorAt(evidence(log)))", within)
    assert places == pytest.approx(within, rel=1e-6, abs=0)


def test_the_slider_shows_and_hides_edges(show, chain):
    report = show(chain)
    slider = report.page.locator("#threshold")
    before = report.drawn()
    slider.focus()
    drawn = [before]
    for _ in range(40):
        for _ in range(5):
            report.page.keyboard.press("ArrowRight")
        drawn.append(report.drawn())
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] == 7
    assert drawn[-1] <= 1
    bound = report.page.inner_text("#bound")
    assert bound.startswith("1 - ")
    assert f"of at least {bound}" in slider.get_attribute("aria-valuetext")
    assert report.page.inner_text("#shown").startswith(f"{drawn[-1]} edge")
    report.page.keyboard.press("Home")
    assert report.drawn() == 7


def test_near_misses_can_be_shown(show, chain):
    report = show(chain)
    if report.page.is_checked("#misses"):
        report.page.uncheck("#misses")
    without = report.drawn()
    report.page.check("#misses")
    likely = [
        row for row in chain.content["near_misses"] if (float(row[3]) + float(row[4])) / 2 >= math.log(0.5)
    ]
    assert report.drawn() == without + len(likely)


def test_a_click_on_a_variable_shows_its_blanket(show, chain):
    report = show(chain)
    report.click("network", *report.js("data.places[3]"))
    panel = report.panel()
    assert panel.startswith("v3")
    assert "Its blanket: 2 variables" in panel
    rows = report.page.locator("#panel table").first.locator("tbody tr").all_inner_texts()
    numbers = {edge: these for *edge, these in map(list, chain.network.edges()) for edge in [tuple(edge)]}
    for x, y in (("v2", "v3"), ("v3", "v4")):
        other = x if y == "v3" else y
        row = next(row for row in rows if row.startswith(other))
        here, there = ("xy", "yx") if x == "v3" else ("yx", "xy")
        told = [probability(numbers[x, y][f"log_posterior_{way}"]) for way in (here, there)]
        assert row.split("\t")[2:4] == told


def test_a_click_on_an_edge_shows_its_counts_and_the_ascent_that_added_it(show, chain):
    report = show(chain)
    (x0, y0), (x1, y1) = report.js("[data.places[2], data.places[3]]")
    report.click("network", (x0 + x1) / 2, (y0 + y1) / 2)
    panel = report.panel()
    assert panel.startswith("v2 – v3")
    step = next(step for step in chain.learned.history if {step.x, step.y} == {"v2", "v3"})
    assert f"Ascent {step.n} of {len(chain.learned.history)} added it" in panel
    counts = chain.content["counts"][chain.network.graph.edges.index(("v2", "v3"))]
    shown = report.page.locator("#panel .counts td.number").all_inner_texts()
    assert shown == [str(n) for row in counts for n in row]
    report.page.keyboard.press("Escape")
    assert report.panel().startswith("Pick something")


def test_a_click_beside_everything_clears_the_panel(show, chain):
    report = show(chain)
    report.click("network", *report.js("data.places[3]"))
    report.click("network", *report.js("[ibmapReport.models['network x'].end - 0.01, 1.1]"))
    assert report.panel().startswith("Pick something")


def test_the_table_sorts_and_is_searched(show, chain):
    report = show(chain)
    heads = report.page.locator("#pairs th button")
    heads.nth(1).click()
    up = report.column(2)
    assert up == sorted(up)
    assert report.page.locator("#pairs th").nth(1).get_attribute("aria-sort") == "ascending"
    report.page.keyboard.press("Enter")  # the head keeps the focus
    assert report.column(2) == sorted(up, reverse=True)
    heads.nth(3).click()
    order = [
        int(n)
        for n in report.js("[...document.querySelectorAll('#pairs tbody tr')].map((r) => r.dataset.pair)")
    ]
    logs = report.js("everyPair.map(logPosterior)")
    assert [logs[k] for k in order] == sorted(logs, reverse=True)
    report.page.fill("#search", "v3 near")
    assert report.column(1)
    assert set(report.column(1)) == {"near miss"}
    assert all("v3" in (x, y) for x, y in zip(report.column(2), report.column(3), strict=True))
    report.page.fill("#search", "nothing of this name")
    assert report.column(1) == []
    assert report.page.inner_text("#listed") == "0 of 0 pairs"


def test_a_row_of_the_table_fills_the_panel(show, chain):
    report = show(chain)
    report.page.locator("#pairs tbody tr").nth(9).click()
    assert "not joined (a near miss)" in report.panel()
    assert report.page.locator("#pairs tbody tr.picked").count() == 1


def test_every_control_is_reached_by_keyboard(show, chain):
    report = show(chain)
    focused = "(({ id, name, textContent }) => id || name || textContent)(document.activeElement)"
    reached = set()
    for _ in range(60):
        report.page.keyboard.press("Tab")
        reached.add(report.js(focused))
    controls = ["theme", "threshold", "misses", "view", "find", "network", "in", "out", "whole", "search"]
    assert set(controls) <= reached
    assert {"kind", "posterior", "edge"} <= reached


def test_the_drawing_moves_and_zooms_by_keyboard(show, chain):
    report = show(chain)
    span = "ibmapReport.models['network x'].end - ibmapReport.models['network x'].start"
    start = "ibmapReport.models['network x'].start"
    report.page.focus("#network")
    whole, left = report.js(span), report.js(start)
    report.page.keyboard.press("ArrowRight")
    assert report.js(start) > left
    report.page.keyboard.press("+")
    assert report.js(span) == pytest.approx(whole / 1.4)
    report.page.click("#whole")
    assert report.js(start) == pytest.approx(left)


def test_a_variable_is_found_by_name(show, chain):
    report = show(chain)
    report.page.fill("#find", "v5")
    assert report.panel().startswith("v5")


@pytest.mark.parametrize(("scheme", "paper", "other"), [("light", LIGHT, DARK), ("dark", DARK, LIGHT)])
def test_light_and_dark_as_the_system_has_it_and_by_hand(show, chain, scheme, paper, other):
    report = show(chain, color_scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    assert report.js(background) == paper
    edge = report.js("ibmapReport.models.edges.data.color[0]")
    report.page.click("#theme")
    assert report.js(background) == other
    assert report.js("ibmapReport.models.edges.data.color[0]") != edge


@pytest.mark.parametrize("kind", ["chain", "nasty", "large"])
def test_a_phone_needs_no_sideways_scrolling(show, request, kind):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    report = show(request.getfixturevalue(kind), **phone)
    report.js("pick('pair', 0)")
    assert report.js("document.documentElement.scrollWidth") <= 390
    assert report.js("parseFloat(getComputedStyle(document.body).fontSize)") >= 14


def test_names_are_text_wherever_they_are_shown(show, nasty):
    report = show(nasty)
    n_scripts = report.js("document.scripts.length")
    shown = {*report.column(2), *report.column(3)}
    assert {name.strip() for name in NASTY} == {name.strip() for name in shown}
    for i, name in enumerate(NASTY):
        report.js("(i) => pick('variable', i)", i)
        assert report.page.inner_text("#panel h3").strip() == name.strip()
    report.js("pick('pair', 0)")
    assert "<i>no</i>" in report.panel()
    report.js("setView('heat')")
    report.page.wait_for_timeout(200)
    report.js("setView('network')")
    for i in range(len(NASTY)):  # the tips of bokeh are HTML too
        report.click("network", *report.js("(i) => data.places[i]", i))
    assert report.js("document.scripts.length") == n_scripts
    assert report.js("document.querySelectorAll('img, b, i').length") == 0
    assert "a <b>folder</b>" not in report.page.inner_text("header")
    assert "tab&le.csv" in report.page.inner_text("header")


@pytest.mark.parametrize("learn", [gsmn, ibmap_hc])
def test_a_graph_without_edges(show, learn):
    codes = np.array([[0, 1] * 40, [0, 0, 1, 1] * 20], np.int8)
    data = CategoricalData(codes, ("a", "b"), ((0, 1),) * 2)
    report = show(result_for(learn(data), data))
    assert report.page.title().startswith("0 edges among 2 variables")
    assert report.drawn() == 0
    assert report.page.is_disabled("#threshold") == (learn is gsmn)
    listed = "There are no edges and no near misses." if learn is gsmn else "1 of 1 pair"
    assert report.page.inner_text("#listed") == listed
    report.click("network", *report.js("data.places[1]"))
    assert "It has no edge" in report.panel()


def test_a_complete_graph(show, complete):
    report = show(complete)
    assert report.drawn() == 66
    report.js("pick('pair', 0)")
    assert "The edge was required beforehand." in report.panel()


def test_a_learner_that_only_decides(show, chain_data):
    report = show(result_for(gsmn(chain_data), chain_data))
    assert report.drawn() >= 5
    assert report.page.is_disabled("#threshold")
    assert "have no posterior" in report.page.inner_text("#histogram")
    assert "no ascents" in report.page.inner_text("#scores")
    report.js("pick('pair', 0)")
    assert "They are joined." in report.panel()


def test_500_variables_are_a_heat_map_whose_cells_can_be_clicked(show, large):
    report = show(large)
    assert report.page.is_visible("#heat")
    assert not report.page.is_visible("#network")
    assert report.js("ibmapReport.models.cells.data.x.length") == 2 * large.network.graph.n_edges >= 4000
    assert len(report.column(1)) == 200
    report.page.click("#more")
    assert len(report.column(1)) == 400
    report.js("zoom(0.1)")
    x, y, label = report.js(
        """() => {
            const [across, down] = [ibmapReport.models["heat x"], ibmapReport.models["heat y"]];
            const cells = ibmapReport.models.cells.data;
            const k = cells.x.findIndex((x, k) => x > across.start + 1 && x < across.end - 1
                && cells.y[k] > down.end + 1 && cells.y[k] < down.start - 1);
            return [cells.x[k], cells.y[k], cells.label[k]];
        }"""
    )
    report.click("heat", x, y)
    assert report.panel().split("\n")[0] == label.split(":")[0].replace(" - ", " – ")


def test_support_stands_beside_the_posterior_and_on_the_slider(show):
    data = noisy_chain(6, 60, noise=0.35)
    found = bootstrap(data, ibmap_hc, n_replicates=20, random_state=1)
    result = result_for(found.learned, data)
    support = as_support(found, result)
    report = show(result, support=support)
    assert "20 replicates" in report.page.inner_text("header")
    (x, y), share = next(iter(support.shares.items()))
    report.page.fill("#search", f"{x} - {y}")
    assert report.column(7)[0] == f"{math.floor(100 * share + 0.5)} %"
    report.js("pick('pair', 0)")
    assert "of the replicates" in report.panel()
    report.page.select_option("#measure", "support")
    edges = set(result.network.graph.edges)
    report.page.focus("#threshold")
    report.page.keyboard.press("End")
    certain = [pair for pair, share in support.shares.items() if share == 1 and pair in edges]
    report.js("pick(null)")
    report.page.uncheck("#misses")
    assert report.drawn() == len(certain)
