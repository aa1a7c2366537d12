"""The report of results that are not like the others."""

import math

import numpy as np
import pytest

from ibmap.data import Table
from ibmap.learners import gsmn, ibmap_hc
from ibmap.learners.bootstrap import bootstrap
from ibmap.results.bootstrap import as_support
from tests.chains import noisy_chain
from tests.report.conftest import NASTY, result_for


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
    report.settle()
    report.js("setView('network')")
    assert report.js("document.scripts.length") == n_scripts
    assert report.page.locator("img, b, i").count() == 0
    assert "a <b>folder</b>" not in report.page.inner_text("header")
    assert "tab&le.csv" in report.page.inner_text("header")


def test_the_tips_of_bokeh_are_text(show, nasty):
    report = show(nasty)
    tips = report.page.locator(".bk-Tooltip")  # in a shadow root, which locators look into
    for i, name in enumerate(NASTY):
        report.page.mouse.move(*report.point("network", *report.js("(i) => data.places[i]", i)))
        tips.get_by_text(f"{name}: {report.js('(i) => data.degrees[i]', i)} neighbour").wait_for()
        assert tips.locator("img, b, i, script").count() == 0


@pytest.mark.parametrize("kind", ["chain", "nasty", "large"])
def test_a_phone_needs_no_sideways_scrolling(show, request, kind):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    report = show(request.getfixturevalue(kind), **phone)
    report.js("pick('pair', 0)")
    assert report.js("document.documentElement.scrollWidth") <= 390
    assert report.js("parseFloat(getComputedStyle(document.body).fontSize)") >= 14


@pytest.mark.parametrize("learn", [gsmn, ibmap_hc])
def test_a_graph_without_edges(show, learn):
    codes = np.array([[0, 1] * 40, [0, 0, 1, 1] * 20], np.int8)
    data = Table(codes, ("a", "b"), ((0, 1),) * 2)
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
    assert not report.page.is_visible("#threshold")
    assert not report.page.is_visible("#misses")
    assert report.page.locator("#pairs th").all_inner_texts() == ["kind", "x", "y"]
    assert "have no posterior" in report.page.inner_text("#histogram")
    assert "no ascents" in report.page.inner_text("#scores")
    report.js("pick('pair', 0)")
    assert "They are adjacent." in report.panel()


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
    (x, y), share = next(iter(support.frequencies.items()))
    report.page.fill("#search", f"{x} - {y}")
    assert report.column(7)[0] == f"{math.floor(100 * share + 0.5)} %"
    report.js("pick('pair', 0)")
    assert f"{math.floor(100 * share + 0.5)} %" in report.panel()
    report.page.select_option("#measure", "support")
    edges = set(result.network.graph.edges)
    report.page.focus("#threshold")
    report.page.keyboard.press("End")
    certain = [pair for pair, share in support.frequencies.items() if share == 1 and pair in edges]
    report.js("pick(null)")
    report.page.uncheck("#misses")
    assert report.drawn() == len(certain)
