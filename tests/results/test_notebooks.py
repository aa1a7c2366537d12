"""What notebooks show: networks, learners, support and comparisons as small blocks of HTML."""

import itertools
import re

import numpy as np
import pytest

from ibmap import GSMN, IBMAP, Bootstrap, EvidenceMAP, Graph, MarkovNetwork, compare
from ibmap._text import probability
from ibmap.drawing.svg import Line, network_svg


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    smokes = rng.integers(2, size=300)
    coughs = smokes ^ (rng.random(300) < 0.2)
    return {"<smokes>": smokes, "coughs": coughs, "tea": rng.integers(2, size=300)}


def balanced(html: str) -> bool:
    """Whether every element that is opened is closed, in order."""
    opened: list[str] = []
    for slash, name, rest in re.findall(r"<(/?)(\w+)([^>]*)>", html):
        if slash:
            if opened.pop() != name:
                return False
        elif not rest.endswith("/"):
            opened.append(name)
    return not opened


@pytest.mark.parametrize("learner", [EvidenceMAP(), IBMAP(), GSMN()])
def test_a_learner_shows_its_options_and_then_its_network(learner, table):
    before = learner._repr_mimebundle_()
    assert type(learner).__name__ in before["text/plain"]
    after = learner.fit(table)._repr_mimebundle_()
    html = after["text/html"]
    assert "1 direct association among 3 variables" in html
    assert "Learned from 300 rows by " in html
    assert "&lt;smokes&gt;" in html
    assert "<smokes>" not in html
    assert "odds × " in html
    assert html.count("<line") == 1
    assert "1 variable has no edge" in html
    assert balanced(html)
    assert after["text/plain"] == str(learner)


def test_graphs_support_and_comparisons(table):
    graph = Graph(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert "3 variables, 2 edges" in graph._repr_html_()
    assert graph._repr_html_().count("<line") == 2
    support = Bootstrap(n_replicates=5, random_state=0)
    assert "Bootstrap" in support._repr_mimebundle_()["text/plain"]
    html = support.fit(table)._repr_mimebundle_()["text/html"]
    assert "1 edge in more than half of 5 resampled tables" in html
    assert "1.00" in html
    compared = compare(table, by="tea", n_permutations=3)._repr_html_()
    assert "adjusted p" in compared
    assert balanced(html)
    assert balanced(compared)


def test_explanations_and_answers(table):
    net = EvidenceMAP().fit(table)
    amounts = {**table, "height": np.random.default_rng(0).normal(size=300) + table["<smokes>"]}
    model, mixed = (MarkovNetwork.fit(EvidenceMAP().fit(some), some) for some in (table, amounts))
    shown = {
        "Bayes factor above a million": net.explain("<smokes>", "coughs"),
        "P(coughs | &lt;smokes&gt;=1)": model.query("coughs", {"<smokes>": 1}),
        "standard deviation": mixed.query("height", {"<smokes>": 1}),
    }
    for words, one in shown.items():
        html = one._repr_html_()
        assert words in html
        assert "<smokes>" not in html
        assert balanced(html)


def test_warnings_are_shown(table):
    net = EvidenceMAP(missing="category")
    gaps = {
        name: [None if i < 60 else int(v) for i, v in enumerate(values)] for name, values in table.items()
    }
    with pytest.warns(UserWarning, match="missing in the same rows"):
        net.fit(gaps)
    assert "are missing in the same rows" in net._repr_html_()


def test_pictures_of_nothing_of_much_and_of_few():
    assert "2 variables have no edge" in network_svg(Graph("ab"))
    assert network_svg(Graph([])).startswith("<svg")
    names = [str(i) for i in range(400)]
    chain = list(itertools.pairwise(names))
    assert network_svg(Graph(names, chain)) == ""
    unnamed = network_svg(Graph(names, chain[:80]))
    assert unnamed.count("<text") == 1  # who has no edge
    line = Line(3.0, "#123456", dashed=True, title="a & b")
    drawn = network_svg(Graph("ab", [("a", "b")]), {("a", "b"): line})
    assert 'stroke="#123456" stroke-width="3.0"' in drawn
    assert "stroke-dasharray" in drawn
    assert "<title>a &amp; b</title>" in drawn


def test_notebooks_show_the_posteriors_of_the_table_of_edges():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 60)
    table = {"a": a, "b": np.where(rng.random(60) < 0.75, a, 1 - a), "c": rng.integers(0, 2, 60)}
    learned = EvidenceMAP().fit(table).learned_
    (x, y, one, other), *_ = learned.edge_table.first(1, 0)
    html = learned._repr_html_()
    assert (x, y) == ("a", "b")
    assert 0.5 < np.exp((one + other) / 2) < 0.999
    assert f">{probability((one + other) / 2)}<" in html
