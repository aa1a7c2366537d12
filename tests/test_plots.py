from itertools import combinations

import matplotlib as mpl
import pytest

from tests.chains import noisy_chain
from tests.exchange.networks import NASTY

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import to_rgba
from sklearn.datasets import load_breast_cancer

from ibmap import IBMAP, Graph, load, plot, plot_comparison, plot_scores
from ibmap.errors import RequestError
from ibmap.learners import Step, ibmap_hc
from ibmap.plots.colours import ACCENT


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def net():
    return IBMAP().fit(noisy_chain(6, 300))


def segments(collection):
    return len(collection.get_segments())


def test_every_edge_and_every_name_is_drawn(net):
    axes = plot(net)
    assert segments(axes.collections[0]) == net.graph_.n_edges
    assert [text.get_text() for text in axes.texts] == list(net.graph_.names)
    widths = axes.collections[0].get_linewidths()
    strengths = net.described_.effects.strength
    assert [(w - 0.6) / 2.4 for w in widths] == pytest.approx([min(1.5 * abs(s), 1) for s in strengths])
    assert {tuple(colour) for colour in axes.collections[0].get_colors()} == {to_rgba(ACCENT, 0.85)}


@pytest.mark.parametrize("layout", ["packed", "spring", "circular", "kamada_kawai", "random"])
def test_layouts_of_networkx(net, layout):
    assert segments(plot(net.graph_, layout=layout).collections[0]) == net.graph_.n_edges


def test_own_places_and_own_axes(net):
    _, ax = pyplot.subplots()
    places = {name: (i, 0.5) for i, name in enumerate(net.graph_.names)}
    for layout in (places, lambda _: places):
        assert plot(net.graph_, ax, layout=layout) is ax
    assert ax.texts[2].xy == (2, 0.5)
    with pytest.raises(RequestError, match="no place for 'v1'"):
        plot(net.graph_, layout={"v0": (0, 0)})
    with pytest.raises(RequestError, match="unknown layout 'spiralling'"):
        plot(net.graph_, layout="spiralling")


def test_the_same_picture_every_time(net):
    one, two = (plot(net).texts[3].xy for _ in range(2))
    assert tuple(one) == tuple(two)


@pytest.mark.parametrize(
    "graph",
    [Graph([]), Graph(["a"]), Graph("abc"), Graph.complete("abcd"), Graph.complete([*NASTY, "$x_{", "$a$"])],
)
def test_graphs_at_the_edge_and_names_that_look_like_formulas(graph, tmp_path):
    plot(graph).figure.savefig(tmp_path / "one.png")
    plot_comparison(graph, Graph(graph.names)).figure.savefig(tmp_path / "two.png")
    assert (tmp_path / "one.png").stat().st_size > 500
    long = [text for text in plot(graph).texts if text.get_text().startswith("xxx")]
    assert [len(text.get_text()) for text in long] == ([24] if "x" * 500 in graph else [])


def covered(axes):
    """The pairs of names that overlap once the picture is drawn, by more than a hair."""
    axes.figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in axes.texts]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]


def test_names_do_not_cover_each_other():
    cancer = load_breast_cancer()
    columns = dict(zip(cancer.feature_names.tolist(), cancer.data.T, strict=True))
    columns["diagnosis"] = cancer.target_names[cancer.target]
    axes = plot(ibmap_hc(load(columns, discretize="quantile", bins=3)))
    assert len(axes.texts) == 31
    assert covered(axes) == []
    close = {"one": (0, 0), "two": (0.01, 0), "three": (0.02, 0), "far": (1, 1)}
    assert covered(plot(Graph(["one", "two", "far"]), layout=close)) == []
    assert covered(plot(Graph(close), layout=close)) == [("one", "three")]  # a point has two sides


def test_many_variables_have_no_names():
    axes = plot(Graph([f"v{i}" for i in range(700)], [(f"v{i}", f"v{i + 1}") for i in range(199)]))
    assert not axes.texts
    assert segments(axes.collections[0]) == 199


def test_right_false_and_missing():
    truth = Graph("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    learned = Graph("dcba", [("a", "b"), ("d", "a")])
    axes = plot_comparison(learned, truth)
    assert [segments(axes.collections[k]) for k in range(3)] == [1, 1, 2]
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["1 right", "1 false", "2 missing"]
    axes = plot_comparison(learned, truth, labels=("both", "only GSMN", "only IBMAP-HC"))
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["1 both", "1 only GSMN", "2 only IBMAP-HC"]
    for labels in (("one", "two"), "abc"):
        with pytest.raises(RequestError, match="labels must be three"):
            plot_comparison(learned, truth, labels=labels)
    with pytest.raises(RequestError, match="same variables: only one of them has 'c'"):
        plot_comparison(Graph("ab"), Graph("abc"))


def test_scores(net):
    scores = [step.score for step in net.learned_.history]
    for source in (net, net.learned_, net.history_, net.learned_.history):
        assert plot_scores(source).lines[0].get_ydata().tolist()[1:] == scores
    steps = [Step(1, "a", "b", True, 2.0, -7.0), Step(2, "a", "b", False, 1.0, -6.0)]
    axes = plot_scores(steps)
    assert axes.lines[1].get_xdata().tolist() == [2]
    assert plot_scores([]).texts[0].get_text() == "no ascents"
    with pytest.raises(RequestError, match="expected a fitted IBMAP"):
        plot_scores(3)


def test_what_is_drawn_can_be_chosen(net, tmp_path):
    strengths = {
        edge: abs(s) for edge, s in zip(net.graph_.edges, net.described_.effects.strength, strict=True)
    }
    bar = sorted(strengths.values())[1]
    assert segments(plot(net, strength=bar).collections[0]) == len(strengths) - 1
    rings = plot(net, predictability=True).collections[2:]
    assert len(rings) == 2 * len(net.graph_.names)  # all around, and as far as the share
    assert plot(net, width_mm=85).figure.get_size_inches()[0] == pytest.approx(85 / 25.4)
    (grey,) = {tuple(colour[:3]) for colour in plot(net, grey=True).collections[0].get_colors()}
    assert len(set(grey)) == 1
    places = tmp_path / "places.csv"
    places.write_text(
        "variable,x,y\n" + "".join(f"{name},{k},1\n" for k, name in enumerate(net.graph_.names))
    )
    assert plot(net, layout=places).texts[2].xy == (2, 1)
    assert segments(plot(net, layout="circle").collections[0]) == net.graph_.n_edges
    for wrong in ({"strength": 2}, {"width_mm": 0}, {"layout": tmp_path / "none.csv"}):
        with pytest.raises(RequestError):
            plot(net, **wrong)
    for unknown in ({"strength": 0.5}, {"predictability": True}):
        with pytest.raises(RequestError, match="known"):
            plot(net.graph_, **unknown)
