"""The report in a real browser: it opens without a sound, and its controls do what they say."""

import csv
import io
import math
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from ibmap import Table
from ibmap._text import probability
from ibmap.data import load
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.model.effect_size import with_margins
from ibmap.results.result_file import result_of_learned
from tests.chains import noisy_chain
from tests.report.conftest import result_for

DARK, LIGHT = "rgb(20, 24, 31)", "rgb(255, 255, 255)"


def test_it_opens_with_finding_network_panel_and_table(show, chain):
    report = show(chain)
    assert report.page.inner_text("h1") == chain.learned.finding
    assert report.page.title() == f"{chain.learned.finding} - ibmap"
    about = report.page.text_content(".about")
    for words in (
        "300 rows, 8 variables",
        "ibmap-hc",
        "prior counts ones",
        "ascents",
        "seed",
        "numpy",
        "the score went",
    ):
        assert words in about.lower()
    assert not report.page.is_visible("#scores")
    assert report.drawn() == 7
    assert report.page.locator("#panel li").count() == 7
    assert report.column("finding")[:7] == ["associated"] * 7
    assert set(report.column("finding")[7:]) <= {"undecided", "not associated"}


def test_posteriors_are_written_as_on_the_command_line(show, chain):
    logs = [0.0, -1e-300, -3e-48, -2e-7, -9.4e-4, -2e-3, -0.1, math.log(0.5), -3, -8, -30, -599, -601, -1e5]
    report = show(chain)
    assert report.js("(logs) => logs.map(probability)", logs) == [probability(log) for log in logs]


def test_weak_and_unsure_pairs_can_be_left_out(show, numbers):
    report = show(numbers)
    sizes = np.abs(numbers.learned.effects.strength)
    slider = report.page.locator("#strength")
    slider.focus()
    for bound in (0.3, 0.6, 0.99):
        slider.fill(str(bound))
        assert report.drawn() == (sizes >= bound).sum()
        assert len(report.column("finding")) == (sizes >= bound).sum()
        assert report.page.inner_text("#least") == f"{bound:.2f}"
    slider.fill("0")
    assert report.page.inner_text("#shown") == "2 of 2 associations shown"
    logs = np.array(report.js("everyPair.map(logPosterior)"))
    report.page.select_option("#posterior", "0.999")
    assert len(report.column("finding")) == (np.exp(logs) >= 0.999).sum()
    assert not report.page.is_visible("#support")


def test_undecided_pairs_are_drawn_on_demand(show):
    data = noisy_chain(8, 100, noise=0.3)
    result = result_for(ibmap_hc(data), data)
    n = result.content["n_undecided"]
    report = show(result)
    before = report.drawn()
    assert before == result.network.graph.n_edges
    report.page.check("#undecided")
    assert report.drawn() == before + n > before
    assert report.page.inner_text("#shown").endswith(f"{n} of {n} undecided pair{'s' * (n != 1)}")
    assert report.column("finding").count("undecided") == n
    assert report.page.locator("#network .line.undecided").count() == n


def test_shares_are_those_of_the_fitted_table(show, chain_data):
    learned = ibmap_hc(chain_data).with_effects(chain_data)
    report = show(result_for(learned, chain_data))
    found = report.js("withMargins([[0.4, -0.4], [-0.4, 0.4]], [0.3, 0.7], [0.6, 0.4])")
    table = np.array([[0.4, -0.4], [-0.4, 0.4]])
    assert found == pytest.approx(with_margins(table, np.array([0.3, 0.7]), np.array([0.6, 0.4])), abs=1e-9)
    report.js("pick('pair', 0)")
    shown = [text.split("%")[0] for text in report.page.locator("#panel .bars .value").all_inner_texts()]
    e = learned.graph.edges.index(tuple(report.js("[pairs.x[0], pairs.y[0]].map((i) => data.names[i])")))
    counts = np.array(result_for(learned, chain_data).content["counts"][e])
    rows, columns = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0) / counts.sum()
    log = learned.effects.log_odds_ratio[e] / 4 * np.array([[1, -1], [-1, 1]])
    fitted = with_margins(log, rows, columns)
    assert [int(text) for text in shown] == np.round(100 * fitted[:, 1] / fitted.sum(axis=1)).astype(
        int
    ).tolist()
    assert report.page.locator("#panel .interval").count() == 2


def test_the_table_sorts_and_is_searched(show, chain):
    report = show(chain)
    heads = report.page.locator("#pairs th button")
    heads.nth(0).click()
    up = report.column("variable")
    assert up == sorted(up)
    assert report.page.locator("#pairs th").nth(0).get_attribute("aria-sort") == "ascending"
    report.page.keyboard.press("Enter")  # the head keeps the focus
    assert report.column("variable") == sorted(up, reverse=True)
    heads.nth(2).click()
    order = [
        int(n)
        for n in report.js("[...document.querySelectorAll('#pairs tbody tr')].map((r) => r.dataset.pair)")
    ]
    logs = report.js("everyPair.map(logPosterior)")
    assert [logs[k] for k in order] == sorted(logs, reverse=True)
    report.page.fill("#search", "v3 undecided")
    assert report.column("finding")
    assert set(report.column("finding")) == {"undecided"}
    assert all("v3" in (x, y) for x, y in zip(report.column("variable"), report.column("and"), strict=True))
    report.page.fill("#search", "nothing of this name")
    assert report.column("finding") == []
    assert report.page.inner_text("#listed") == "0 of 0 pairs"


def test_every_control_is_reached_by_keyboard(show, chain):
    report = show(chain)
    focused = "(({ id, name, textContent }) => id || name || textContent)(document.activeElement)"
    reached = set()
    for _ in range(60):
        report.page.keyboard.press("Tab")
        reached.add(report.js(focused))
    controls = ["posterior", "groups", "network", "in", "out", "whole", "picture", "search", "save", "pairs"]
    assert set(controls[:-1]) <= reached
    assert {"finding", "posterior", "v3"} <= reached


@pytest.mark.parametrize(("scheme", "paper"), [("light", LIGHT), ("dark", DARK)])
def test_light_and_dark_as_the_system_has_it_and_white_on_paper(show, chain, scheme, paper):
    report = show(chain, color_scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    assert report.js(background) == paper
    report.page.emulate_media(media="print", color_scheme=scheme)
    assert report.js(background) == LIGHT


def test_it_prints_on_few_pages(show, large):
    report = show(large)
    assert len(re.findall(rb"/Type /Page\b", report.page.pdf(format="A4"))) <= 3


def test_what_the_table_lists_is_saved_as_csv(show, nasty):
    report = show(nasty)
    report.page.fill("#search", "associated")
    report.page.locator("#pairs th button").nth(2).click()
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


def test_the_drawing_is_saved_as_a_picture(show, nasty):
    report = show(nasty)
    with report.page.expect_download() as saved:
        report.page.click("#picture")
    assert saved.value.suggested_filename == "network.svg"
    picture = ElementTree.fromstring(saved.value.path().read_text(encoding="utf-8"))
    texts = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert len(texts) == len(nasty.learned.graph.names)
    assert not list(picture.iter("{http://www.w3.org/2000/svg}script"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(show, chain, scheme):
    report = show(chain, color_scheme=scheme)
    colour = "(name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()"
    names = ["ink", "faint", "positive", "negative", "unsigned"]
    for paper, words in (("paper", names), ("raised", names), ("noted", ["warning"])):
        behind = luminance(report.js(colour, paper))
        for name in words:
            ours = luminance(report.js(colour, name))
            contrast = (max(ours, behind) + 0.05) / (min(ours, behind) + 0.05)
            assert contrast >= 4.5, (name, paper, contrast)  # WCAG 2, AA


def luminance(colour):
    """Return the relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_names_do_not_cover_each_other(show, complete):
    report = show(complete)
    boxes = report.js("[...plan.boxes.values()].map(({ x, y, w, h }) => [x, y, w, h])")
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert abs(x - x2) >= (w + w2) / 2 or abs(y - y2) >= (h + h2) / 2


def test_many_variables_are_drawn_around_one(show, large):
    report = show(large)
    assert "500 variables are too many to draw at once" in report.page.inner_text("#whereabouts")
    assert 5 < report.js("plan.boxes.size") <= 41
    assert len(report.column("finding")) == 200
    report.page.click("#more")
    assert len(report.column("finding")) == 400
    report.page.fill("#find", "v77")
    assert report.panel().startswith("v77")
    assert report.page.locator('#network [data-node="77"].picked').count() == 1


def test_the_whole_or_only_around_one_variable(show):
    data = noisy_chain(20, 300, noise=0.2)
    report = show(result_for(ibmap_hc(data), data))
    assert report.js("plan.boxes.size") == 20
    report.js("pick('variable', 7)")
    report.page.check("#around")
    assert sorted(report.js("[...plan.boxes.keys()]")) == [5, 6, 7, 8, 9]
    report.page.uncheck("#around")
    assert report.js("plan.boxes.size") == 20


def test_copies_are_one_name_in_the_drawing(show):
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=400)
    data = load({"a": a, "b": np.where(rng.random(400) < 0.1, 1 - a, a), "c": 1 - a})
    report = show(result_of_learned(evidence_map(data).with_effects(data), data))
    assert report.page.locator("#network .name text").all_text_contents() == ["a = c", "b"]
    assert report.drawn() == 1
    assert report.page.locator("#network .uncertain").count() == 0
    report.click("node", 0)
    assert "The same in all rows" in report.panel()


def test_untested_edges_are_told_and_a_panel_fits(show, complete):
    report = show(complete)
    told = [finding for finding in report.column("finding") if finding == "associated, untested"]
    assert len(told) == len(complete.learned.untested) > 3
    k = report.js("pairs.untested.indexOf(true)")
    report.js("(k) => pick('pair', k)", k)
    assert "Neither end could test it" in report.panel()
    report.js("() => pick('variable', 0)")
    assert report.js("() => at('panel').scrollWidth <= at('panel').clientWidth")
