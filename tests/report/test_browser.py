"""The report in a real browser: it opens without a sound, and its controls do what they say."""

import csv
import io
import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from ibmap import Table
from ibmap._text import probability
from ibmap.learners import ibmap_hc
from tests.chains import noisy_chain
from tests.report.conftest import result_for

HALF = math.log(0.5)
DARK, LIGHT = "rgb(20, 24, 31)", "rgb(255, 255, 255)"


def kind_of(row):
    """What a pair without an edge is called."""
    return "near miss" if (float(row[3]) + float(row[4])) / 2 >= HALF else "not adjacent"


def test_it_opens_with_header_network_table_and_charts(show, chain):
    report = show(chain)
    assert report.page.title() == "7 edges among 8 variables - ibmap"
    header = report.page.inner_text("header")
    for words in ("300 rows, 8 variables", "ibmap-hc", "prior counts ones", "ascents", "seed", "numpy"):
        assert words in header
    assert report.drawn() == 7
    assert report.js("ibmapReport.models.steps.data.n.length") == len(chain.learned.history) + 1
    near = [kind_of(row) for row in chain.content["near_misses"]]
    assert report.column(1) == ["edge"] * 7 + near
    bars = report.js("ibmapReport.models.bars.data")
    heights = Counter()
    for top, bottom, label in zip(bars["top"], bars["bottom"], bars["label"], strict=True):
        heights[label.split(":")[0]] += top - bottom
    assert heights == Counter(["edge"] * 7 + near)


def test_the_bars_of_the_histogram_stand_on_each_other(show, large):
    report = show(large)
    bars = report.js("ibmapReport.models.bars.data")
    stacks = defaultdict(list)
    for left, *ends in zip(bars["left"], bars["bottom"], bars["top"], strict=True):
        stacks[left].append(ends)
    assert max(map(len, stacks.values())) > 1
    for stack in stacks.values():
        assert stack[0][0] == 0
        assert all(below[1] == above[0] for below, above in pairwise(stack))


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
    assert report.page.inner_text("#shown").startswith(f"{drawn[-1]} of 7 edges")
    report.page.keyboard.press("Home")
    assert report.drawn() == 7


def test_near_misses_can_be_shown(show):
    data = noisy_chain(8, 100, noise=0.3)
    result = result_for(ibmap_hc(data), data)
    report = show(result)
    report.page.uncheck("#misses")
    report.page.focus("#threshold")
    report.page.keyboard.press("Home")  # all that there is
    without = report.drawn()
    assert without == result.network.graph.n_edges
    report.page.check("#misses")
    kinds = Counter(map(kind_of, result.content["near_misses"]))
    assert kinds["near miss"] > 0
    assert report.drawn() == without + kinds["near miss"]
    n = kinds["near miss"]
    assert report.page.inner_text("#shown").endswith(f", {n} of {n} near miss{'es' * (n != 1)}")
    report.page.uncheck("#misses")
    assert f", 0 of {n} near miss" in report.page.inner_text("#shown")
    report.page.check("#misses")
    assert report.column(1).count("near miss") == kinds["near miss"]


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
    report.page.fill("#search", "v3 not")
    assert report.column(1)
    assert set(report.column(1)) == {"not adjacent"}
    assert all("v3" in (x, y) for x, y in zip(report.column(2), report.column(3), strict=True))
    report.page.fill("#search", "nothing of this name")
    assert report.column(1) == []
    assert report.page.inner_text("#listed") == "0 of 0 pairs"


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


@pytest.mark.parametrize(("scheme", "paper", "other"), [("light", LIGHT, DARK), ("dark", DARK, LIGHT)])
def test_light_and_dark_as_the_system_has_it_and_by_hand(show, chain, scheme, paper, other):
    report = show(chain, color_scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    assert report.js(background) == paper
    edge = report.js("ibmapReport.models.edges.data.color[0]")
    report.page.click("#theme")
    assert report.js(background) == other
    assert report.js("ibmapReport.models.edges.data.color[0]") != edge


def test_what_the_table_lists_is_saved_as_csv(show, nasty):
    report = show(nasty)
    report.page.fill("#search", "edge")
    report.page.locator("#pairs th button").nth(3).click()
    with report.page.expect_download() as saved:
        report.page.click("#save")
    assert saved.value.suggested_filename == "pairs.csv"
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"), newline="")))
    numbers = {(x, y): these for x, y, these in nasty.network.edges()}
    assert {(row["x"], row["y"]) for row in rows} == set(numbers)
    for row in rows:
        these = numbers[row["x"], row["y"]]
        names = ("posterior", "log_posterior_xy", "log_posterior_yx")
        assert [float(row[name]) for name in names] == pytest.approx([these[name] for name in names])
        assert row["in_graph"] == "true"
        assert 1 <= int(row["ascent"]) <= len(nasty.learned.history)
    logs = [float(row["log_posterior_xy"]) + float(row["log_posterior_yx"]) for row in rows]
    assert logs == sorted(logs, reverse=True)


@pytest.mark.parametrize("safe", [False, True])
def test_names_like_formulas_are_saved_as_it_was_asked_for(show, safe):
    data = Table(np.tile([0, 1], (3, 50)).astype(np.int8), ("=1+1", "-b", "a=b"), ((0, 1),) * 3)
    report = show(result_for(ibmap_hc(data), data), safe_csv=safe)
    with report.page.expect_download() as saved:
        report.page.click("#save")
    rows = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8"), newline="")))
    wanted = {"'=1+1", "'-b", "a=b"} if safe else {"=1+1", "-b", "a=b"}
    assert {cell for row in rows[1:] for cell in row[:2]} == wanted


@pytest.mark.parametrize("view", ["network", "heat"])
def test_the_view_is_saved_as_a_picture(show, chain, view):
    report = show(chain)
    report.js("(view) => setView(view)", view)
    report.page.hover(f"#{view}")
    with report.page.expect_download() as saved:
        report.page.locator(f"#{view} .bk-tool-icon-save").click()
    assert saved.value.suggested_filename == f"ibmap {view}.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_paper_is_white_and_the_screen_is_as_before(show, chain):
    report = show(chain, color_scheme="dark")
    report.js("dispatchEvent(new Event('beforeprint'))")
    assert report.js("getComputedStyle(document.body).backgroundColor") == LIGHT
    report.js("dispatchEvent(new Event('afterprint'))")
    assert report.js("getComputedStyle(document.body).backgroundColor") == DARK


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(show, chain, scheme):
    report = show(chain, color_scheme=scheme)
    colours = ["ink", "faint", "edge", "miss", "removed", "picked"]
    for paper in ("paper", "raised"):
        behind = luminance(report.js("(name) => colour(name)", paper))
        for name in colours:
            ours = luminance(report.js("(name) => colour(name)", name))
            contrast = (max(ours, behind) + 0.05) / (min(ours, behind) + 0.05)
            assert contrast >= 4.5, (name, paper, contrast)  # WCAG 2, AA


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_find_zooms_to_a_variable_and_its_neighbours(show, large):
    report = show(large)
    report.js("() => setView('heat')")
    wide = report.js("ibmapReport.models['heat x'].end - ibmapReport.models['heat x'].start")
    report.page.fill("#find", "v7")
    report.settle()
    near = report.js("ibmapReport.models['heat x'].end - ibmapReport.models['heat x'].start")
    assert 0 < near < wide
    ranks = report.js("(name) => rankOf[data.names.indexOf(name)]", "v7")
    start, end = (report.js(f"ibmapReport.models['heat x'].{side}") for side in ("start", "end"))
    assert start < ranks < end


def test_variables_without_edges_are_not_in_the_heat_map(show):
    data = noisy_chain(4, 300, noise=0.2)
    alone = np.random.default_rng(1).integers(0, 2, (3, 300)).astype(np.int8)
    more = Table(np.vstack([data.codes, alone]), (*data.names, "p", "q", "r"), ((0, 1),) * 7)
    report = show(result_for(ibmap_hc(more), more))
    assert sorted(report.js("order")) == [0, 1, 2, 3]
    report.js("() => { setView('heat'); pick('variable', 5); }")
    assert "It has no edge" in report.panel()


def test_untested_edges_are_told_and_a_panel_fits(show, complete):
    report = show(complete)
    told = [kind for kind in report.column(1) if kind == "untested edge"]
    assert len(told) == len(complete.learned.untested) > 3
    k = report.js("pairs.untested.indexOf(true)")
    report.js("(k) => pick('pair', k)", k)
    assert "Neither end could test it" in report.panel()
    report.js("() => pick('variable', 0)")
    assert report.js("() => at('panel').scrollWidth <= at('panel').clientWidth")
