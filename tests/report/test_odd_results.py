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
    shown = {*report.column("variable"), *report.column("and")}
    assert {name.strip() for name in NASTY} == {name.strip() for name in shown}
    for i, name in enumerate(NASTY):
        report.js("(i) => pick('variable', i)", i)
        assert report.page.inner_text("#panel h3").strip() == name.strip()
    report.js("pick('pair', 0)")
    assert "<i>no</i>" in report.panel()
    titles = report.page.locator("#network .name title").all_text_contents()
    assert {title.rpartition(":")[0] for title in titles} == set(NASTY)
    assert report.js("document.scripts.length") == n_scripts
    assert report.page.locator("img, b, i").count() == 0
    assert "a <b>folder</b>" not in report.page.inner_text("header")
    assert "tab&le.csv" in report.page.inner_text("header")


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
    assert report.page.title().startswith("No direct association among 2 variables")
    assert report.drawn() == 0
    assert report.page.is_visible("#posterior") == (learn is ibmap_hc)
    listed = "There are no associations and no pairs that come close." if learn is gsmn else "1 of 1 pair"
    assert report.page.inner_text("#listed") == listed
    report.click("node", 1)
    assert "No direct association" in report.panel()


def test_a_complete_graph(show, complete):
    report = show(complete)
    assert report.drawn() == 66
    report.js("pick('pair', 0)")
    assert "The edge was required beforehand." in report.page.text_content("#panel")


def test_a_learner_that_only_decides(show, chain_data):
    report = show(result_for(gsmn(chain_data), chain_data))
    assert report.drawn() >= 5
    assert not report.page.is_visible("#posterior")
    assert not report.page.is_visible("#undecided")
    assert report.page.locator("#pairs th").all_inner_texts() == ["variable", "and", "finding"]
    assert "took no steps" in report.page.text_content("#scores")
    report.js("pick('pair', 0)")
    assert "Directly associated" in report.panel()


def test_support_stands_beside_the_posterior_and_filters(show):
    data = noisy_chain(6, 60, noise=0.35)
    found = bootstrap(data, ibmap_hc, n_replicates=20, random_state=1)
    result = result_for(found.learned, data)
    support = as_support(found, result)
    report = show(result, support=support)
    assert "20 replicates" in report.page.text_content(".about")
    (x, y), share = next(iter(support.frequencies.items()))
    report.page.fill("#search", f"{x} {y}")
    shown = f"{math.floor(100 * share + 0.5)} %"
    assert report.column("support")[0] == shown
    k = report.js(
        "([x, y]) => pairs.x.findIndex((i, k) => data.names[i] === x && data.names[pairs.y[k]] === y)", [x, y]
    )
    report.js("(k) => pick('pair', k)", k)
    assert shown in report.panel()
    report.js("pick(null)")
    report.page.select_option("#support", "1")
    edges = set(result.network.graph.edges)
    certain = [pair for pair, share in support.frequencies.items() if share == 1 and pair in edges]
    assert report.drawn() == len(certain)
