"""Groups in the report."""

from ibmap.report.content import page_content


def test_communities_and_strength_are_in_the_page(chain):
    groups = page_content(chain)["nodes"]["groups"]
    graph = chain.network.graph
    assert len(groups["of"]) == graph.n_variables
    assert groups["names"][0] == "group 1"
    assert max(groups["strength"]) > 0
    given = page_content(chain, groups={graph.names[0]: "mine"})["nodes"]["groups"]
    assert (given["names"], given["of"][:2], given["given"]) == (["mine"], [0, -1], True)


def test_groups_have_hulls_colours_and_a_list(show, chain):
    report = show(chain)
    assert report.page.locator("#network .hull").count() == 0
    report.page.check("#groups")
    assert report.page.locator("#network .hull").count() == len(
        page_content(chain)["nodes"]["groups"]["names"]
    )
    assert "group 1" in report.page.inner_text("#listed-groups")
    report.js("() => pick('variable', 3)")
    assert "The strengths of its edges add up to" in report.panel()
    report.page.uncheck("#groups")
    assert report.page.is_hidden("#listed-groups")
    assert report.js("hull([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2]]).length") == 4
