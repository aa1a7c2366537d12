"""What is said of effects is what was computed: intervals, signs, and which edges are worked out together."""

import re

import numpy as np
import pytest

from ibmap import Graph
from ibmap.data import load
from ibmap.engines import as_engine
from ibmap.model.effects import _alike, edge_effects
from ibmap.model.layout import Layout
from ibmap.model.mixed_effects import mixed_effects
from ibmap.model.tables import network_of_tables

RNG = np.random.default_rng(0)


def test_an_interval_of_odds_reaches_two_standard_errors_to_either_side() -> None:
    a = RNG.integers(2, size=300)
    data = load({"a": a, "b": a ^ (RNG.random(300) < 0.2)})
    found = edge_effects(as_engine(data), Graph("ab", [("a", "b")]))
    words = found.in_words(0, ("a", "b"), data.levels)
    times, low, high = re.findall(r"are ([\d.]+) times .*between ([\d.]+) and ([\d.]+)\)", words)[0]
    ratio, error = found.log_odds_ratio[0], found.log_odds_ratio_se[0]
    expected = np.exp(ratio + np.array([0, -1.96, 1.96]) * error)
    assert [float(times), float(low), float(high)] == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_between_ordered_levels_has_a_sign(sign: int) -> None:
    grade = RNG.integers(3, size=400)
    table = {"grade": grade, "size": sign * grade + RNG.normal(size=400)}
    engine = as_engine(load(table, ordinal=["grade"], continuous=["size"]))
    found = mixed_effects(engine, Graph(("grade", "size"), [("grade", "size")]))
    assert np.sign(found.strength[0]) == sign
    assert ("differs by -" in found.in_short(0)) is (sign < 0)


def test_edges_whose_ends_have_as_many_levels_are_worked_out_together() -> None:
    levels = np.array([2, 3, 4, 5, 6, 7, 1])
    groups = _alike(Layout(Graph.complete("abcdefg"), levels))
    pairs = Graph.complete("abcdefg").pairs
    shapes = [{tuple(levels[pair].tolist()) for pair in pairs[group]} for group in groups]
    assert all(len(one) == 1 for one in shapes)
    assert sum(map(len, groups)) == 15  # those of the constant are not worked out


def test_a_table_of_two_variables_is_an_edge_whatever_it_holds() -> None:
    flat = [([0, 1], np.ones((2, 2))), ([0, 1, 2], np.ones((2, 2, 2)))]
    network = network_of_tables("abc", [(0, 1)] * 3, flat)
    assert network.graph.edges == (("a", "b"),)
    assert network.interactions == ()
