"""Pictures with groups, of a neighbourhood, and of hundreds of variables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ibmap import Graph, plot
from ibmap.errors import IbmapError
from ibmap.exchange.network import network_of
from ibmap.plots.colours import GROUPS, group_colours
from ibmap.plots.pictures import around

pyplot = pytest.importorskip("matplotlib.pyplot")
CLIQUES = Graph(
    "abcdef", [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e"), ("d", "f"), ("e", "f"), ("c", "d")]
)


@pytest.fixture(autouse=True)
def _close() -> Any:
    yield
    pyplot.close("all")


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_groups_have_colours_and_a_legend() -> None:
    axes = plot(CLIQUES, groups="found")
    assert words(axes) == ["group 1", "group 2"]
    colours = {tuple(colour) for colour in axes.collections[1].get_facecolors().round(3).tolist()}
    assert len(colours) == 2
    assert words(plot(CLIQUES, groups={"a": "$x$", "b": "y"})) == ["$x$", "y"]


def test_many_groups_are_listed_in_order_and_cut() -> None:
    groups = {f"v{i}": f"group {i + 1}" for i in range(20)}
    assert list(group_colours(groups))[:10] == [f"group {i + 1}" for i in range(10)]
    assert len(set(group_colours(groups).values())) == len(GROUPS)
    assert words(plot(Graph(groups), groups=groups))[-1] == "and 8 more"


def test_a_neighbourhood_has_the_edges_among_the_neighbours() -> None:
    axes = plot(CLIQUES, about="c")
    assert axes.get_title() == "4 variables, 4 edges around c"
    assert {text.get_text() for text in axes.texts} == set("abcd")
    assert around(network_of("ab", [("a", "b", {"strength": 0.5})]), "b").numbers == ({"strength": 0.5},)
    with pytest.raises(IbmapError, match="zz"):
        plot(CLIQUES, about="zz")


def test_signs_have_a_legend() -> None:
    edges = [("a", "b", {"strength": 0.9, "score_correlation": -0.5}), ("b", "c", {"strength": 0.1})]
    assert words(plot(network_of("abc", edges))) == ["one falls", "no sign"]
    assert plot(CLIQUES).get_legend() is None


def test_names_of_three_hundred_variables_where_they_fit() -> None:
    rng = np.random.default_rng(1)
    names = [f"variable {i}" for i in range(300)]
    pairs = {tuple(sorted(rng.choice(300, 2, replace=False).tolist())) for _ in range(450)}
    axes = plot(Graph(names, [(names[i], names[j]) for i, j in pairs]))
    axes.figure.canvas.draw()
    assert len(axes.texts) > 100
    boxes = [text.get_window_extent() for text in axes.texts]
    meet = sum(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert meet <= len(boxes) / 10  # letters are not all of common width


def test_the_command_line_draws_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ibmap.cli.plot import network_picture

    path = tmp_path / "net.json"
    path.write_text(CLIQUES.to_json())
    _, found = network_picture(path, "packed", "found", "a")
    assert (found["variables"], len(found["groups"])) == (3, 6)


def test_letters_that_no_font_has_are_squares_and_never_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from ibmap.plots import fonts

    monkeypatch.setattr(fonts, "FALLBACKS", ("no such font",))
    axes = plot(Graph(["喫煙", "age", "שלום"], [("喫煙", "age")]), about="喫煙", groups={"age": "群"})
    axes.figure.canvas.draw()
    assert {text.get_text() for text in axes.texts} == {"□□", "age"}
    assert axes.get_title().endswith("around □□")
    assert fonts.missing_letters(["喫煙", "age"]) == "喫煙"


def test_a_font_that_has_the_letters_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from ibmap.plots import fonts

    monkeypatch.setattr(fonts, "_installed", lambda: frozenset(["mine"]))
    monkeypatch.setattr(fonts, "FALLBACKS", ("mine",))
    usual = fonts._letters
    monkeypatch.setattr(
        fonts, "_letters", lambda f: frozenset(map(ord, "喫煙")) if f == ("mine",) else usual(f)
    )
    assert fonts.legible(["喫煙 a"]) == ([*pyplot.rcParams["font.family"], "mine"], ["喫煙 a"], "")
