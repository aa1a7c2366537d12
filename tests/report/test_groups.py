"""Groups in the report, and variables that are dragged."""

import pytest

from ibmap.report.content import page_content


def test_communities_and_strength_are_in_the_page(chain):
    content = page_content(chain)
    graph = chain.network.graph
    assert len(content["groups"]["of"]) == graph.n_variables
    assert content["groups"]["names"][0] == "group 1"
    assert max(content["groups"]["strength"]) > 0
    given = page_content(chain, groups={graph.names[0]: "mine"})["groups"]
    assert (given["names"], given["of"][:2], given["given"]) == (["mine"], [0, -1], True)


def test_groups_are_coloured_listed_and_told(show, chain):
    report = show(chain)
    ink = report.js("models.nodes.data.color[0]")
    report.page.check("#groups")
    report.settle()
    assert report.js("models.nodes.data.color[0]") != ink
    assert "group 1" in report.page.inner_text("#listed-groups")
    report.js("() => pick('variable', 3)")
    assert "Strength, that of its edges added up" in report.panel()
    report.page.uncheck("#groups")
    report.settle()
    assert report.page.is_hidden("#listed-groups")
    assert not report.complaints


def test_a_variable_is_dragged_and_its_edges_follow(show, chain):
    report = show(chain)
    before = report.js("data.places[3]")
    ranges = "[models['network x'].start, models['network y'].start]"
    seen = report.js(ranges)
    start, end = report.point("network", *before), report.point("network", 0.5, 0.97)
    report.page.mouse.move(*start)
    report.page.mouse.down()
    report.page.mouse.move(*end, steps=5)
    report.page.mouse.up()
    report.settle()
    assert report.js("data.places[3]") == pytest.approx([0.5, 0.97], abs=0.02)
    assert report.js("models.nodes.data.x[3]") == pytest.approx(0.5, abs=0.02)
    ends = report.js(
        "pairs.x.flatMap((x, k) => (x === 3 ? [models.edges.data.y0[k]] : [])).filter(Number.isFinite)"
    )
    assert ends == pytest.approx([0.97] * len(ends), abs=0.02)
    assert report.js(ranges) == seen
    assert report.panel().startswith("Pick something")
    report.click("network", *report.js("data.places[3]"))
    assert report.panel().startswith("v3")
    assert not report.complaints
