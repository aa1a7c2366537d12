"""Picking variables and pairs in the report: by mouse, finger and keyboard."""

import numpy as np
import pytest

from ibmap._text import probability
from ibmap.data import load
from ibmap.learners import evidence_map
from ibmap.results.result_file import result_of_learned


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
    assert shown == [f"{n} {round(100 * n / sum(row))} %" for row in counts for n in row]
    report.page.keyboard.press("Escape")
    assert report.panel().startswith("Pick something")


def test_edges_of_numbers_show_correlations_and_have_the_colour_of_their_sign(show, numbers):
    report = show(numbers)
    found = dict(zip(numbers.network.graph.edges, numbers.network.numbers, strict=True))
    for edge, words in ((("a", "b"), "rise together"), (("b", "c"), "b falls where c rises")):
        k = report.js(
            "(names) => pairs.x.findIndex((x, k) => data.names[x] + data.names[pairs.y[k]] === names)",
            "".join(edge),
        )
        report.js("(k) => pick('pair', k)", k)
        panel = report.panel()
        assert words in panel
        assert f"is {found[edge]['partial_correlation']:+.2f} ±" in panel
        assert f"is {found[edge]['correlation']:+.2f}." in panel
        assert "level" not in panel
        assert report.js("(k) => effectSign(k)", k) == np.sign(found[edge]["partial_correlation"])
    report.js("() => pick('variable', 0)")
    assert "continuous" in report.panel()
    heads = report.js("() => asCsv()").splitlines()[0].split(",")
    assert heads[6:9] == ["partial_correlation", "partial_correlation_se", "correlation"]


def test_an_edge_names_what_could_be_in_its_place(show):
    data = near_copies()
    learned = evidence_map(data)
    (edge,) = [edge for edge in learned.graph.edges if "b" in edge]
    (stays, comes, _), *_ = learned.stand_ins(*edge)
    report = show(result_of_learned(learned, data))
    k = report.js(
        "(names) => pairs.x.findIndex((x, k) => [x, pairs.y[k]].every((v) => names.includes(data.names[v])))",
        list(edge),
    )
    report.js("(k) => pick('pair', k)", k)
    assert f"Or, in its place: {stays} – {comes}." in report.panel()
    assert "A posterior counts the networks in which" in report.page.content()


def near_copies():
    """b is a noisy effect of a, and c nearly a copy of a: who is adjacent to b is uncertain."""
    rng = np.random.default_rng(5)
    a = rng.integers(2, size=300)
    c, b = (np.where(rng.random(300) < share, 1 - a, a) for share in (0.03, 0.3))
    return load({"a": a, "b": b, "c": c, "d": rng.integers(2, size=300)})


def test_a_click_beside_everything_clears_the_panel(show, chain):
    report = show(chain)
    report.click("network", *report.js("data.places[3]"))
    report.click("network", *report.js("[ibmapReport.models['network x'].start + 0.01, 1.1]"))
    assert report.panel().startswith("Pick something")


def test_quick_and_slow_clicks_are_clicks(show, chain):
    report = show(chain)
    for i in (3, 4, 5):  # bokeh takes two clicks within 300 ms for a double click, wherever they are
        report.click("network", *report.js("(i) => data.places[i]", i))
        assert report.panel().startswith(f"v{i}")
    report.page.mouse.move(*report.point("network", *report.js("data.places[6]")))
    report.page.mouse.down()
    report.page.wait_for_function("at('panel').firstChild.textContent === 'v6'")  # and a long one for none
    report.page.mouse.up()


def test_a_row_of_the_table_fills_the_panel(show, chain):
    report = show(chain)
    report.page.locator("#pairs tbody tr").nth(9).click()
    assert "They are not adjacent; posterior" in report.panel()
    assert report.page.locator("#pairs tbody tr").nth(9).get_attribute("class").strip() == "picked"
    assert report.page.locator("#pairs tbody tr.picked").count() == 1


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


def test_who_is_not_found_is_told_so(show, chain):
    report = show(chain)
    field = report.page.locator("#find")
    field.fill("nobody")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("V6")
    assert field.get_attribute("aria-invalid") == "false"
    field.press("Enter")
    assert report.panel().startswith("v6")


def test_the_keyboard_goes_into_the_panel_and_back(show, chain):
    report = show(chain)
    row = report.page.locator("#pairs tbody tr").nth(2).locator("button")
    row.focus()
    report.page.keyboard.press("Enter")
    assert report.js("document.activeElement.id") == "panel"
    assert report.page.inner_text("#said") == report.js("tip(2)")
    report.page.keyboard.press("Tab")
    report.page.keyboard.press("Enter")  # the first end of the pair
    assert report.panel().startswith(report.js("data.names[pairs.x[2]]"))
    assert report.js("document.activeElement.id") == "panel"
    report.page.keyboard.press("Escape")
    assert report.panel().startswith("Pick something")
    assert row.evaluate("(button) => button === document.activeElement")


def test_the_panel_is_in_sight_beside_the_table(show, chain):
    report = show(chain)
    report.page.locator("#pairs tbody tr").nth(2).click()
    for size in ((1300, 900), (360, 740)):
        report.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        report.page.locator("#pairs tbody tr").nth(2).scroll_into_view_if_needed()
        top, bottom = report.js(
            "(({ top, bottom }) => [top, bottom])(at('panel').firstChild.getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= size[1]
    report.page.click("#panel .close")
    assert not report.page.is_visible("#panel")


def test_the_wheel_scrolls_the_page_until_the_drawing_has_the_focus(show, chain):
    report = show(chain, viewport={"width": 1300, "height": 600})
    span = "ibmapReport.models['network x'].end - ibmapReport.models['network x'].start"
    whole = report.js(span)
    place = report.point("network", 0.5, 1.1)
    before = report.js("scrollY")
    report.page.mouse.move(*place)
    report.page.mouse.wheel(0, 100)
    report.page.wait_for_function("(before) => scrollY > before", arg=before)
    assert report.js(span) == whole
    report.page.focus("#network")
    report.page.mouse.wheel(0, -100)
    report.page.wait_for_function(f"(whole) => {span} < whole", arg=whole)


def test_a_mouse_drags_the_drawing(show, chain):
    report = show(chain)
    start = "ibmapReport.models['network x'].start"
    before = report.js(start)
    x, y = report.point("network", 0.5, 1.1)
    report.page.mouse.move(x, y)
    report.page.mouse.down()
    report.page.mouse.move(x + 100, y, steps=5)
    report.page.mouse.up()
    assert report.js(start) < before


def test_a_finger_picks_and_only_then_moves_the_drawing(show, chain):
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    report = show(chain, **phone)
    report.page.wait_for_function("matchMedia('(pointer: coarse)').matches")
    assert not report.js("ibmapReport.models['network pan'].active")
    report.click("network", *report.js("data.places[3]"), finger=True)
    assert report.panel().startswith("v3")
    report.page.wait_for_function("ibmapReport.models['network pan'].active")
    report.page.locator("#search").focus()
    assert not report.js("ibmapReport.models['network pan'].active")


def test_a_pair_that_is_out_of_sight_is_moved_to(show, chain):
    report = show(chain)
    for view in ("network", "heat"):
        report.js("(view) => { setView(view); showWhole(); zoom(0.2); pick('pair', 0); }", view)
        seen = report.js(
            """(view) => {
                const inside = ({ start, end }, at) => (at - start) * (at - end) <= 0;
                const [i, j] = [pairs.x[0], pairs.y[0]];
                const at = view === "heat" ? [rankOf[i], rankOf[j]]
                    : [0, 1].map((axis) => (data.places[i][axis] + data.places[j][axis]) / 2);
                return ranges().map((range, axis) => inside(range, at[axis]));
            }""",
            view,
        )
        assert seen == [True, True]


def test_the_heat_map_marks_rows_and_columns_of_what_was_picked(show, chain):
    report = show(chain)
    report.js("setView('heat')")
    bands = "ibmapReport.models.bands.data.width.length"
    assert report.js(bands) == 0
    rank = report.js("rankOf[3]")
    report.click("heat", rank, rank)
    assert report.panel().startswith("v3")
    assert report.js(bands) == 2
    assert report.js("ibmapReport.models.bands.data.x[0]") == rank
