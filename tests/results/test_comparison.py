"""What is said about two groups: which edges are common, which differ, and how sure that is."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ibmap import Graph
from ibmap.drawing.svg import ACCENT, INK, WRONG
from ibmap.learners import gsmn
from ibmap.results.comparison import SAME, Comparison, Judged
from tests.chains import noisy_chain

PAIRS = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])


def comparison(p_adjusted: tuple[float, ...] = (0.04, 0.05, 1.0, 0.5), largest: float = 0.04) -> Comparison:
    """Of a, b, c and d: men have a-b and a-c, women a-b, b-c and c-d; only c-d has no sign."""
    one = gsmn(noisy_chain(4, 50))

    def group(edges: list[str], n_rows: int, strengths: list[float], signs: list[int]) -> object:
        effects = SimpleNamespace(strength=np.array(strengths), sign=np.array(signs))
        graph = Graph("abcd", [tuple(edge) for edge in edges])
        return replace(one, graph=graph, n_rows=n_rows, effects=effects)

    groups = (
        group(["ab", "ac"], 1, [0.5, -0.2], [1, -1]),
        group(["ab", "bc", "cd"], 1200, [0.1, 0.3, 0.4], [1, 1, 0]),
    )
    return Comparison(
        labels=("men", "women"),
        learned=groups,  # type: ignore[arg-type]
        pairs=PAIRS,
        fitted=np.array([[0.5, -0.2, 0.0, 0.15], [0.1, 0.0, 0.3, 0.4]]),
        deviation=np.array([1.5, 4.25, 2.0, 3.0]),
        p_value=np.array([0.0123456, 0.02, 0.3, 0.4]),
        p_adjusted=np.array(p_adjusted),
        largest=Judged(4.25, largest),
        overall=Judged(20.0, 0.125),
        n_permutations=1000,
    )


def test_edges_are_those_of_either_group_and_strengths_those_of_each() -> None:
    found = comparison()
    assert found.in_group(0).tolist() == [True, True, False, False]
    assert found.in_group(1).tolist() == [True, False, True, True]
    assert found.difference.tolist() == pytest.approx([-0.4, 0.2, 0.3, 0.25])
    assert found.signed.tolist() == [True, True, True, False]
    assert found.union.edges == (("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"))


def test_rows_are_sorted_by_standard_errors() -> None:
    assert comparison().rows() == [
        ("a", "c", "-0.20", "(+0.00)", "+0.20", "0.02", "0.05"),
        ("c", "d", "(0.15)", "0.40", "+0.25", "0.4", "0.5"),
        ("b", "c", "(+0.00)", "+0.30", "+0.30", "0.3", "1"),
        ("a", "b", "+0.50", "+0.10", "-0.40", "0.0123", "0.04"),
    ]


def test_columns_and_json_have_the_same_order() -> None:
    found = comparison()
    columns, content = found.to_columns(), found.to_dict()
    assert columns["deviation"].tolist() == [4.25, 3.0, 2.0, 1.5]
    assert [(edge["x"], edge["y"]) for edge in content["edges"]] == [row[:2] for row in found.rows()]
    assert [edge["p_adjusted"] for edge in content["edges"]] == [0.05, 0.5, 1.0, 0.04]
    assert [edge["in_first"] for edge in content["edges"]] == [True, False, False, True]
    assert [edge["strength_second"] for edge in content["edges"]] == [0.0, 0.4, 0.3, 0.1]
    assert (content["n_rows"], content["n_edges"]) == ([1, 1200], [2, 3])
    assert content["largest"] == {"value": 4.25, "p_value": 0.04}
    assert content["overall"] == {"value": 20.0, "p_value": 0.125}


def test_a_difference_is_one_below_one_in_twenty() -> None:
    assert comparison().different.tolist() == [True, False, False, False]
    assert comparison().words() == (
        "men (1 row) has 2 edges, women (1,200 rows) has 3; 1 of them is the same.\n"
        "The networks differ: the largest difference of an edge is 4.2 standard errors (p = 0.04); all edges "
        "together: p = 0.125 (1,000 permutations).\n"
        "1 edge differs (p below 0.05, adjusted for looking at all of them)."
    )
    assert (
        comparison((0.01, 0.02, 0.03, 0.05))
        .words()
        .endswith("3 edges differ (p below 0.05, adjusted for looking at all of them).")
    )
    alike = comparison((0.05, 0.05, 1.0, 0.5), largest=0.05)
    assert len(alike.words().splitlines()) == 2
    assert "The networks do not differ by more than chance: " in alike.words()


@pytest.mark.parametrize("edge", range(4))
def test_edges_that_differ_are_drawn_in_colour_and_others_in_grey(edge: int) -> None:
    p = [0.5] * 4
    p[edge] = 0.01
    picture = comparison(tuple(p)).svg()
    in_both, in_first, in_second = (f'stroke="{colour}"' for colour in (INK, ACCENT, WRONG))
    colours = {in_both, in_first, in_second}
    assert picture.count(f'stroke="{SAME}"') == 3
    assert [c for c in colours if c in picture] == [[in_both, in_first, in_second, in_second][edge]]
    for x, y, first, second in (("a", "b", "0.50", "0.10"), ("a", "c", "-0.20", "0.00")):
        assert f"{x} – {y}: men {first}, women {second}, adjusted p " in picture
    assert picture.count("stroke-dasharray") == (2 if edge else 3), "what one group lacks and is not sure"


def test_a_representation_holds_no_arrays() -> None:
    said = repr(replace(comparison(), learned=()))
    assert "array" not in said
    assert said.startswith("Comparison(labels=('men', 'women'), learned=(), largest=Judged(value=4.25, ")


def test_notebooks_show_the_first_edges_and_count_the_others() -> None:
    found = comparison()
    assert "more" not in found._repr_html_().partition("<svg")[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ibmap.results.comparison.STRONGEST", 3)
        assert "and 1 more" in found._repr_html_()
