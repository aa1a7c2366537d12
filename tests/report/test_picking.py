"""Picking variables and pairs in the report: by mouse, finger and keyboard."""

import numpy as np
import pytest

from ibmap.data import load
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.results.result_file import result_of_learned
from tests.report.conftest import result_for


def test_a_click_on_a_variable_shows_its_neighbours_by_strength(show, chain_data):
    learned = ibmap_hc(chain_data).with_effects(chain_data)
    report = show(result_for(learned, chain_data))
    report.click("node", 3)
    assert report.panel().startswith("v3")
    assert "2 direct associations" in report.panel()
    sizes = dict(zip(learned.graph.edges, np.abs(learned.effects.strength), strict=True))
    wanted = ["v2", "v4"] if sizes["v2", "v3"] >= sizes["v3", "v4"] else ["v4", "v2"]
    assert report.page.locator("#panel li > button").all_inner_texts() == wanted
    assert report.page.locator("#panel .bar .positive").count() == 2
    assert report.page.locator("#network .name.picked").count() == 1


def test_a_click_on_an_edge_shows_its_counts_and_the_step_that_added_it(show, chain):
    report = show(chain)
    k = report.js("pairs.x.findIndex((x, k) => x === 2 && pairs.y[k] === 3)")
    report.click("pair", k)
    assert report.panel().startswith("v2 – v3")
    assert "Directly associated; posterior " in report.panel()
    report.page.click("#panel summary")
    step = next(step for step in chain.learned.history if {step.x, step.y} == {"v2", "v3"})
    assert f"Step {step.n} of {len(chain.learned.history)} of the search added it" in report.panel()
    counts = chain.content["counts"][chain.network.graph.edges.index(("v2", "v3"))]
    shown = report.page.locator("#panel .counts td.number").all_inner_texts()
    assert shown == [str(n) for row in counts for n in row]
    report.page.keyboard.press("Escape")
    assert report.panel().startswith("The surest associations")


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
        sign = "positive" if found[edge]["partial_correlation"] > 0 else "negative"
        assert report.page.locator(f'#network .line.{sign}[data-pair="{k}"]').count() == 1
        assert report.page.locator("#panel .point").count() == 2
    report.js("() => pick('variable', 0)")
    assert "Numeric." in report.panel()
    heads = report.js("() => asCsv()").splitlines()[0].split(",")
    assert heads[6:9] == ["partial_correlation", "partial_correlation_se", "correlation"]


def test_an_edge_names_what_could_be_in_its_place(show):
    data = near_copies()
    learned = evidence_map(data)
    (edge,) = [edge for edge in learned.graph.edges if "b" in edge]
    (stays, comes, share), *_ = learned.stand_ins(*edge)
    report = show(result_of_learned(learned, data))
    k = report.js(
        "(names) => pairs.x.findIndex((x, k) => [x, pairs.y[k]].every((v) => names.includes(data.names[v])))",
        list(edge),
    )
    report.js("(k) => pick('pair', k)", k)
    words = f"{stays} might be associated with {comes} instead (probability {share:.2f})"
    assert words in report.panel()
    assert "another variable would explain the data as well" in report.page.content()


def near_copies():
    """b is a noisy effect of a, and c nearly a copy of a: who is adjacent to b is uncertain."""
    rng = np.random.default_rng(5)
    a = rng.integers(2, size=300)
    c, b = (np.where(rng.random(300) < share, 1 - a, a) for share in (0.03, 0.3))
    return load({"a": a, "b": b, "c": c, "d": rng.integers(2, size=300)})


def test_a_click_beside_everything_clears_the_panel(show, chain):
    report = show(chain)
    report.click("node", 3)
    box = report.page.locator("#network").bounding_box()
    report.page.mouse.click(box["x"] + 3, box["y"] + box["height"] - 3)
    assert report.panel().startswith("The surest associations")


def test_a_row_of_the_table_fills_the_panel(show, chain):
    report = show(chain)
    report.page.locator("#pairs tbody tr").nth(9).click()
    assert report.panel().split("\n")[2].startswith(("Not directly associated", "Undecided"))
    assert report.page.locator("#pairs tbody tr").nth(9).get_attribute("class").endswith("picked")
    assert report.page.locator("#pairs tbody tr.picked").count() == 1


def test_keys_zoom_and_go_from_name_to_name(show, chain):
    report = show(chain)
    report.page.focus("#network")
    report.page.keyboard.press("+")
    assert report.js("view.w") == pytest.approx(report.js("plan.width") / 1.4)
    report.page.click("#whole")
    assert report.js("view.w") == report.js("plan.width")
    report.page.focus("#network")
    report.page.keyboard.press("ArrowRight")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        x, y = report.js("(({ x, y }) => [x, y])(plan.boxes.get(state.picked.index))")
        report.page.keyboard.press(key)
        x2, y2 = report.js("(({ x, y }) => [x, y])(plan.boxes.get(state.picked.index))")
        way = {"ArrowRight": x2 - x, "ArrowLeft": x - x2, "ArrowUp": y - y2, "ArrowDown": y2 - y}[key]
        assert way >= 0
    assert report.js("document.activeElement.id") == "network"
    assert report.page.inner_text("#said")
    report.page.keyboard.press("Enter")
    assert report.js("document.activeElement.id") == "panel"


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
    assert report.panel().startswith("The surest associations")
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
    assert report.panel().startswith("The surest associations")


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl(show, chain):
    report = show(chain, viewport={"width": 1300, "height": 600})
    report.page.mouse.move(*report.point("node", 3))
    before = report.js("scrollY")
    report.page.mouse.wheel(0, 100)
    report.page.wait_for_function("(before) => scrollY > before", arg=before)
    assert report.js("view.w") == report.js("plan.width")
    report.page.keyboard.down("Control")
    report.page.mouse.wheel(0, -100)
    report.page.wait_for_function("view.w < plan.width")


def test_a_mouse_drags_a_name_and_the_drawing(show, chain):
    report = show(chain)
    before = report.js("(({ x, y }) => [x, y])(plan.boxes.get(3))")
    x, y = report.point("node", 3)
    report.page.mouse.move(x, y)
    report.page.mouse.down()
    report.page.mouse.move(x + 60, y + 30, steps=5)
    report.page.mouse.up()
    assert report.js("(({ x, y }) => [x, y])(plan.boxes.get(3))") == pytest.approx(
        [before[0] + 60, before[1] + 30], abs=3
    )
    assert report.panel().startswith("The surest associations")
    assert report.js("view.x") == 0
    report.js("zoom(0.5)")
    box, start = report.page.locator("#network").bounding_box(), report.js("view.x")
    report.page.mouse.move(box["x"] + 5, box["y"] + 5)
    report.page.mouse.down()
    report.page.mouse.move(box["x"] + 105, box["y"] + 5, steps=5)
    report.page.mouse.up()
    assert report.js("view.x") < start


def test_a_finger_picks(show, chain):
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    report = show(chain, **phone)
    report.click("node", 3, finger=True)
    assert report.panel().startswith("v3")
    assert report.js("getComputedStyle(at('network')).touchAction") == "pan-y"
    report.js("zoom(0.5)")
    assert report.js("getComputedStyle(at('network')).touchAction") == "none"
